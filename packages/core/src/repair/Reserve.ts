/**
 * Numbers for records that nobody can count: pure rules.
 *
 * A segment that does not read, with nothing behind it, held an unknown number of records. Their numbers may be known to
 * somebody, so they must not be given out again.
 */
import type { Boundary } from "../format/Boundary.ts"
import type { DamagedStretch, FoundEnd } from "./Evidence.ts"

/** Bytes of the columns before the lengths, and of length and time of one record: what each record takes at least. */
const fixedBodyBytes = 4
const recordBytes = 12

/** Most records that one segment can hold. */
export const maxRecordsOf = (maxSegmentBytes: number): number =>
  Math.max(1, Math.floor((maxSegmentBytes - fixedBodyBytes) / recordBytes))

/** The highest number that so many slots above a known number can have had. */
export const highestIn = (known: number, slots: number, maxSegmentBytes: number): number =>
  Math.min(Number.MAX_SAFE_INTEGER, known + slots * maxRecordsOf(maxSegmentBytes))

/** An end and the stretches before it, once what cannot be counted has numbers reserved for it. */
export interface Reserved {
  readonly end: Boundary
  readonly stretches: ReadonlyArray<DamagedStretch>
}

export interface ReserveLimits {
  readonly maxSegmentBytes: number
  readonly highestCursor: number
}

/** Raises the end of an epoch over all numbers that the damaged slots right before it can have had, and over every cursor. */
export const reserve = (
  end: Boundary,
  stretches: ReadonlyArray<DamagedStretch>,
  limits: ReserveLimits
): Reserved => {
  const first = stretches.findIndex(({ epoch, lost }) => epoch === end.epoch && lost?.exact === false)
  const stretch = stretches[first]
  const lost = stretch?.lost
  if (stretch === undefined || lost === undefined) return { end, stretches }
  const known = Math.max(lost.from - 1, limits.highestCursor)
  const to = highestIn(known, end.slot - stretch.slot, limits.maxSegmentBytes)
  const raised = Math.max(end.seq, to)
  return {
    end: { ...end, seq: raised },
    stretches: stretches.map((one, index) => index === first ? { ...one, lost: { ...lost, to: raised } } : one)
  }
}

/**
 * Raises the ends of the last epochs, as many of them as nothing says exactly: damage goes on from one into the next, and
 * each can have had the highest numbers of the one before.
 */
export const reserveLast = (
  ends: ReadonlyArray<FoundEnd>,
  stretches: ReadonlyArray<DamagedStretch>,
  { highestCursor, maxSegmentBytes }: ReserveLimits
): ReadonlyArray<FoundEnd> => {
  const exact = ends.findLastIndex(({ isExact }) => isExact)
  let highest = highestCursor
  return ends.map((found, index) => {
    if (index <= exact) return found
    const { end } = reserve(found.boundary, stretches, { maxSegmentBytes, highestCursor: highest })
    highest = Math.max(highest, end.seq)
    return { ...found, boundary: end }
  })
}
