/**
 * How far an input is: what was handled, in any order, and what is settled, in order. The cursor stands at the end of what
 * is both.
 *
 * Invariants: the cursor never passes an element that was not handled, and never one that is not settled: durable, and
 * acknowledged to the source · it only rises.
 */
import { Effect } from "effect"
import { acknowledge, type AckRanges, type SeqRange, startAt } from "../cursor/AckRanges.ts"
import type { CursorError } from "../WalError.ts"

export interface ProgressParts {
  /** The cursor's mark when the input starts. */
  readonly mark: number
  /** Settled already; no later call is needed where it is `Infinity`. */
  readonly settled: number
  readonly commit: (seq: number) => Effect.Effect<void, CursorError>
  /** The cursor has passed these. */
  readonly onCommitted: (seq: number) => Effect.Effect<void>
}

export class Progress {
  private readonly parts: ProgressParts
  private handled: AckRanges
  private settled: number
  private reached: number

  constructor(parts: ProgressParts) {
    this.parts = parts
    this.handled = startAt(parts.mark)
    this.settled = parts.settled
    this.reached = parts.mark
  }

  /** The cursor stands here, or higher where somebody else moves it. */
  get committed(): number {
    return this.reached
  }

  /** These were handled. */
  done(range: SeqRange): Effect.Effect<void, CursorError> {
    return Effect.suspend(() => {
      this.handled = acknowledge(this.handled, range)
      return this.advance()
    })
  }

  /** Everything up to this number is durable and acknowledged. */
  settle(seq: number): Effect.Effect<void, CursorError> {
    return Effect.suspend(() => {
      this.settled = Math.max(this.settled, seq)
      return this.advance()
    })
  }

  private advance(): Effect.Effect<void, CursorError> {
    const reached = Math.min(this.handled.mark, this.settled)
    if (reached <= this.reached) return Effect.void
    this.reached = reached
    return Effect.andThen(this.parts.commit(reached), this.parts.onCommitted(reached))
  }
}
