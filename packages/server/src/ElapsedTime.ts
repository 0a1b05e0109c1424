/** Time for deadlines: the wall clock is put right now and then, and a wait must not last an hour longer, or end, by that. */
import type { Clock } from "effect"

const nanosPerMilli = 1_000_000

/** Milliseconds since some moment in the past, with decimals. */
export const elapsedMillis = (clock: Clock.Clock): number => Number(clock.monotonicTimeNanosUnsafe()) / nanosPerMilli
