/**
 * How many records are delivered again after a crash: those whose acknowledgement was not stored yet.
 *
 * A cursor is stored by the header of the next segment, once that is durable, and by the manifest where no segment is due
 * within `cursor.interval`.
 */
import { Duration } from "effect"
import type { WalOptions } from "../WalOptions.ts"

/** How fast a cursor moves, and how fast segments pass it. */
export interface CommitLoad {
  /** Records that a cursor moves over, a second; at or above 0. */
  readonly recordsPerSecond: number
  /** How long one PUT takes, of a segment or of the manifest. */
  readonly putLatencyMillis: number
  /** Time between two segments; absent where nothing is appended. `segmentRhythm` computes it. */
  readonly segmentEveryMillis?: number
}

/** What a crash can make come twice. */
export interface DuplicateWindow {
  /** Records at most. */
  readonly records: number
  /** What stores the cursor. */
  readonly storedBy: "max_entries" | "interval" | "segment"
}

/**
 * The most that is delivered again: what the cursor moved over since it was last taken down, until that is stored. Segments
 * that flow carry it for nothing; then `max_entries` alone does not make a manifest be written.
 */
export const duplicateWindow = (
  { cursor }: Pick<WalOptions, "cursor">,
  { putLatencyMillis, recordsPerSecond, segmentEveryMillis }: CommitLoad
): DuplicateWindow => {
  const intervalMillis = Duration.toMillis(cursor.interval)
  const entriesMillis = recordsPerSecond > 0 ? cursor.maxEntries * 1_000 / recordsPerSecond : Number.POSITIVE_INFINITY
  const dueMillis = Math.min(intervalMillis, entriesMillis)
  // A segment that comes within one more interval is waited for.
  const carriedMillis = segmentEveryMillis === undefined
    ? dueMillis
    : Math.min(segmentEveryMillis, dueMillis + intervalMillis)
  const records = Math.ceil(recordsPerSecond * (carriedMillis + putLatencyMillis) / 1_000)
  if (segmentEveryMillis === carriedMillis) return { records, storedBy: "segment" }
  return { records, storedBy: entriesMillis < intervalMillis ? "max_entries" : "interval" }
}
