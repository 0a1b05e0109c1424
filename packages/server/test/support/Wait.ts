/** Waiting for what happens on sockets: turn by turn of the event loop, bounded by the test's own time-out only. */
import { Effect, Fiber } from "effect"
import type { Duration } from "effect"
import { TestClock } from "effect/testing"

/** One turn of the event loop. */
export const turn: Effect.Effect<void> = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Waits until the condition holds. */
export const until = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => condition() ? Effect.void : Effect.flatMap(turn, () => until(condition)))

/** The same where another process makes it hold, which needs the processor: looks from time to time. Real time passes. */
export const eventually = (condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => condition() ? Effect.void : Effect.andThen(Effect.sleep("20 millis"), eventually(condition)))

/** Moves the clock step by step until the fiber is done; the sockets between decide how many steps that takes. */
export const advanceUntil = <A, E>(fiber: Fiber.Fiber<A, E>, step: Duration.Input): Effect.Effect<A, E> =>
  Effect.suspend(() =>
    fiber.pollUnsafe() === undefined
      ? TestClock.adjust(step).pipe(Effect.andThen(turn), Effect.flatMap(() => advanceUntil(fiber, step)))
      : Fiber.join(fiber)
  )
