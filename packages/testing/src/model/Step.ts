/** The steps of the model: what kinds there are, how one is named, and how it is taken on a copy of the state. */
import { type Layout, State } from "./Layout.ts"
import type { Rules } from "./Rules.ts"

export const Kind = {
  start: 0,
  crash: 1,
  /** The claim landed and its answer came. */
  claim: 2,
  /** A claim landed that its sender knows nothing of, or has died of. */
  ghostClaim: 3,
  reread: 4,
  look: 5,
  markerLands: 6,
  markerAnswer: 7,
  barrier: 8,
  activate: 9,
  ghostActivate: 10,
  send: 11,
  segmentLands: 12,
  confirm: 13,
  meetMarker: 14,
  tryCommit: 15,
  retryCommit: 16,
  commit: 17,
  ghostCommit: 18,
  ghostOldCommit: 19,
  consume: 20,
  remove: 21,
  append: 22,
  spool: 23,
  dropSpooled: 24,
  resend: 25,
  resent: 26,
  assume: 27,
  /** The live epoch is listed while the claim is on its way. */
  earlyList: 28
} as const

/** A step as one number: its kind, its process, and two details. */
export type StepCode = number

const codeOf = (kind: number, process: number, x: number, y: number): StepCode =>
  kind * 4096 + process * 256 + x * 16 + y

export interface StepParts {
  readonly kind: number
  readonly process: number
  readonly x: number
  readonly y: number
}

export const partsOf = (step: StepCode): StepParts => ({
  kind: Math.floor(step / 4096),
  process: (step >>> 8) & 15,
  x: (step >>> 4) & 15,
  y: step & 15
})

/** Steps that are faults: without them everything that was begun comes to its end. */
export const isFault = ({ kind }: StepParts): boolean =>
  kind === Kind.crash || kind === Kind.ghostClaim || kind === Kind.ghostActivate || kind === Kind.ghostCommit ||
  kind === Kind.ghostOldCommit || kind === Kind.retryCommit || kind === Kind.remove

/** The state that steps start from, the copy that one step changes, and who is told of it. */
export class Scene {
  readonly layout: Layout
  readonly rules: Rules
  readonly now: State
  readonly next: State
  private readonly told: (step: StepCode) => void

  constructor(layout: Layout, rules: Rules, told: (step: StepCode) => void) {
    this.layout = layout
    this.rules = rules
    this.now = new State(layout)
    this.next = new State(layout)
    this.told = told
  }

  /** A fresh copy to change. */
  begin(): State {
    this.next.numbers.set(this.now.numbers)
    return this.next
  }

  /** The copy is as this step leaves it. */
  tell(kind: number, process: number, x = 0, y = 0): void {
    this.told(codeOf(kind, process, x, y))
  }
}
