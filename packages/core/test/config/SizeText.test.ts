import { formatSize, parseSize, SizeFromText } from "@effect-wal/core/config/SizeText"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"

const rule = (value: unknown): string => {
  const parsed = parseSize(value)
  assert.isTrue(Result.isFailure(parsed), `${String(value)} was taken`)
  return Result.isFailure(parsed) ? parsed.failure : ""
}

describe("SizeText", () => {
  it.each([
    ["10MB", 10_000_000],
    ["100KB", 100_000],
    ["100kB", 100_000],
    ["64MiB", 67_108_864],
    ["1.5MiB", 1_572_864],
    ["1GB", 1e9],
    ["1GiB", 1_073_741_824],
    ["2TiB", 2_199_023_255_552],
    ["512B", 512],
    ["1048576", 1_048_576],
    [1_048_576, 1_048_576],
    [0, 0]
  ])("[predecessor 31] %s is %d bytes", (value, bytes) => {
    assert.strictEqual(Result.getOrThrow(parseSize(value)), bytes)
  })

  it.each([
    "10 MB",
    "10mb",
    "10M",
    "10mib",
    "1e3",
    "MB",
    "1,000",
    "1.5",
    "0x10",
    1.5,
    2 ** 53,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    true
  ])(
    "%j is not guessed at",
    (value) => {
      assert.include(rule(value), "must be whole bytes as a number, or with a unit")
    }
  )

  it("has a rule of its own for negative, empty, missing, split and huge sizes", () => {
    assert.strictEqual(rule("-1MB"), "must not be negative")
    assert.strictEqual(rule(-1), "must not be negative")
    assert.include(rule(""), "is empty")
    assert.include(rule(null), "has no value")
    assert.strictEqual(rule("0.5B"), "must be a whole number of bytes")
    assert.strictEqual(rule("9999999999TiB"), "must be below 2^53 bytes")
  })

  it.effect.prop(
    "what is formatted reads back as the same bytes",
    { bytes: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })) },
    ({ bytes }) => Effect.sync(() => assert.strictEqual(Result.getOrThrow(parseSize(formatSize(bytes))), bytes))
  )

  it("formats with the shortest exact unit", () => {
    assert.strictEqual(formatSize(67_108_864), "64MiB")
    assert.strictEqual(formatSize(10_000_000), "10MB")
    assert.strictEqual(formatSize(10_240), "10KiB")
    assert.strictEqual(formatSize(1_001), "1001")
  })

  it.effect("is a codec of text", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* Schema.decodeEffect(SizeFromText)("10MB"), 10_000_000)
      assert.strictEqual(yield* Schema.encodeEffect(SizeFromText)(10_000_000), "10MB")
      const error = yield* Effect.flip(Schema.decodeEffect(SizeFromText)("10mb"))
      assert.include(error.message, "with a unit")
    }))
})
