/**
 * When a value that was sampled over a whole run counts as flat: the rule, apart from the sampling.
 *
 * The first third is for warming up. A leak shows in what came after: the level of the last third may be above that of
 * the second one only by a share and a constant. The level is what a tenth of the samples does not exceed: what it falls
 * back to after a collection of garbage, and between two faults. What has leaked stays there, and what is in use at the
 * moment does not count.
 */

/** How far the last third may be above the second. */
export interface FlatRule {
  /** Of the level of the second third; 0.1 is a tenth. */
  readonly share: number
  /** In the unit of the samples. */
  readonly constant: number
}

/** What was found. */
export interface Flatness {
  /** Levels of the three thirds. */
  readonly start: number
  readonly middle: number
  readonly end: number
  /** The largest sample of all. */
  readonly peak: number
  /** What `end` may be at most. */
  readonly limit: number
  readonly isFlat: boolean
}

/** Fewer samples in a third decide nothing. */
export const fewestInThird = 10

/** What a tenth of the values does not exceed; not a number for none. */
const levelOf = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.floor(sorted.length / 10)] ?? Number.NaN
}

/** Judges samples in the order of time. Too few of them, or one that is no number, are not flat: nothing was shown. */
export const judgeFlatness = (samples: ReadonlyArray<number>, { constant, share }: FlatRule): Flatness => {
  const third = Math.floor(samples.length / 3)
  const start = levelOf(samples.slice(0, third))
  const middle = levelOf(samples.slice(third, 2 * third))
  const end = levelOf(samples.slice(2 * third))
  const limit = middle + middle * share + constant
  const decides = third >= fewestInThird && samples.every((value) => Number.isFinite(value))
  return { start, middle, end, peak: Math.max(...samples), limit, isFlat: decides && end <= limit }
}

/** The rule in words, for the result of a run. */
export const ruleText = ({ constant, share }: FlatRule, unit: string): string =>
  `the lowest tenth of the last third is at most that of the second third + ${share * 100} % + ${constant} ${unit}`
