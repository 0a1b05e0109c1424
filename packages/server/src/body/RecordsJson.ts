/**
 * The JSON form of an append: `{"records":[{"payload":…} | {"payload_base64":"…"}, key?, headers?, timestamp?]}`.
 *
 * Payloads are cut out of the body as they stand. Unknown and doubled fields are refused: a misspelt `timestmap` must
 * not vanish.
 */
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import { Result } from "effect"
import { Base64 } from "effect/encoding"
import { isUtf8 } from "node:buffer"
import { RequestProblem } from "../RequestProblem.ts"
import { errorPosition, scanDocument, scanString, scanValue, skipSpace } from "./JsonScanner.ts"
import { skipByteOrderMark } from "./Ndjson.ts"

/** A value of a JSON text, as the range of bytes that it covers. */
interface Slice {
  readonly start: number
  readonly end: number
}

const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b

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

/** The members of the object at `at`, which is known to be JSON; `undefined` when it is not an object. */
const members = (bytes: Uint8Array, at: Slice): Array<readonly [name: string, value: Slice]> | undefined => {
  if (bytes[at.start] !== openBrace) return undefined
  const found: Array<readonly [string, Slice]> = []
  let position = skipSpace(bytes, at.start + 1, at.end)
  while (position < at.end - 1) {
    const nameEnd = scanString(bytes, position, at.end)
    const name = String(decode(bytes, { start: position, end: nameEnd }))
    const start = skipSpace(bytes, skipSpace(bytes, nameEnd, at.end) + 1, at.end)
    const end = scanValue(bytes, start, at.end)
    found.push([name, { start, end }])
    position = skipSpace(bytes, end, at.end)
    if (bytes[position] === comma) position = skipSpace(bytes, position + 1, at.end)
  }
  return found
}

/** The elements of the array at `at`, which is known to be JSON; `undefined` when it is not an array. */
const elements = (bytes: Uint8Array, at: Slice): Array<Slice> | undefined => {
  if (bytes[at.start] !== openBracket) return undefined
  const found: Array<Slice> = []
  let position = skipSpace(bytes, at.start + 1, at.end)
  while (position < at.end - 1) {
    const end = scanValue(bytes, position, at.end)
    found.push({ start: position, end })
    position = skipSpace(bytes, end, at.end)
    if (bytes[position] === comma) position = skipSpace(bytes, position + 1, at.end)
  }
  return found
}

const decodeHeaders = (bytes: Uint8Array, slice: Slice): Record<string, string> | undefined => {
  const found = members(bytes, slice)
  if (found === undefined) return undefined
  // A map, not a look at all names before: a body can hold millions.
  const headers = new Map<string, string>()
  for (const [name, value] of found) {
    const decoded = decode(bytes, value)
    if (typeof decoded !== "string" || headers.has(name)) return undefined
    headers.set(name, decoded)
  }
  // Not by assignment: `__proto__` is a name like any other.
  return Object.fromEntries(headers)
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
  const text = decode(bytes, base64)
  if (typeof text !== "string") return Result.fail(problem(`${path}.payload_base64`, "must be a string"))
  return Result.mapError(Base64.decode(text), () => problem(`${path}.payload_base64`, "is not base64"))
}

const knownFields = new Set(["payload", "payload_base64", "key", "headers", "timestamp"])

/** So much of a name that nobody knows is answered, in characters: it can be as long as the body. */
const maxShownName = 64

const fieldsOf = (bytes: Uint8Array, slice: Slice, path: string): Result.Result<Map<string, Slice>, RequestProblem> => {
  const found = members(bytes, slice)
  if (found === undefined) return Result.fail(problem(path, "must be an object"))
  const fields = new Map<string, Slice>()
  for (const [name, value] of found) {
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
    const decoded = decode(bytes, key)
    if (typeof decoded !== "string") return Result.fail(problem(`${path}.key`, "must be a string"))
    record.key = decoded
  }
  const headers = fields.success.get("headers")
  if (headers !== undefined) {
    const decoded = decodeHeaders(bytes, headers)
    if (decoded === undefined) {
      return Result.fail(problem(`${path}.headers`, "must be an object of strings, each name once"))
    }
    record.headers = decoded
  }
  const timestamp = fields.success.get("timestamp")
  if (timestamp !== undefined) {
    const decoded = decode(bytes, timestamp)
    if (typeof decoded !== "number" || !Number.isFinite(decoded)) {
      return Result.fail(problem(`${path}.timestamp`, "must be a finite number"))
    }
    record.timestamp = decoded
  }
  return Result.succeed(record)
}

/** The records of the body, payloads as views into it; `invalid_json` with the offset, or `invalid_request` with the path. */
export const decodeRecords = (body: Uint8Array): Result.Result<Array<AppendRecord>, RequestProblem> => {
  const start = skipSpace(body, skipByteOrderMark(body), body.length)
  const scanned = scanDocument(body, start, body.length)
  if (scanned < 0 || !isUtf8(body)) {
    const offset = scanned < 0 ? errorPosition(scanned) : 0
    const reason = scanned < 0 ? `not JSON at byte ${offset}` : "the bytes are not UTF-8"
    return Result.fail(
      new RequestProblem({ code: "invalid_json", message: `${reason}; nothing was appended`, details: { offset } })
    )
  }
  const top = members(body, { start, end: scanValue(body, start, body.length) })
  const only = top?.[0]
  if (top?.length !== 1 || only === undefined || only[0] !== "records") {
    return Result.fail(problem("body", "must be an object with the one field records"))
  }
  const slices = elements(body, only[1])
  if (slices === undefined) return Result.fail(problem("records", "must be an array"))
  const records: Array<AppendRecord> = []
  for (const [index, slice] of slices.entries()) {
    const record = decodeRecord(body, slice, `records[${index}]`)
    if (Result.isFailure(record)) return Result.fail(record.failure)
    records.push(record.success)
  }
  return Result.succeed(records)
}
