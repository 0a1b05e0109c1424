/**
 * The settings of one log, resolved: every field present, sizes in bytes, durations as `Duration`.
 *
 * `OptionsSchema.ts` holds names, defaults, ranges and trade-offs; presets are in `Presets.ts`.
 */
import type { Duration } from "effect"
import type { CompressionSetting } from "./codec/Compression.ts"

/** When the open segment is sealed; sizes in bytes, before compression. */
export interface SegmentOptions {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly flushInterval: Duration.Duration
  readonly linger: Duration.Duration
}

/** What all PUTs of a log may come to. */
export interface PutBudgetOptions {
  /** PUTs a second, of all kinds: beyond it `linger` is stretched, up to the flush interval. */
  readonly putsPerSecond: number
}

/** Uploads side by side: `workers` times `pipelineDepth` PUTs are in flight at most. */
export interface ParallelPutOptions {
  readonly workers: number
  readonly pipelineDepth: number
  readonly shutdownTimeout: Duration.Duration
  /** A PUT slower than that share of those of its size is sent once more. */
  readonly hedge: "off" | "p95" | "p99"
}

/** When a moved cursor is stored, and how many ranges may be acknowledged ahead of it. */
export interface CursorOptions {
  readonly maxEntries: number
  readonly interval: Duration.Duration
  readonly maxAhead: number
}

/** After how many segments, and at the latest after how long, the manifest is stored. */
export interface ManifestOptions {
  readonly maxSegments: number
  readonly maxDelay: Duration.Duration
}

/** What may be deleted, and when. */
export interface RetentionOptions {
  readonly policy: "committed" | "keep" | "age"
  readonly minAge: Duration.Duration
  /** Only with `age`. */
  readonly maxAge?: Duration.Duration
  /** Only with `age`. */
  readonly maxBytes?: number
}

/** How many producers are remembered, and how long after their newest call. */
export interface ProducersOptions {
  readonly max: number
  readonly ttl: Duration.Duration
}

/** The first pause before a failed request is repeated, and the longest. */
export interface RetryOptions {
  readonly base: Duration.Duration
  readonly cap: Duration.Duration
}

/** All options of a log, resolved: what `resolveOptions` makes of what was given. */
export interface WalOptions {
  readonly nodeId: string
  readonly streamId: string
  readonly prefix: string
  readonly segment: SegmentOptions
  /** Absent: `linger` is never stretched. */
  readonly budget?: PutBudgetOptions
  readonly parallelPut: ParallelPutOptions
  readonly compression: CompressionSetting & { readonly thresholdBytes: number }
  readonly cursor: CursorOptions
  readonly manifest: ManifestOptions
  readonly retention: RetentionOptions
  readonly producers: ProducersOptions
  readonly retry: RetryOptions
  readonly sync: "group_commit" | "periodic"
  readonly conditionalWrites: "required" | "single_writer"
  readonly maxBufferedBytes: number
  readonly maxRecordBytes: number
  readonly maxSegmentBytes: number
  readonly tailBufferBytes: number
  /** Segments fetched ahead of a reader. */
  readonly prefetch: number
  readonly openTimeout: Duration.Duration
  /** Reported as the owner of the log to whoever is fenced by it. */
  readonly host: string
}
