/**
 * The segmenter: accepts records into the open segment and seals it.
 *
 * Owns: the open segment, sequence numbers, the bound on buffered bytes, the moment of sealing. Does not own: slots, PUTs,
 * durability (it is told when bytes are free again).
 *
 * Invariants: numbers are given without gaps, in the order of acceptance · buffered bytes never exceed the bound, but for
 * one record in an empty buffer · a sealed segment is never touched again, an empty one never sealed · `appended_at` never
 * falls · nobody is woken in the middle of a step, for who is woken runs at once.
 */
import type { Clock } from "effect"
import { Deferred, Effect, Semaphore } from "effect"
import type { BufferBudgetState } from "../BufferBudget.ts"
import type { SpoolPlace } from "../format/Extensions.ts"
import { OpenColumns } from "../format/OpenColumns.ts"
import { monotonicMillis } from "../internal/Monotonic.ts"
import { type AppendError, BufferFull, type DiskFull, SequenceExhausted, WalClosed, type WalEnd } from "../WalError.ts"
import type { AppendRecord, WalRecord } from "../WalRecord.ts"
import type { LogFate } from "./LogFate.ts"
import { contentBytesOf, measure, type Measured, recordOverheadBytes } from "./RecordCheck.ts"
import { decideSeal, type SealSettings } from "./SealPolicy.ts"
import type { PendingSegment, Settled, Ticket } from "./Segment.ts"
import { isFullFor, sealsFor, type SegmentFill, type SegmentLimits } from "./SegmentLimits.ts"
import type { SegmentQueue } from "./SegmentQueue.ts"
import { Signal } from "./Signal.ts"

export interface SegmenterSettings extends SealSettings, SegmentLimits {
  readonly streamId: string
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
  /** A worker has nothing to do and could send now. */
  readonly workerFree: () => boolean
  /** So many records were accepted, of a call that may still wait with the rest. */
  readonly onAccepted: (count: number) => void
  /** A segment was sealed. */
  readonly onSealed: () => void
  /** Why nothing is taken right now though the log is open. */
  readonly refusal: () => DiskFull | undefined
  /** Clock of the log, for synchronous code. */
  readonly clock: Clock.Clock
}

/** What a call got: the numbers, and the ticket of the segment that holds the last of them (none for an empty call). */
export interface Admitted {
  readonly first: number
  readonly last: number
  readonly ticket: Ticket | undefined
}

export class Segmenter {
  private readonly settings: SegmenterSettings
  private readonly parts: SegmenterParts
  private open: PendingSegment | undefined = undefined
  private buffered = 0
  private last: number
  private lastAt: number
  /** Of the last accepted record. */
  private newest: Ticket | undefined = undefined
  /** Calls that wait for room, one after the other. */
  private readonly turn = Semaphore.makeUnsafe(1)
  private waiting = 0
  private readonly room = new Signal()
  private readonly events = new Signal()
  private flushing: "none" | "flush" | "close" = "none"
  /** Somebody found no room since the last sealing. */
  private refused = false
  /** What the step under way did that others have to be told of, at its end. */
  private hasSealed = false
  private hasOpened = false

  constructor(settings: SegmenterSettings, parts: SegmenterParts) {
    this.settings = settings
    this.parts = parts
    this.last = settings.lastSeq
    this.lastAt = settings.lastAt
    const unsubscribe = parts.budget.subscribe(() => this.poke())
    parts.fate.onEnd(() => {
      unsubscribe()
      // What is lost with the log is no burden to the others.
      parts.budget.give(this.buffered)
      this.room.wake()
    })
  }

  /** Last number given away. */
  get lastAccepted(): number {
    return this.last
  }

  get bufferedBytes(): number {
    return this.buffered
  }

  /** The segment that is filling. */
  get openSegment(): PendingSegment | undefined {
    return this.open
  }

  /** When the open segment is sealed at the latest, in milliseconds of the monotonic clock; `undefined` while none is open. */
  get sealDueMillis(): number | undefined {
    return this.open === undefined ? undefined : this.open.openedAt + this.settings.flushIntervalMillis
  }

  /** Accepts the records and waits only for room. */
  append(records: ReadonlyArray<AppendRecord>): Effect.Effect<Admitted, AppendError> {
    return Effect.suspend(() => {
      const measured = this.measured(records)
      if ("_tag" in measured) return Effect.fail(measured)
      return this.fits(measured) ? Effect.succeed(this.admitAll(measured)) : this.appendInTurn(measured)
    })
  }

  /** Accepts all of the records now or none. */
  appendNow(records: ReadonlyArray<AppendRecord>): Effect.Effect<Admitted, AppendError | BufferFull> {
    return Effect.suspend((): Effect.Effect<Admitted, AppendError | BufferFull> => {
      const measured = this.measured(records)
      if ("_tag" in measured) return Effect.fail(measured)
      if (this.fits(measured)) return Effect.succeed(this.admitAll(measured))
      const full = new BufferFull({ bufferedBytes: this.buffered, limitBytes: this.settings.maxBufferedBytes })
      this.wantRoom()
      return Effect.fail(full)
    })
  }

  /**
   * Accepts the records of a segment that an ended epoch could not store, as one segment again, with new numbers and their
   * own times. For an opening log, before anybody appends; waits for room.
   */
  adopt(records: ReadonlyArray<WalRecord>, copyOf: SpoolPlace): Effect.Effect<Admitted, WalEnd | SequenceExhausted> {
    return Effect.suspend((): Effect.Effect<Admitted, WalEnd | SequenceExhausted> => {
      const { fate, queue } = this.parts
      if (fate.refusal !== undefined) return Effect.fail(fate.refusal)
      if (this.last + records.length > Number.MAX_SAFE_INTEGER) {
        return Effect.fail(new SequenceExhausted({ streamId: this.settings.streamId }))
      }
      const sizes = records.map(contentBytesOf)
      const bytes = sizes.reduce((sum, size) => sum + size + recordOverheadBytes, 0)
      if (!this.hasRoom(bytes) || !queue.hasRoom) {
        this.wantRoom()
        return Effect.andThen(this.room.wait, this.adopt(records, copyOf))
      }
      const first = this.last + 1
      const segment = this.newSegment(copyOf)
      records.forEach((record, index) => {
        this.lastAt = Math.max(record.appendedAt, this.lastAt)
        this.take(segment, record, sizes[index] ?? 0, this.lastAt)
      })
      this.parts.onAccepted(records.length)
      const answer = this.answer(first)
      this.seal(segment)
      this.tell()
      return Effect.succeed(answer)
    })
  }

  /** Somebody waits for the segment of this ticket to be durable. */
  demand(ticket: Ticket): void {
    if (ticket.demanded) return
    ticket.demanded = true
    if (ticket === this.open?.ticket) this.events.wake()
  }

  /** Seals what is open as soon as the queue has room; answers the ticket of the last accepted record, if there is one. */
  flush(kind: "flush" | "close"): Ticket | undefined {
    if (this.open !== undefined) {
      this.flushing = kind
      this.sealIfDue()
    }
    return this.newest
  }

  /** Bytes of segments that are durable are free again. */
  release(bytes: number): void {
    this.buffered -= bytes
    if (this.parts.fate.ended === undefined) this.parts.budget.give(bytes)
    this.room.wake()
  }

  /** A worker or a place in the queue has become free. */
  poke(): void {
    this.events.wake()
    this.room.wake()
  }

  /** Seals by time and demand, until interrupted. */
  get run(): Effect.Effect<never> {
    return Effect.forever(Effect.suspend(() => {
      const wait = this.sealIfDue()
      return wait === undefined ? this.events.wait : this.events.waitAtMost(wait)
    }))
  }

  /** Takes the open segment away without sealing it, for a report of what was lost. */
  abandon(): PendingSegment | undefined {
    const open = this.open
    this.open = undefined
    return open
  }

  private measured(records: ReadonlyArray<AppendRecord>): Measured | AppendError {
    const { fate } = this.parts
    if (fate.refusal !== undefined) return fate.refusal
    if (fate.refusesAppends) return new WalClosed({ streamId: this.settings.streamId })
    const refusal = this.parts.refusal()
    if (refusal !== undefined) return refusal
    if (this.last + records.length > Number.MAX_SAFE_INTEGER) {
      return new SequenceExhausted({ streamId: this.settings.streamId })
    }
    return measure(records, this.settings.maxRecordBytes)
  }

  private admitAll(measured: Measured): Admitted {
    const first = this.last + 1
    this.admit(measured, 0)
    const answer = this.answer(first)
    this.tell()
    return answer
  }

  /** Wakes whom the last step concerns. */
  private tell(): void {
    if (this.hasSealed) {
      this.hasSealed = false
      this.parts.queue.wake()
      this.parts.onSealed()
    }
    if (this.hasOpened) {
      this.hasOpened = false
      this.events.wake()
    }
  }

  private answer(first: number): Admitted {
    return { first, last: this.last, ticket: this.last < first ? undefined : this.newest }
  }

  /** Accepts what there is room for, from `start` on; answers where it stopped. */
  private admit(measured: Measured, start: number): number {
    const { contentBytes, records } = measured
    if (start >= records.length) return start
    const now = Math.max(this.parts.clock.currentTimeMillisUnsafe(), this.lastAt)
    let index = start
    for (; index < records.length; index++) {
      const record = records[index]
      const content = contentBytes[index]
      if (record === undefined || content === undefined) break
      if (!this.hasRoom(content + recordOverheadBytes)) break
      const open = this.openFor(content)
      if (open === undefined) break
      this.put(open, record, content, now)
    }
    if (index > start) {
      this.lastAt = now
      this.parts.onAccepted(index - start)
    }
    return index
  }

  /** Somebody was refused and may come again: this log, and the others that share the budget, seal what they have open. */
  private wantRoom(): void {
    this.refused = true
    this.parts.budget.wait()()
    this.events.wake()
  }

  private get fill(): SegmentFill {
    return { entries: this.open?.columns.count ?? 0, contentBytes: this.open?.contentBytes ?? 0 }
  }

  private hasRoom(bytes: number): boolean {
    const fits = this.buffered === 0 || this.buffered + bytes <= this.settings.maxBufferedBytes
    return fits && this.parts.budget.hasRoom(bytes)
  }

  /** The segment that takes a record of this size: the open one, or a new one once the full one is sealed. */
  private openFor(content: number): PendingSegment | undefined {
    const open = this.open
    if (open !== undefined) {
      if (!isFullFor(this.settings, this.fill, content)) return open
      if (!this.parts.queue.hasRoom) return undefined
      this.seal(open)
    }
    const opened = this.newSegment()
    this.open = opened
    this.hasOpened = true
    return opened
  }

  private newSegment(copyOf?: SpoolPlace): PendingSegment {
    return {
      columns: new OpenColumns(),
      firstSeq: this.last + 1,
      openedAt: monotonicMillis(this.parts.clock),
      contentBytes: 0,
      bufferBytes: 0,
      ticket: { settled: Deferred.makeUnsafe<Settled, WalEnd>(), demanded: false },
      ...(copyOf === undefined ? {} : { copyOf })
    }
  }

  private take(segment: PendingSegment, record: AppendRecord, content: number, now: number): void {
    segment.columns.push(record, now)
    segment.contentBytes += content
    segment.bufferBytes += content + recordOverheadBytes
    this.buffered += content + recordOverheadBytes
    this.parts.budget.take(content + recordOverheadBytes)
    this.last++
    this.newest = segment.ticket
  }

  private put(open: PendingSegment, record: AppendRecord, content: number, now: number): void {
    this.take(open, record, content, now)
    const full = open.columns.count >= this.settings.maxEntries || open.contentBytes >= this.settings.maxBytes
    if (full && this.parts.queue.hasRoom) this.seal(open)
  }

  private seal(segment: PendingSegment): void {
    this.open = undefined
    this.flushing = "none"
    this.refused = false
    this.parts.queue.push(segment)
    this.hasSealed = true
  }

  /** Seals the open segment if the policy says so; answers in how many milliseconds to look again, if ever. */
  private sealIfDue(): number | undefined {
    const open = this.open
    const nowMillis = monotonicMillis(this.parts.clock)
    const decision = decideSeal(this.settings, {
      nowMillis,
      open: open === undefined || open.columns.count === 0
        ? undefined
        : { openedAt: open.openedAt, entries: open.columns.count, contentBytes: open.contentBytes },
      queueHasRoom: this.parts.queue.hasRoom,
      workerFree: this.parts.workerFree(),
      demanded: open?.ticket.demanded === true,
      roomWanted: this.waiting > 0 || this.refused || this.parts.budget.isShort,
      flush: this.flushing
    })
    if (decision._tag === "WaitUntil") return decision.atMillis - nowMillis
    if (decision._tag === "Seal" && open !== undefined) {
      this.seal(open)
      this.tell()
      this.room.wake()
    }
    return undefined
  }

  /** Whether all records can be accepted now, in bytes and in sealed segments, and nobody waits before them. */
  private fits(measured: Measured): boolean {
    const { bufferBytes, contentBytes, records } = measured
    if (records.length === 0) return true
    if (this.waiting > 0 || !this.hasRoom(bufferBytes)) return false
    if (records.length > 1) {
      const fits = this.buffered + bufferBytes <= this.settings.maxBufferedBytes
      if (!fits || !this.parts.budget.hasRoomForAll(bufferBytes)) return false
    }
    return this.parts.queue.size + sealsFor(this.settings, this.fill, contentBytes) <= this.parts.queue.capacity
  }

  /** Accepts piece by piece, one waiting call after the other. */
  private appendInTurn(measured: Measured): Effect.Effect<Admitted, AppendError> {
    let stopAsking: (() => void) | undefined
    // Other logs give up room only while it is theirs that is missing.
    const askOthers = (content: number | undefined) => {
      const isShort = content !== undefined && !this.parts.budget.hasRoom(content + recordOverheadBytes)
      if (isShort === (stopAsking !== undefined)) return
      stopAsking?.()
      stopAsking = isShort ? this.parts.budget.wait() : undefined
    }
    const inTurn = Effect.suspend(() => {
      const first = this.last + 1
      let index = 0
      const step = (): Effect.Effect<Admitted, AppendError> => {
        const { fate } = this.parts
        if (fate.refusal !== undefined) return Effect.fail(fate.refusal)
        if (fate.refusesAppends) return Effect.fail(new WalClosed({ streamId: this.settings.streamId }))
        if (this.last + measured.records.length - index > Number.MAX_SAFE_INTEGER) {
          return Effect.fail(new SequenceExhausted({ streamId: this.settings.streamId }))
        }
        index = this.admit(measured, index)
        const isDone = index === measured.records.length
        const answer = this.answer(first)
        this.tell()
        if (isDone) return Effect.succeed(answer)
        askOthers(measured.contentBytes[index])
        this.events.wake()
        return Effect.andThen(this.room.wait, Effect.suspend(step))
      }
      return step()
    })
    const wait = Effect.sync(() => {
      this.waiting++
    })
    const done = Effect.sync(() => {
      this.waiting--
      askOthers(undefined)
    })
    return Effect.acquireUseRelease(wait, () => this.turn.withPermits(1)(inTurn), () => done)
  }
}
