/**
 * Tells, once a start, which logs of other nodes below the same prefix hold records that nobody has committed: what a node
 * leaves behind that never comes back under its own id. Whether a node still runs cannot be seen in the store; who scrapes
 * all nodes can tell, so each log has a series under its own labels.
 */
import { findAbandonedLogs } from "@effect-wal/core/AbandonedLogs"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { Effect, Metric } from "effect"
import { meaningOf } from "./observe/MetricTable.ts"

const abandonedLogs = Metric.gauge("wal_abandoned_logs", {
  description: "Logs of other nodes below the same prefixes that hold uncommitted records, as counted at start"
})

const abandonedRecords = Metric.gauge("wal_abandoned_records", { description: meaningOf("wal_abandoned_records") })

/** Answers a function that looks below the prefix of a log; a prefix that was looked at already is left out. */
export const makeAbandonedWatch = Effect.gen(function*() {
  const seen = new Set<string>()
  let total = 0
  yield* Metric.update(abandonedLogs, 0)
  return Effect.fnUntraced(function*(store: ObjectStore["Service"], options: WalOptions) {
    const place = JSON.stringify([store.id, options.prefix, options.nodeId])
    if (seen.has(place)) return
    seen.add(place)
    const found = yield* findAbandonedLogs(options).pipe(
      Effect.provideService(ObjectStore, store),
      Effect.catchTag(
        "ObjectStoreError",
        (error) => Effect.as(Effect.logWarning(`logs of other nodes could not be looked for: ${error.message}`), [])
      )
    )
    for (const log of found) {
      yield* Effect.logWarning(
        `node ${log.nodeId} has at least ${log.uncommitted} uncommitted records in stream ${log.streamId}: ` +
          "if it does not run, start it again with that node_id, or read them there"
      )
      const labels = { stream: log.streamId, node: log.nodeId }
      yield* Metric.update(Metric.withAttributes(abandonedRecords, labels), log.uncommitted)
    }
    total += found.length
    yield* Metric.update(abandonedLogs, total)
  })
})
