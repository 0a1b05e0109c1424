/**
 * The metrics of a log, under the names of the source documents with Prometheus units.
 *
 * Counters and gauges are read from the log when somebody looks, so the hot path only adds numbers. All series of a log
 * go when it closes.
 */
import { Context, Effect, Metric } from "effect"
import { Reason } from "../store/ObjectStoreError.ts"
import { s3StandardUsEast1 } from "../StorePrices.ts"
import type { WalStatus } from "../WalService.ts"
import type { LogStats } from "./LogStats.ts"

const latencyBoundaries = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30]
const sizeBoundaries = [1_024, 10_240, 102_400, 524_288, 1_048_576, 4_194_304, 10_485_760, 67_108_864]

const putLatency = Metric.histogram("wal_segment_put_latency_seconds", {
  description: "Time from the first try of a segment PUT to its confirmation",
  boundaries: latencyBoundaries
})
const segmentSize = Metric.histogram("wal_segment_size_bytes", {
  description: "Size of stored segment objects",
  boundaries: sizeBoundaries
})
const recoveryLatency = Metric.histogram("wal_recovery_latency_seconds", {
  description: "Time a replay took to reach the durable end",
  boundaries: latencyBoundaries
})

interface Counter {
  readonly name: string
  readonly description: string
  readonly read: (stats: LogStats) => number
}

interface Gauge {
  readonly name: string
  readonly description: string
  readonly read: (stats: LogStats, status: WalStatus) => number
}

const counters: ReadonlyArray<Counter> = [
  { name: "wal_records_appended_total", description: "Records accepted", read: (stats) => stats.recordsAppended },
  { name: "wal_records_durable_total", description: "Records made durable", read: (stats) => stats.recordsDurable },
  {
    name: "wal_segment_put_hedges_total",
    description: "PUTs of segments that were slow and sent once more",
    read: (stats) => stats.hedges
  },
  {
    name: "wal_segment_put_hedges_won_total",
    description: "Hedged PUTs whose second request was answered first",
    read: (stats) => stats.hedgesWon
  },
  {
    name: "wal_lingers_stretched_total",
    description: "Segments that somebody waited for longer than linger, for the budget's sake",
    read: (stats) => stats.lingersStretched
  },
  {
    name: "wal_linger_stretched_seconds_total",
    description: "How much longer that was than linger, in all",
    read: (stats) => stats.lingerStretchedMillis / 1_000
  },
  { name: "wal_segment_puts_total", description: "Segments made durable", read: (stats) => stats.segmentsDurable },
  {
    name: "wal_segments_spooled_total",
    description: "Segments that went to the spool",
    read: (stats) => stats.segmentsSpooled
  },
  {
    name: "wal_segments_reappended_total",
    description: "Spooled segments of ended epochs that were appended again",
    read: (stats) => stats.segmentsReappended
  },
  {
    name: "wal_segment_raw_bytes_total",
    description: "Bytes of stored segment bodies before packing",
    read: (stats) => stats.rawBytes
  },
  {
    name: "wal_segment_stored_bytes_total",
    description: "Bytes of stored segment bodies",
    read: (stats) => stats.storedBytes
  },
  { name: "wal_manifest_commits_total", description: "Manifest bodies stored", read: (stats) => stats.manifestCommits },
  {
    name: "wal_manifest_conflicts_total",
    description: "Manifest tries that lost, or whose answer was lost",
    read: (stats) => stats.manifestConflicts
  },
  {
    name: "wal_manifest_contentions_total",
    description: "Manifest batches put off after eight tries",
    read: (stats) => stats.manifestContentions
  },
  { name: "wal_segments_deleted_total", description: "Segments deleted", read: (stats) => stats.segmentsDeleted },
  {
    name: "wal_delete_failures_total",
    description: "Deletions that were refused",
    read: (stats) => stats.deleteFailures
  },
  {
    name: "wal_records_lost_total",
    description: "Records reported lost to readers that skip damage",
    read: (stats) => stats.recordsLost
  },
  {
    name: "wal_takeovers_total",
    description: "Epochs of earlier writers that opening ended",
    read: (stats) => stats.takeovers
  },
  {
    name: "wal_producer_repeats_total",
    description: "Calls of producers that were answered with the records of an earlier one",
    read: (stats) => stats.producers.repeats
  }
]

const worstLag = (status: WalStatus): number =>
  Math.max(0, ...Object.values(status.cursors).map((cursor) => cursor.lag))

const committed = (status: WalStatus): number => Math.min(...Object.values(status.cursors).map((cursor) => cursor.mark))

const gauges: ReadonlyArray<Gauge> = [
  {
    name: "wal_cursor_lag_entries",
    description: "Durable records above the slowest cursor",
    read: (_, status) => worstLag(status)
  },
  {
    name: "wal_records_committed",
    description: "Highest number that every cursor has passed",
    read: (_, status) => committed(status)
  },
  { name: "wal_durable_seq", description: "Durable watermark", read: (_, status) => status.durable },
  {
    name: "wal_at_risk_entries",
    description: "Records that a crash now would lose",
    read: (_, status) => status.atRisk.records
  },
  {
    name: "wal_at_risk_bytes",
    description: "Bytes that a crash now would lose",
    read: (_, status) => status.atRisk.bytes
  },
  {
    name: "wal_oldest_at_risk_age_seconds",
    description: "Age of the oldest record that a crash would lose",
    read: (_, status) => status.atRisk.oldestAgeMillis / 1_000
  },
  {
    name: "wal_spooled_entries",
    description: "Records in the spool that are not durable",
    read: (_, status) => status.spooled - status.durable
  },
  {
    name: "wal_spool_bytes",
    description: "Bytes that the spool takes of its disk",
    read: (_, status) => status.spool?.bytes ?? 0
  },
  {
    name: "wal_spool_limit_bytes",
    description: "Bytes that the spool may take",
    read: (_, status) => status.spool?.limitBytes ?? 0
  },
  {
    name: "wal_queue_segments",
    description: "Sealed segments that wait for a worker",
    read: (_, status) => status.buffered.queuedSegments
  },
  {
    name: "wal_in_flight_segments",
    description: "Segments being stored",
    read: (_, status) => status.segments.inFlight
  },
  {
    name: "wal_buffered_bytes",
    description: "Bytes of open, queued and in-flight segments",
    read: (_, status) => status.buffered.bytes
  },
  {
    name: "wal_foreign_objects",
    description: "Objects below the prefix that are not ours, among those listed",
    read: (stats) => stats.foreignObjects
  },
  { name: "wal_producers", description: "Producers that are remembered", read: (stats) => stats.producers.size },
  { name: "wal_epoch", description: "Writer epoch", read: (_, status) => status.epoch },
  {
    name: "wal_open",
    description: "1 while the log takes records",
    read: (_, status) => status.state === "open" ? 1 : 0
  },
  {
    name: "wal_compression_ratio",
    description: "Raw bytes for each stored byte",
    read: (stats) => stats.storedBytes === 0 ? 1 : stats.rawBytes / stats.storedBytes
  }
]

const prices = s3StandardUsEast1

/** Dollars; deletions are free. */
const cost = ({ requests }: LogStats): number =>
  ((requests.create + requests.replace) * prices.per1000Puts + requests.get * prices.per1000Gets +
    requests.list * prices.per1000Lists) / 1_000

const noUpdate = () => undefined

export interface WalMetricsHandle {
  readonly put: (seconds: number, bytes: number) => void
  readonly recovery: (seconds: number) => void
}

const registerAll = (
  stats: LogStats,
  status: () => WalStatus,
  context: Context.Context<never>
): ReadonlyArray<() => void> => {
  const counter = (name: string, description: string, attributes: Record<string, string>, read: () => number) =>
    Metric.registerUnsafe(Metric.counter(name, { description, incremental: true, attributes }), context, {
      get: () => ({ count: read(), incremental: true }),
      update: noUpdate,
      modify: noUpdate
    })
  const registrations = [
    ...counters.map((one) => counter(one.name, one.description, {}, () => one.read(stats))),
    ...gauges.map((one) =>
      Metric.registerUnsafe(Metric.gauge(one.name, { description: one.description }), context, {
        get: () => ({ value: one.read(stats, status()) }),
        update: noUpdate,
        modify: noUpdate
      })
    ),
    ...(["get", "create", "replace", "list", "remove"] as const).map((operation) =>
      counter("wal_store_requests_total", "Requests to the store", { operation }, () => stats.requests[operation])
    ),
    counter(
      "wal_estimated_request_cost_dollars_total",
      `Requests at the prices of ${prices.name}, ${prices.asOf}`,
      {},
      () => cost(stats)
    )
  ]
  return registrations.map((registration) => () => registration.remove())
}

/** Classes of answers after which a PUT is tried again: few and fixed, never a message or a key. */
const retryReasons = Reason.literals.filter((reason) =>
  reason !== "AlreadyExists" && reason !== "PreconditionFailed" && reason !== "NotFound"
)

/** Registers the series of a log until the scope ends. */
export const registerMetrics = Effect.fnUntraced(function*(
  labels: { readonly stream: string; readonly node: string },
  stats: LogStats,
  status: () => WalStatus
) {
  const registry = yield* Metric.MetricRegistry
  const context = Context.make(Metric.MetricRegistry, registry).pipe(
    Context.add(Metric.CurrentMetricAttributes, labels)
  )
  const retries = retryReasons.map((reason) =>
    Metric.registerUnsafe(
      Metric.counter("wal_put_retries_total", {
        description: "Tries after a first one, by class of answer",
        attributes: { class: reason }
      }),
      context,
      { get: () => ({ count: stats.retries.get(reason) ?? 0, incremental: true }), update: noUpdate, modify: noUpdate }
    )
  )
  const removals = registerAll(stats, status, context)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const remove of removals) remove()
      for (const registration of retries) registration.remove()
      for (const histogram of [putLatency, segmentSize, recoveryLatency]) Metric.removeUnsafe(histogram, context)
    })
  )
  return {
    put: (seconds, bytes) => {
      putLatency.updateUnsafe(seconds, context)
      segmentSize.updateUnsafe(bytes, context)
    },
    recovery: (seconds) => recoveryLatency.updateUnsafe(seconds, context)
  } satisfies WalMetricsHandle
})
