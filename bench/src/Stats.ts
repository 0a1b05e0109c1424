/** Medians and quartiles of a few rounds. */

/** The value below which `share` (0 to 1) of the values lies, between two of them where it falls there; NaN for none. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((left, right) => left - right)
  const at = share * (sorted.length - 1)
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at - Math.floor(at))
}

/** What is told of the rounds of one measurement. */
export interface Spread {
  readonly median: number
  /** The middle half of the values lies between these two. */
  readonly low: number
  readonly high: number
  readonly rounds: number
}

export const spreadOf = (values: ReadonlyArray<number>): Spread => ({
  median: quantile(values, 0.5),
  low: quantile(values, 0.25),
  high: quantile(values, 0.75),
  rounds: values.length
})

/** Round by round, the one through the other: what disturbs a machine for a while disturbs both. */
export const pairedRatios = (ours: ReadonlyArray<number>, other: ReadonlyArray<number>): ReadonlyArray<number> =>
  ours.slice(0, other.length).map((value, round) => value / (other[round] ?? Number.NaN))
