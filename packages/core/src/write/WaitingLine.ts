/**
 * Calls that wait for room, one after the other.
 *
 * Owns: the order of those who wait, and asking other logs for room. Does not own: room; each call looks again when woken.
 */
import { Effect, Semaphore } from "effect"
import type { BufferBudgetState } from "../BufferBudget.ts"
import type { Signal } from "./Signal.ts"

export class WaitingLine {
  private readonly budget: BufferBudgetState
  private readonly room: Signal
  private readonly onWait: () => void
  private readonly turn = Semaphore.makeUnsafe(1)
  private waiting = 0

  /** `onWait` is told whenever a call found no room. */
  constructor(budget: BufferBudgetState, room: Signal, onWait: () => void) {
    this.budget = budget
    this.room = room
    this.onWait = onWait
  }

  /** Calls that wait, with the one whose turn it is. */
  get length(): number {
    return this.waiting
  }

  /** Tries in turn until there is an answer; `missingBytes` is what the call needs next while there is none. */
  run<A, E>(attempt: () => Effect.Effect<A, E> | undefined, missingBytes: () => number): Effect.Effect<A, E> {
    let stopAsking: (() => void) | undefined
    // Other logs give up room only while it is theirs that is missing.
    const askOthers = (isShort: boolean) => {
      if (isShort === (stopAsking !== undefined)) return
      stopAsking?.()
      stopAsking = isShort ? this.budget.wait() : undefined
    }
    const step: Effect.Effect<A, E> = Effect.suspend(() => {
      const answer = attempt()
      if (answer !== undefined) return answer
      askOthers(!this.budget.hasRoom(missingBytes()))
      this.onWait()
      return Effect.andThen(this.room.wait, step)
    })
    const enter = Effect.sync(() => {
      this.waiting++
    })
    const leave = Effect.sync(() => {
      this.waiting--
      askOthers(false)
    })
    return Effect.acquireUseRelease(enter, () => this.turn.withPermits(1)(step), () => leave)
  }
}
