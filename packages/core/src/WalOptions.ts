/**
 * The settings of one log, resolved: every field present, sizes in bytes, durations as `Duration`.
 *
 * `OptionsSchema.ts` holds names, defaults, ranges and trade-offs; presets are in `Presets.ts`.
 */
import type { Duration } from "effect"
import type { CompressionSetting } from "./codec/Compression.ts"

export interface SegmentOptions {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly flushInterval: Duration.Duration
  readonly linger: Duration.Duration
}

export interface PutBudgetOptions {
  /** PUTs a second, of all kinds: beyond it `linger` is stretched, up to the flush interval. */
  readonly putsPerSecond: number
}

export interface ParallelPutOptions {
  readonly workers: number
  readonly pipelineDepth: number
  readonly shutdownTimeout: Duration.Duration
  /** A PUT slower than that share of those of its size is sent once more. */
  readonly hedge: "off" | "p95" | "p99"
}

export interface CursorOptions {
  readonly maxEntries: number
  readonly interval: Duration.Duration
  readonly maxAhead: number
}

export interface ManifestOptions {
  readonly maxSegments: number
  readonly maxDelay: Duration.Duration
}

export interface RetentionOptions {
  readonly policy: "committed" | "keep" | "age"
  readonly minAge: Duration.Duration
  /** Only with `age`. */
  readonly maxAge?: Duration.Duration
  /** Only with `age`. */
  readonly maxBytes?: number
}

export interface ProducersOptions {
  readonly max: number
  readonly ttl: Duration.Duration
}

export interface RetryOptions {
  readonly base: Duration.Duration
  readonly cap: Duration.Duration
}

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
