/** Values as people read them: sizes and durations rounded with a unit, counts with separators. */
import { ByteSize, DateTime } from "effect"

/**
 * What a value is. All but `text`, `flag` and `time` are numbers and stand at the right of their column. `millis` is a
 * duration in milliseconds, `time` an instant in epoch milliseconds, `id` a number that is copied, such as a sequence
 * number; `rate` and `byteRate` are per second; `share` is 1 for the whole.
 */
export type Kind =
  | "text"
  | "flag"
  | "time"
  | "id"
  | "count"
  | "bytes"
  | "millis"
  | "rate"
  | "byteRate"
  | "dollars"
  | "ratio"
  | "share"

/** A value of a table; `null` and `undefined` are unknown or not there. */
export type Cell = string | number | boolean | null | undefined

/** What is shown where there is no value. */
const nothing = "-"

const leftKinds: ReadonlySet<Kind> = new Set<Kind>(["text", "flag", "time"])

/** Whether values of this kind stand at the right of their column. */
export const isRightAligned = (kind: Kind): boolean => !leftKinds.has(kind)

const controlCharacters = /\p{Cc}/gu

/** Text that a terminal cannot take for a command: control characters are written as JSON would. */
export const plainText = (text: string): string =>
  text.replace(controlCharacters, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Three digits that count, or all of the whole part. */
const short = (value: number): string => {
  const size = Math.abs(value)
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2
  return value.toLocaleString("en-US", { maximumFractionDigits: digits })
}

/** A number of bytes, as in `1.05 MB`; powers of 1,000, as in the documents. */
export const humanBytes = (bytes: number): string =>
  Number.isFinite(bytes)
    ? ByteSize.format(ByteSize.bytes(BigInt(Math.round(bytes))), { precision: 2, system: "decimal" })
    : "no bound"

const steps: ReadonlyArray<readonly [millis: number, unit: string]> = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
  [1, "ms"]
]

/** A duration, as in `1.5 s` or `350 µs`. */
export const humanMillis = (millis: number): string => {
  if (!Number.isFinite(millis)) return "no end"
  if (millis === 0) return "0 ms"
  if (Math.abs(millis) < 1) return `${short(millis * 1_000)} µs`
  const [size, unit] = steps.find(([each]) => Math.abs(millis) >= each) ?? [1, "ms"]
  return `${short(millis / size)} ${unit}`
}

const dollars = (value: number): string =>
  `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`

const number: Readonly<Record<Exclude<Kind, "text" | "flag">, (value: number) => string>> = {
  time: (value) => DateTime.formatIso(DateTime.makeUnsafe(value)),
  id: String,
  count: (value) => Math.round(value).toLocaleString("en-US"),
  bytes: humanBytes,
  millis: humanMillis,
  rate: (value) => `${short(value)}/s`,
  byteRate: (value) => `${humanBytes(value)}/s`,
  dollars,
  ratio: (value) => `${short(value)} ×`,
  share: (value) => `${short(value * 100)} %`
}

/** A value as it stands in a table for people. */
export const humanText = (kind: Kind, value: Cell): string => {
  if (value === null || value === undefined) return nothing
  if (typeof value === "boolean") return value ? "yes" : "no"
  if (typeof value === "string" || kind === "text" || kind === "flag") return plainText(String(value))
  return number[kind](value)
}
