/**
 * The columns of a segment while it fills: plain growing arrays, written on the hot path without an effect.
 */
import type { AppendRecord } from "../WalRecord.ts"
import type { SegmentCall } from "./ProducerCalls.ts"

/** First size of the payload buffer. */
const initialBytes = 16_384

export class OpenColumns {
  count = 0
  payloadBytes = 0
  payloads: Uint8Array<ArrayBuffer> = new Uint8Array(initialBytes)
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

  /** The next `count` records are a call of its own; they are pushed before another call is opened. */
  openCall(call: Omit<SegmentCall, "index">): void {
    this.calls ??= []
    this.calls.push({ ...call, index: this.count })
  }

  /** Copies the record in. */
  push(record: AppendRecord, appendedAt: number): void {
    const payload = record.payload
    this.reserve(payload.length)
    this.payloads.set(payload, this.payloadBytes)
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
    if (needed <= this.payloads.length) return
    const grown = new Uint8Array(Math.max(needed, this.payloads.length * 2))
    grown.set(this.payloads.subarray(0, this.payloadBytes))
    this.payloads = grown
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
