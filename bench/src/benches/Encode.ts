/** From records to the bytes of a segment, with its checksums. */
import { chainSeed } from "@effect-wal/core/format/ChainHash"
import { emptyCursorSet } from "@effect-wal/core/format/CursorSet"
import { nodeCompression } from "@effect-wal/core/node/NodeCompression"
import { nodeDigest } from "@effect-wal/core/node/NodeDigest"
import { Effect } from "effect"
import { packSegment } from "../../../packages/core/src/write/PackSegment.ts"
import { SegmentOpener } from "../../../packages/core/src/write/Segment.ts"
import { SegmentBuffers } from "../../../packages/core/src/write/SegmentBuffers.ts"
import { SlotLedger } from "../../../packages/core/src/write/SlotLedger.ts"
import type { Bench } from "../Bench.ts"
import { ratePerSecond, takeTurns } from "../Rounds.ts"
import { CopyFloor } from "../support/CopyFloor.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"

const records = 1_000
const recordBytes = 1_024
const logId = "11111111111111111111111111111111"
const buffers = new SegmentBuffers(8 * records * recordBytes)
const context = {
  buffers,
  digest: nodeDigest,
  compression: nodeCompression,
  setting: { type: "none" as const, thresholdBytes: 0 }
}

/** One segment after the other, as a worker makes them. */
class Encoder {
  private readonly records = recordsOf(payloadsOf(records, recordBytes))
  private readonly start = { epoch: 1, slot: 0, seq: 0, at: 0, chain: chainSeed(logId, nodeDigest) }
  private readonly ledger = new SlotLedger({
    prefix: "node/log/",
    logId,
    nonce: "22222222222222222222222222222222",
    epoch: 1,
    window: Number.MAX_SAFE_INTEGER,
    link: this.start,
    digest: nodeDigest
  })
  private readonly opener = new SegmentOpener(buffers)
  private seq = 1

  /** Answers the bytes of the records. */
  once(): number {
    const segment = this.opener.open(this.seq, 0)
    for (const record of this.records) segment.columns.push(record, 1)
    this.seq += records
    segment.contentBytes = segment.columns.payloadBytes
    this.opener.sealed(segment)
    const stamped = this.ledger.stamp(segment, { cursors: emptyCursorSet, trim: this.start })
    Effect.runSync(packSegment(stamped, context))
    this.ledger.confirm(stamped.header.slot)
    stamped.memory?.release()
    return records * recordBytes
  }
}

export const encode: Bench = {
  name: "encode",
  about: `a segment of ${records} records of ${recordBytes} bytes, from records to the object that is sent`,
  run: async (bench) => {
    const encoder = new Encoder()
    const floor = new CopyFloor(payloadsOf(records, recordBytes))
    const megabytes = (millis: number, once: () => number) => ratePerSecond(millis, once) / 1e6
    const results = await takeTurns(bench, [
      { name: "copy + CRC", unit: "MB/s", round: (millis) => megabytes(millis, () => floor.once()) },
      { name: "encode", unit: "MB/s", round: (millis) => megabytes(millis, () => encoder.once()) }
    ])
    return [
      {
        metric: "against copy + CRC",
        value: results.ratio("encode", "copy + CRC"),
        unit: "x",
        better: "higher",
        goal: 0.7,
        floor: results.named("copy + CRC")
      },
      {
        metric: "bytes of records",
        value: results.spread("encode"),
        unit: "MB/s",
        better: "higher",
        note: "the source document says 500 MB/s"
      }
    ]
  }
}
