/**
 * What a store does wrong in one walk, and how often: drawn once a walk, so that each walk has a character of its own
 * (some faults never, some often), which finds more than all faults at one rate. See Groce et al., Swarm Testing, ISSTA
 * 2012, https://users.cs.utah.edu/~regehr/papers/swarm12.pdf.
 */
import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import type { SeededRandom } from "./SeededRandom.ts"

/** What can happen to one request; the number is how probable it is. */
export interface FaultRates {
  /** It never reaches the store; the client sees a broken connection, or nothing until its deadline. */
  readonly lostRequest: number
  /** It is applied; the client sees a broken connection, or nothing until its deadline. */
  readonly lostAnswer: number
  /** The client sees a failure; a write is applied later: after its retries, after deletion, after its process is gone. */
  readonly ghost: number
  /** Applied twice, the second time later: somebody on the way has repeated it. */
  readonly repeated: number
  /** Answered at once with a refusal: 409, 500, 503, 403, 404 on the bucket, 501, something unknown. */
  readonly refused: number
  /** A refusal after the request was applied. */
  readonly refusedApplied: number
  /** A body that is cut short: the client notices by its length. */
  readonly truncated: number
  /** The answer is slower than the client waits. */
  readonly stalled: number
  /** The body of something else, with status 200: a proxy's page. */
  readonly foreign: number
}

export interface StoreFaults {
  readonly rates: FaultRates
  /** Milliseconds of one way, the median. */
  readonly latencyMillis: number
  /** Probability of a way of up to a hundred times that. */
  readonly slow: number
  /** What a refusal says; the more often a reason stands here, the more often it comes. */
  readonly refusals: ReadonlyArray<Reason>
  readonly listing: {
    readonly pageSize: number
    readonly isUnordered: boolean
    readonly repeats: boolean
    readonly emptyPages: boolean
  }
  /** Failures of single keys hidden in the 200 of a removal. */
  readonly removalFailures: number
}

const noFaults: FaultRates = {
  lostRequest: 0,
  lostAnswer: 0,
  ghost: 0,
  repeated: 0,
  refused: 0,
  refusedApplied: 0,
  truncated: 0,
  stalled: 0,
  foreign: 0
}

const passing: ReadonlyArray<Reason> = ["Unavailable", "Throttled", "Conflict"]
const rare: readonly [Reason, ...ReadonlyArray<Reason>] = [
  "AccessDenied",
  "NoSuchBucket",
  "CredentialsUnavailable",
  "StoreFull",
  "NotSupported",
  "UnexpectedResponse"
]

/** How often a fault is drawn at all, and how probable it is then. */
const present = 0.55
const rarest = 0.005
const mostOften = 0.15

export const drawFaults = (random: SeededRandom): StoreFaults => {
  const rate = () => random.chance(present) ? random.logarithmic(rarest, mostOften) : 0
  const rates: FaultRates = random.chance(0.05) ? noFaults : {
    lostRequest: rate(),
    lostAnswer: rate(),
    ghost: rate(),
    repeated: rate(),
    refused: rate(),
    refusedApplied: rate(),
    truncated: rate(),
    stalled: rate() / 2,
    // Whoever opens a log refuses what it cannot read, so this one ends much of what a walk could do.
    foreign: random.chance(0.1) ? random.logarithmic(rarest, 0.02) : 0
  }
  return {
    rates,
    latencyMillis: random.logarithmic(1, 50),
    slow: random.chance(0.5) ? random.logarithmic(0.01, 0.2) : 0,
    refusals: random.chance(0.5) ? [...passing, random.pick(rare), random.pick(rare)] : passing,
    listing: {
      pageSize: random.pick([1_000, 1_000, 2, 3, 7]),
      isUnordered: random.chance(0.3),
      repeats: random.chance(0.3),
      emptyPages: random.chance(0.2)
    },
    removalFailures: random.chance(0.3) ? random.logarithmic(0.01, 0.3) : 0
  }
}

/** A store that does what it is asked, at some distance. */
export const healthy = (faults: StoreFaults): StoreFaults => ({
  ...faults,
  rates: noFaults,
  slow: 0,
  latencyMillis: Math.min(10, faults.latencyMillis),
  removalFailures: 0
})
