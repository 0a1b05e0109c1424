/**
 * How long a caller waits for durability: until its segment is sealed, and for the PUT.
 */
import { type LossSettings, usualLossWindow } from "./LossWindow.ts"
import { type Conditions, type Load, segmentRhythm } from "./SegmentRhythm.ts"
import { throughputCeiling } from "./ThroughputCeiling.ts"

/**
 * Milliseconds from append to durable for the record in the middle of its segment. Where segments are sealed faster than
 * they can be uploaded, the time that a full buffer takes to drain.
 */
export const medianAckMillis = (settings: LossSettings, load: Load, conditions: Conditions): number => {
  const { backlog, fillMillis, recordsPerSegment } = segmentRhythm(settings, load, conditions)
  if (backlog) {
    const ceiling = throughputCeiling(settings, load.recordBytes, conditions).recordsPerSecond
    return usualLossWindow(settings, load, conditions).records * 1_000 / Math.min(load.recordsPerSecond, ceiling)
  }
  const cameAfterMillis = recordsPerSegment === 1 ? 0 : (recordsPerSegment - 1) / 2 * 1_000 / load.recordsPerSecond
  return Math.max(0, fillMillis - cameAfterMillis) + conditions.putLatencyMillis
}
