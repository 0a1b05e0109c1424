/** What the logs of a running server cost, by their own counters: two looks at `/metrics`, and the difference. */
import { requestDollars } from "@effect-wal/core/model/CostModel"
import { hoursPerMonth, s3StandardUsEast1 } from "@effect-wal/core/StorePrices"
import { type MetricSample, sumOf, valuesOf } from "./MetricsText.ts"
import type { Column } from "./Output.ts"

/** What one log did between two looks, and what a month of that costs. */
export interface LiveCost {
  readonly stream: string
  readonly recordsPerSecond: number
  readonly putsPerSecond: number
  readonly getsPerSecond: number
  readonly listsPerSecond: number
  readonly storedBytesPerSecond: number
  /** Raw bytes for each stored byte; `undefined` where nothing was stored. */
  readonly compressionRatio: number | undefined
  readonly requestDollarsPerMonth: number
  readonly storageDollarsPerMonth: number
  readonly dollarsPerMonth: number
  /** Of requests, since the log was opened. */
  readonly dollarsSoFar: number | undefined
}

/** Two answers of `/metrics`, and how they are read. */
export interface LiveLook {
  readonly before: ReadonlyArray<MetricSample>
  readonly after: ReadonlyArray<MetricSample>
  /** Between the two, milliseconds above 0. */
  readonly millis: number
  /** How long a record stays stored. */
  readonly storedForMillis: number
}

const requestsName = "wal_store_requests_total"

const costOfStream = (stream: string, look: LiveLook): LiveCost => {
  const { after, before, millis, storedForMillis } = look
  // A log that was opened again in between starts at 0: then what it has done since is the least that is known.
  const grown = (name: string, labels: Readonly<Record<string, string>> = {}): number => {
    const last = sumOf(after, name, { stream, ...labels }) ?? 0
    const first = sumOf(before, name, { stream, ...labels }) ?? 0
    return last < first ? last : last - first
  }
  const perSecond = (amount: number): number => amount * 1_000 / millis
  const requests = (operation: string) => perSecond(grown(requestsName, { operation }))
  const monthSeconds = hoursPerMonth * 3_600
  const [creates, replaces, gets, lists] = ["create", "replace", "get", "list"].map(requests)
  const monthly = requestDollars({
    segmentPuts: (creates ?? 0) * monthSeconds,
    manifestPuts: (replaces ?? 0) * monthSeconds,
    gets: (gets ?? 0) * monthSeconds,
    lists: (lists ?? 0) * monthSeconds
  })
  const raw = grown("wal_segment_raw_bytes_total")
  const stored = grown("wal_segment_stored_bytes_total")
  const { gigabyteBytes, perGigabyteMonth } = s3StandardUsEast1
  const storage = perSecond(stored) * storedForMillis / 1_000 / gigabyteBytes * perGigabyteMonth
  return {
    stream,
    recordsPerSecond: perSecond(grown("wal_records_durable_total")),
    putsPerSecond: (creates ?? 0) + (replaces ?? 0),
    getsPerSecond: gets ?? 0,
    listsPerSecond: lists ?? 0,
    storedBytesPerSecond: perSecond(stored),
    compressionRatio: stored === 0 ? undefined : raw / stored,
    requestDollarsPerMonth: monthly.total,
    storageDollarsPerMonth: storage,
    dollarsPerMonth: monthly.total + storage,
    dollarsSoFar: sumOf(after, "wal_estimated_request_cost_dollars_total", { stream })
  }
}

/** One row for each log that is open at the second look. */
export const liveCosts = (look: LiveLook): ReadonlyArray<LiveCost> =>
  valuesOf(look.after.filter(({ name }) => name === requestsName), "stream")
    .map((stream) => costOfStream(stream, look))

/** The table. */
export const liveCostColumns: ReadonlyArray<Column<LiveCost>> = [
  { name: "stream", kind: "text", value: (row) => row.stream },
  { name: "records_per_second", title: "records", kind: "rate", value: (row) => row.recordsPerSecond },
  { name: "puts_per_second", title: "PUT", kind: "rate", value: (row) => row.putsPerSecond },
  { name: "gets_per_second", title: "GET", kind: "rate", value: (row) => row.getsPerSecond },
  { name: "lists_per_second", title: "LIST", kind: "rate", value: (row) => row.listsPerSecond },
  { name: "stored_bytes_per_second", title: "stored", kind: "byteRate", value: (row) => row.storedBytesPerSecond },
  { name: "compression_ratio", title: "compression", kind: "ratio", value: (row) => row.compressionRatio },
  {
    name: "request_dollars_per_month",
    title: "requests a month",
    kind: "dollars",
    value: (row) => row.requestDollarsPerMonth
  },
  {
    name: "storage_dollars_per_month",
    title: "storage a month",
    kind: "dollars",
    value: (row) => row.storageDollarsPerMonth
  },
  { name: "dollars_per_month", title: "total a month", kind: "dollars", value: (row) => row.dollarsPerMonth },
  { name: "request_dollars_so_far", title: "requests so far", kind: "dollars", value: (row) => row.dollarsSoFar }
]
