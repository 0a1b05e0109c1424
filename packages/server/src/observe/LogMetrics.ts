/** The metrics of a log: records, uploads, store. The log itself registers nearly all of them (`core/observe`). */
import { counter, gauge, histogram, logLabels, type MetricGroup } from "./MetricDoc.ts"

/** What happens to records. */
export const records: MetricGroup = {
  title: "Records",
  metrics: [
    counter("wal_records_appended_total", "records", "Records accepted", "Its rate is the input. Zero: look upstream."),
    counter(
      "wal_records_durable_total",
      "records",
      "Records made durable",
      "Follows the input. Where it stands still and the input does not, look at the store."
    ),
    gauge(
      "wal_records_committed",
      "records",
      "Highest number that every cursor has passed",
      "Its rate is what consumers get done."
    ),
    gauge(
      "wal_cursor_lag_entries",
      "records",
      "Durable records above the slowest cursor",
      "Growing: consumers are slower than the input, or a cursor is forgotten; the status of the stream names it."
    ),
    gauge("wal_durable_seq", "sequence number", "Durable watermark", "For looking up, not for alerts."),
    gauge(
      "wal_at_risk_entries",
      "records",
      "Records that a crash now would lose",
      "The true loss window. Larger than a few segments for long: the store is too slow for the input."
    ),
    gauge(
      "wal_at_risk_bytes",
      "bytes",
      "Bytes that a crash now would lose",
      "As above, in bytes."
    ),
    gauge(
      "wal_oldest_at_risk_age_seconds",
      "seconds",
      "Age of the oldest record that a crash would lose",
      "Grows while nothing is confirmed: look at retries and at the log for the last error of the store."
    ),
    counter(
      "wal_records_lost_total",
      "records",
      "Records reported lost to readers that skip damage",
      "Run `effect-wal verify` on the stream: something has removed or changed objects."
    ),
    counter(
      "wal_producer_repeats_total",
      "calls",
      "Calls of producers that were answered with the records of an earlier one",
      "Clients that try again. A high rate: their time-outs are shorter than the acknowledgement takes."
    ),
    gauge(
      "wal_producers",
      "producers",
      "Producers that are remembered",
      "Near `producers.max`, the oldest are forgotten and their repeats are appended again: raise the limit."
    )
  ]
}

/** Segments and how they get to the store. */
export const uploads: MetricGroup = {
  title: "Segments and uploads",
  metrics: [
    histogram(
      "wal_segment_put_latency_seconds",
      "seconds",
      "Time from the first try of a segment PUT to its confirmation",
      "p99 above 0.2 s: look at region and network. Above 0.5 s: the store is in trouble.",
      "until the first segment is stored"
    ),
    histogram(
      "wal_segment_size_bytes",
      "bytes",
      "Size of stored segment objects",
      "Far below `max_bytes` at many PUTs a second: a larger preset costs less.",
      "until the first segment is stored"
    ),
    counter(
      "wal_segment_puts_total",
      "segments",
      "Segments made durable",
      "Its rate, `wal:segment_puts:rate5m`, is what the bill is made of."
    ),
    counter("wal_segment_raw_bytes_total", "bytes", "Bytes of stored segment bodies before packing", "Throughput."),
    counter("wal_segment_stored_bytes_total", "bytes", "Bytes of stored segment bodies", "What the network carries."),
    gauge(
      "wal_compression_ratio",
      "ratio",
      "Raw bytes for each stored byte",
      "Near 1 with compression on: the records do not compress; `none` saves CPU."
    ),
    gauge(
      "wal_queue_segments",
      "segments",
      "Sealed segments that wait for a worker",
      "Against `wal_queue_limit_segments`: at the limit appends wait, then are refused with 503. Not back to 0 for long: more workers, a higher depth, or a larger preset."
    ),
    gauge("wal_in_flight_segments", "segments", "Segments being stored", "At its limit all the time: as above."),
    gauge(
      "wal_buffered_bytes",
      "bytes",
      "Bytes of open, queued and in-flight segments",
      "Against `wal_buffer_limit_bytes`: at the limit appends wait, then are refused with 503."
    ),
    {
      ...counter(
        "wal_put_retries_total",
        "tries",
        "Tries after a first one, by class of answer",
        "`Throttled`: fewer PUTs. `AccessDenied`, `CredentialsUnavailable`: rights, keys. `Unavailable`, `TimedOut`: the store. " +
          "`StoreFull`: its disk."
      ),
      labels: [...logLabels, "class"]
    },
    counter(
      "wal_segment_put_hedges_total",
      "requests",
      "PUTs of segments that were slow and sent once more",
      "Each costs a PUT. Many: the store has a long tail."
    ),
    counter(
      "wal_segment_put_hedges_won_total",
      "requests",
      "Hedged PUTs whose second request was answered first",
      "A small share of the hedges: hedging does not pay here, turn it off."
    ),
    counter(
      "wal_lingers_stretched_total",
      "segments",
      "Segments that somebody waited for longer than linger, for the budget's sake",
      "The budget is in force; callers wait longer."
    ),
    counter(
      "wal_linger_stretched_seconds_total",
      "seconds",
      "How much longer that was than linger, in all",
      "Divided by the number above: what the budget costs each wait."
    )
  ]
}

/** Requests, manifest, deletion. */
export const store: MetricGroup = {
  title: "Store",
  metrics: [
    {
      ...counter("wal_store_requests_total", "requests", "Requests to the store", "What the bill counts."),
      labels: [...logLabels, "operation"]
    },
    counter(
      "wal_estimated_request_cost_dollars_total",
      "dollars",
      "Requests at the prices of S3 Standard, us-east-1, 2026-07",
      "Its rate, `wal:request_cost_dollars:30d`, is what requests cost in 30 days. On a disk nothing is charged: what S3 would."
    ),
    gauge(
      "wal_store_failing_seconds",
      "seconds",
      "How long PUTs have been failing without one success between; 0 while all is well",
      "The log has the last error. Nothing is lost while the buffer or the spool has room."
    ),
    counter("wal_manifest_commits_total", "writes", "Manifest bodies stored", "About one for eight segments."),
    counter(
      "wal_manifest_conflicts_total",
      "tries",
      "Manifest tries that lost, or whose answer was lost",
      "More than a few: a second writer, or a store that loses answers."
    ),
    counter(
      "wal_manifest_contentions_total",
      "batches",
      "Manifest batches put off after eight tries",
      "Somebody else writes the manifest: find the second process with this node_id and stream_id."
    ),
    counter(
      "wal_segments_deleted_total",
      "segments",
      "Segments deleted",
      "Standing still while segments are written: a cursor holds back deletion; the status names it."
    ),
    counter(
      "wal_delete_failures_total",
      "objects",
      "Deletions that were refused",
      "The permission to delete is missing, or an object lock is on. Storage grows until that is mended."
    ),
    gauge(
      "wal_foreign_objects",
      "objects",
      "Objects below the prefix that are not ours, among those listed",
      "Nothing else may write below the prefix. They are never touched."
    ),
    {
      ...gauge(
        "wal_abandoned_logs",
        "logs",
        "Logs of other nodes below the same prefixes that hold uncommitted records, as counted at start",
        "Nodes that run are among them, where their consumers are not done. The log lines of the start name all."
      ),
      labels: []
    },
    {
      ...gauge(
        "wal_abandoned_records",
        "records",
        "Uncommitted records of each of these logs, under its own labels, as counted at start",
        "No `wal_open` of that node and stream: start that node again, or read its records."
      ),
      absent: "until such a log is found"
    }
  ]
}
