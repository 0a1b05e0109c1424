/**
 * Wakes who waits for a signal at a time, without a timer for each wait.
 *
 * It may ring too early: set to a later time than before it stays as it is. Who is woken looks, and sets it again.
 */
import { type Clock, Duration, Effect, type Fiber } from "effect"
import { monotonicMillis } from "../internal/Monotonic.ts"
import type { Signal } from "./Signal.ts"

export class Alarm {
  private readonly signal: Signal
  private readonly clock: Clock.Clock
  private ringsAt = Number.POSITIVE_INFINITY
  private timer: Fiber.Fiber<void> | undefined = undefined

  constructor(signal: Signal, clock: Clock.Clock) {
    this.signal = signal
    this.clock = clock
  }

  /** It rings at this time of the monotonic clock, or before. It ends with the fiber that sets it. */
  set(atMillis: number): Effect.Effect<void> {
    if (atMillis >= this.ringsAt) return Effect.void
    return Effect.suspend(() => {
      this.timer?.interruptUnsafe()
      this.ringsAt = atMillis
      // Whole milliseconds, so that a remainder too small for the clock is not slept for again and again.
      const wholeMillis = Math.max(1, Math.ceil(atMillis - monotonicMillis(this.clock)))
      const ring = Effect.andThen(Effect.sleep(Duration.millis(wholeMillis)), Effect.sync(() => this.ring()))
      return Effect.map(Effect.forkChild(ring, { startImmediately: true }), (timer) => {
        this.timer = timer
      })
    })
  }

  private ring(): void {
    this.ringsAt = Number.POSITIVE_INFINITY
    this.timer = undefined
    this.signal.wake()
  }
}
