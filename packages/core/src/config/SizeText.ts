/**
 * Sizes as people write them: `10MB`, `64MiB`, `1048576`.
 *
 * kB, MB, GB, TB are powers of 1,000; KiB, MiB, GiB, TiB are powers of 1,024; a whole number alone is bytes, there is
 * no other unit that it could mean.
 */
import { Effect, Result, Schema, SchemaGetter, SchemaIssue } from "effect"

/** A unit of a size. `KB` is `kB`. */
export type SizeUnit = "B" | "kB" | "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB"

/** The text of a size, such as `10MB`. */
export type SizeText = `${number}${SizeUnit}`

/** What a library user can give as a size: a whole number of bytes, or text with a unit. */
export type SizeInput = number | SizeText

const unitBytes: ReadonlyArray<readonly [SizeUnit, bigint]> = [
  ["TiB", 1n << 40n],
  ["GiB", 1n << 30n],
  ["MiB", 1n << 20n],
  ["KiB", 1n << 10n],
  ["TB", 10n ** 12n],
  ["GB", 10n ** 9n],
  ["MB", 10n ** 6n],
  ["KB", 1_000n],
  ["kB", 1_000n],
  ["B", 1n]
]

const pattern = /^(-?)(\d{1,16})(?:\.(\d{1,16}))?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)?$/

/** How to write a size, for error messages. */
export const sizeRule =
  "must be whole bytes as a number, or with a unit without a blank, as in 10MB (10^7) or 64MiB (2^26)"

const parseText = (text: string): Result.Result<number, string> => {
  const match = pattern.exec(text)
  if (match === null) return Result.fail(sizeRule)
  const [, sign, whole = "0", fraction = "", unit] = match
  if (unit === undefined && fraction !== "") return Result.fail(sizeRule)
  const scaled = BigInt(whole + fraction) * (unitBytes.find(([name]) => name === unit)?.[1] ?? 1n)
  const divisor = 10n ** BigInt(fraction.length)
  if (sign === "-" && scaled > 0n) return Result.fail("must not be negative")
  if (scaled % divisor !== 0n) return Result.fail("must be a whole number of bytes")
  const bytes = Number(scaled / divisor)
  return Number.isSafeInteger(bytes) ? Result.succeed(bytes) : Result.fail("must be below 2^53 bytes")
}

/** The bytes that `value` stands for, or the rule that it breaks. */
export const parseSize = (value: unknown): Result.Result<number, string> => {
  if (typeof value === "string") return value === "" ? Result.fail(`is empty; it ${sizeRule}`) : parseText(value)
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) return Result.fail(sizeRule)
    return value < 0 ? Result.fail("must not be negative") : Result.succeed(value)
  }
  return Result.fail(value === null || value === undefined ? `has no value; it ${sizeRule}` : sizeRule)
}

/** The shortest text that `parseSize` reads back as this many bytes. `bytes` is a safe integer, not negative. */
export const formatSize = (bytes: number): string => {
  const exact = BigInt(bytes)
  return unitBytes.filter(([unit, size]) => unit !== "B" && exact !== 0n && exact % size === 0n)
    .map(([unit, size]) => `${exact / size}${unit}`)
    .reduce((shortest, text) => text.length <= shortest.length ? text : shortest, String(bytes))
}

/** Decodes the text of a size to bytes. Fails with an `InvalidValue` that says how to write it. */
export const SizeFromText = Schema.String.pipe(Schema.decodeTo(Schema.Int, {
  decode: SchemaGetter.transformEffect((text: string) => {
    const parsed = parseText(text)
    return Result.isSuccess(parsed)
      ? Effect.succeed(parsed.success)
      : Effect.fail(new SchemaIssue.InvalidValue({ message: parsed.failure }))
  }),
  encode: SchemaGetter.transform(formatSize)
}))
