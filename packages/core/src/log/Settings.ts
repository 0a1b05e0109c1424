/** Options as the parts want them: milliseconds instead of durations. */
import { Duration } from "effect"
import type { OpenedEpoch } from "../epoch/Takeover.ts"
import { highestMark } from "../format/CursorSet.ts"
import { freshBuffers } from "../format/OpenColumns.ts"
import type { CoordinatorSettings } from "../manifest/ManifestCoordinator.ts"
import type { WalOptions } from "../WalOptions.ts"
import { HedgePolicy } from "../write/HedgePolicy.ts"
import type { ProducerLimits } from "../write/ProducerTable.ts"
import type { PutWorkerSettings } from "../write/PutWorker.ts"
import { SegmentOpener } from "../write/Segment.ts"
import { SegmentBuffers } from "../write/SegmentBuffers.ts"
import type { SegmenterSettings } from "../write/SegmenterParts.ts"

/** Sealed segments that may wait, for each worker. */
export const queuedPerWorker = 16

/** Tries of one manifest read in a running log before the batch is put off. */
const manifestReadAttempts = 6

/** PUTs that can be under way at one time: the window of slots. */
export const lanesOf = (options: WalOptions): number => options.parallelPut.workers * options.parallelPut.pipelineDepth

/** Most memory that is kept for segments to come. */
const mostKeptBytes = 64 * 1_048_576

/** With memory for as many segments as are under way at one time. A disk that takes them too may read them at any time. */
export const segmentsOf = (options: WalOptions, spool: unknown): SegmentOpener => {
  const keptBytes = Math.min(mostKeptBytes, (lanesOf(options) + 2) * 2 * options.segment.maxBytes)
  return new SegmentOpener(spool === undefined ? new SegmentBuffers(keptBytes) : freshBuffers)
}

/** The last number that anything below the ends knows: new records come after it. */
const lastUsedSeq = (opened: OpenedEpoch): number =>
  Math.max(opened.link.seq, opened.held.manifest.trim.seq, highestMark(opened.cursors))

export const segmenterSettings = (options: WalOptions, opened: OpenedEpoch): SegmenterSettings => ({
  streamId: options.streamId,
  epoch: opened.epoch,
  maxEntries: options.segment.maxEntries,
  maxBytes: options.segment.maxBytes,
  flushIntervalMillis: Duration.toMillis(options.segment.flushInterval),
  lingerMillis: Duration.toMillis(options.segment.linger),
  sync: options.sync,
  ...options.budget,
  maxBufferedBytes: options.maxBufferedBytes,
  maxRecordBytes: options.maxRecordBytes,
  maxSegmentBytes: options.maxSegmentBytes,
  lastSeq: lastUsedSeq(opened),
  lastAt: opened.link.at
})

/** How slow a PUT is sent once more. */
const hedgingOf = ({ parallelPut: { hedge } }: WalOptions): HedgePolicy | undefined =>
  hedge === "off" ? undefined : new HedgePolicy(hedge === "p95" ? 0.95 : 0.99)

/** `prefix`: that of all keys of the log. */
export const putSettings = (
  options: WalOptions,
  opened: OpenedEpoch,
  prefix: string
): Omit<PutWorkerSettings, "traced"> => ({
  streamId: options.streamId,
  epoch: opened.epoch,
  prefix,
  backoff: options.retry,
  hedging: hedgingOf(options)
})

export const producerLimits = (options: WalOptions): ProducerLimits => ({
  max: options.producers.max,
  ttlMillis: Duration.toMillis(options.producers.ttl)
})

export const coordinatorSettings = (options: WalOptions, opened: OpenedEpoch, key: string): CoordinatorSettings => ({
  access: { key, streamId: options.streamId, backoff: options.retry, readAttempts: manifestReadAttempts },
  epoch: opened.epoch,
  nonce: opened.nonce,
  maxSegments: options.manifest.maxSegments,
  maxDelayMillis: Duration.toMillis(options.manifest.maxDelay),
  cursorIntervalMillis: Duration.toMillis(options.cursor.interval),
  cursorMaxEntries: options.cursor.maxEntries
})
