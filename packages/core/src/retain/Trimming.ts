/**
 * Where the trim point of an open log goes next, and the fiber that looks at what has aged.
 *
 * Owns: what was asked to go, when ages are looked at. Does not own: the stored trim point, when the manifest is written,
 * deletion.
 *
 * Invariants: a look follows a stored manifest, so an idle log makes none · no manifest waits for a look, however long it
 * takes · a closing log starts none.
 */
import { Effect, Semaphore } from "effect"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import type { CursorSet } from "../format/CursorSet.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import type { WalEnd } from "../WalError.ts"
import type { LogFate } from "../write/LogFate.ts"
import { Signal } from "../write/Signal.ts"
import { type AgeLimitsParts, makeAgeLimits } from "./AgeLimits.ts"
import { decideTrim } from "./TrimPolicy.ts"

/** What the trim point depends on. */
export interface TrimmingParts extends Omit<AgeLimitsParts, "trim"> {
  readonly fate: LogFate
  /** The manifest as it is stored. */
  readonly current: () => Manifest
  /** Has the manifest written soon. */
  readonly wantManifest: () => void
}

/** Decides the trim point for each manifest body, by what is known then. */
export class Trimming {
  /** Everything at or below it may go, as far as cursors allow. */
  requestedSeq = 0
  private readonly parts: TrimmingParts
  private readonly ages: ReturnType<typeof makeAgeLimits>
  private readonly events = new Signal()
  private readonly turns = Semaphore.makeUnsafe(1)

  constructor(parts: TrimmingParts) {
    this.parts = parts
    this.ages = makeAgeLimits({ ...parts, trim: () => parts.current().trim })
  }

  /** The trim point of a body with these cursors; `current` where nothing more can go. */
  next(current: Boundary, cursors: CursorSet): Boundary {
    return decideTrim({
      policy: this.parts.retention.policy,
      current,
      cursors,
      requestedSeq: this.requestedSeq,
      atMost: (seq) => this.parts.index.atMost(seq),
      ...this.ages.limits()
    })
  }

  /** A manifest is stored: there may be something to look at. */
  manifestStored(): void {
    this.events.wake()
  }

  /** Looks at what has aged, where it is time for that, after a manifest is stored; until interrupted. */
  get run(): Effect.Effect<never> {
    const look = Effect.suspend(() => this.look())
    // It fails with the end of the log, which interrupts this too.
    return Effect.forever(Effect.andThen(this.events.wait, Effect.ignore(look)))
  }

  /**
   * Looks at what has aged, where it is time for that: for who is going to ask for a trim point. Answers whether something
   * is known that was not. Fails when the log ends meanwhile.
   */
  get refresh(): Effect.Effect<boolean, WalEnd> {
    const { fate } = this.parts
    // Closing has no time to look: the next writer does.
    const look = Effect.suspend(() => fate.refusesAppends ? Effect.succeed(false) : this.ages.refresh)
    return Effect.raceFirst(fate.awaitEnd, this.turns.withPermit(look))
  }

  private readonly look = Effect.fnUntraced(function*(this: Trimming) {
    const isNew = yield* this.refresh
    const { cursors, trim } = this.parts.current()
    const letsGo = isNew && compareBoundaries(this.next(trim, cursors), trim) > 0
    // Without it what has aged would stay until somebody writes again.
    if (letsGo) this.parts.wantManifest()
  })
}
