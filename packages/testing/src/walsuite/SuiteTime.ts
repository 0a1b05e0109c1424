/**
 * Time in the log suite: the log's clock is the test's, while stores answer in their own time. So waiting here means: let
 * the store work, and move the clock on a little, so that pauses between tries pass. Nothing is timed.
 */
import { Effect } from "effect"
import { TestClock } from "effect/testing"

/** Lets what the store has answered arrive; the clock stands still. */
export const arrive: Effect.Effect<void> = TestClock.withLive(Effect.sleep("1 millis"))

/** One turn: the clock goes on, and what the store does can arrive. */
const turn = Effect.andThen(TestClock.adjust("2 millis"), arrive)

/** Lets what is under way arrive, so that what must not happen has a chance to. */
export const settle: Effect.Effect<void> = Effect.andThen(turn, turn)

/** Runs an effect to its end. */
export const drive = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
    for (;;) {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return yield* exit
      yield* turn
    }
  })

/** Waits until something holds. */
export const until = <E, R>(holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.gen(function*() {
    while (!(yield* drive(holds))) yield* turn
  })

/** Starts it in the background; ask with `isDone`, end with `Fiber.join`. */
export const start = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

export const isDone = (fiber: { readonly pollUnsafe: () => unknown }): boolean => fiber.pollUnsafe() !== undefined
