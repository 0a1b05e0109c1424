/**
 * Elapsed time: the clock that no correction of the wall clock moves. Every timer and every duration of the log is taken
 * from it; the wall clock only stamps records.
 */
import { Clock, Effect } from "effect"

const nanosPerMilli = 1_000_000

/** Milliseconds of the monotonic clock, from an arbitrary start. */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / nanosPerMilli

/** As `monotonicMillis`, of the clock of the fiber. */
export const monotonicNow: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / nanosPerMilli
)
