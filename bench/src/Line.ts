/** What a benchmark says: one line a measurement, and whether it meets its goal. */
import type { Spread } from "./Stats.ts"

export type Better = "higher" | "lower"

export interface Measurement {
  /** Short, in words; the same in every run. */
  readonly metric: string
  readonly value: Spread
  /** What `value` counts: `x` for a ratio within this run. */
  readonly unit: string
  readonly better: Better
  /** What the value must reach; absent for figures that are context. */
  readonly goal?: number
  /** The floor that a ratio is of, in its own unit. */
  readonly floor?: Named
  /** The peer that a ratio is of. */
  readonly peer?: Named
  /** For people: why it is as it is, or what was left out. */
  readonly note?: string
}

/** What a ratio is of, and the median of its rounds. */
export interface Named {
  readonly name: string
  readonly value: number
  readonly unit: string
}

/** One line of `pnpm bench --json`. */
export interface BenchLine {
  readonly bench: string
  readonly metric: string
  readonly value: number
  readonly unit: string
  readonly better: Better
  readonly goal: number | null
  readonly ok: boolean | null
  readonly floor: Named | null
  readonly peer: Named | null
  /** Quartiles of the rounds. */
  readonly low: number
  readonly high: number
  readonly rounds: number
  readonly note?: string
}

/** A goal is missed only where the middle half of the rounds lies on the wrong side of it as a whole. */
export const meets = ({ high, low }: Spread, goal: number, better: Better): boolean =>
  better === "higher" ? high >= goal : low <= goal

/** Four digits that mean something. */
const rounded = (value: number): number => Number.isFinite(value) ? Number(value.toPrecision(4)) : value

export const lineOf = (bench: string, measured: Measurement): BenchLine => {
  const { better, floor, goal, metric, note, peer, unit, value } = measured
  return {
    bench,
    metric,
    value: rounded(value.median),
    unit,
    better,
    goal: goal ?? null,
    ok: goal === undefined ? null : meets(value, goal, better),
    floor: floor === undefined ? null : { ...floor, value: rounded(floor.value) },
    peer: peer === undefined ? null : { ...peer, value: rounded(peer.value) },
    low: rounded(value.low),
    high: rounded(value.high),
    rounds: value.rounds,
    ...(note === undefined ? {} : { note })
  }
}
