/** Headers, bodies and manifests to vary in tests. */
import type { Manifest } from "../../src/format/ManifestCodec.ts"
import { OpenColumns } from "../../src/format/OpenColumns.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"

export const segmentHeader = (change: Partial<SegmentHeader> = {}): SegmentHeader => ({
  kind: "segment",
  codec: "none",
  logId: "a".repeat(32),
  nonce: "b".repeat(32),
  epoch: 3,
  slot: 17,
  firstSeq: 171,
  count: 10,
  rawBytes: 0,
  storedBytes: 0,
  rawCrc: 0,
  storedCrc: 0,
  firstAt: 1_700_000_000_000,
  lastAt: 1_700_000_000_500,
  watermarkSlot: 16,
  watermarkSeq: 160,
  chain: "c".repeat(32),
  extensions: [],
  ...change
})

export const markerHeader = (change: Partial<SegmentHeader> = {}): SegmentHeader =>
  segmentHeader({ kind: "end-marker", count: 0, firstSeq: 0, ...change })

export const columnsOf = (records: ReadonlyArray<AppendRecord>, firstAt = 1_000): OpenColumns => {
  const columns = new OpenColumns()
  records.forEach((record, index) => columns.push(record, firstAt + index))
  return columns
}

export const boundary = (epoch: number, slot: number, seq: number, at = seq) => ({
  epoch,
  slot,
  seq,
  at,
  chain: "d".repeat(32)
})

export const sampleManifest = (change: Partial<Manifest> = {}): Manifest => ({
  version: 1,
  log_id: "a".repeat(32),
  epoch: 4,
  nonce: "b".repeat(32),
  host: "host",
  commit_id: "e".repeat(32),
  live: 4,
  live_window: 2,
  trim: boundary(2, 3, 30),
  ends: [boundary(2, 5, 50), boundary(3, 2, 70)],
  ends_archive: null,
  cursors: { revision: { epoch: 4, n: 7 }, marks: { default: 30, slow: 42 } },
  checkpoint: boundary(4, 6, 130),
  index: [boundary(3, 1, 60), boundary(4, 2, 90)],
  unknown: {},
  ...change
})
