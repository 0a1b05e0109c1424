/**
 * What a crash can lose: records that were accepted and are not durable. `wal.status` says it of a running log; these
 * functions say it of settings.
 */
import { Duration } from "effect"
import { queuedPerWorker } from "../log/Settings.ts"
import type { WalOptions } from "../WalOptions.ts"
import { recordOverheadBytes } from "../write/RecordCheck.ts"
import {
  type Conditions,
  lanesOf,
  type Load,
  recordsWhenFull,
  recordsWithin,
  segmentRhythm,
  type SegmentSettings
} from "./SegmentRhythm.ts"

export { queuedPerWorker, recordOverheadBytes }

/** Options of a log that decide about what is at risk; those of an open log fit. */
export type LossSettings = SegmentSettings & Pick<WalOptions, "maxBufferedBytes">

/** What is accepted and not durable: what a crash would take. */
export interface LossWindow {
  readonly records: number
  /** As `max_buffered_bytes` and the status count: 32 bytes a record more than its content. */
  readonly bytes: number
  /** Where the records are. */
  readonly open: number
  readonly queued: number
  readonly inFlight: number
  readonly limitedBy: "segments" | "max_buffered_bytes"
}

/** Records of one segment as the source documents compute their window: entries, bytes or interval, whatever is least. */
export const sourceWindow = (settings: Pick<LossSettings, "segment" | "maxSegmentBytes">, load: Load): number =>
  Math.min(
    recordsWhenFull(settings, load.recordBytes),
    recordsWithin(Duration.toMillis(settings.segment.flushInterval), load.recordsPerSecond)
  )

const nothing: LossWindow = { records: 0, bytes: 0, open: 0, queued: 0, inFlight: 0, limitedBy: "segments" }

/** All places that records can be in, filled with segments of so many records; the open one gathers until it is full. */
const windowOf = (settings: LossSettings, load: Load, segment: number): LossWindow => {
  if (load.recordsPerSecond <= 0) return nothing
  const bufferBytes = load.recordBytes + recordOverheadBytes
  const room = Math.max(1, Math.floor(settings.maxBufferedBytes / bufferBytes))
  const inFlight = Math.min(room, lanesOf(settings) * segment)
  const queued = Math.min(room - inFlight, queuedPerWorker * settings.parallelPut.workers * segment)
  const full = recordsWhenFull(settings, load.recordBytes)
  const open = Math.min(room - inFlight - queued, full)
  const records = inFlight + queued + open
  return {
    records,
    bytes: records * bufferBytes,
    open,
    queued,
    inFlight,
    limitedBy: open < full ? "max_buffered_bytes" : "segments"
  }
}

/**
 * The most that can be at risk when a store that kept up does not answer any more: workers × depth segments in flight, 16 a
 * worker queued, and the open one, which then gathers until it is full, whatever its interval; all of it capped by
 * `max_buffered_bytes`. From there on append waits. A store that was too slow before has let segments grow: see
 * `usualLossWindow`.
 */
export const lossWindow = (settings: LossSettings, load: Load): LossWindow =>
  windowOf(settings, load, sourceWindow(settings, load))

/**
 * What is at risk just before a segment is confirmed while the store answers: what came while it filled or waited for a
 * worker, and while it was uploaded. Under a load that the settings cannot carry, the whole window, of segments as large as
 * they grow while they wait.
 */
export const usualLossWindow = (
  settings: LossSettings,
  load: Load,
  conditions: Conditions
): Pick<LossWindow, "records" | "bytes"> => {
  const { putLatencyMillis } = conditions
  if (load.recordsPerSecond <= 0) return nothing
  const { backlog, fillMillis, recordsPerSegment, sealedBy } = segmentRhythm(settings, load, conditions)
  const grown = Math.max(sourceWindow(settings, load), Math.ceil(recordsPerSegment))
  const most = windowOf(settings, load, grown)
  if (backlog) return { records: most.records, bytes: most.bytes }
  // Workers that are all busy get free one after the other, or all at once.
  const waitMillis = sealedBy === "free_worker" ? putLatencyMillis : fillMillis
  const records = Math.min(most.records, recordsWithin(waitMillis + putLatencyMillis, load.recordsPerSecond))
  return { records, bytes: records * (load.recordBytes + recordOverheadBytes) }
}
