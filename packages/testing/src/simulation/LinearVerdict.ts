/** What the checker finds, in words that a person can follow. */
import type { Operation } from "./History.ts"

/** A history that no order of its operations explains. */
export interface Violation {
  readonly _tag: "Violation"
  readonly message: string
  /** Those that contradict each other, the earliest call first. */
  readonly operations: ReadonlyArray<Operation>
}

const listed = (numbers: ReadonlyArray<number>): string =>
  numbers.length <= 8 ? numbers.join(", ") : `${numbers.slice(0, 4).join(", ")}, … ${numbers.slice(-2).join(", ")}`

const range = (from: number, to: number): string => from === to ? `${from}` : `${from} to ${to}`

const what = (operation: Operation): string => {
  switch (operation._tag) {
    case "Append": {
      const { acceptedFirst, first, ids, outcome, shape } = operation
      const accepted = acceptedFirst === undefined ? "" : `, accepted from ${acceptedFirst}`
      const answer = outcome === "durable" ? `durable as ${range(first, first + ids.length - 1)}` : outcome
      return `append of ids ${listed(ids)} (${shape}${accepted}): ${answer}`
    }
    case "Read": {
      const { seen } = operation
      if (seen === undefined) return "read: no answer"
      return `${seen.strength} read from ${seen.from}: ${seen.ids.length === 0 ? "nothing" : `ids ${listed(seen.ids)}`}`
    }
    case "Ack": {
      const { cursor, from, outcome, to } = operation
      return `${from === 1 ? `commit of ${cursor} to ${to}` : `ack of ${cursor} ${range(from, to)}`}: ${outcome}`
    }
    case "Mark":
      return `${operation.opening ? "opening with" : "look at"} mark ${operation.cursor}: ${
        operation.seq ?? "no answer"
      }`
    case "Persisted":
      return `mark ${operation.cursor} known to be stored: ${operation.seq}`
  }
}

/** One operation: place in the history, process, what it did, when. */
export const describe = (operation: Operation): string => {
  const { calledAt, index, process, returnedAt } = operation
  const until = returnedAt === Number.POSITIVE_INFINITY ? "no end" : `${returnedAt}`
  return `#${index} ${process}, at ${calledAt === returnedAt ? calledAt : `${calledAt} to ${until}`}: ${
    what(operation)
  }`
}

/** The rule that is broken, and by which operations. */
export const violation = (rule: string, ...involved: ReadonlyArray<Operation | undefined>): Violation => {
  const operations = [...new Set(involved)].filter((one) => one !== undefined).sort((a, b) => a.calledAt - b.calledAt)
  return { _tag: "Violation", message: [rule, ...operations.map((one) => `  ${describe(one)}`)].join("\n"), operations }
}
