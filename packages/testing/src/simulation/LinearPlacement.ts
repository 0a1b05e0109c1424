/**
 * Which record each number of the log names, as far as answers say so: from durable appends, from reads, and from what
 * follows of an append once a part of it was read. Nothing is guessed here.
 */
import type { Append, AppendedRecord, History, Operation, Read } from "./History.ts"
import { type Violation, violation } from "./LinearVerdict.ts"

const nobody = -1

export class Placement {
  readonly records: ReadonlyArray<AppendedRecord>
  /** No number above this can exist: so many records were appended and not refused. */
  readonly limit: number
  /** By record, its number; 0: not known. */
  readonly numberOf: Int32Array
  /** By number, the operation that said so first. */
  readonly saidBy: Array<Operation | undefined>
  /** Every number up to this one is known to exist. */
  tail = 0
  /** The operation that shows it. */
  tailSaidBy: Operation | undefined
  private readonly recordAt: Int32Array
  /** By number, the id of its record; NaN: not known. */
  private readonly idAt: Float64Array

  constructor(records: ReadonlyArray<AppendedRecord>) {
    this.records = records
    let limit = 0
    for (const { append } of this.records) if (append.outcome !== "refused") limit++
    this.limit = limit
    this.numberOf = new Int32Array(this.records.length)
    this.recordAt = new Int32Array(limit + 1).fill(nobody)
    this.idAt = new Float64Array(limit + 1).fill(Number.NaN)
    this.saidBy = new Array<Operation | undefined>(limit + 1).fill(undefined)
  }

  /** Whether it is not known which record a number names; those above the limit are free too. */
  free(number: number): boolean {
    return (this.recordAt[number] ?? nobody) === nobody
  }

  /** How many of these ids, from the first one on, the numbers from `from` on are known to name. */
  agreement(from: number, ids: ReadonlyArray<number>): number {
    const { idAt } = this
    let count = 0
    while (count < ids.length && idAt[from + count] === ids[count]) count++
    return count
  }

  recordIndexAt(number: number): number | undefined {
    const index = this.recordAt[number] ?? nobody
    return index === nobody ? undefined : index
  }

  /** The append whose record has this number, if that is known. */
  appendAt(number: number): Append | undefined {
    return this.records[this.recordAt[number] ?? nobody]?.append
  }

  /** An answer implies that numbers up to this one exist. */
  reaches(number: number, by: Operation): Violation | undefined {
    if (!Number.isSafeInteger(number) || number < 0) return violation(`${number} is not a sequence number`, by)
    if (number > this.limit) {
      return violation(`number ${number} was told of, only ${this.limit} records can be in the log`, by)
    }
    if (number > this.tail) {
      this.tail = number
      this.tailSaidBy = by
    }
    return undefined
  }

  /** Number `number` names this record. `by` is the answer that says so. */
  place(number: number, index: number, by: Operation): Violation | undefined {
    if (this.recordAt[number] === index) return undefined
    const record = this.records[index]
    if (record === undefined) return undefined
    const { append, id } = record
    if (!Number.isSafeInteger(number) || number < 1) {
      return violation(`record ${id} would stand at number ${number}`, append, by)
    }
    const unreachable = this.reaches(number, by)
    if (unreachable !== undefined) return unreachable
    const other = this.records[this.recordAt[number] ?? nobody]
    if (other !== undefined) {
      return violation(
        `number ${number} names two records, ${other.id} and ${id}`,
        this.saidBy[number],
        by,
        other.append,
        append
      )
    }
    const before = this.numberOf[index] ?? 0
    if (before !== 0) {
      return violation(`record ${id} has two numbers, ${before} and ${number}`, this.saidBy[before], by, append)
    }
    if (append.outcome === "refused") return violation(`record ${id} was refused and has number ${number}`, append, by)
    const accepted = append.shape === "pieces" ? undefined : append.acceptedFirst
    if (accepted !== undefined && accepted + index - append.firstRecord !== number) {
      return violation(
        `record ${id} was accepted as number ${accepted + index - append.firstRecord} and has number ${number}`,
        append,
        by
      )
    }
    this.numberOf[index] = number
    this.recordAt[number] = index
    this.idAt[number] = id
    this.saidBy[number] = by
    return undefined
  }
}

const placeDurable = (placement: Placement, append: Append): Violation | undefined => {
  for (let offset = 0; offset < append.ids.length; offset++) {
    const broken = placement.place(append.first + offset, append.firstRecord + offset, append)
    if (broken !== undefined) return broken
  }
  return undefined
}

const placeRead = (placement: Placement, history: History, read: Read): Violation | undefined => {
  const { seen } = read
  if (seen === undefined) return undefined
  for (let offset = placement.agreement(seen.from, seen.ids); offset < seen.ids.length; offset++) {
    const number = seen.from + offset
    const id = seen.ids[offset]
    const index = id === undefined ? undefined : history.recordOf(id)
    if (index === undefined) return violation(`number ${number} was read as ${id}, which nobody appended`, read)
    const broken = placement.place(number, index, read)
    if (broken !== undefined) return broken
  }
  return undefined
}

/** A part of this append was read, so what stands before it, or all of it, has its place too. */
const placeRest = (placement: Placement, append: Append): Violation | undefined => {
  const { firstRecord, ids, shape } = append
  let last = ids.length - 1
  while (last >= 0 && placement.numberOf[firstRecord + last] === 0) last--
  if (last < 0) return undefined
  const number = placement.numberOf[firstRecord + last] ?? 0
  const shown = placement.saidBy[number] ?? append
  if (shape === "pieces") return ascending(placement, append, last)
  for (let offset = 0; offset < (shape === "whole" ? ids.length : last); offset++) {
    const broken = placement.place(number - last + offset, firstRecord + offset, shown)
    if (broken !== undefined) {
      const rule = `record ${ids[last]} is number ${number}, so record ${ids[offset]} of the same append is ${
        number - last + offset
      }`
      return violation(`${rule}; but ${broken.message.split("\n")[0]}`, ...broken.operations)
    }
  }
  return undefined
}

const ascending = (placement: Placement, append: Append, last: number): Violation | undefined => {
  let above = placement.numberOf[append.firstRecord + last] ?? 0
  for (let offset = last - 1; offset >= 0; offset--) {
    const number = placement.numberOf[append.firstRecord + offset] ?? 0
    if (number === 0) continue
    if (number > above) {
      return violation(
        `records of one append changed their order: ${append.ids[offset]} is number ${number}, later ones stand before`,
        append,
        placement.saidBy[number],
        placement.saidBy[above]
      )
    }
    above = number
  }
  return undefined
}

/** Other answers that imply that a number exists. */
const reach = (placement: Placement, operation: Operation): Violation | undefined => {
  switch (operation._tag) {
    case "Ack":
      return operation.outcome === "done" ? placement.reaches(operation.to, operation) : undefined
    case "Mark":
      return operation.seq === undefined ? undefined : placement.reaches(operation.seq, operation)
    case "Persisted":
      return placement.reaches(operation.seq, operation)
    default:
      return undefined
  }
}

/** All that answers say, or the contradiction in them. */
export const placementOf = (history: History): Placement | Violation => {
  const placement = new Placement(history.records)
  const { operations } = history
  for (const one of operations) {
    const broken = one._tag === "Append" && one.outcome === "durable" ? placeDurable(placement, one) : undefined
    if (broken !== undefined) return broken
  }
  for (const one of operations) {
    const broken = one._tag === "Read" ? placeRead(placement, history, one) : reach(placement, one)
    if (broken !== undefined) return broken
  }
  for (const one of operations) {
    const broken = one._tag === "Append" && one.outcome !== "durable" ? placeRest(placement, one) : undefined
    if (broken !== undefined) return broken
  }
  return placement
}
