/**
 * Records as they go out: `{"seq":…,"appended_at":…,"timestamp":…,"key":…,"headers":…,"payload":…}`.
 *
 * A payload that is JSON without line breaks stands in it byte for byte, so that what was sent comes back and one record
 * is one line; any other payload is `payload_base64`. Where damage took records away and the reader asked to go on, the
 * range stands in their place: `{"lost":{"from":…,"to":…,"reason":…}}`.
 */
import { isLostRange, type LostRange, type WalRecord } from "@effect-wal/core/WalRecord"
import { isUtf8 } from "node:buffer"
import { scanDocument } from "./JsonScanner.ts"

const isVerbatim = (payload: Uint8Array): boolean =>
  payload.length > 0 && payload.indexOf(0x0a) === -1 && payload.indexOf(0x0d) === -1 &&
  scanDocument(payload, 0, payload.length) >= 0 && isUtf8(payload)

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** One record as one line of JSON without its line end. The answer shares no memory with the record. */
const encodeRecord = (record: WalRecord): Buffer => {
  let head = `{"seq":${record.seq},"appended_at":${record.appendedAt}`
  if (record.timestamp !== undefined) head += `,"timestamp":${record.timestamp}`
  if (record.key !== undefined) head += `,"key":${JSON.stringify(record.key)}`
  if (record.headers !== undefined) head += `,"headers":${JSON.stringify(record.headers)}`
  const payload = asBuffer(record.payload)
  return isVerbatim(record.payload)
    ? Buffer.concat([Buffer.from(`${head},"payload":`), payload, Buffer.from("}")])
    : Buffer.from(`${head},"payload_base64":"${payload.toString("base64")}"}`)
}

/** A record or a lost range as one line of JSON without its line end. */
export const encodeElement = (element: WalRecord | LostRange): Buffer => {
  if (!isLostRange(element)) return encodeRecord(element)
  const { from, reason, to } = element
  return Buffer.from(JSON.stringify({ lost: { from, to, reason } }))
}
