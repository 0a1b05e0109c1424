/**
 * Linearizability by trying: goes through the events of a history in order, and between them lets any operation that has
 * begun take effect. It knows nothing of numbers being visible, so it shares no reasoning with the checker.
 */
import type { Append, History, Mark, Operation } from "../../../src/simulation/History.ts"

interface State {
  /** Places in `History.records`. */
  readonly log: ReadonlyArray<number>
  /** By operation: records that an append has added; 1 where another operation has had its instant. */
  readonly progress: ReadonlyArray<number>
}

interface Event {
  readonly at: number
  readonly operation: Operation
  readonly end: boolean
}

const eventsOf = (history: History): ReadonlyArray<Event> =>
  history.operations.flatMap((operation) => [
    { at: operation.calledAt, operation, end: false },
    ...operation.returnedAt === Number.POSITIVE_INFINITY ? [] : [{ at: operation.returnedAt, operation, end: true }]
  ]).sort((a, b) => a.at - b.at || Number(a.end) - Number(b.end))

const advanced = (state: State, index: number, by: number, log = state.log): State => ({
  log,
  progress: state.progress.map((value, place) => place === index ? value + by : value)
})

const append = (state: State, one: Append): State | undefined => {
  const done = state.progress[one.index] ?? 0
  const { log } = state
  if (one.outcome === "refused" || done === one.ids.length) return undefined
  if (done === 0) {
    const first = log.length + 1
    if (one.outcome === "durable" && one.first !== first) return undefined
    if (one.shape !== "pieces" && one.acceptedFirst !== undefined && one.acceptedFirst !== first) return undefined
  }
  if (one.shape === "whole") {
    return advanced(state, one.index, one.ids.length, [...log, ...one.ids.map((_, offset) => one.firstRecord + offset)])
  }
  const together = one.shape === "prefix" || one.outcome === "durable"
  if (done > 0 && together && log.at(-1) !== one.firstRecord + done - 1) return undefined
  return advanced(state, one.index, 1, [...log, one.firstRecord + done])
}

/** What the mark of a process is when these acks have had their instants. */
const markOf = (history: History, state: State, { cursor, process }: Mark): number => {
  const opening = history.operations.find((one): one is Mark =>
    one._tag === "Mark" && one.opening && one.seq !== undefined && one.process === process && one.cursor === cursor
  )
  let mark = opening?.seq ?? 0
  const covers = (seq: number) =>
    history.operations.some((one) =>
      one._tag === "Ack" && one.process === process && one.cursor === cursor && state.progress[one.index] === 1 &&
      one.from <= seq && seq <= one.to
    )
  while (covers(mark + 1)) mark++
  return mark
}

/** The state after this operation has (further) taken effect; `undefined`: it cannot now. */
const step = (history: History, state: State, one: Operation): State | undefined => {
  if (one._tag === "Append") return append(state, one)
  if (state.progress[one.index] === 1) return undefined
  const now = advanced(state, one.index, 1)
  switch (one._tag) {
    case "Ack":
      return one.outcome !== "refused" && one.to <= state.log.length ? now : undefined
    case "Mark":
      return one.seq !== undefined && one.seq <= state.log.length && markOf(history, state, one) === one.seq
        ? now
        : undefined
    case "Read": {
      if (one.seen?.strength !== "strong") return undefined
      const shown = state.log.slice(one.seen.from - 1).map((index) => history.records[index]?.id)
      return shown.length === one.seen.ids.length && shown.every((id, place) => id === one.seen?.ids[place])
        ? now
        : undefined
    }
    case "Persisted":
      return undefined
  }
}

const mayEnd = (history: History, state: State, one: Operation): boolean => {
  const progress = state.progress[one.index] ?? 0
  switch (one._tag) {
    case "Append":
      return one.outcome !== "durable" || progress === one.ids.length
    case "Ack":
      return one.outcome !== "done" || progress === 1
    case "Mark":
      return progress === 1
    case "Persisted":
      return one.seq <= state.log.length
    case "Read": {
      const { seen } = one
      if (seen === undefined) return true
      if (seen.strength === "strong") return progress === 1
      return seen.ids.every((id, offset) => history.records[state.log[seen.from - 1 + offset] ?? -1]?.id === id)
    }
  }
}

/** The bounds that hold over a crash, as they are defined. */
const openingsHold = (history: History): boolean =>
  history.operations.every((one) => {
    if (one._tag !== "Mark" || !one.opening || one.seq === undefined) return true
    const { calledAt, cursor, returnedAt, seq } = one
    const same = history.operations.filter((other) => "cursor" in other && other.cursor === cursor)
    const floor = same.map((other) =>
      (other._tag === "Persisted" || (other._tag === "Mark" && other.opening)) && other.returnedAt < calledAt ?
        other.seq ?? 0 :
        0
    )
    const ceiling = same.map((other) =>
      other._tag === "Ack" && other.outcome !== "refused" && other.calledAt < returnedAt ? other.to : 0
    )
    return Math.max(0, ...floor) <= seq && seq <= Math.max(0, ...ceiling)
  })

/** Whether some order explains the history. Only for a handful of operations. */
export const isLinearizable = (history: History): boolean => {
  if (!openingsHold(history)) return false
  const events = eventsOf(history)
  const failed = new Set<string>()
  const explore = (next: number, state: State, begun: ReadonlyArray<Operation>): boolean => {
    const event = events[next]
    if (event === undefined) return true
    const key = `${next} ${state.log.join()} ${state.progress.join()}`
    if (failed.has(key)) return false
    for (const one of begun) {
      const after = step(history, state, one)
      if (after !== undefined && explore(next, after, begun)) return true
    }
    const { end, operation } = event
    if (!end && explore(next + 1, state, [...begun, operation])) return true
    if (end && mayEnd(history, state, operation)) {
      const stays = operation._tag === "Append" && operation.outcome === "unknown" ||
        operation._tag === "Ack" && operation.outcome === "unknown"
      if (explore(next + 1, state, stays ? begun : begun.filter((one) => one !== operation))) return true
    }
    failed.add(key)
    return false
  }
  return explore(0, { log: [], progress: history.operations.map(() => 0) }, [])
}
