/** What many walks have gone through together, and what they found. */
import type { WalkResult } from "../../packages/testing/src/simulation/Walk.ts"
import type { BranchCounts } from "./BranchCount.ts"

const numbers = ["steps", "requests", "crashes", "stops", "ghosts", "faults", "takeovers", "durable"] as const

type Sums = Readonly<Record<typeof numbers[number], number>>

export interface Found {
  readonly seed: number
  readonly violations: ReadonlyArray<string>
}

/** A part of a run: what a child says, one line of JSON each time. */
export interface WalkSums extends Sums {
  readonly walks: number
  readonly found: ReadonlyArray<Found>
  /** Only in the last part of a child that counts branches. */
  readonly branches?: BranchCounts
}

const zero: Sums = { steps: 0, requests: 0, crashes: 0, stops: 0, ghosts: 0, faults: 0, takeovers: 0, durable: 0 }

export const noWalks: WalkSums = { ...zero, walks: 0, found: [] }

const sum = (left: Sums, right: Sums): Sums => ({
  steps: left.steps + right.steps,
  requests: left.requests + right.requests,
  crashes: left.crashes + right.crashes,
  stops: left.stops + right.stops,
  ghosts: left.ghosts + right.ghosts,
  faults: left.faults + right.faults,
  takeovers: left.takeovers + right.takeovers,
  durable: left.durable + right.durable
})

export const addSums = (left: WalkSums, right: WalkSums): WalkSums => ({
  ...sum(left, right),
  walks: left.walks + right.walks,
  found: [...left.found, ...right.found]
})

export const addWalk = (sums: WalkSums, { seed, violations, ...walk }: WalkResult): WalkSums => ({
  ...sum(sums, walk),
  walks: sums.walks + 1,
  found: violations.length === 0 ? sums.found : [...sums.found, { seed, violations: violations.slice(0, 3) }]
})
