/** How streams and cursors are shown. */
import { Effect } from "effect"
import { type Column, fieldsView, joinViews, Json, print, rowsView, type View } from "../Output.ts"
import type { CursorReport, StreamReport } from "./Target.ts"

/** The cursors of a stream, by name. */
export const cursorsOf = ({ cursors = {} }: StreamReport): ReadonlyArray<CursorReport> =>
  Object.entries(cursors)
    .map(([name, { lag, persisted, seq }]) => ({ name, seq, persisted, lag }))
    .toSorted((left, right) => left.name < right.name ? -1 : 1)

/** The columns of cursors. */
export const cursorColumns: ReadonlyArray<Column<CursorReport>> = [
  { name: "name", title: "cursor", kind: "text", value: (row) => row.name },
  { name: "seq", title: "at", kind: "id", value: (row) => row.seq },
  { name: "persisted", kind: "id", value: (row) => row.persisted },
  { name: "lag", kind: "count", value: (row) => row.lag }
]

const largestLag = (report: StreamReport): number | undefined => {
  const lags = cursorsOf(report).map(({ lag }) => lag)
  return lags.length === 0 ? undefined : Math.max(...lags)
}

/** The columns of several streams. */
const streamColumns: ReadonlyArray<Column<StreamReport>> = [
  { name: "id", title: "stream", kind: "text", value: (row) => row.id },
  { name: "state", kind: "text", value: (row) => row.state },
  { name: "epoch", kind: "id", value: (row) => row.epoch },
  { name: "durable", kind: "id", value: (row) => row.durable },
  { name: "trimmed_to", kind: "id", value: (row) => row.trimmed_to },
  { name: "at_risk_records", title: "at risk", kind: "count", value: (row) => row.at_risk?.records },
  { name: "largest_lag", kind: "count", value: largestLag },
  { name: "error", kind: "text", value: (row) => row.error?.message }
]

/** The fields of one stream; those that are not there are left out for people too. */
const fields: ReadonlyArray<Column<StreamReport>> = [
  { name: "stream", kind: "text", value: (row) => row.id },
  { name: "state", kind: "text", value: (row) => row.state },
  { name: "error", kind: "text", value: (row) => row.error?.message },
  { name: "node id", kind: "text", value: (row) => row.node_id },
  { name: "log id", kind: "text", value: (row) => row.log_id },
  { name: "epoch", kind: "id", value: (row) => row.epoch },
  { name: "last opened by", kind: "text", value: (row) => row.writer },
  { name: "new owner", kind: "text", value: (row) => row.new_owner },
  { name: "durable to", kind: "id", value: (row) => row.durable },
  { name: "accepted to", kind: "id", value: (row) => row.last_accepted },
  { name: "spooled to", kind: "id", value: (row) => row.spool === undefined ? undefined : row.spooled },
  { name: "trimmed to", kind: "id", value: (row) => row.trimmed_to },
  { name: "deletion held back by", kind: "text", value: (row) => row.held_back_by },
  { name: "records at risk", kind: "count", value: (row) => row.at_risk?.records },
  { name: "bytes at risk", kind: "bytes", value: (row) => row.at_risk?.bytes },
  { name: "oldest at risk since", kind: "millis", value: (row) => row.at_risk?.oldest_age_ms },
  { name: "buffered", kind: "bytes", value: (row) => row.buffered?.bytes },
  { name: "buffer limit", kind: "bytes", value: (row) => row.buffered?.limit_bytes },
  { name: "segments queued", kind: "count", value: (row) => row.buffered?.queued_segments },
  { name: "segments in flight", kind: "count", value: (row) => row.segments?.in_flight },
  { name: "spool", kind: "text", value: (row) => row.spool?.path },
  { name: "records in spool", kind: "count", value: (row) => row.spool?.records },
  { name: "spool used", kind: "bytes", value: (row) => row.spool?.bytes },
  { name: "spool limit", kind: "bytes", value: (row) => row.spool?.limit_bytes },
  { name: "spool problem", kind: "text", value: (row) => row.spool?.problem },
  { name: "store failing since", kind: "time", value: (row) => row.store_failing_since },
  { name: "last store error", kind: "text", value: (row) => row.last_store_error }
]

/** One stream for people. In JSON it is what the API answers. */
const reportView = (report: StreamReport): View => {
  const known = fieldsView(fields.filter(({ value }) => value(report) !== undefined), report)
  const cursors = cursorsOf(report)
  const view = cursors.length === 0 ? known : joinViews([known, rowsView(cursorColumns, cursors)])
  return { text: view.text, json: [report] }
}

/** Prints streams, one below the other. */
export const printReports = (reports: ReadonlyArray<StreamReport>) => print(joinViews(reports.map(reportView)))

/** Prints streams as a table; in JSON as the API answers them. */
export const printStreams = Effect.fnUntraced(function*(reports: ReadonlyArray<StreamReport>) {
  const table = rowsView(streamColumns, reports, "no streams")
  yield* print((yield* Json) ? { text: table.text, json: reports } : table)
})
