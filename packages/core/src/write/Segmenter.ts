/**
 * The segmenter: accepts records into the open segment and seals it.
 *
 * Owns: the open segment, sequence numbers, sealing. Does not own: when that is due (`SealTimer.ts`), slots, PUTs,
 * durability (it is told when bytes are free again).
 *
 * Invariants: numbers are given without gaps, in the order of acceptance · buffered bytes never exceed the bound, but for
 * one record in an empty buffer · a producer's call is in one segment, and accepted once · a sealed segment is never
 * touched again, an empty one never sealed · `appended_at` never falls · nobody is woken in the middle of a step, for who is
 * woken runs at once.
 */
import { Effect } from "effect"
import type { HeldCall } from "../format/SegmentBody.ts"
import { monotonicMillis } from "../internal/Monotonic.ts"
import { type AppendError, BufferFull, type SequenceExhausted, type WalEnd } from "../WalError.ts"
import type { AppendRecord } from "../WalRecord.ts"
import type { AppendOptions } from "../WalService.ts"
import { type Adopted, adoptedBytes, unitsOf, withoutKnown } from "./Adopted.ts"
import { Alarm } from "./Alarm.ts"
import { AppendCheck } from "./AppendCheck.ts"
import { BufferRoom } from "./BufferRoom.ts"
import type { ProducerCall } from "./ProducerCheck.ts"
import { type Measured, recordOverheadBytes, type Sized } from "./RecordCheck.ts"
import { SealTimer } from "./SealTimer.ts"
import type { PendingSegment, Ticket } from "./Segment.ts"
import type { Admitted, SegmenterParts, SegmenterSettings } from "./SegmenterParts.ts"
import { endOfFitting, fillOf, isFullFor, sealsForCall } from "./SegmentLimits.ts"
import { Signal } from "./Signal.ts"
import { WaitingLine } from "./WaitingLine.ts"

export class Segmenter {
  private readonly settings: SegmenterSettings
  private readonly parts: SegmenterParts
  private open: PendingSegment | undefined = undefined
  private readonly buffer: BufferRoom
  private readonly check: AppendCheck
  private last: number
  private lastAt: number
  /** Of the last accepted record. */
  private newest: Ticket | undefined = undefined
  private readonly room = new Signal()
  private readonly line: WaitingLine
  private readonly events = new Signal()
  private readonly alarm: Alarm
  private readonly timer: SealTimer
  /** What the step under way did that others have to be told of, at its end. */
  private hasSealed = false
  private hasOpened = false

  constructor(settings: SegmenterSettings, parts: SegmenterParts) {
    this.settings = settings
    this.parts = parts
    this.last = settings.lastSeq
    this.lastAt = settings.lastAt
    this.buffer = new BufferRoom(settings.maxBufferedBytes, parts.budget)
    this.check = new AppendCheck(settings, parts, this.buffer, { last: () => this.last, now: () => this.now() })
    this.timer = new SealTimer(settings, parts)
    this.alarm = new Alarm(this.events, parts.clock)
    this.line = new WaitingLine(parts.budget, this.room, () => this.events.wake())
    const unsubscribe = parts.budget.subscribe(() => this.poke())
    parts.fate.onEnd(() => {
      unsubscribe()
      this.buffer.end()
      this.room.wake()
    })
  }

  /** Last number given away. */
  get lastAccepted(): number {
    return this.last
  }

  get bufferedBytes(): number {
    return this.buffer.usedBytes
  }

  /** The segment that is filling. */
  get openSegment(): PendingSegment | undefined {
    return this.open
  }

  /**
   * When a segment is sealed next, in milliseconds of the monotonic clock: the open one at the latest then, else the next one
   * if it comes as soon as the last one did; `undefined` where nothing speaks for one.
   */
  sealDueMillis(nowMillis: number): number | undefined {
    return this.open === undefined
      ? this.timer.expectedAt(nowMillis)
      : this.open.openedAt + this.settings.flushIntervalMillis
  }

  /** Accepts the records and waits only for room. */
  append(records: ReadonlyArray<AppendRecord>, options: AppendOptions = {}): Effect.Effect<Admitted, AppendError> {
    return Effect.suspend((): Effect.Effect<Admitted, AppendError> => {
      const measured = this.check.measured(records, options)
      if ("_tag" in measured) return Effect.fail(measured)
      const answered = this.check.answered(measured)
      if (answered !== undefined) return answered
      return this.roomFor(measured) === "queue" ? Effect.succeed(this.admitAll(measured)) : this.appendInTurn(measured)
    })
  }

  /** Accepts all of the records now or none. */
  appendNow(
    records: ReadonlyArray<AppendRecord>,
    options: AppendOptions = {}
  ): Effect.Effect<Admitted, AppendError | BufferFull> {
    return Effect.suspend((): Effect.Effect<Admitted, AppendError | BufferFull> => {
      const measured = this.check.measured(records, options)
      if ("_tag" in measured) return Effect.fail(measured)
      const answered = this.check.answered(measured)
      if (answered !== undefined) return answered
      const room = this.roomFor(measured)
      if (room !== undefined) return Effect.succeed(this.admitAll(measured, room === "beyond"))
      const full = new BufferFull(this.buffer.boundFor(measured.bufferBytes))
      // Somebody was refused and may come again: this log, and the others that share the budget, seal what they have open.
      this.timer.refuse()
      this.parts.budget.wait()()
      this.events.wake()
      return Effect.fail(full)
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
      this.timer.flush(kind)
      this.sealIfDue()
    }
    return this.newest
  }

  /** Bytes of segments that are durable are free again, and so may a place in the window be. */
  release(bytes: number): void {
    this.buffer.give(bytes)
    this.poke()
  }

  /** A worker or a place in the queue has become free. */
  poke(): void {
    this.events.wake()
    this.room.wake()
  }

  /** Seals by time and demand, until interrupted. */
  get run(): Effect.Effect<never> {
    return Effect.forever(Effect.suspend(() => {
      const at = this.sealIfDue()
      return at === undefined ? this.events.wait : Effect.andThen(this.alarm.set(at), this.events.wait)
    }))
  }

  /** Takes the open segment away without sealing it, for a report of what was lost. */
  abandon(): PendingSegment | undefined {
    const open = this.open
    this.open = undefined
    return open
  }

  /** `appended_at` of what is accepted now. */
  private now(): number {
    return Math.max(this.parts.clock.currentTimeMillisUnsafe(), this.lastAt)
  }

  private admitAll(measured: Measured, beyondQueue = false): Admitted {
    const first = this.last + 1
    this.admit(measured, 0, beyondQueue)
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
    return { first, last: this.last, epoch: this.settings.epoch, ticket: this.last < first ? undefined : this.newest }
  }

  /** Accepts what there is room for, from `start` on, in the queue too unless told otherwise; answers where it stopped. */
  private admit(measured: Measured, start: number, beyondQueue = false): number {
    const { contentBytes, records } = measured
    if (start >= records.length) return start
    if (measured.call !== undefined) return this.admitCall(measured, measured.call)
    const now = this.now()
    const hasRoomForAll = this.buffer.hasForAll(measured.bufferBytes, records.length)
    let index = start
    while (index < records.length) {
      const content = contentBytes[index] ?? 0
      if (!hasRoomForAll && !this.buffer.has(content + recordOverheadBytes)) break
      const open = this.openFor(content, 1, beyondQueue)
      if (open === undefined) break
      const end = hasRoomForAll ? endOfFitting(this.settings, fillOf(open), contentBytes, index) : index + 1
      this.takeAll(open, measured, index, end, now)
      index = end
      this.sealIfFull(open, beyondQueue)
    }
    if (index > start) {
      this.lastAt = now
      this.parts.stats.recordsAppended += index - start
    }
    return index
  }

  /** Accepts a producer's call into one segment, or nothing of it. */
  private admitCall(measured: Measured, call: ProducerCall): number {
    const { records } = measured
    const open = this.buffer.hasForAll(measured.bufferBytes, records.length)
      ? this.openFor(call.contentBytes, records.length)
      : undefined
    if (open === undefined) return 0
    const now = this.now()
    const first = this.last + 1
    const { fingerprint, id, sequence } = call
    open.columns.openCall({ id, sequence, fingerprint, count: records.length })
    this.takeAll(open, measured, 0, records.length, now)
    this.remember(open, { id, sequence, fingerprint, first, at: now })
    this.sealIfFull(open)
    this.lastAt = now
    this.parts.stats.recordsAppended += records.length
    return records.length
  }

  /** The call that ends with the last accepted record. */
  private remember(
    { ticket }: PendingSegment,
    { id, ...call }: Pick<HeldCall, "at" | "fingerprint" | "first" | "id" | "sequence">
  ): void {
    this.parts.producers.accept(id, { ...call, last: this.last, epoch: this.settings.epoch, ticket })
  }

  /**
   * Accepts what a spooled segment holds that an ended epoch could not store, as one segment again, with new numbers and its
   * own times. For an opening log, before anybody appends; waits for room.
   */
  adopt(spooled: Adopted): Effect.Effect<Admitted, WalEnd | SequenceExhausted> {
    const attempt = (): Effect.Effect<Admitted, WalEnd | SequenceExhausted> | undefined => {
      const kept = withoutKnown(spooled, (call, count) => this.parts.producers.has(call, count, this.now()))
      const refusal = this.parts.fate.refusal ?? this.check.exhaustion(kept.records.length)
      if (refusal !== undefined) return Effect.fail(refusal)
      if (!this.buffer.has(adoptedBytes(kept)) || !this.parts.queue.hasRoom) return undefined
      const first = this.last + 1
      if (kept.records.length > 0) this.adoptNow(kept)
      const answer = this.answer(first)
      this.tell()
      return Effect.succeed(answer)
    }
    return this.line.run(attempt, () => adoptedBytes(spooled))
  }

  private adoptNow(adopted: Adopted): void {
    const segment = this.parts.segments.open(this.last + 1, monotonicMillis(this.parts.clock), adopted.copyOf)
    for (const { bytes, ends, record, starts } of unitsOf(adopted)) {
      this.lastAt = Math.max(record.appendedAt, this.lastAt)
      if (starts !== undefined) segment.columns.openCall({ ...starts, count: starts.last - starts.first + 1 })
      this.takeAll(segment, { records: [record], contentBytes: [bytes] }, 0, 1, this.lastAt)
      if (ends !== undefined) {
        this.remember(segment, { ...ends, first: this.last - (ends.last - ends.first), at: this.lastAt })
      }
    }
    this.parts.stats.recordsAppended += adopted.records.length
    this.seal(segment)
  }

  /** The segment that takes records of this size together: the open one, or a new one once the full one is sealed. */
  private openFor(content: number, entries: number, beyondQueue = false): PendingSegment | undefined {
    const open = this.open
    if (open !== undefined) {
      if (!isFullFor(this.settings, fillOf(this.open), content, entries)) return open
      if (!beyondQueue && !this.parts.queue.hasRoom) return undefined
      this.seal(open)
    }
    this.open = this.parts.segments.open(this.last + 1, monotonicMillis(this.parts.clock))
    this.hasOpened = true
    return this.open
  }

  /** Copies records `from` to `to`, exclusive, into the segment. */
  private takeAll(segment: PendingSegment, batch: Sized, from: number, to: number, now: number): void {
    let content = 0
    for (let index = from; index < to; index++) {
      const record = batch.records[index]
      if (record !== undefined) segment.columns.push(record, now)
      content += batch.contentBytes[index] ?? 0
    }
    const bytes = content + (to - from) * recordOverheadBytes
    segment.contentBytes += content
    segment.bufferBytes += bytes
    this.buffer.take(bytes)
    this.last += to - from
    this.newest = segment.ticket
  }

  private sealIfFull(open: PendingSegment, beyondQueue = false): void {
    const full = open.columns.count >= this.settings.maxEntries || open.contentBytes >= this.settings.maxBytes
    if (full && (beyondQueue || this.parts.queue.hasRoom)) this.seal(open)
  }

  private seal(segment: PendingSegment): void {
    this.parts.segments.sealed(segment)
    this.open = undefined
    this.timer.sealed()
    this.parts.queue.push(segment)
    this.hasSealed = true
  }

  /** Seals the open segment if the policy says so; answers when to look again, if ever. */
  private sealIfDue(): number | undefined {
    const open = this.open
    const decision = this.timer.decide(open, this.line.length > 0)
    if (decision._tag === "WaitUntil") return decision.atMillis
    if (decision._tag === "Seal" && open !== undefined) {
      this.seal(open)
      this.tell()
      this.room.wake()
    }
    return undefined
  }

  /**
   * Where all records can be accepted now, in bytes and in sealed segments; nowhere while somebody waits before them.
   * `beyond`: a call of more segments than the queue ever holds would never fit. It is bounded by its bytes alone, and can go
   * in as soon as there is a place for its first segment.
   */
  private roomFor(measured: Measured): "queue" | "beyond" | undefined {
    if (measured.records.length === 0) return "queue"
    if (this.line.length > 0 || !this.buffer.hasForAll(measured.bufferBytes, measured.records.length)) return undefined
    const seals = sealsForCall(this.settings, fillOf(this.open), measured)
    const { capacity, hasRoom, size } = this.parts.queue
    if (size + seals <= capacity) return "queue"
    return hasRoom && seals > capacity ? "beyond" : undefined
  }

  /** Accepts piece by piece, one waiting call after the other. */
  private appendInTurn(measured: Measured): Effect.Effect<Admitted, AppendError> {
    const { records } = measured
    let first: number | undefined
    let index = 0
    const attempt = (): Effect.Effect<Admitted, AppendError> | undefined => {
      first ??= this.last + 1
      // The same call may have been accepted, from another caller, while this one waited.
      const answered = this.check.answered(measured, index)
      if (answered !== undefined) return answered
      index = this.admit(measured, index)
      const answer = this.answer(first)
      this.tell()
      return index === records.length ? Effect.succeed(answer) : undefined
    }
    const missingBytes = () =>
      measured.call === undefined ? (measured.contentBytes[index] ?? 0) + recordOverheadBytes : measured.bufferBytes
    return this.line.run(attempt, missingBytes)
  }
}
