/** Segments as a worker takes them: their records in place, their header stamped. */
import { chainSeed } from "@effect-wal/core/format/ChainHash"
import { emptyCursorSet } from "@effect-wal/core/format/CursorSet"
import { nodeDigest } from "@effect-wal/core/node/NodeDigest"
import { SegmentOpener, type StampedSegment } from "../../../packages/core/src/write/Segment.ts"
import { SlotLedger } from "../../../packages/core/src/write/SlotLedger.ts"
import { recordsOf } from "./Payloads.ts"

const logId = "11111111111111111111111111111111"

/** One segment for each list of payloads, one behind the other in one epoch. */
export const sealedSegments = (contents: ReadonlyArray<ReadonlyArray<Uint8Array>>): ReadonlyArray<StampedSegment> => {
  const trim = { epoch: 1, slot: 0, seq: 0, at: 0, chain: chainSeed(logId, nodeDigest) }
  const ledger = new SlotLedger({
    prefix: "node/log/",
    logId,
    nonce: "22222222222222222222222222222222",
    epoch: 1,
    window: contents.length,
    link: trim,
    digest: nodeDigest
  })
  const opener = new SegmentOpener()
  let seq = 1
  return contents.map((payloads) => {
    const segment = opener.open(seq, 0)
    for (const record of recordsOf(payloads)) segment.columns.push(record, 1)
    seq += payloads.length
    return ledger.stamp(segment, { cursors: emptyCursorSet, trim })
  })
}
