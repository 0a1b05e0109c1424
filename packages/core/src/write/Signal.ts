/**
 * Wakes one waiting fiber, from synchronous code; a wake-up that nobody waits for is kept for the next wait.
 *
 * The fiber runs at once, inside `wake`, until it has to wait again: call it only where the state is whole.
 */
import { Duration, Effect, Latch } from "effect"

export class Signal {
  private readonly latch = Latch.makeUnsafe(false)

  wake(): void {
    Latch.openUnsafe(this.latch)
  }

  /** Waits for a wake-up. */
  get wait(): Effect.Effect<void> {
    return Effect.andThen(this.latch.await, Effect.sync(() => Latch.closeUnsafe(this.latch)))
  }

  /** Waits for a wake-up or until so many milliseconds have passed. */
  waitAtMost(millis: number): Effect.Effect<void> {
    // Whole milliseconds, so that a remainder too small for the clock is not slept for again and again.
    const whole = Math.max(1, Math.ceil(millis))
    const sleep = Effect.sleep(Duration.millis(whole))
    return Effect.asVoid(Effect.raceFirst(this.wait, sleep))
  }
}
