/**
 * When each number can have become durable. The instants of the numbers never fall with the number, so what holds for one
 * from below holds for all above it, and what holds from above for all below it.
 */
import type { History, Operation, Read } from "./History.ts"
import type { Placement } from "./LinearPlacement.ts"
import { type Violation, violation } from "./LinearVerdict.ts"

export class Bounds {
  /** By number: it became durable after this; minus infinity where nothing says so. Of this number alone. */
  readonly after: Float64Array
  /** By number: it became durable before this, by its own answers and those about all above it. */
  readonly before: Float64Array
  readonly afterBy: Array<Operation | undefined>
  readonly beforeBy: Array<Operation | undefined>

  constructor(limit: number) {
    this.after = new Float64Array(limit + 2).fill(Number.NEGATIVE_INFINITY)
    this.before = new Float64Array(limit + 2).fill(Number.POSITIVE_INFINITY)
    this.afterBy = new Array<Operation | undefined>(limit + 2).fill(undefined)
    this.beforeBy = new Array<Operation | undefined>(limit + 2).fill(undefined)
  }

  /** Number `number` was not durable when this operation began. */
  notBefore(number: number, by: Operation): void {
    if (number >= this.after.length || by.calledAt <= (this.after[number] ?? 0)) return
    this.after[number] = by.calledAt
    this.afterBy[number] = by
  }

  /** Number `number` was durable when this operation ended. */
  endsAfter(number: number, by: Operation): void {
    if (number < 1 || by.returnedAt >= (this.before[number] ?? 0)) return
    this.before[number] = by.returnedAt
    this.beforeBy[number] = by
  }

  /** Lets what is known from above of a number count for all below it. */
  spread(): void {
    for (let number = this.before.length - 2; number >= 1; number--) {
      if ((this.before[number + 1] ?? 0) >= (this.before[number] ?? 0)) continue
      this.before[number] = this.before[number + 1] ?? 0
      this.beforeBy[number] = this.beforeBy[number + 1]
    }
  }
}

/** Where the record with this number begins to exist: with the first one of its segment, where that is one instant. */
const instantOf = (placement: Placement, number: number): number => {
  const append = placement.appendAt(number)
  if (append === undefined || append.shape !== "whole") return number
  return placement.numberOf[append.firstRecord] ?? number
}

const boundByRead = (placement: Placement, bounds: Bounds, read: Read): Violation | undefined => {
  const { seen } = read
  if (seen === undefined) return undefined
  const last = seen.from + seen.ids.length - 1
  if (seen.ids.length > 0) bounds.endsAfter(last, read)
  if (seen.strength === "weak") return undefined
  const next = instantOf(placement, last + 1)
  if (seen.ids.length > 0 && next <= last) {
    return violation(
      `a strong read ended at number ${last}, inside of an append that is one segment`,
      read,
      placement.appendAt(last)
    )
  }
  bounds.notBefore(next, read)
  return undefined
}

const boundBy = (placement: Placement, bounds: Bounds, operation: Operation): Violation | undefined => {
  switch (operation._tag) {
    case "Append": {
      const { firstRecord, ids, outcome, first } = operation
      if (outcome === "durable") bounds.endsAfter(first + ids.length - 1, operation)
      for (let offset = 0; offset < ids.length; offset++) {
        const number = placement.numberOf[firstRecord + offset] ?? 0
        if (number === 0) continue
        bounds.notBefore(number, operation)
        break
      }
      return undefined
    }
    case "Read":
      return boundByRead(placement, bounds, operation)
    case "Ack":
      if (operation.outcome === "done") bounds.endsAfter(operation.to, operation)
      return undefined
    case "Mark":
      if (operation.seq !== undefined) bounds.endsAfter(operation.seq, operation)
      return undefined
    case "Persisted":
      bounds.endsAfter(operation.seq, operation)
      return undefined
  }
}

interface Contradiction {
  /** Not durable when `late` began. */
  readonly low: number
  readonly late: Operation
  /** Durable when `early` ended, which was before. */
  readonly high: number
  readonly early: Operation
}

const explain = ({ early, high, late, low }: Contradiction): Violation => {
  if (late._tag === "Read") {
    const rule = `stale: the log ended before number ${low} when a strong read began, number ${high} had been `
    return violation(`${rule}${early._tag === "Append" ? "acknowledged" : "seen"} before`, early, late)
  }
  if (early._tag === "Append") {
    return violation(
      `order: the append of number ${low} began after number ${high}, which is higher, had been acknowledged`,
      early,
      late
    )
  }
  return violation(
    `from the future: number ${high} was seen before the append of number ${low} had begun`,
    early,
    late
  )
}

/** The bounds of all numbers, or two answers whose bounds exclude each other. */
export const boundsOf = (history: History, placement: Placement): Bounds | Violation => {
  const bounds = new Bounds(placement.limit)
  for (const operation of history.operations) {
    const broken = boundBy(placement, bounds, operation)
    if (broken !== undefined) return broken
  }
  bounds.spread()
  let after = Number.NEGATIVE_INFINITY
  let low = 0
  for (let number = 1; number <= placement.tail; number++) {
    if ((bounds.after[number] ?? 0) > after) {
      after = bounds.after[number] ?? 0
      low = number
    }
    if (after < (bounds.before[number] ?? 0)) continue
    const late = bounds.afterBy[low]
    const early = bounds.beforeBy[number]
    if (late === undefined || early === undefined) continue
    return explain({ low, late, high: highOf(bounds, number), early })
  }
  return bounds
}

/** The number from which a spread bound came. */
const highOf = (bounds: Bounds, number: number): number => {
  let high = number
  while (bounds.beforeBy[high + 1] === bounds.beforeBy[number]) high++
  return high
}
