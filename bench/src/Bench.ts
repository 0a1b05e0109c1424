/** What a benchmark is given, and what it is. */
import type { Measurement } from "./Line.ts"

export interface BenchContext {
  /** Rounds of each contender, and how long one takes, milliseconds. */
  readonly rounds: number
  readonly roundMillis: number
  readonly quick: boolean
  /** A folder of this benchmark's own; it is removed after it. */
  readonly folder: string
  /** How far it is, 0 to 1, and what it does now. */
  readonly progress: (share: number, what: string) => void
  /** A picture for the documentation, an SVG file; a run that keeps its results keeps it too. */
  readonly picture?: (name: string, svg: string) => void
  /** Runs a round of a contender; where that is wanted, its processor time is looked at meanwhile. */
  readonly around: <A>(name: string, round: () => A | Promise<A>) => Promise<A>
  /** Told to people, whatever the format of the output: what was left out, and why. */
  readonly say: (text: string) => void
}

export interface Bench {
  readonly name: string
  /** What it measures, in one sentence. */
  readonly about: string
  readonly run: (context: BenchContext) => Promise<ReadonlyArray<Measurement>>
}
