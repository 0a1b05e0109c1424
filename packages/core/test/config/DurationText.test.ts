import {
  DurationFromText,
  durationInputText,
  formatDuration,
  parseDuration
} from "@effect-wal/core/config/DurationText"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Result, Schema } from "effect"

const millis = (value: unknown): number => Duration.toMillis(Result.getOrThrow(parseDuration(value)))
const rule = (value: unknown): string => {
  const parsed = parseDuration(value)
  assert.isTrue(Result.isFailure(parsed), `${String(value)} was taken`)
  return Result.isFailure(parsed) ? parsed.failure : ""
}

describe("DurationText", () => {
  it.each([
    ["500ms", 500],
    ["1s", 1_000],
    ["1.5s", 1_500],
    ["30s", 30_000],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["1d", 86_400_000],
    ["30d", 2_592_000_000],
    ["0s", 0],
    ["0.5ms", 0.5]
  ])("[case 21] %s is %d ms", (text, expected) => {
    assert.strictEqual(millis(text), expected)
  })

  it.each([500, "500", 1e3, 1.5, -1, "0", "1.5"])("[case 21] %j lacks a unit, and the rule says so", (value) => {
    assert.include(rule(value), "has no unit")
  })

  it.each([
    "1S",
    "1 s",
    "1sec",
    "1s500ms",
    "1e3s",
    "1 sec",
    "s",
    ".5s",
    "1.s",
    "+1s",
    "١s",
    "1s ",
    "Infinity",
    "1µs",
    "1w"
  ])(
    "[case 21] %j is not guessed at",
    (value) => {
      assert.include(rule(value), "one of ms, s, m, h, d")
    }
  )

  it("[case 21] infinite, empty, null and negative values are refused, each with its own rule", () => {
    assert.include(rule(Number.POSITIVE_INFINITY), "must be finite")
    assert.include(rule(Number.NaN), "must be finite")
    assert.include(rule(""), "is empty")
    assert.include(rule(null), "has no value")
    assert.strictEqual(rule("-1s"), "must not be negative")
    assert.include(rule(true), "must be a number and one of")
    assert.include(rule([1]), "must be a number and one of")
  })

  it("refuses what is finer than a nanosecond or longer than 100 years, instead of rounding", () => {
    assert.strictEqual(rule("0.0000001ms"), "must not be finer than a nanosecond")
    assert.strictEqual(rule("36501d"), "must not be longer than 36500d")
    assert.strictEqual(millis("36500d"), 36_500 * 86_400_000)
  })

  it("a bare 0 needs no unit", () => {
    assert.strictEqual(millis(0), 0)
  })

  it.effect.prop(
    "what is formatted reads back as the same duration",
    { nanos: Schema.BigInt.check(Schema.isBetweenBigInt({ minimum: 0n, maximum: 3_153_600_000_000_000_000n })) },
    ({ nanos }) =>
      Effect.sync(() => {
        const duration = Duration.nanos(nanos)
        const read = Result.getOrThrow(parseDuration(formatDuration(duration)))
        assert.strictEqual(Duration.format(Duration.subtract(read, duration)), "0")
        assert.deepStrictEqual(Duration.toNanos(read), Duration.toNanos(duration))
      })
  )

  it.effect.prop(
    "digits and a unit are that many of the unit",
    {
      digits: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36_500 })),
      unit: Schema.Literals(["ms", "s", "m", "h", "d"])
    },
    ({ digits, unit }) =>
      Effect.sync(() => {
        const size = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit]
        assert.strictEqual(millis(`${digits}${unit}`), digits * size)
      })
  )

  it.effect.prop("no text crashes the parser", { text: Schema.String }, ({ text }) =>
    Effect.sync(() => {
      const parsed = parseDuration(text)
      if (Result.isSuccess(parsed)) assert.match(text, /^\d+(\.\d+)?(ms|s|m|h|d)$/)
    }))

  it("formats with the largest unit that divides", () => {
    assert.strictEqual(formatDuration(Duration.seconds(90)), "90s")
    assert.strictEqual(formatDuration(Duration.minutes(120)), "2h")
    assert.strictEqual(formatDuration(Duration.zero), "0ms")
    assert.strictEqual(formatDuration(Duration.millis(1.5)), "1.5ms")
    assert.strictEqual(formatDuration(Duration.infinity), "Infinity")
  })

  it("library input becomes text that the decoder takes, or refuses", () => {
    assert.strictEqual(durationInputText("1.5s"), "1.5s")
    assert.strictEqual(durationInputText("5 seconds"), "5s")
    assert.strictEqual(durationInputText(250), "250ms")
    assert.strictEqual(durationInputText(Duration.minutes(2)), "2m")
    assert.strictEqual(durationInputText(Number.NaN), "NaN")
    assert.strictEqual(durationInputText("Infinity"), "Infinity")
  })

  it.effect("is a codec of text", () =>
    Effect.gen(function*() {
      const decoded = yield* Schema.decodeEffect(DurationFromText)("1.5s")
      assert.strictEqual(Duration.toMillis(decoded), 1_500)
      assert.strictEqual(yield* Schema.encodeEffect(DurationFromText)(decoded), "1500ms")
      const error = yield* Effect.flip(Schema.decodeEffect(DurationFromText)("500"))
      assert.include(error.message, "has no unit")
    }))
})
