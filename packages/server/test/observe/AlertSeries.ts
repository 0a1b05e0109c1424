/** What the cases of alerts are made of: series of one log, of its process, and of its settings. */

/** Values by series. */
export type Series = Readonly<Record<string, string>>

export interface AlertCase {
  readonly alert: string
  /** Minutes after the start when it is looked at. */
  readonly minute: number
  readonly fires: Series
  /** Other alerts that these series set off, rightly. */
  readonly also?: ReadonlyArray<string>
  readonly quiet: Series
  /** Alerts that these other series set off, rightly. */
  readonly quietBut?: ReadonlyArray<string>
}

const target = "job=\"effect-wal\",instance=\"10.0.0.1:8180\""
const log = `${target},stream="orders",node="wal-0"`

/** A series of the log. */
export const of = (name: string, labels = ""): string => `${name}{${log}${labels === "" ? "" : `,${labels}`}}`

/** A series of the process. */
export const ofProcess = (name: string, labels = ""): string => `${name}{${target}${labels === "" ? "" : `,${labels}`}}`

/** The state of the stream. */
export const state = (name: string): string => ofProcess("wal_stream_state", `stream="orders",state="${name}"`)

/** Answers with this status on this route. */
export const answered = (status: string, route: string) =>
  ofProcess("wal_http_requests_total", `method="POST",route="${route}",status="${status}"`)
/** The route of records. */
export const records = "/v1/streams/{stream}/records"

/** When the process was started. */
export const started = ofProcess("process_start_time_seconds")

/** The process was started in the first minute, and again in the sixtieth. */
export const restarted: Series = { [started]: "0x59 3600x60" }
/** It runs since then. */
export const startedOnce: Series = { [started]: "0x120" }

/** The settings of an open log, in every case. */
export const balanced: Series = {
  [of("wal_segment_limit_entries")]: "1000x180",
  [of("wal_segment_limit_bytes")]: "1048576x180",
  [of("wal_flush_interval_seconds")]: "1x180",
  [of("wal_linger_seconds")]: "0.1x180",
  [of("wal_put_window_segments")]: "1x180",
  [of("wal_queue_limit_segments")]: "16x180",
  [of("wal_open")]: "1x180"
}

/** Instead of the settings above: segments of one record, as with `sync: per_entry`. */
export const perEntry: Series = { [of("wal_segment_limit_entries")]: "1x180" }

/** Instead of the state above: another writer has the log. */
export const fenced: Series = { [of("wal_open")]: "0x180" }
