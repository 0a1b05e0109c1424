/**
 * The JSON form of an append: `{"records":[{"payload":…} | {"payload_base64":"…"}, key?, headers?, timestamp?]}`.
 *
 * Payloads are cut out of the body as they stand. Unknown and doubled fields are refused: a misspelt `timestmap` must
 * not vanish.
 */
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import { Effect, Iterable, Result } from "effect"
import { Base64 } from "effect/encoding"
import { isUtf8 } from "node:buffer"
import { RequestProblem } from "../RequestProblem.ts"
import { errorPosition, scanDocument, scanString, scanValue, skipSpace, wordsOf } from "./JsonScanner.ts"
import { skipByteOrderMark } from "./Ndjson.ts"
import { endSlice, isSliceOver, type ParseBounds, tooManyRecords } from "./ParseBounds.ts"

/** A value of a JSON text, as the range of bytes that it covers. */
interface Slice {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

const textDecoder = new TextDecoder("utf-8", { ignoreBOM: true })

const problem = (path: string, rule: string): RequestProblem =>
  new RequestProblem({
    code: "invalid_request",
    message: `${path}: ${rule}; nothing was appended`,
    details: { path }
  })

/** Decodes a slice that is known to be JSON. */
const decode = (bytes: Uint8Array, slice: Slice): unknown =>
  JSON.parse(textDecoder.decode(bytes.subarray(slice.start, slice.end)))

/**
 * The same where text or a number is wanted: `undefined` for an array or an object, which is not decoded. One with
 * millions of names would take seconds, only to be refused.
 */
const decodeScalar = (bytes: Uint8Array, slice: Slice): unknown =>
  bytes[slice.start] === openBrace || bytes[slice.start] === openBracket ? undefined : decode(bytes, slice)

/** The members of the object at `at`, which is known to be JSON, one after the other. */
function* members(bytes: Uint8Array, at: Slice): Generator<readonly [name: Slice, value: Slice]> {
  let position = skipSpace(bytes, at.start + 1, at.end)
  while (position < at.end - 1) {
    const nameEnd = scanString(bytes, position, at.end)
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd, at.end) + 1, at.end)
    const end = scanValue(bytes, start, at.end)
    yield [{ start: position, end: nameEnd }, { start, end }]
    position = skipSpace(bytes, end, at.end)
    if (bytes[position] === comma) position = skipSpace(bytes, position + 1, at.end)
  }
}

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string")

/** Most headers of a record. A body has room for millions, which nobody could take apart without a stop of seconds. */
const maxHeaders = 1_000

const decodeHeaders = (bytes: Uint8Array, slice: Slice): Readonly<Record<string, string>> | undefined => {
  if (bytes[slice.start] !== openBrace) return undefined
  let count = 0
  for (const [, value] of members(bytes, slice)) {
    if (bytes[value.start] !== quote || ++count > maxHeaders) return undefined
  }
  const headers = decode(bytes, slice)
  // Of a doubled name only the last value is there.
  return isTexts(headers) && Object.keys(headers).length === count ? headers : undefined
}

const decodePayload = (
  bytes: Uint8Array,
  fields: Map<string, Slice>,
  path: string
): Result.Result<Uint8Array, RequestProblem> => {
  const verbatim = fields.get("payload")
  const base64 = fields.get("payload_base64")
  if (verbatim !== undefined) {
    return base64 === undefined
      ? Result.succeed(bytes.subarray(verbatim.start, verbatim.end))
      : Result.fail(problem(path, "has both payload and payload_base64"))
  }
  if (base64 === undefined) return Result.fail(problem(path, "needs payload or payload_base64"))
  const text = decodeScalar(bytes, base64)
  if (typeof text !== "string") return Result.fail(problem(`${path}.payload_base64`, "must be a string"))
  return Result.mapError(Base64.decode(text), () => problem(`${path}.payload_base64`, "is not base64"))
}

const knownFields = new Set(["payload", "payload_base64", "key", "headers", "timestamp"])

/** So much of a name that nobody knows is answered, in characters: it can be as long as the body. */
const maxShownName = 64

const fieldsOf = (bytes: Uint8Array, slice: Slice, path: string): Result.Result<Map<string, Slice>, RequestProblem> => {
  if (bytes[slice.start] !== openBrace) return Result.fail(problem(path, "must be an object"))
  const fields = new Map<string, Slice>()
  for (const [nameSlice, value] of members(bytes, slice)) {
    const name = String(decode(bytes, nameSlice))
    if (!knownFields.has(name)) {
      return Result.fail(problem(`${path}.${name.slice(0, maxShownName)}`, "is not a field of a record"))
    }
    if (fields.has(name)) return Result.fail(problem(`${path}.${name}`, "stands there twice"))
    fields.set(name, value)
  }
  return Result.succeed(fields)
}

const decodeRecord = (bytes: Uint8Array, slice: Slice, path: string): Result.Result<AppendRecord, RequestProblem> => {
  const fields = fieldsOf(bytes, slice, path)
  if (Result.isFailure(fields)) return Result.fail(fields.failure)
  const payload = decodePayload(bytes, fields.success, path)
  if (Result.isFailure(payload)) return Result.fail(payload.failure)
  const record: { -readonly [Field in keyof AppendRecord]: AppendRecord[Field] } = { payload: payload.success }
  const key = fields.success.get("key")
  if (key !== undefined) {
    const decoded = decodeScalar(bytes, key)
    if (typeof decoded !== "string") return Result.fail(problem(`${path}.key`, "must be a string"))
    record.key = decoded
  }
  const headers = fields.success.get("headers")
  if (headers !== undefined) {
    const decoded = decodeHeaders(bytes, headers)
    if (decoded === undefined) {
      return Result.fail(
        problem(`${path}.headers`, `must be an object of strings, each name once, at most ${maxHeaders}`)
      )
    }
    record.headers = decoded
  }
  const timestamp = fields.success.get("timestamp")
  if (timestamp !== undefined) {
    const decoded = decodeScalar(bytes, timestamp)
    if (typeof decoded !== "number" || !Number.isFinite(decoded)) {
      return Result.fail(problem(`${path}.timestamp`, "must be a finite number"))
    }
    record.timestamp = decoded
  }
  return Result.succeed(record)
}

const notJson = (offset: number, reason = `not JSON at byte ${offset}`): RequestProblem =>
  new RequestProblem({ code: "invalid_json", message: `${reason}; nothing was appended`, details: { offset } })

/** The first position behind `[` in a body that starts as `{"records":[`; `undefined` where it starts otherwise. */
const startOfRecords = (body: Uint8Array): number | undefined => {
  const end = body.length
  const start = skipSpace(body, skipByteOrderMark(body), end)
  if (body[start] !== openBrace) return undefined
  const name = skipSpace(body, start + 1, end)
  const nameEnd = scanString(body, name, end)
  if (nameEnd < 0 || decode(body, { start: name, end: nameEnd }) !== "records") return undefined
  const colonAt = skipSpace(body, nameEnd, end)
  const value = skipSpace(body, colonAt + 1, end)
  return body[colonAt] === colon && body[value] === openBracket ? value + 1 : undefined
}

/** Why a body is refused that does not start, or does not end, as one does that holds the one field `records`. */
const refusalOf = (body: Uint8Array): RequestProblem => {
  const start = skipSpace(body, skipByteOrderMark(body), body.length)
  const scanned = scanDocument(body, start, body.length)
  if (scanned < 0) return notJson(errorPosition(scanned))
  if (body[start] === openBrace) {
    const found = Iterable.take(members(body, { start, end: scanValue(body, start, body.length) }), 2)
    const names = Array.from(found, ([name]) => decode(body, name))
    if (names.length === 1 && names[0] === "records") return problem("records", "must be an array")
  }
  return problem("body", "must be an object with the one field records")
}

/** Where each of the records is that a body holds: the only look at all of it, before any of them is decoded. */
const findRecords = Effect.fnUntraced(function*(body: Uint8Array, bounds: ParseBounds) {
  const first = startOfRecords(body)
  if (first === undefined) return yield* refusalOf(body)
  const length = body.length
  const words = wordsOf(body)
  const found: Array<Slice> = []
  let position = skipSpace(body, first, length)
  let sliceStart = position
  let known = 0
  while (found.length > 0 || body[position] !== closeBracket) {
    if (found.length === bounds.maxRecords) return yield* tooManyRecords(bounds)
    const end = scanValue(body, position, length, words)
    if (end < 0) return yield* notJson(errorPosition(end))
    found.push({ start: position, end })
    position = skipSpace(body, end, length)
    if (body[position] === closeBracket) break
    if (body[position] !== comma) return yield* notJson(position)
    position = skipSpace(body, position + 1, length)
    if (isSliceOver(position - sliceStart, found.length - known)) {
      yield* endSlice(bounds, found.length)
      sliceStart = position
      known = found.length
    }
  }
  const closing = skipSpace(body, position + 1, length)
  const isWhole = body[closing] === closeBrace && skipSpace(body, closing + 1, length) === length
  return isWhole ? found : yield* refusalOf(body)
})

/**
 * The records of the body, payloads as views into it. Fails `invalid_json` with the offset, `invalid_request` with the
 * path, and `too_many_records` at the first record beyond the bound; what follows is not looked at. `overloaded`: see
 * `ParseBounds`.
 */
export const decodeRecords = Effect.fnUntraced(function*(body: Uint8Array, bounds: ParseBounds) {
  if (!isUtf8(body)) return yield* notJson(0, "the bytes are not UTF-8")
  const found = yield* findRecords(body, bounds)
  const records: Array<AppendRecord> = []
  let headers = 0
  let sliceStart = 0
  let sliceIndex = 0
  for (const [index, slice] of found.entries()) {
    const record = decodeRecord(body, slice, `records[${index}]`)
    if (Result.isFailure(record)) return yield* record.failure
    records.push(record.success)
    if (record.success.headers !== undefined) headers += Object.keys(record.success.headers).length
    if (isSliceOver(slice.end - sliceStart, index - sliceIndex)) {
      yield* endSlice(bounds, found.length, headers)
      sliceStart = slice.end
      sliceIndex = index
    }
  }
  if (headers > 0) yield* bounds.claim(records.length, headers)
  return records
})
