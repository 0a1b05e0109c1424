/** How long an effect takes, by the Clock, in milliseconds with decimals. */
import { Clock, Effect } from "effect"

const nanosPerMilli = 1e6

/** The effect's result, and how long it took; failures are passed on. */
export const measured = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly value: A; readonly millis: number }, E, R> =>
  Effect.flatMap(
    Clock.monotonicTimeNanos,
    (before) =>
      Effect.flatMap(effect, (value) =>
        Effect.map(Clock.monotonicTimeNanos, (after) => ({ value, millis: Number(after - before) / nanosPerMilli })))
  )
