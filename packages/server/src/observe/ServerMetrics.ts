/** The metrics of a server beside those of its logs: disks, states, settings, HTTP, the process. */
import { counter, gauge, histogram, type MetricDoc, type MetricGroup } from "./MetricDoc.ts"

/** Local logs, directory stores, spools. */
export const disk: MetricGroup = {
  title: "Disk and spool",
  metrics: [
    gauge(
      "wal_spooled_entries",
      "records",
      "Records in the spool that are not durable",
      "Above 0: the store is away, and the loss of this node would lose them."
    ),
    gauge("wal_spool_bytes", "bytes", "Bytes that the spool takes of its disk", "Against the limit below."),
    gauge("wal_spool_limit_bytes", "bytes", "Bytes that the spool may take", "0: no spool."),
    counter(
      "wal_segments_spooled_total",
      "segments",
      "Segments that went to the spool",
      "Each one is a moment in which the store did not keep up."
    ),
    counter(
      "wal_segments_reappended_total",
      "segments",
      "Spooled segments of ended epochs that were appended again",
      "Another node had taken the log over meanwhile."
    ),
    {
      ...gauge(
        "wal_disk_free_bytes",
        "bytes",
        "Bytes that are free on the disk of a local log, of a directory store or of a spool",
        "Make room: a full disk stops appends with 507."
      ),
      labels: ["path", "use"],
      absent: "until a stream uses a disk"
    },
    {
      ...gauge("wal_disk_size_bytes", "bytes", "Size of that disk", "For the share that is free."),
      labels: ["path", "use"],
      absent: "until a stream uses a disk"
    },
    {
      ...counter(
        "wal_disk_sync_failures_total",
        "syncs",
        "Syncs that the disk refused; the file was given up and the bytes written again into another one",
        "The disk is failing: move the log to another one."
      ),
      labels: [],
      absent: "until a sync fails"
    },
    {
      ...counter(
        "wal_torn_tails_total",
        "files",
        "Torn ends of files that were cut when a journal was opened",
        "What a power failure or a kill leaves. Nothing that was acknowledged is in them."
      ),
      labels: [],
      absent: "until a torn tail is found"
    }
  ]
}

/** What state logs and streams are in. */
export const logState: MetricGroup = {
  title: "State",
  metrics: [
    {
      ...gauge(
        "wal_stream_state",
        "0 or 1",
        "1 for the state that the stream is in: opening, open, closing, closed, fenced, failed, refused",
        "`fenced`: another writer owns the log. `refused`: it cannot be opened; the log says why. `failed`: a defect."
      ),
      labels: ["stream", "state"]
    },
    gauge("wal_open", "0 or 1", "1 while the log takes records", "Absent once the log is closed."),
    gauge("wal_epoch", "number", "Writer epoch", "Rises with each opening."),
    counter(
      "wal_takeovers_total",
      "epochs",
      "Epochs of earlier writers that opening ended",
      "1 after a restart. Two pods that take turns show as epochs that rise by themselves."
    ),
    histogram(
      "wal_recovery_latency_seconds",
      "seconds",
      "Time a replay took to reach the durable end",
      "Above 5 s: consumers commit too rarely, or there is much to replay.",
      "until a replay has reached the durable end"
    ),
    {
      ...gauge("wal_build_info", "always 1", "The version that runs", "Shows a roll-out."),
      labels: ["version"]
    }
  ]
}

/** Settings that rules compare with. */
export const settings: MetricGroup = {
  title: "Settings",
  metrics: [
    gauge(
      "wal_segment_limit_entries",
      "records",
      "Records after which a segment is sealed (`max_entries`)",
      "Rules compare with it."
    ),
    gauge(
      "wal_segment_limit_bytes",
      "bytes",
      "Bytes after which a segment is sealed (`max_bytes`)",
      "Rules compare with it."
    ),
    gauge(
      "wal_flush_interval_seconds",
      "seconds",
      "Time after which a segment is sealed (`flush_interval`)",
      "Rules compare with it."
    ),
    gauge(
      "wal_linger_seconds",
      "seconds",
      "How long a segment gathers once somebody waits for it (`linger`)",
      "Rules compare with it."
    ),
    gauge(
      "wal_put_window_segments",
      "segments",
      "Segments that can be in flight at a time (`workers` × `pipeline_depth`)",
      "Rules compare with it."
    ),
    gauge(
      "wal_queue_limit_segments",
      "segments",
      "Sealed segments that can wait for a worker (16 × `workers`)",
      "Rules compare with it."
    ),
    gauge(
      "wal_buffer_limit_bytes",
      "bytes",
      "Bytes that open, queued and in-flight segments may take (`max_buffered_bytes`)",
      "Rules compare with it."
    )
  ]
}

const processGauge = (name: string, unit: string, meaning: string, advice: string): MetricDoc => ({
  ...gauge(name, unit, meaning, advice),
  labels: []
})

/** HTTP and the process. */
export const server: MetricGroup = {
  title: "Server and process",
  metrics: [
    {
      ...counter(
        "wal_http_requests_total",
        "requests",
        "Requests that were answered, by method, route and status",
        "5xx: look at the state of the streams. 401, 403: tokens. 503: no room, opening, draining. 504: not durable in time."
      ),
      labels: ["method", "route", "status"],
      absent: "until a request was answered"
    },
    {
      ...counter(
        "wal_trace_export_failures_total",
        "requests",
        "Requests with spans that the OTLP collector did not take; after the fourth of a batch a minute of spans is left out",
        "The collector is away or refuses the headers. Spans are lost, records are not."
      ),
      labels: [],
      absent: "until `server.otlp` is configured"
    },
    processGauge(
      "process_resident_memory_bytes",
      "bytes",
      "Memory of the process that is in RAM",
      "Bounded by the limits; a container limit needs room above them."
    ),
    processGauge(
      "nodejs_heap_size_used_bytes",
      "bytes",
      "JavaScript heap in use, with what has not been collected yet",
      "Growing for days: a leak; report it."
    ),
    processGauge("nodejs_heap_size_total_bytes", "bytes", "JavaScript heap that is reserved", "As above."),
    processGauge(
      "nodejs_external_memory_bytes",
      "bytes",
      "Memory outside of the JavaScript heap that belongs to its objects: buffers above all",
      "Follows `wal_buffered_bytes`."
    ),
    processGauge(
      "nodejs_active_resources",
      "handles",
      "Sockets, timers, servers and requests to the system that keep the process alive",
      "Growing for days: a leak; report it."
    ),
    {
      ...processGauge(
        "process_open_fds",
        "descriptors",
        "Open files and sockets",
        "Near the limit of the process: raise it."
      ),
      absent: "on systems other than Linux"
    },
    {
      ...counter(
        "process_cpu_seconds_total",
        "seconds",
        "CPU time that the process has used",
        "Its rate is CPUs in use; 1 is the most."
      ),
      labels: []
    },
    processGauge(
      "process_start_time_seconds",
      "seconds since 1970",
      "When the process was started",
      "Changes: restarts."
    ),
    processGauge(
      "effect_fibers_active",
      "fibers",
      "Fibers that have not ended",
      "Growing for days: a leak; report it."
    ),
    {
      ...counter("effect_fibers_started_total", "fibers", "Fibers that were started", "For looking up."),
      labels: []
    }
  ]
}
