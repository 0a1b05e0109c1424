/**
 * The slots of this epoch: which are given out, which are confirmed, and how far all are.
 *
 * Invariants: slots are given in order, each once · a slot is given only while it lies within one window of the first
 * unconfirmed one · segments become durable in slot order, each once · the chain joins each to the one before.
 */
import type { DigestService } from "../codec/Digest.ts"
import type { Boundary } from "../format/Boundary.ts"
import { chainAfter } from "../format/ChainHash.ts"
import type { CursorSet } from "../format/CursorSet.ts"
import {
  type CallSpan,
  encodeCallsMark,
  encodeCallSpan,
  encodeCursors,
  encodeLink,
  encodeTrim
} from "../format/Extensions.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { encodeBody } from "../format/SegmentBody.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { PendingSegment, StampedSegment } from "./Segment.ts"

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
  /** Between which slots, given so far, segments hold calls of producers. */
  private callSpan: CallSpan | undefined = undefined

  constructor(settings: LedgerSettings) {
    this.settings = settings
    this.head = { ...settings.link, epoch: settings.epoch, slot: 0 }
    this.durablePoint = this.head
  }

  /** Everything before this point is durable. */
  get durable(): Boundary {
    return this.durablePoint
  }

  /** Slots given out and not yet durable. */
  get inFlight(): number {
    return this.given.size
  }

  /** Another slot may be given out. */
  get hasRoom(): boolean {
    return this.head.slot < this.durablePoint.slot + this.settings.window
  }

  /** Gives the segment its slot, and makes its header and body. Only while `hasRoom`. */
  stamp(segment: PendingSegment, context: StampContext): StampedSegment {
    const { settings } = this
    const { columns } = segment
    const body = encodeBody(columns)
    const crc = settings.digest.crc32(body)
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
      rawBytes: body.length,
      storedBytes: body.length,
      rawCrc: crc,
      storedCrc: crc,
      firstAt: columns.times[0] ?? 0,
      lastAt: columns.times[columns.count - 1] ?? 0,
      watermarkSlot: this.durablePoint.slot,
      watermarkSeq: this.durablePoint.seq,
      chain: this.head.chain,
      extensions: [
        encodeCursors(context.cursors),
        encodeTrim(context.trim),
        ...(this.head.slot === 0 ? [encodeLink(settings.link)] : []),
        ...(hasCalls ? [encodeCallsMark()] : []),
        ...(this.callSpan === undefined ? [] : [encodeCallSpan(this.callSpan)])
      ]
    }
    const after: Boundary = {
      epoch: settings.epoch,
      slot: this.head.slot + 1,
      seq: segment.firstSeq + columns.count - 1,
      at: header.lastAt,
      chain: chainAfter(header.chain, header, settings.digest)
    }
    const key = slotKey(settings.prefix, settings.epoch, header.slot)
    const { bufferBytes, openedAt, ticket } = segment
    const stamped: StampedSegment = {
      ticket,
      bufferBytes,
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
