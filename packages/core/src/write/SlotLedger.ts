/**
 * The slots of this epoch: which are given out, which are confirmed, and how far all are.
 *
 * Invariants: slots are given in order, each once · one is sent only while it lies within one window of the first
 * unconfirmed one · segments become durable in slot order, each once · the chain joins each to the one before.
 */
import type { DigestService } from "../codec/Digest.ts"
import type { Boundary } from "../format/Boundary.ts"
import { boundaryAfter } from "../format/ChainHash.ts"
import type { CursorSet } from "../format/CursorSet.ts"
import {
  type CallSpan,
  encodeCallsMark,
  encodeCallSpan,
  encodeCursors,
  encodeLink,
  encodeOrigins,
  encodeTrim,
  type OriginMarks,
  type Origins
} from "../format/Extensions.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { placeColumns } from "../format/SegmentBody.ts"
import type { Extension, SegmentHeader } from "../format/SegmentHeader.ts"
import { callBytesOf } from "./ProducerTable.ts"
import type { PendingSegment, StampedSegment } from "./Segment.ts"
import { SegmentMemory } from "./SegmentBuffers.ts"

export interface LedgerSettings {
  readonly prefix: string
  readonly logId: string
  readonly nonce: string
  readonly epoch: number
  /** Slots that may be given out and not confirmed at one time: workers × pipeline depth. */
  readonly window: number
  /** What the first segment of the epoch follows. */
  readonly link: Boundary
  readonly digest: DigestService
}

/** Copies that every header carries. */
export interface StampContext {
  readonly cursors: CursorSet
  readonly trim: Boundary
}

export class SlotLedger {
  private readonly settings: LedgerSettings
  private readonly given = new Map<number, StampedSegment>()
  private readonly confirmed = new Set<number>()
  /** The point after the last given slot. */
  private head: Boundary
  /** The point after the last durable slot. */
  private durablePoint: Boundary
  /** The first slot that nobody has begun to send. */
  private unsent = 0
  /** The last copy of each spool among the given slots. */
  private origins: OriginMarks = {}
  /** Between which slots, given so far, segments hold calls of producers. */
  private callSpan: CallSpan | undefined = undefined

  /** The copies in the last header. They change seldom. */
  private copies: StampContext & { readonly extensions: ReadonlyArray<Extension> } | undefined = undefined

  constructor(settings: LedgerSettings) {
    this.settings = settings
    this.head = { ...settings.link, epoch: settings.epoch, slot: 0 }
    this.durablePoint = this.head
  }

  /** Everything before this point is durable. */
  get durable(): Boundary {
    return this.durablePoint
  }

  /** Segments with a slot that are in memory and not yet durable. */
  get inFlight(): number {
    return this.given.size
  }

  /** The point after the last slot that was given. */
  get last(): Boundary {
    return this.head
  }

  /** Another slot may be sent. */
  get hasRoom(): boolean {
    return this.unsent < this.durablePoint.slot + this.settings.window
  }

  /** Slots were given that nobody has begun to send: they are in the spool, or on their way there. */
  get hasBacklog(): boolean {
    return this.unsent < this.head.slot
  }

  /** The slot that is sent next. */
  get nextToSend(): number {
    return this.unsent
  }

  /** Somebody sends the next slot. Only while `hasRoom`. */
  sends(): void {
    this.unsent++
  }

  /** The segment is in the spool and leaves memory. */
  forget(slot: number): void {
    this.given.delete(slot)
  }

  /** A segment is back from the spool. */
  load(stamped: StampedSegment): void {
    this.given.set(stamped.header.slot, stamped)
  }

  /** The segment of a slot that was given and is not durable, where it is in memory. */
  at(slot: number): StampedSegment | undefined {
    return this.given.get(slot)
  }

  /** Gives the segment its slot, and makes its header and body. */
  stamp(segment: PendingSegment, context: StampContext): StampedSegment {
    const { settings } = this
    const { columns } = segment
    const body = placeColumns(columns)
    const isInPlace = body.bytes.buffer === columns.buffer.buffer
    if (!isInPlace) columns.buffers.give(columns.buffer)
    const memory = isInPlace ? { memory: new SegmentMemory(columns.buffer, columns.buffers) } : {}
    const rawBytes = body.bytes.length
    const crc = settings.digest.crc32(body.bytes)
    const { copyOf } = segment
    if (copyOf !== undefined) {
      this.origins = { ...this.origins, [copyOf.spool]: { epoch: copyOf.epoch, slot: copyOf.slot } }
    }
    const origins: Origins = { marks: this.origins, copy: copyOf !== undefined }
    const hasCalls = columns.calls !== undefined
    if (hasCalls) this.callSpan = { first: this.callSpan?.first ?? this.head.slot, last: this.head.slot }
    const header: SegmentHeader = {
      kind: "segment",
      codec: "none",
      logId: settings.logId,
      nonce: settings.nonce,
      epoch: settings.epoch,
      slot: this.head.slot,
      firstSeq: segment.firstSeq,
      count: columns.count,
      rawBytes,
      storedBytes: rawBytes,
      rawCrc: crc,
      storedCrc: crc,
      firstAt: columns.times[0] ?? 0,
      lastAt: columns.times[columns.count - 1] ?? 0,
      watermarkSlot: this.durablePoint.slot,
      watermarkSeq: this.durablePoint.seq,
      chain: this.head.chain,
      extensions: [
        ...this.copiesOf(context),
        ...(this.head.slot === 0 ? [encodeLink(settings.link)] : []),
        ...(hasCalls ? [encodeCallsMark()] : []),
        ...(this.callSpan === undefined ? [] : [encodeCallSpan(this.callSpan)]),
        ...(Object.keys(origins.marks).length === 0 ? [] : [encodeOrigins(origins)])
      ]
    }
    const after = boundaryAfter(header, settings.digest)
    const key = slotKey(settings.prefix, settings.epoch, header.slot)
    const { bufferBytes, openedAt, ticket } = segment
    const callBytes = columns.calls === undefined ? {} : { callBytes: callBytesOf(columns.calls, bufferBytes) }
    const stamped: StampedSegment = {
      ticket,
      bufferBytes,
      ...callBytes,
      ...memory,
      openedAt,
      key,
      body,
      header,
      after,
      cursors: context.cursors
    }
    this.given.set(header.slot, stamped)
    this.head = after
    return stamped
  }

  private copiesOf({ cursors, trim }: StampContext): ReadonlyArray<Extension> {
    if (this.copies?.cursors !== cursors || this.copies.trim !== trim) {
      this.copies = { cursors, trim, extensions: [encodeCursors(cursors), encodeTrim(trim)] }
    }
    return this.copies.extensions
  }

  /** The slot is stored. Answers the segments that are durable from now on, in order; none for a slot confirmed before. */
  confirm(slot: number): ReadonlyArray<StampedSegment> {
    if (!this.given.has(slot)) return []
    this.confirmed.add(slot)
    const durable: Array<StampedSegment> = []
    while (this.confirmed.delete(this.durablePoint.slot)) {
      const stamped = this.given.get(this.durablePoint.slot)
      if (stamped === undefined) break
      this.given.delete(stamped.header.slot)
      this.durablePoint = stamped.after
      durable.push(stamped)
    }
    return durable
  }

  /** Segments that were given a slot and are not durable, in slot order. */
  get outstanding(): ReadonlyArray<StampedSegment> {
    return [...this.given.values()]
  }
}
