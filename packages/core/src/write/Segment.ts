/** A segment on its way: open while it fills, sealed, stamped with its slot. */
import type { Deferred } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import type { CursorSet } from "../format/CursorSet.ts"
import type { OpenColumns } from "../format/OpenColumns.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { WalEnd } from "../WalError.ts"

export type SealReason = "entries" | "bytes" | "interval" | "demand" | "flush" | "close"

/** What callers keep of a segment: small, whatever the segment holds. */
export interface Ticket {
  /** Completes when the segment and all before it are durable. */
  readonly durable: Deferred.Deferred<void, WalEnd>
  /** Somebody waits for that. */
  demanded: boolean
}

/** A segment's records before it has a slot. While open it grows; sealed, nothing of it changes. */
export interface PendingSegment {
  readonly columns: OpenColumns
  readonly firstSeq: number
  /** When its first record came, in milliseconds of the monotonic clock. */
  readonly openedAt: number
  /** Payloads and optional fields, as `max_bytes` counts them. */
  contentBytes: number
  /** What it takes of the buffer. */
  bufferBytes: number
  readonly ticket: Ticket
}

/** A segment with its slot; its header says everything but what packing decides. */
export interface StampedSegment {
  readonly ticket: Ticket
  readonly bufferBytes: number
  readonly openedAt: number
  readonly key: string
  /** The raw body. */
  readonly body: Uint8Array
  /** Codec, stored length and stored CRC are those of the raw body; the final header is made after packing. */
  readonly header: SegmentHeader
  /** The cursors that the header carries. */
  readonly cursors: CursorSet
  /** The point after this segment. */
  readonly after: Boundary
}
