/**
 * The columns of a segment while it fills: plain growing arrays, written on the hot path without an effect.
 */
import type { AppendRecord } from "../WalRecord.ts"
import type { SegmentCall } from "./ProducerCalls.ts"

/** First size of the payload buffer, where nothing else is known. */
const initialBytes = 16_384

/** What a segment is expected to take, so that its buffer grows seldom and is encoded where it lies. */
export interface ExpectedColumns {
  /** Before the payloads: the header of the object and the other columns. */
  readonly headBytes: number
  readonly payloadBytes: number
}

/** Where the buffer of an open segment comes from, and where one goes that it has outgrown. */
export interface BufferSource {
  /** At least so many bytes, in an `ArrayBuffer` of its own; what was in it stays. */
  readonly take: (bytes: number) => Uint8Array<ArrayBuffer>
  readonly give: (buffer: Uint8Array<ArrayBuffer>) => void
}

/** Nothing is used again. */
export const freshBuffers: BufferSource = { take: (bytes) => new Uint8Array(bytes), give: () => undefined }

export class OpenColumns {
  count = 0
  payloadBytes = 0
  /** Where the payloads start in `buffer`: what comes before them in the object is written there at last. */
  readonly headBytes: number
  buffer: Uint8Array<ArrayBuffer>
  readonly lengths: Array<number> = []
  /** `appended_at` of each record. */
  readonly times: Array<number> = []
  /** Optional columns are created by the first record that has the field, filled up with `undefined`. */
  keys: Array<string | undefined> | undefined = undefined
  /** As JSON. */
  headers: Array<string | undefined> | undefined = undefined
  contentTypes: Array<string | undefined> | undefined = undefined
  timestamps: Array<number | undefined> | undefined = undefined
  /** Which records are whose call; `undefined` where no producer has named itself. */
  calls: Array<SegmentCall> | undefined = undefined

  /** Where its buffer comes from, and goes when nobody can read it any more. */
  readonly buffers: BufferSource

  constructor(
    expected: ExpectedColumns = { headBytes: 0, payloadBytes: initialBytes },
    buffers: BufferSource = freshBuffers
  ) {
    this.headBytes = expected.headBytes
    this.buffers = buffers
    this.buffer = buffers.take(expected.headBytes + expected.payloadBytes)
  }

  /** The payloads, one after the other. */
  get payloads(): Uint8Array {
    return this.buffer.subarray(this.headBytes, this.headBytes + this.payloadBytes)
  }

  /** The next `count` records are a call of its own; they are pushed before another call is opened. */
  openCall(call: Omit<SegmentCall, "index">): void {
    this.calls ??= []
    this.calls.push({ ...call, index: this.count })
  }

  /** Copies the record in. */
  push(record: AppendRecord, appendedAt: number): void {
    const payload = record.payload
    this.reserve(payload.length)
    this.buffer.set(payload, this.headBytes + this.payloadBytes)
    this.payloadBytes += payload.length
    this.lengths.push(payload.length)
    this.times.push(appendedAt)
    this.keys = extend(this.keys, this.count, record.key)
    const headers = record.headers
    this.headers = extend(this.headers, this.count, headers === undefined ? undefined : JSON.stringify(headers))
    this.contentTypes = extend(this.contentTypes, this.count, record.contentType)
    this.timestamps = extend(this.timestamps, this.count, record.timestamp)
    this.count++
  }

  private reserve(bytes: number): void {
    const needed = this.payloadBytes + bytes
    const room = this.buffer.length - this.headBytes
    if (needed <= room) return
    const grown = this.buffers.take(this.headBytes + Math.max(needed, room * 2))
    grown.set(this.payloads, this.headBytes)
    this.buffers.give(this.buffer)
    this.buffer = grown
  }
}

const extend = <A>(
  column: Array<A | undefined> | undefined,
  count: number,
  value: A | undefined
): Array<A | undefined> | undefined => {
  if (column === undefined) {
    if (value === undefined) return undefined
    const created = new Array<A | undefined>(count).fill(undefined)
    created.push(value)
    return created
  }
  column.push(value)
  return column
}
