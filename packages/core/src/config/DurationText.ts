/**
 * Durations as people write them: `500ms`, `1s`, `1.5s`, `2m`, `1h`, `30d`.
 *
 * A number without a unit is refused, because every tool guesses another one; only a bare 0 has no need of one. Nothing
 * is guessed: no blanks, no capitals, no exponents, no sums of units.
 */
import { Duration, Effect, Option, Result, Schema, SchemaGetter, SchemaIssue } from "effect"

/** A unit of a duration: millisecond, second, minute, hour, day of 24 hours. */
export type DurationUnit = "ms" | "s" | "m" | "h" | "d"

/** The text of a duration, such as `1.5s`. */
export type DurationText = `${number}${DurationUnit}`

/**
 * What a library user can give as a duration: text with a unit, or everything that Effect takes (a number is
 * milliseconds).
 */
export type DurationInput = DurationText | Duration.Input

const nanosPerMilli = 1_000_000n
const unitMillis: ReadonlyArray<readonly [DurationUnit, bigint]> = [
  ["d", 86_400_000n],
  ["h", 3_600_000n],
  ["m", 60_000n],
  ["s", 1_000n],
  ["ms", 1n]
]

/** The longest duration, 100 years: far below what a number of milliseconds holds exactly. */
const longestMillis = 36_500n * 86_400_000n

const pattern = /^(-?)(\d{1,15})(?:\.(\d{1,15}))?(ms|s|m|h|d)$/
const bareNumber = /^-?\d+(\.\d+)?$/

/** How to write a duration, for error messages. */
export const durationRule = "must be a number and one of ms, s, m, h, d, without a blank, as in 500ms, 1.5s or 2m"

const missingUnit = (digits: string): string =>
  `has no unit: write ${digits}ms, ${digits}s or ${digits}m; a number alone means something else in every tool`

const fromNanos = (nanos: bigint): Duration.Duration =>
  nanos % nanosPerMilli === 0n ? Duration.millis(Number(nanos / nanosPerMilli)) : Duration.nanos(nanos)

const parseText = (text: string): Result.Result<Duration.Duration, string> => {
  const match = pattern.exec(text)
  if (match === null) return Result.fail(bareNumber.test(text) ? missingUnit(text) : durationRule)
  const [, sign, whole = "0", fraction = "", unit] = match
  const millis = unitMillis.find(([name]) => name === unit)?.[1] ?? 1n
  const scaled = BigInt(whole + fraction) * millis * nanosPerMilli
  const divisor = 10n ** BigInt(fraction.length)
  if (sign === "-" && scaled > 0n) return Result.fail("must not be negative")
  if (scaled % divisor !== 0n) return Result.fail("must not be finer than a nanosecond")
  if (scaled / divisor > longestMillis * nanosPerMilli) return Result.fail("must not be longer than 36500d")
  return Result.succeed(fromNanos(scaled / divisor))
}

/** The duration that `value` stands for, or the rule that it breaks. A number is refused, except 0. */
export const parseDuration = (value: unknown): Result.Result<Duration.Duration, string> => {
  if (typeof value === "string") return value === "" ? Result.fail(`is empty; ${durationRule}`) : parseText(value)
  if (value === 0) return Result.succeed(Duration.zero)
  if (typeof value === "number") {
    return Result.fail(Number.isFinite(value) ? missingUnit(String(value)) : `must be finite; it ${durationRule}`)
  }
  return Result.fail(value === null || value === undefined ? `has no value; it ${durationRule}` : durationRule)
}

/** The shortest text that `parseDuration` reads back as this duration; `Infinity` for an infinite one. */
export const formatDuration = (duration: Duration.Duration): string => {
  const nanos = Option.getOrUndefined(Duration.toNanos(duration))
  if (nanos === undefined) return "Infinity"
  if (nanos % nanosPerMilli !== 0n) {
    const size = nanos < 0n ? -nanos : nanos
    const fraction = (size % nanosPerMilli).toString().padStart(6, "0").replace(/0+$/, "")
    return `${nanos < 0n ? "-" : ""}${size / nanosPerMilli}.${fraction}ms`
  }
  const millis = nanos / nanosPerMilli
  const [unit, size] = unitMillis.find(([, each]) => millis !== 0n && millis % each === 0n) ?? ["ms", 1n]
  return `${millis / size}${unit}`
}

/**
 * What a library user gave, as text for the one decoder. What is no duration comes back as text that the decoder
 * refuses, so that it is reported with its path among the other problems (Effect itself reads NaN as 0).
 */
export const durationInputText = (input: unknown): string => {
  if (typeof input === "string" && pattern.test(input)) return input
  if (typeof input === "number" && Number.isNaN(input)) return "NaN"
  // It looks at what it gets, whatever its type says, and answers None where it is no duration.
  const duration = Duration.fromInput(input as Duration.Input)
  if (Option.isSome(duration)) return formatDuration(duration.value)
  // A list or an object says how it is shown by itself, whatever that comes to.
  return typeof input === "object" && input !== null ? Object.prototype.toString.call(input) : String(input)
}

/** Decodes the text of a duration. Fails with an `InvalidValue` that says how to write it. */
export const DurationFromText = Schema.String.pipe(Schema.decodeTo(Schema.Duration, {
  decode: SchemaGetter.transformEffect((text: string) => {
    const parsed = parseText(text)
    return Result.isSuccess(parsed)
      ? Effect.succeed(parsed.success)
      : Effect.fail(new SchemaIssue.InvalidValue({ message: parsed.failure }))
  }),
  encode: SchemaGetter.transform(formatDuration)
}))
