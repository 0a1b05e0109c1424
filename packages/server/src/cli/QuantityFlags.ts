/** Flags of quantities, spelled as in the configuration: durations with a unit, sizes as bytes or with one. */
import { DurationFromText, durationRule } from "@effect-wal/core/config/DurationText"
import { SizeFromText, sizeRule } from "@effect-wal/core/config/SizeText"
import { Duration } from "effect"
import { Flag } from "effect/cli"

/** A duration above 0, as in `1.5s`. */
export const durationFlag = (name: string): Flag.Flag<Duration.Duration> =>
  Flag.String(name).pipe(
    Flag.withMetavar("duration"),
    Flag.withSchema(DurationFromText),
    Flag.filter((duration) => Duration.toMillis(duration) > 0, () => `Expected: above 0; it ${durationRule}`)
  )

/** A size of 1 byte or more, as in `64KiB`. */
export const sizeFlag = (name: string): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("size"),
    Flag.withSchema(SizeFromText),
    Flag.filter((bytes) => bytes > 0, () => `Expected: above 0; it ${sizeRule}`)
  )

/** A whole number, both limits inclusive. */
export const countFlag = (name: string, min: number, max: number): Flag.Flag<number> =>
  Flag.Int(name).pipe(Flag.filter((value) => value >= min && value <= max, () => `Expected: ${min} to ${max}`))

/** A number with or without decimals, not below `min`. */
export const amountFlag = (name: string, min: number): Flag.Flag<number> =>
  Flag.Finite(name).pipe(Flag.filter((value) => value >= min, () => `Expected: a number of at least ${min}`))
