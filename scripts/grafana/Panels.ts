/**
 * The panels of the dashboard for Grafana: rows, each with its panels and their queries.
 *
 * Every query asks for the streams and servers that are chosen above the panels.
 */

interface Query {
  readonly expr: string
  /** What the line is called. */
  readonly legend: string
}

/** One panel. */
export interface Panel {
  readonly title: string
  readonly unit: string
  readonly description: string
  readonly queries: ReadonlyArray<Query>
  /** One number instead of lines. */
  readonly stat?: boolean
  /** Values from which on it is yellow and red. */
  readonly warn?: number
  readonly page?: number
}

interface Row {
  readonly title: string
  readonly panels: ReadonlyArray<Panel>
}

const log = "{job=~\"$job\",instance=~\"$instance\",stream=~\"$stream\"}"
const server = "{job=~\"$job\",instance=~\"$instance\"}"
const window = "[$__rate_interval]"

const line = (expr: string, legend = "{{stream}} {{instance}}"): Query => ({ expr, legend })
const rate = (name: string, legend?: string): Query => line(`rate(${name}${log}${window})`, legend)
const quantile = (share: number, name: string): Query =>
  line(
    `histogram_quantile(${share}, sum by (stream, le) (rate(${name}_bucket${log}${window})))`,
    `p${share * 100} {{stream}}`
  )

const overview: Row = {
  title: "At a glance",
  panels: [
    {
      title: "Records a second",
      unit: "short",
      description: "Accepted and durable. The two lines follow each other.",
      queries: [
        rate("wal_records_appended_total", "accepted {{stream}}"),
        rate("wal_records_durable_total", "durable {{stream}}")
      ]
    },
    {
      title: "Streams that are not open",
      unit: "short",
      description: "Fenced, failed, refused or still opening.",
      queries: [line(`sum(wal_stream_state${server.replace("}", ",state!~\"open|closing|closed\"}")})`, "not open")],
      stat: true,
      warn: 1,
      page: 1
    },
    {
      title: "Records at risk",
      unit: "short",
      description: "What a crash now would lose.",
      queries: [line(`wal_at_risk_entries${log}`)]
    },
    {
      title: "Cursor lag",
      unit: "short",
      description: "Durable records above the slowest cursor.",
      queries: [line(`wal_cursor_lag_entries${log}`)]
    }
  ]
}

const uploads: Row = {
  title: "Uploads",
  panels: [
    {
      title: "PUT latency",
      unit: "s",
      description:
        "From the first try to the confirmation. Above 0.2 s look at region and network, above 0.5 s at the store.",
      queries: [0.5, 0.9, 0.99].map((share) => quantile(share, "wal_segment_put_latency_seconds")),
      warn: 0.2,
      page: 0.5
    },
    {
      title: "PUTs a second",
      unit: "reqps",
      description: "Segments made durable: the put frequency of the source documents.",
      queries: [rate("wal_segment_puts_total")]
    },
    {
      title: "Mean segment",
      unit: "bytes",
      description: "Before compression, as max_bytes counts, and as it is stored.",
      queries: [
        line(
          `rate(wal_segment_raw_bytes_total${log}${window}) / (rate(wal_segment_puts_total${log}${window}) > 0)`,
          "raw {{stream}}"
        ),
        line(
          `rate(wal_segment_stored_bytes_total${log}${window}) / (rate(wal_segment_puts_total${log}${window}) > 0)`,
          "stored {{stream}}"
        ),
        line(`wal_segment_limit_bytes${log}`, "max_bytes {{stream}}")
      ]
    },
    {
      title: "Bytes a second",
      unit: "Bps",
      description: "Before compression and as stored.",
      queries: [
        rate("wal_segment_raw_bytes_total", "raw {{stream}}"),
        rate("wal_segment_stored_bytes_total", "stored {{stream}}")
      ]
    },
    {
      title: "Buffer",
      unit: "percentunit",
      description: "How full it is. At 100 % appends wait, then are refused with 503.",
      queries: [line(`wal_buffered_bytes${log} / (wal_buffer_limit_bytes${log} > 0)`)],
      warn: 0.5,
      page: 0.9
    },
    {
      title: "Queue and in flight",
      unit: "short",
      description: "Sealed segments that wait for a worker, and those being stored.",
      queries: [
        line(`wal_queue_segments${log}`, "queued {{stream}}"),
        line(`wal_in_flight_segments${log}`, "in flight {{stream}}")
      ]
    },
    {
      title: "Age of the oldest record that is not durable",
      unit: "s",
      description: "Grows while nothing is confirmed.",
      queries: [line(`wal_oldest_at_risk_age_seconds${log}`)],
      warn: 5,
      page: 30
    },
    {
      title: "Retries a second",
      unit: "reqps",
      description: "Tries after a first one, by class of answer.",
      queries: [line(`sum by (stream, class) (rate(wal_put_retries_total${log}${window})) > 0`, "{{class}} {{stream}}")]
    }
  ]
}

const store: Row = {
  title: "Store and cost",
  panels: [
    {
      title: "Requests a second",
      unit: "reqps",
      description: "To the store, by operation.",
      queries: [line(`sum by (operation) (rate(wal_store_requests_total${log}${window}))`, "{{operation}}")]
    },
    {
      title: "Dollars for requests in 30 days",
      unit: "currencyUSD",
      description: "At the rate of the last hour and the prices of S3 Standard, us-east-1.",
      queries: [line(`sum(rate(wal_estimated_request_cost_dollars_total${log}[1h])) * 2592000`, "all streams")],
      stat: true
    },
    {
      title: "Manifest",
      unit: "short",
      description: "Writes, and tries that met another body.",
      queries: [
        rate("wal_manifest_commits_total", "writes {{stream}}"),
        rate("wal_manifest_conflicts_total", "conflicts {{stream}}")
      ]
    },
    {
      title: "Deletion",
      unit: "short",
      description: "Segments deleted, and deletions that were refused.",
      queries: [
        rate("wal_segments_deleted_total", "deleted {{stream}}"),
        rate("wal_delete_failures_total", "refused {{stream}}")
      ]
    }
  ]
}

const disks: Row = {
  title: "Spool and disks",
  panels: [
    {
      title: "Spool",
      unit: "bytes",
      description: "What it takes of its disk, and what it may take.",
      queries: [
        line(`wal_spool_bytes${log} and wal_spool_limit_bytes${log} > 0`, "used {{stream}}"),
        line(`wal_spool_limit_bytes${log} > 0`, "limit {{stream}}")
      ]
    },
    {
      title: "Disk free",
      unit: "percentunit",
      description: "Of local logs, directory stores and spools.",
      queries: [line(`wal_disk_free_bytes${server} / (wal_disk_size_bytes${server} > 0)`, "{{path}} {{instance}}")]
    }
  ]
}

const process: Row = {
  title: "Server",
  panels: [
    {
      title: "Answers a second",
      unit: "reqps",
      description: "By status.",
      queries: [line(`sum by (status) (rate(wal_http_requests_total${server}${window}))`, "{{status}}")]
    },
    {
      title: "Memory",
      unit: "bytes",
      description: "Of the process, and of its JavaScript heap.",
      queries: [
        line(`process_resident_memory_bytes${server}`, "resident {{instance}}"),
        line(`nodejs_heap_size_used_bytes${server}`, "heap {{instance}}")
      ]
    },
    {
      title: "CPU",
      unit: "percentunit",
      description: "1 is one core.",
      queries: [line(`rate(process_cpu_seconds_total${server}${window})`, "{{instance}}")]
    },
    {
      title: "Epochs",
      unit: "short",
      description: "A step is an opening. Two pods that take turns show as steps without end.",
      queries: [line(`wal_epoch${log}`)]
    }
  ]
}

/** All rows, from top to bottom. */
export const rows: ReadonlyArray<Row> = [overview, uploads, store, disks, process]
