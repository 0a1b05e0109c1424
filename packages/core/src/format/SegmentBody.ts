/**
 * The body of a segment: columns first, payloads last, so that encoding is copies and decoding is views.
 *
 * The byte table is in `docs/format.md`. Invariants checked on reading: every column lies within the body, the lengths of
 * the payloads add up to exactly the rest, times are finite and never fall.
 */
import { Result, Schema } from "effect"
import type { WalRecord } from "../WalRecord.ts"
import { type BodyFailure, bodyFailure as failure } from "./BodyFailure.ts"
import { decodeText, encodeText, viewOf } from "./Bytes.ts"
import type { OpenColumns } from "./OpenColumns.ts"
import { callsBit, encodedCallsBytes, readCalls, type SegmentCall, writeCalls } from "./ProducerCalls.ts"

/** Bit of each optional column in the column mask. */
export const keyBit = 1
export const headersBit = 2
export const contentTypeBit = 4
export const timestampBit = 8

const textColumns = [keyBit, headersBit, contentTypeBit] as const
const maskBytes = 4

const decodeHeaders = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Record(Schema.String, Schema.String)))

const bitmapBytes = (count: number): number => Math.ceil(count / 8)

const presentIn = (values: ReadonlyArray<unknown>): number =>
  values.reduce<number>((sum, value) => value === undefined ? sum : sum + 1, 0)

const setBitmap = (target: Uint8Array, offset: number, values: ReadonlyArray<unknown>, count: number): void => {
  for (let index = 0; index < count; index++) {
    if (values[index] === undefined) continue
    const at = offset + (index >> 3)
    target[at] = (target[at] ?? 0) | (1 << (index & 7))
  }
}

/** Room for the header before a body; a longer one is put elsewhere, with a copy of the body. */
export const headerRoom = 1_024

/** A body, and how many bytes before it in its buffer are nobody's. */
export interface EncodedBody {
  readonly bytes: Uint8Array
  readonly room: number
}

/** A body may stay in a buffer that is so much larger: what is kept counts by its own length. */
const mostSlack = 2
const leastBytes = 16_384

/** Where the body goes: in front of the payloads, if there is room for that and for a header; else all in a new buffer. */
const placeBody = (columns: OpenColumns, headBytes: number): EncodedBody => {
  const { buffer, payloadBytes } = columns
  const room = columns.headBytes - headBytes
  const isFull = buffer.length <= Math.max(leastBytes, mostSlack * (headBytes + payloadBytes))
  if (room >= headerRoom && isFull) return { bytes: buffer.subarray(room, columns.headBytes + payloadBytes), room }
  const bytes = new Uint8Array(headerRoom + headBytes + payloadBytes).subarray(headerRoom)
  bytes.set(columns.payloads, headBytes)
  return { bytes, room: headerRoom }
}

/** Encodes the columns, without a copy of the payloads where that is possible. Nothing is pushed to them any more. */
export const placeColumns = (columns: OpenColumns): EncodedBody => {
  const count = columns.count
  const text = [columns.keys, columns.headers, columns.contentTypes].map((values) =>
    values === undefined ? undefined : values.map((value) => value === undefined ? undefined : encodeText(value))
  )
  let size = maskBytes + count * 12
  for (const values of text) {
    if (values === undefined) continue
    size += bitmapBytes(count) + 4 * presentIn(values)
    for (const value of values) size += value?.length ?? 0
  }
  if (columns.timestamps !== undefined) size += bitmapBytes(count) + 8 * presentIn(columns.timestamps)
  size += encodedCallsBytes(columns.calls)
  const placed = placeBody(columns, size)
  const target = placed.bytes
  // What the columns do not write is zero: bits of optional columns are only ever set.
  target.fill(0, 0, size)
  const view = viewOf(target)
  const mask = textColumns.reduce<number>((bits, bit, column) => text[column] === undefined ? bits : bits | bit, 0)
  const timestamps = columns.timestamps === undefined ? 0 : timestampBit
  view.setUint32(0, mask | timestamps | (columns.calls === undefined ? 0 : callsBit), true)
  let offset = maskBytes
  for (let index = 0; index < count; index++) view.setUint32(offset + index * 4, columns.lengths[index] ?? 0, true)
  offset += count * 4
  for (let index = 0; index < count; index++) view.setFloat64(offset + index * 8, columns.times[index] ?? 0, true)
  offset += count * 8
  for (const values of text) if (values !== undefined) offset = writeText(target, view, offset, values, count)
  if (columns.timestamps !== undefined) offset = writeTimestamps(target, view, offset, columns.timestamps, count)
  if (columns.calls !== undefined) writeCalls(target, view, offset, columns.calls)
  return placed
}

/** Encodes the columns as a body of its own. */
export const encodeBody = (columns: OpenColumns): Uint8Array => placeColumns(columns).bytes.slice()

const writeText = (
  target: Uint8Array,
  view: DataView,
  start: number,
  values: ReadonlyArray<Uint8Array | undefined>,
  count: number
): number => {
  let offset = start
  setBitmap(target, offset, values, count)
  offset += bitmapBytes(count)
  for (const value of values) {
    if (value === undefined) continue
    view.setUint32(offset, value.length, true)
    offset += 4
  }
  for (const value of values) {
    if (value === undefined) continue
    target.set(value, offset)
    offset += value.length
  }
  return offset
}

const writeTimestamps = (
  target: Uint8Array,
  view: DataView,
  start: number,
  values: ReadonlyArray<number | undefined>,
  count: number
): number => {
  setBitmap(target, start, values, count)
  let offset = start + bitmapBytes(count)
  for (const value of values) {
    if (value === undefined) continue
    view.setFloat64(offset, value, true)
    offset += 8
  }
  return offset
}

interface Column {
  /** One entry a record; `undefined` where the record has none. */
  readonly values: ReadonlyArray<string | undefined>
  readonly end: number
}

const isPresent = (bytes: Uint8Array, offset: number, index: number): boolean =>
  ((bytes[offset + (index >> 3)] ?? 0) & (1 << (index & 7))) !== 0

const readText = (bytes: Uint8Array, view: DataView, start: number, count: number): Column | BodyFailure => {
  const lengthsAt = start + bitmapBytes(count)
  if (lengthsAt > bytes.length) return failure(start, "a column is cut")
  let present = 0
  for (let index = 0; index < count; index++) if (isPresent(bytes, start, index)) present++
  let offset = lengthsAt + present * 4
  if (offset > bytes.length) return failure(lengthsAt, "the lengths of a column are cut")
  const values = new Array<string | undefined>(count)
  let nth = 0
  for (let index = 0; index < count; index++) {
    if (!isPresent(bytes, start, index)) continue
    const length = view.getUint32(lengthsAt + nth * 4, true)
    nth++
    if (offset + length > bytes.length) return failure(offset, "a column is longer than the body")
    const text = decodeText(bytes.subarray(offset, offset + length))
    if (text === undefined) return failure(offset, "a column is not UTF-8")
    values[index] = text
    offset += length
  }
  return { values, end: offset }
}

interface Timestamps {
  readonly values: ReadonlyArray<number | undefined>
  readonly end: number
}

const readTimestamps = (bytes: Uint8Array, view: DataView, start: number, count: number): Timestamps | BodyFailure => {
  let offset = start + bitmapBytes(count)
  const values = new Array<number | undefined>(count)
  for (let index = 0; index < count; index++) {
    if (offset > bytes.length) return failure(start, "the timestamps are cut")
    if (!isPresent(bytes, start, index)) continue
    if (offset + 8 > bytes.length) return failure(offset, "the timestamps are cut")
    const value = view.getFloat64(offset, true)
    if (!Number.isFinite(value)) return failure(offset, "a timestamp is not finite")
    values[index] = value
    offset += 8
  }
  return { values, end: offset }
}

interface BodyColumns {
  readonly keys?: ReadonlyArray<string | undefined>
  readonly headers?: ReadonlyArray<string | undefined>
  readonly contentTypes?: ReadonlyArray<string | undefined>
  readonly timestamps?: ReadonlyArray<number | undefined>
  readonly calls: ReadonlyArray<SegmentCall>
  /** Where the payloads start. */
  readonly end: number
}

const readColumns = (bytes: Uint8Array, view: DataView, count: number): BodyColumns | BodyFailure => {
  const mask = view.getUint32(0, true)
  if (mask > 31) return failure(0, `unknown columns ${mask}`)
  let end = maskBytes + count * 12
  if (end > bytes.length) return failure(maskBytes, "lengths and times are cut")
  const text: Array<ReadonlyArray<string | undefined> | undefined> = []
  for (const bit of textColumns) {
    if ((mask & bit) === 0) {
      text.push(undefined)
      continue
    }
    const column = readText(bytes, view, end, count)
    if ("_tag" in column) return column
    text.push(column.values)
    end = column.end
  }
  const [keys, headers, contentTypes] = text
  const columns = {
    ...(keys === undefined ? {} : { keys }),
    ...(headers === undefined ? {} : { headers }),
    ...(contentTypes === undefined ? {} : { contentTypes })
  }
  let timestamps: ReadonlyArray<number | undefined> | undefined
  if ((mask & timestampBit) !== 0) {
    const column = readTimestamps(bytes, view, end, count)
    if ("_tag" in column) return column
    timestamps = column.values
    end = column.end
  }
  const part = (mask & callsBit) === 0 ? { calls: [], end } : readCalls(bytes, view, end, count)
  return "_tag" in part ? part : { ...columns, ...(timestamps === undefined ? {} : { timestamps }), ...part }
}

/** A call that a segment holds, with its own numbers. */
export interface HeldCall extends Pick<SegmentCall, "id" | "sequence" | "fingerprint"> {
  readonly first: number
  readonly last: number
  /** `appended_at` of its first record. */
  readonly at: number
}

/** The calls of producers in a raw body, in the order of their records; most have none. */
export const decodeCalls = (
  bytes: Uint8Array,
  segment: { readonly firstSeq: number; readonly count: number }
): ReadonlyArray<HeldCall> | BodyFailure => {
  if (bytes.length < maskBytes) return failure(0, "the body is cut")
  const view = viewOf(bytes)
  const columns = readColumns(bytes, view, segment.count)
  if ("_tag" in columns) return columns
  const timesAt = maskBytes + segment.count * 4
  return columns.calls.map(({ count, fingerprint, id, index, sequence }) => ({
    id,
    sequence,
    fingerprint,
    first: segment.firstSeq + index,
    last: segment.firstSeq + index + count - 1,
    at: view.getFloat64(timesAt + index * 8, true)
  }))
}

/** What is wrong with the time of a record after one of `before`. */
const timeProblem = (at: number, before: number): string | undefined =>
  !Number.isFinite(at) ? "a time is not finite" : at < before ? "the times fall" : undefined

/** One record with what its columns hold; `undefined` when its headers do not decode. */
const recordAt = (
  columns: BodyColumns,
  index: number,
  seq: number,
  appendedAt: number,
  payload: Uint8Array
): WalRecord | undefined => {
  const headersText = columns.headers?.[index]
  const headers = headersText === undefined ? undefined : Result.getOrUndefined(decodeHeaders(headersText))
  if (headersText !== undefined && headers === undefined) return undefined
  const key = columns.keys?.[index]
  const contentType = columns.contentTypes?.[index]
  const timestamp = columns.timestamps?.[index]
  return {
    seq,
    appendedAt,
    payload,
    ...(key === undefined ? {} : { key }),
    ...(headers === undefined ? {} : { headers }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(timestamp === undefined ? {} : { timestamp })
  }
}

/** Reads the records with a number of at least `fromSeq` of a raw body; payloads are views into `bytes`. */
export const decodeBody = (
  bytes: Uint8Array,
  segment: { readonly firstSeq: number; readonly count: number },
  fromSeq = 0
): ReadonlyArray<WalRecord> | BodyFailure => {
  if (bytes.length < maskBytes) return failure(0, "the body is cut")
  const view = viewOf(bytes)
  const count = segment.count
  const columns = readColumns(bytes, view, count)
  if ("_tag" in columns) return columns
  const timesAt = maskBytes + count * 4
  const records: Array<WalRecord> = []
  let offset = columns.end
  let before = Number.NEGATIVE_INFINITY
  for (let index = 0; index < count; index++) {
    const length = view.getUint32(maskBytes + index * 4, true)
    if (offset + length > bytes.length) return failure(offset, "a payload is longer than the body")
    const appendedAt = view.getFloat64(timesAt + index * 8, true)
    const problem = timeProblem(appendedAt, before)
    if (problem !== undefined) return failure(timesAt + index * 8, problem)
    before = appendedAt
    const seq = segment.firstSeq + index
    if (seq >= fromSeq) {
      const record = recordAt(columns, index, seq, appendedAt, bytes.subarray(offset, offset + length))
      if (record === undefined) return failure(maskBytes, "headers of a record do not decode")
      records.push(record)
    }
    offset += length
  }
  return offset === bytes.length ? records : failure(offset, `${bytes.length - offset} bytes follow the last payload`)
}
