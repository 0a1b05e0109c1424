/** How long an effect takes, by the Clock, in milliseconds with decimals. */
import { Effect } from "effect"
import { elapsedMillis } from "../ElapsedTime.ts"

/** The effect's result, and how long it took; failures are passed on. */
export const measured = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly value: A; readonly millis: number }, E, R> =>
  Effect.clockWith((clock) => {
    const before = elapsedMillis(clock)
    return Effect.map(effect, (value) => ({ value, millis: elapsedMillis(clock) - before }))
  })
