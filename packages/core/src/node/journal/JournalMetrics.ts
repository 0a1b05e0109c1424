/**
 * What journals of this process met: counters that stay, as a failing disk outlives a log.
 */
import { Effect, Metric } from "effect"

const tornTails = Metric.counter("wal_torn_tails_total", {
  description: "Torn ends of files that were cut when a journal was opened",
  incremental: true
})

const syncFailures = Metric.counter("wal_disk_sync_failures_total", {
  description: "Syncs that the disk refused; the file was given up and the bytes written again into another one",
  incremental: true
})

/** A file had a torn tail. */
export const countTornTail: Effect.Effect<void> = Metric.update(tornTails, 1)

/** A sync failed. */
const countSyncFailure: Effect.Effect<void> = Metric.update(syncFailures, 1)

/** Tells of a failed sync: a line in the log for the operator, and a number for the alarm. */
export const reportSyncFailure = (path: string, detail: string): Effect.Effect<void> =>
  Effect.andThen(
    countSyncFailure,
    Effect.logError(`${path} could not be made durable (${detail}); nothing of it counts, another file takes its place`)
  )
