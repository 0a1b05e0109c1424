/**
 * The chain that joins every segment to the one before: SHA-256 cut to 128 bits over the previous hash and the fields that
 * do not depend on the codec, so that segments compress side by side.
 */
import type { DigestService } from "../codec/Digest.ts"
import type { Boundary } from "./Boundary.ts"
import { encodeText, fromHex, setUint64, toHex, viewOf } from "./Bytes.ts"
import type { SegmentHeader } from "./SegmentHeader.ts"

export type ChainFields = Pick<
  SegmentHeader,
  "epoch" | "slot" | "firstSeq" | "count" | "firstAt" | "lastAt" | "rawBytes" | "rawCrc"
>

/** The hash before the first segment of a log. */
export const chainSeed = (logId: string, digest: DigestService): string =>
  toHex(digest.sha256([encodeText("effect-wal chain 1"), fromHex(logId)]).subarray(0, 16))

/** The hash after a segment, from the hash before it. */
export const chainAfter = (previous: string, fields: ChainFields, digest: DigestService): string => {
  const bytes = new Uint8Array(52)
  const view = viewOf(bytes)
  setUint64(view, 0, fields.epoch)
  setUint64(view, 8, fields.slot)
  setUint64(view, 16, fields.firstSeq)
  view.setUint32(24, fields.count, true)
  view.setFloat64(28, fields.firstAt, true)
  view.setFloat64(36, fields.lastAt, true)
  view.setUint32(44, fields.rawBytes, true)
  view.setUint32(48, fields.rawCrc, true)
  return toHex(digest.sha256([fromHex(previous), bytes]).subarray(0, 16))
}

/** The point before a segment, as its header knows it; the time is not in it, that of its own first record is close. */
export const boundaryBefore = (header: SegmentHeader): Boundary => ({
  epoch: header.epoch,
  slot: header.slot,
  seq: header.firstSeq - 1,
  at: header.firstAt,
  chain: header.chain
})

/** The point after a segment. */
export const boundaryAfter = (header: SegmentHeader, digest: DigestService): Boundary => ({
  epoch: header.epoch,
  slot: header.slot + 1,
  seq: header.firstSeq + header.count - 1,
  at: header.lastAt,
  chain: chainAfter(header.chain, header, digest)
})
