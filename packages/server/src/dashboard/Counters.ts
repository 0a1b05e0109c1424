/**
 * The counters of each log, as they stand in the metrics registry: what the dashboard shows is what `/metrics` tells.
 *
 * Only counters and histograms are read. Gauges would each ask a log for its whole status, which is asked once beside.
 */
import { Context, Metric } from "effect"

/** Counts below or at each bound. */
export interface Histogram {
  readonly buckets: ReadonlyArray<readonly [bound: number, cumulated: number]>
  readonly count: number
  readonly sum: number
}

const plainNames = {
  wal_records_appended_total: "appended",
  wal_records_durable_total: "durable",
  wal_segment_puts_total: "segments",
  wal_segment_raw_bytes_total: "rawBytes",
  wal_segment_stored_bytes_total: "storedBytes",
  wal_manifest_commits_total: "manifestCommits",
  wal_manifest_conflicts_total: "manifestConflicts",
  wal_takeovers_total: "takeovers"
} as const

type PlainName = typeof plainNames[keyof typeof plainNames]

/** The requests of `wal_store_requests_total`, by its label. */
export type RequestName = "get" | "create" | "replace" | "list" | "remove"

/** Where all counters of one log stand. */
export interface Counters extends Readonly<Record<PlainName, number>> {
  readonly requests: Readonly<Record<RequestName, number>>
  /** Tries of PUTs after a first one, by class of answer. */
  readonly retries: Readonly<Record<string, number>>
  readonly put: Histogram
  readonly size: Histogram
}

const none: Histogram = { buckets: [], count: 0, sum: 0 }

interface Filling extends Record<PlainName, number> {
  readonly requests: Record<RequestName, number>
  readonly retries: Record<string, number>
  put: Histogram
  size: Histogram
}

const empty = (): Filling => ({
  appended: 0,
  durable: 0,
  segments: 0,
  rawBytes: 0,
  storedBytes: 0,
  manifestCommits: 0,
  manifestConflicts: 0,
  takeovers: 0,
  requests: { get: 0, create: 0, replace: 0, list: 0, remove: 0 },
  retries: {},
  put: none,
  size: none
})

const isPlain = (name: string): name is keyof typeof plainNames => Object.hasOwn(plainNames, name)

const isRequest = (name: string): name is RequestName => name in empty().requests

/** What one series adds; `read` is only called for those that count. */
const take = (
  into: Filling,
  name: string,
  labels: Readonly<Record<string, string>>,
  read: { readonly count: () => number; readonly histogram: () => Histogram }
): void => {
  if (isPlain(name)) into[plainNames[name]] = read.count()
  else if (name === "wal_segment_put_latency_seconds") into.put = read.histogram()
  else if (name === "wal_segment_size_bytes") into.size = read.histogram()
  else if (name === "wal_put_retries_total") into.retries[labels["class"] ?? ""] = read.count()
  else if (name === "wal_store_requests_total") {
    const operation = labels["operation"] ?? ""
    if (isRequest(operation)) into.requests[operation] = read.count()
  }
}

/** Names the log of a node and a stream in the answer of `readCounters`. */
export const logKey = (nodeId: string, streamId: string): string => JSON.stringify([nodeId, streamId])

/** The counters of every log that is in the registry of `context`, by `logKey`. */
export const readCounters = (context: Context.Context<never>): ReadonlyMap<string, Counters> => {
  const logs = new Map<string, Filling>()
  for (const { attributes, hooks, id } of Context.get(context, Metric.MetricRegistry).values()) {
    const node = attributes?.["node"]
    const stream = attributes?.["stream"]
    if (node === undefined || stream === undefined) continue
    const key = logKey(node, stream)
    const into = logs.get(key) ?? empty()
    logs.set(key, into)
    take(into, id, attributes ?? {}, {
      count: () => Number(hooks.get(context).count),
      histogram: () => hooks.get(context)
    })
  }
  return logs
}
