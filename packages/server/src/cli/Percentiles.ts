/** Percentiles of a few measured times. */

/** Times of one thing, milliseconds. */
export interface Percentiles {
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly max: number
}

/** The time that so large a share of the times does not exceed (nearest rank); 0 of no times. */
const rank = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0

/** The percentiles of these times. */
export const percentilesOf = (times: ReadonlyArray<number>): Percentiles => {
  const sorted = times.toSorted((a, b) => a - b)
  return { p50: rank(sorted, 0.5), p90: rank(sorted, 0.9), p99: rank(sorted, 0.99), max: rank(sorted, 1) }
}
