/** A segment on its way: open while it fills, sealed, stamped with its slot. */
import { Deferred } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import type { CursorSet } from "../format/CursorSet.ts"
import type { SpoolPlace } from "../format/Extensions.ts"
import { type BufferSource, type ExpectedColumns, freshBuffers, OpenColumns } from "../format/OpenColumns.ts"
import { type EncodedBody, headerRoom } from "../format/SegmentBody.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { WalEnd } from "../WalError.ts"
import type { SegmentMemory } from "./SegmentBuffers.ts"

export type SealReason = "entries" | "bytes" | "interval" | "demand" | "flush" | "close"

/** `spooled`: on this machine's disk, and on its way to the store. */
export type Settled = "durable" | "spooled"

/** What callers keep of a segment: small, whatever the segment holds. */
export interface Ticket {
  /** Completes when the segment and all before it are durable or, should that be sooner, spooled. */
  readonly settled: Deferred.Deferred<Settled, WalEnd>
  /** Somebody waits for that. */
  demanded: boolean
  /** The segment's last number, from when it is spooled on: the segment itself is not in memory any more. */
  spooledSeq?: number
  /** What of the segment's share of the buffer stays taken until it is durable: its calls are remembered in memory. */
  keptBytes?: number
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
  /** The spooled slot that this segment is a copy of. */
  readonly copyOf?: SpoolPlace
}

/** What a record takes of the columns before the payloads, with a bit of each optional one. */
const headBytesOfRecord = 13
/** So much larger than the last one a segment may be before its buffer has to grow. */
const margin = 1.125

/** How large the buffer of the next segment is: for one as this, which is full. */
const expectedAfter = ({ columns, contentBytes }: PendingSegment): ExpectedColumns => {
  const headBytes = contentBytes - columns.payloadBytes + columns.count * headBytesOfRecord
  return {
    headBytes: headerRoom + Math.ceil(margin * headBytes) + 64,
    payloadBytes: Math.ceil(margin * columns.payloadBytes) + 1_024
  }
}

/** Opens the segments of a log, each about as large as the one before. */
export class SegmentOpener {
  /** Where the memory of segments comes from. */
  readonly buffers: BufferSource
  private expected: ExpectedColumns | undefined = undefined

  constructor(buffers: BufferSource = freshBuffers) {
    this.buffers = buffers
  }

  /** An empty segment that starts with this number. */
  open(firstSeq: number, openedAt: number, copyOf?: SpoolPlace): PendingSegment {
    return {
      columns: new OpenColumns(this.expected, this.buffers),
      firstSeq,
      openedAt,
      contentBytes: 0,
      bufferBytes: 0,
      ticket: { settled: Deferred.makeUnsafe<Settled, WalEnd>(), demanded: false },
      ...(copyOf === undefined ? {} : { copyOf })
    }
  }

  /** The segment is full. */
  sealed(segment: PendingSegment): void {
    this.expected = expectedAfter(segment)
  }
}

/** A segment with its slot; its header says everything but what packing decides. */
export interface StampedSegment {
  readonly ticket: Ticket
  readonly bufferBytes: number
  /** How much of that its calls of producers take as long as it is not durable; absent without calls. */
  readonly callBytes?: number
  readonly openedAt: number
  readonly key: string
  /** The raw body; absent where the segment came back from the spool. */
  readonly body?: EncodedBody
  /** The buffer that the body lies in, where it can be used again; absent where the body has one of its own. */
  readonly memory?: SegmentMemory
  /** Codec, stored length and stored CRC are those of the raw body; the final header is made after packing. */
  readonly header: SegmentHeader
  /** The cursors that the header carries. */
  readonly cursors: CursorSet
  /** The point after this segment. */
  readonly after: Boundary
}
