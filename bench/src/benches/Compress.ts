/** Packing segments off the event loop, against the same codecs with nothing around them. */
import type { CompressionSetting } from "@effect-wal/core/codec/Compression"
import { nodeCompression } from "@effect-wal/core/node/NodeCompression"
import { nodeDigest } from "@effect-wal/core/node/NodeDigest"
import { Effect } from "effect"
import { packSegment } from "../../../packages/core/src/write/PackSegment.ts"
import type { StampedSegment } from "../../../packages/core/src/write/Segment.ts"
import { SegmentBuffers } from "../../../packages/core/src/write/SegmentBuffers.ts"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import { arrowBatches } from "../data/ArrowBatches.ts"
import { logLines } from "../data/LogLines.ts"
import type { Measurement } from "../Line.ts"
import { takeTurns } from "../Rounds.ts"
import { spreadOf } from "../Stats.ts"
import { bareCodec } from "../support/BareCodecs.ts"
import { payloadsOf } from "../support/Payloads.ts"
import { sealedSegments } from "../support/SealedSegments.ts"
import { pacedCompression } from "./PacedCompression.ts"

const segmentBytes = 1_048_576
/** Segments of each kind, which are packed by turns. */
const segments = 4
/** Segments that are packed at one time: the thread pool has as many threads. */
const lanes = 4
/** A round of one kind of data by one codec, and what is paced, takes this share of one: there are many of them. */
const roundShare = 0.25

const codecs: ReadonlyArray<readonly [name: string, setting: CompressionSetting]> = [
  ["zstd 1", { type: "zstd", level: 1 }],
  ["zstd 3", { type: "zstd", level: 3 }],
  ["zstd 9", { type: "zstd", level: 9 }],
  ["lz4", { type: "lz4" }]
]

const kinds: ReadonlyArray<readonly [name: string, payloads: (seed: number) => ReadonlyArray<Uint8Array>]> = [
  ["NDJSON logs", (seed) => logLines(segmentBytes, seed)],
  ["Arrow IPC", (seed) => arrowBatches(segmentBytes, seed)],
  ["random bytes", () => payloadsOf(64, segmentBytes / 64)]
]

const rawBytesOf = ({ body }: StampedSegment): Uint8Array => body?.bytes ?? new Uint8Array(0)

/** As much as a log of so many workers keeps. */
const keptBytes = 2 * (lanes + 2) * segmentBytes

const contextOf = (setting: CompressionSetting) => ({
  buffers: new SegmentBuffers(keptBytes),
  digest: nodeDigest,
  compression: nodeCompression,
  setting: { ...setting, thresholdBytes: 0 }
})

/** One segment after the other, until the time is over; for several lanes, which are done when what they began is. */
class Turns {
  private readonly stamped: ReadonlyArray<StampedSegment>
  private readonly startedAt = nowMillis()
  private readonly millis: number
  private nth = 0
  private bytes = 0

  constructor(stamped: ReadonlyArray<StampedSegment>, millis: number) {
    this.stamped = stamped
    this.millis = millis
  }

  /** The next segment, which counts; `undefined` once it is too late for one. */
  next(): StampedSegment | undefined {
    if (nowMillis() - this.startedAt >= this.millis) return undefined
    const segment = this.stamped[this.nth++ % this.stamped.length]
    this.bytes += segment?.header.rawBytes ?? 0
    return segment
  }

  /** Of the segments, until now. */
  get megabytesPerSecond(): number {
    return this.bytes / (nowMillis() - this.startedAt) / 1_000
  }
}

/** From sealed segments to the objects that are sent, as so many workers of the log do it. */
const packAsLog = async (turns: Turns, setting: CompressionSetting): Promise<number> => {
  const context = contextOf(setting)
  const lane = Effect.gen(function*() {
    for (let segment = turns.next(); segment !== undefined; segment = turns.next()) {
      const packed = yield* packSegment(segment, context)
      // As a worker does once it is stored.
      if (packed.memory !== segment.memory) packed.memory?.release()
    }
  })
  await Effect.runPromise(Effect.all(Array.from({ length: lanes }, () => lane), { concurrency: "unbounded" }))
  return turns.megabytesPerSecond
}

const packBare = async (turns: Turns, setting: CompressionSetting): Promise<number> => {
  const pack = bareCodec(setting)
  const lane = async () => {
    for (let segment = turns.next(); segment !== undefined; segment = turns.next()) await pack(rawBytesOf(segment))
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return turns.megabytesPerSecond
}

/** How much smaller the log stores the segments. */
const ratioOf = async (stamped: ReadonlyArray<StampedSegment>, setting: CompressionSetting): Promise<number> => {
  const context = contextOf(setting)
  const packed = await Effect.runPromise(Effect.forEach(stamped, (segment) => packSegment(segment, context)))
  const sum = (of: "rawBytes" | "storedBytes") => packed.reduce((total, { header }) => total + header[of], 0)
  return sum("rawBytes") / sum("storedBytes")
}

/** One kind of data by all codecs. `from` and `to`: of the whole bench. */
const measureKind = async (
  context: BenchContext,
  [kind, payloads]: typeof kinds[number],
  { from, to }: { readonly from: number; readonly to: number }
): Promise<ReadonlyArray<Measurement>> => {
  const stamped = sealedSegments(Array.from({ length: segments }, (_, index) => payloads(index + 1)))
  const lines: Array<Measurement> = []
  for (const [index, [codec, setting]] of codecs.entries()) {
    const bareName = `bare ${codec}`
    const step = (to - from) / codecs.length
    const results = await takeTurns(context, [
      { name: bareName, unit: "MB/s", round: (millis) => packBare(new Turns(stamped, millis), setting) },
      { name: codec, unit: "MB/s", round: (millis) => packAsLog(new Turns(stamped, millis), setting) }
    ], { from: from + step * index, to: from + step * (index + 1) })
    lines.push(
      {
        metric: `${kind}, ${codec}, against the bare codec`,
        value: results.ratio(codec, bareName),
        unit: "x",
        better: "higher",
        goal: 0.9,
        floor: results.named(bareName)
      },
      {
        metric: `${kind}, ${codec}, bytes of a segment for each that is stored`,
        value: spreadOf([await ratioOf(stamped, setting)]),
        unit: "x",
        better: "higher"
      }
    )
  }
  return lines
}

export const compress: Bench = {
  name: "compress",
  about:
    "packing segments of 1 MiB, against the same codec with nothing around it; how late the event loop is meanwhile",
  run: async (bench) => {
    const context = { ...bench, roundMillis: bench.roundMillis * roundShare }
    const lines: Array<Measurement> = []
    const share = 0.6 / kinds.length
    for (const [index, kind] of kinds.entries()) {
      lines.push(...await measureKind(context, kind, { from: share * index, to: share * (index + 1) }))
    }
    for (const [index, codec] of codecs.entries()) {
      const from = 0.6 + 0.1 * index
      lines.push(...await pacedCompression(context, codec, { from, to: from + 0.1 }))
    }
    return lines
  }
}
