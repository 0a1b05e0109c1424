/**
 * The calls of producers in a segment: an optional part of the body that says which records came in which call, so that a
 * repeat is recognised after a restart too.
 *
 * The byte table is in `docs/format.md`. Invariants: a call lies in one segment, whole · calls are in the order of their
 * records and share none · a segment that has the part says so by a critical extension.
 */
import { type BodyFailure, bodyFailure } from "./BodyFailure.ts"
import { decodeText, encodeText, getUint64, setUint64 } from "./Bytes.ts"

/** Bit of the part in the column mask of the body. */
export const callsBit = 16

/** Longest producer id, in characters. */
export const maxProducerIdLength = 128

const producerIdPattern = new RegExp(`^[\\x20-\\x7e]{1,${maxProducerIdLength}}$`)

/** What a producer id must be, for error messages. */
export const producerIdRule = `must be 1 to ${maxProducerIdLength} printable ASCII characters`

/** Whether a value can be a producer id. */
export const isProducerId = (value: string): boolean => producerIdPattern.test(value)

/** One call, as a segment keeps it. */
export interface SegmentCall {
  readonly id: string
  /** The producer's own number of the call. */
  readonly sequence: number
  /** Its first record, counted from 0 in the segment. */
  readonly index: number
  /** Its records, 1 or more. */
  readonly count: number
  /** CRC-32 over its payloads, each after its length as `u32`. */
  readonly fingerprint: number
}

const countBytes = 4
const fixedCallBytes = 22

/** Bytes that one call adds to the body. */
export const encodedCallBytes = (id: string): number => fixedCallBytes + id.length

/** Bytes of the part; 0 where there is none. */
export const encodedCallsBytes = (calls: ReadonlyArray<SegmentCall> | undefined): number =>
  calls === undefined ? 0 : calls.reduce((sum, call) => sum + encodedCallBytes(call.id), countBytes)

/** Writes the part at `start`; answers where it ends. */
export const writeCalls = (
  target: Uint8Array,
  view: DataView,
  start: number,
  calls: ReadonlyArray<SegmentCall>
): number => {
  view.setUint32(start, calls.length, true)
  let offset = start + countBytes
  for (const call of calls) {
    const id = encodeText(call.id)
    view.setUint16(offset, id.length, true)
    setUint64(view, offset + 2, call.sequence)
    view.setUint32(offset + 10, call.index, true)
    view.setUint32(offset + 14, call.count, true)
    view.setUint32(offset + 18, call.fingerprint, true)
    target.set(id, offset + fixedCallBytes)
    offset += fixedCallBytes + id.length
  }
  return offset
}

/** The calls of a body, and where the part ends. */
export interface ReadCalls {
  readonly calls: ReadonlyArray<SegmentCall>
  readonly end: number
}

/** Reads the part at `start` of a body with `records` records. */
export const readCalls = (
  bytes: Uint8Array,
  view: DataView,
  start: number,
  records: number
): ReadCalls | BodyFailure => {
  if (start + countBytes > bytes.length) return bodyFailure(start, "the calls are cut")
  const count = view.getUint32(start, true)
  const calls: Array<SegmentCall> = []
  let offset = start + countBytes
  let nextIndex = 0
  for (let nth = 0; nth < count; nth++) {
    const idAt = offset + fixedCallBytes
    if (idAt > bytes.length) return bodyFailure(offset, "the calls are cut")
    const end = idAt + view.getUint16(offset, true)
    if (end > bytes.length) return bodyFailure(offset, "a producer id is longer than the body")
    const id = decodeText(bytes.subarray(idAt, end))
    if (id === undefined || !isProducerId(id)) return bodyFailure(idAt, "a producer id is not printable ASCII")
    const sequence = getUint64(view, offset + 2)
    if (sequence === undefined) return bodyFailure(offset + 2, "a producer's sequence is beyond 2^53-1")
    const index = view.getUint32(offset + 10, true)
    const callRecords = view.getUint32(offset + 14, true)
    if (index < nextIndex || callRecords === 0 || index + callRecords > records) {
      return bodyFailure(offset + 10, "the calls do not fit the records")
    }
    nextIndex = index + callRecords
    calls.push({ id, sequence, index, count: callRecords, fingerprint: view.getUint32(offset + 18, true) })
    offset = end
  }
  return { calls, end: offset }
}
