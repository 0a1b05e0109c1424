/** What is fuzzed: how an input is made, and what must hold for every input. */
import type { Effect } from "effect"
import type { FuzzRandom } from "./FuzzRandom.ts"

/** What a decoder made of an input. */
export interface FuzzOutcome {
  /** The tag of the typed error that refused it; absent where it was decoded. */
  readonly refused?: string
  /** Why, in the decoder's words; digits and quoted text do not count as different reasons. */
  readonly reason?: string
  /** The most bytes that the decoder asked for at once, where the target can see that. */
  readonly allocatedBytes?: number
}

/** A rule that an input has broken. A defect of the decoder need not be turned into one: the run takes it for a finding. */
export interface FuzzFinding {
  readonly _tag: "FuzzFinding"
  /** What was expected and what came instead. */
  readonly problem: string
}

export const finding = (problem: string): FuzzFinding => ({ _tag: "FuzzFinding", problem })

/**
 * A decoder under fuzz. `check` must be a function of the input alone: an input that is kept says everything.
 */
export interface FuzzTarget {
  /** As on the command line. */
  readonly name: string
  /** Makes an input out of a generator and nothing else. */
  readonly make: (random: FuzzRandom) => Uint8Array
  /** Decodes the input and holds the answer against the rules. Any bytes are an input. */
  readonly check: (input: Uint8Array) => Effect.Effect<FuzzOutcome, FuzzFinding>
  /** Makes checksums right, so that a shortened input still reaches what is behind them. */
  readonly repair?: (input: Uint8Array) => Uint8Array
}
