/** What a record must be before anything of its call is accepted, and what it counts. */
import { InvalidRecord, RecordTooLarge } from "../WalError.ts"
import type { AppendRecord } from "../WalRecord.ts"
import type { ProducerCall } from "./ProducerCheck.ts"

/** What a record takes of the buffer beside its content: lengths, times and bookkeeping. */
export const recordOverheadBytes = 32

/** Bytes of a string in UTF-8. */
const textBytes = (text: string): number => {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit > 0x7f) bytes += unit > 0x7ff ? 2 : 1
    // A pair of surrogates is four bytes, counted as twice three above.
    if (unit >= 0xd800 && unit <= 0xdbff) bytes -= 2
  }
  return bytes
}

/** What JSON adds to a string: escapes. */
const escapeBytes = (text: string): number => {
  let bytes = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x20) bytes += 5
    else if (unit === 0x22 || unit === 0x5c) bytes++
  }
  return bytes
}

const jsonBytes = (text: string): number => textBytes(text) + escapeBytes(text)

/** At least what the headers take as JSON. */
const headersBytes = (headers: Readonly<Record<string, string>>): number => {
  let bytes = 2
  for (const [name, value] of Object.entries(headers)) bytes += jsonBytes(name) + jsonBytes(value) + 6
  return bytes
}

/** Payload and optional fields, as `max_bytes` and `max_record_bytes` count them. */
export const contentBytesOf = (record: AppendRecord): number => {
  let bytes = record.payload.length
  if (record.key !== undefined) bytes += textBytes(record.key)
  if (record.headers !== undefined) bytes += headersBytes(record.headers)
  if (record.contentType !== undefined) bytes += textBytes(record.contentType)
  return bytes
}

/** A string that UTF-8 can carry unchanged: no half of a surrogate pair. */
const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed()

/**
 * An object that JSON shows as its own fields. A list, a `Map`, fetch's `Headers`, a class with a `toJSON` would be stored as
 * something else, which no reader takes, or as nothing.
 */
const isPlain = (value: object): boolean =>
  Object.prototype.toString.call(value) === "[object Object]" && typeof Reflect.get(value, "toJSON") !== "function"

const textRule = "must be a string without unpaired surrogates"

const fieldProblem = (record: AppendRecord): { readonly field: string; readonly rule: string } | undefined => {
  if (!(record.payload instanceof Uint8Array)) return { field: "payload", rule: "must be a Uint8Array" }
  if (record.key !== undefined && !isText(record.key)) return { field: "key", rule: textRule }
  if (record.contentType !== undefined && !isText(record.contentType)) return { field: "contentType", rule: textRule }
  if (record.timestamp !== undefined && !Number.isFinite(record.timestamp)) {
    return { field: "timestamp", rule: "must be a finite number" }
  }
  if (record.headers === undefined) return undefined
  if (!isPlain(record.headers)) return { field: "headers", rule: "must be a plain object" }
  for (const [name, value] of Object.entries(record.headers)) {
    if (!isText(name) || !isText(value)) return { field: `headers[${JSON.stringify(name)}]`, rule: textRule }
  }
  return undefined
}

/** Records with what each takes. */
export interface Sized {
  readonly records: ReadonlyArray<AppendRecord>
  /** Content bytes of each. */
  readonly contentBytes: ReadonlyArray<number>
}

/** The records of a call. */
export interface Measured extends Sized {
  /** What all together take of the buffer. */
  readonly bufferBytes: number
  /** They are the call of a producer, which is accepted whole or not at all. */
  readonly call?: ProducerCall
}

/** Measures the records of a call, or names the first thing that is wrong with them. */
export const measure = (
  records: ReadonlyArray<AppendRecord>,
  maxRecordBytes: number
): Measured | InvalidRecord | RecordTooLarge => {
  const contentBytes: Array<number> = []
  let bufferBytes = 0
  for (let index = 0; index < records.length; index++) {
    const record = records[index]
    if (record === undefined) return new InvalidRecord({ index, field: "record", rule: "is missing" })
    const problem = fieldProblem(record)
    if (problem !== undefined) return new InvalidRecord({ index, ...problem })
    const sizeBytes = contentBytesOf(record)
    if (sizeBytes > maxRecordBytes) return new RecordTooLarge({ index, sizeBytes, limitBytes: maxRecordBytes })
    contentBytes.push(sizeBytes)
    bufferBytes += sizeBytes + recordOverheadBytes
  }
  return { records, contentBytes, bufferBytes }
}
