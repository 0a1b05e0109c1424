/**
 * The most that settings can carry: lanes × segment size ÷ latency of a PUT.
 */
import type { WalOptions } from "../WalOptions.ts"
import { recordOverheadBytes } from "../write/RecordCheck.ts"
import { lanesOf, type Load, recordsWhenFull } from "./SegmentRhythm.ts"

/** Options of a log that decide about what it carries; those of an open log fit. */
export type CeilingSettings = Pick<WalOptions, "segment" | "parallelPut" | "maxSegmentBytes" | "maxBufferedBytes">

/** What lies between the log and its store. */
export interface CeilingConditions {
  /** How long one PUT takes, milliseconds above 0. */
  readonly putLatencyMillis: number
  /** What the network carries; default: no bound. 1 Gbit/s is 125,000,000. */
  readonly linkBytesPerSecond?: number
}

/** The most that settings carry, and what bounds it. */
export interface ThroughputCeiling {
  readonly recordsPerSecond: number
  readonly bytesPerSecond: number
  /** A full segment of such records. */
  readonly segmentBytes: number
  /** PUTs under way at one time; fewer than the lanes where the buffer holds no more segments. */
  readonly concurrentPuts: number
  readonly limitedBy: "latency" | "max_buffered_bytes" | "link"
}

/** What full segments of records of this size can reach. A record of 0 bytes counts as one byte. */
export const throughputCeiling = (
  settings: CeilingSettings,
  recordBytes: number,
  { linkBytesPerSecond = Number.POSITIVE_INFINITY, putLatencyMillis }: CeilingConditions
): ThroughputCeiling => {
  const sizeBytes = Math.max(1, recordBytes)
  const records = recordsWhenFull(settings, sizeBytes)
  const buffered = Math.floor(settings.maxBufferedBytes / (records * (sizeBytes + recordOverheadBytes)))
  const lanes = lanesOf(settings)
  const concurrentPuts = Math.max(1, Math.min(lanes, buffered))
  const segmentBytes = records * sizeBytes
  const unlinked = concurrentPuts * segmentBytes * 1_000 / putLatencyMillis
  const bytesPerSecond = Math.min(unlinked, linkBytesPerSecond)
  return {
    recordsPerSecond: bytesPerSecond / sizeBytes,
    bytesPerSecond,
    segmentBytes,
    concurrentPuts,
    limitedBy: unlinked > linkBytesPerSecond ? "link" : concurrentPuts < lanes ? "max_buffered_bytes" : "latency"
  }
}

const megabytes = (bytesPerSecond: number): string => `${(bytesPerSecond / 1e6).toFixed(1)} MB/s`

const advice = (ceiling: ThroughputCeiling, neededPuts: number): string => {
  switch (ceiling.limitedBy) {
    case "link":
      return "the network carries no more; compression is all that helps"
    case "max_buffered_bytes":
      return "raise max_buffered_bytes: it holds fewer segments than the workers could send"
    default:
      return `workers × pipeline_depth of ${neededPuts} would do, and so would larger segments`
  }
}

/**
 * The start-up warning for settings that cannot carry a stated rate; `undefined` where they can. Appends would wait for room
 * all the time.
 */
export const rateWarning = (
  settings: CeilingSettings,
  load: Load,
  conditions: CeilingConditions
): string | undefined => {
  const ceiling = throughputCeiling(settings, load.recordBytes, conditions)
  if (load.recordsPerSecond <= ceiling.recordsPerSecond) return undefined
  const wanted = load.recordsPerSecond * Math.max(1, load.recordBytes)
  const neededPuts = Math.ceil(wanted / ceiling.segmentBytes * conditions.putLatencyMillis / 1_000)
  return `${load.recordsPerSecond} records/s of ${load.recordBytes} bytes are ${
    megabytes(wanted)
  }, and these settings ` +
    `carry ${megabytes(ceiling.bytesPerSecond)}: ${ceiling.concurrentPuts} × ${ceiling.segmentBytes} bytes ÷ ` +
    `${conditions.putLatencyMillis} ms; ${advice(ceiling, neededPuts)}`
}
