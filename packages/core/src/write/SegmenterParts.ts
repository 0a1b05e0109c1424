/** What the segmenter is made with, and what it answers. */
import type { Clock } from "effect"
import type { BufferBudgetState } from "../BufferBudget.ts"
import type { DigestService } from "../codec/Digest.ts"
import type { LogStats } from "../observe/LogStats.ts"
import type { DiskFull } from "../WalError.ts"
import type { LogFate } from "./LogFate.ts"
import type { ProducerTable } from "./ProducerTable.ts"
import type { SealTimerSettings } from "./SealTimer.ts"
import type { SegmentOpener, Ticket } from "./Segment.ts"
import type { SegmentLimits } from "./SegmentLimits.ts"
import type { SegmentQueue } from "./SegmentQueue.ts"

export interface SegmenterSettings extends SealTimerSettings, SegmentLimits {
  readonly streamId: string
  readonly epoch: number
  readonly maxBufferedBytes: number
  readonly maxRecordBytes: number
  /** The last number given away before. */
  readonly lastSeq: number
  /** `appended_at` of the last record before. */
  readonly lastAt: number
}

export interface SegmenterParts {
  readonly fate: LogFate
  readonly queue: SegmentQueue
  readonly budget: BufferBudgetState
  readonly producers: ProducerTable
  readonly digest: DigestService
  /** A worker has nothing to do and could send now. */
  readonly workerFree: () => boolean
  readonly stats: LogStats
  /** A segment was sealed. */
  readonly onSealed: () => void
  /** Why nothing is taken right now though the log is open. */
  readonly refusal: () => DiskFull | undefined
  readonly segments: SegmentOpener
  /** Clock of the log, for synchronous code. */
  readonly clock: Clock.Clock
}

/**
 * What a call got: the numbers, and the ticket of the segment that holds the last of them (none for an empty call, and for a
 * repeat of one that is durable).
 */
export interface Admitted {
  readonly first: number
  readonly last: number
  readonly epoch: number
  readonly ticket: Ticket | undefined
  readonly isRepeat?: boolean
}
