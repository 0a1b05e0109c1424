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

/**
 * The most that can be at risk, reached when the store does not answer: workers × depth segments in flight, 16 a worker
 * queued, and the open one, which then gathers until it is full, whatever its interval; all of it capped by
 * `max_buffered_bytes`. From there on append waits.
 */
export const lossWindow = (settings: LossSettings, load: Load): LossWindow => {
  if (load.recordsPerSecond <= 0) return nothing
  const segment = sourceWindow(settings, load)
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
 * What is at risk just before a segment is confirmed while the store answers: what came while it filled and while it was
 * uploaded. Under a load that the settings cannot carry, the whole window.
 */
export const usualLossWindow = (
  settings: LossSettings,
  load: Load,
  conditions: Conditions
): Pick<LossWindow, "records" | "bytes"> => {
  const most = lossWindow(settings, load)
  if (load.recordsPerSecond <= 0) return most
  const { backlog, fillMillis } = segmentRhythm(settings, load, conditions)
  const usual = recordsWithin(fillMillis + conditions.putLatencyMillis, load.recordsPerSecond)
  const records = backlog ? most.records : Math.min(most.records, usual)
  return { records, bytes: records * (load.recordBytes + recordOverheadBytes) }
}
