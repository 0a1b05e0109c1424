/**
 * What the dashboard is told: plain JSON, in snake case as the rest of the API. Times are epoch milliseconds, sizes are
 * bytes, rates are a second. The page takes its types from here.
 */
import type { Readiness, StreamStatus } from "../api/Schemas.ts"

/** `warn`: look at it today. `page`: somebody has to act now. */
export type Level = "ok" | "warn" | "page"

/** A value against its thresholds; one that is absent does not apply. */
export interface Judged {
  readonly level: Level
  readonly warn?: number
  readonly page?: number
}

/** What is compared with a threshold. */
export type JudgedName =
  | "put_p99_ms"
  | "puts_per_second"
  | "lag"
  | "at_risk"
  | "oldest_age_ms"
  | "queue"
  | "buffer"
  | "spool"
  | "retries"
  | "conflicts"

/** What the thresholds of a stream follow from. */
export interface StreamSettings {
  readonly store: "s3" | "directory" | "local"
  /** The preset whose four values these are; absent where one was changed. */
  readonly preset?: string
  readonly max_entries: number
  readonly max_bytes: number
  readonly flush_interval_ms: number
  readonly linger_ms: number
  readonly workers: number
  readonly pipeline_depth: number
  /** Sealed segments that can wait. */
  readonly queue_segments: number
  readonly compression: string
}

/** Latency of the segment PUTs of the window; percentiles are read off a histogram, so they lie within its buckets. */
export interface PutLatency {
  readonly count: number
  readonly mean_ms: number
  readonly p50_ms: number
  readonly p95_ms: number
  readonly p99_ms: number
}

/** How often in the window, and since the log was opened. */
export interface Occurrences {
  readonly window: number
  readonly total: number
}

/** Requests to the store. */
export interface RequestView {
  /** Since the log was opened. */
  readonly total: { readonly puts: number; readonly gets: number; readonly lists: number; readonly removes: number }
  /** 30 days at the rate of the window. */
  readonly per_month: { readonly puts: number; readonly gets: number; readonly lists: number }
  /** What those cost; absent for a store that charges none. Storage and traffic are not in it. */
  readonly dollars_per_month?: number
  readonly prices?: string
}

/** What is counted of a log that is open. */
export interface Activity {
  /** How far back the window reaches, seconds, at most 60; less after a start. */
  readonly window_s: number
  /** Over the last five seconds. */
  readonly rates: {
    readonly accepted: number
    readonly durable: number
    /** Bytes of segment bodies before packing. */
    readonly bytes: number
    readonly puts: number
  }
  readonly put: PutLatency | null
  readonly retries: Readonly<Record<string, Occurrences>>
  readonly conflicts: Occurrences
  readonly manifest_commits: number
  /** 1 where opening this log ended the epoch of an earlier writer. */
  readonly takeovers: number
  readonly compression: { readonly raw_bytes: number; readonly stored_bytes: number; readonly ratio: number | null }
  /** Mean size of the objects of the window, and of all. */
  readonly segment_bytes: { readonly window: number | null; readonly total: number | null }
  readonly requests: RequestView
  /** Seconds until the buffer or the queue is full, or the spool where there is one; null while nothing grows. */
  readonly full_in_s: number | null
}

/** One stream. */
export interface StreamView {
  readonly id: string
  readonly level: Level
  readonly status: StreamStatus
  /** The newest last, at most eight. */
  readonly epochs: ReadonlyArray<
    { readonly epoch: number; readonly end: number | null; readonly last_seq: number | null }
  >
  /** How many epochs lie above the trim point. */
  readonly epochs_total: number
  readonly settings?: StreamSettings
  readonly activity?: Activity
  readonly judged: Readonly<Partial<Record<JudgedName, Judged>>>
}

/** The columns of the charts. */
export interface Point {
  readonly accepted: number
  readonly at_risk: number
  readonly put_p99_ms: number
  readonly lag: number
}

/** The highest value of each five seconds, the newest last, at most 120. */
export type History = { readonly [Column in keyof Point]: ReadonlyArray<number> }

/** The process. */
export interface ServerView {
  readonly version: string
  readonly phase: "serving" | "leaving" | "draining"
  readonly ready: boolean
  /** Of the streams that the reader may see. */
  readonly reasons: NonNullable<Readiness["reasons"]>
}

/** One event of the feed. What has not changed since the event before is left out. */
export interface FeedEvent {
  readonly at: number
  readonly server?: ServerView
  readonly streams?: ReadonlyArray<StreamView>
  /** In the first event only, which has every stream. */
  readonly history?: Readonly<Record<string, History>>
}
