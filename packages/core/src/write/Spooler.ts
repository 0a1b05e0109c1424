/**
 * The spooler: moves sealed segments to the spool while the store cannot be reached, and lets them go once they are durable.
 *
 * Owns: when something is spooled, and what is kept there. Does not own: sending; the workers take spooled slots back in
 * slot order.
 *
 * Invariants: the spool holds every slot from the first that is not durable up to the last that was spooled, in order · a
 * segment leaves memory only once it is synced there · nothing is dropped that is not durable.
 */
import { Deferred, Effect, Exit, Result } from "effect"
import type { CodecError } from "../codec/Compression.ts"
import { compareBoundaries } from "../format/Boundary.ts"
import type { SlotName } from "../format/ObjectKey.ts"
import { maxHeaderBytes } from "../format/SegmentHeader.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { LogStats } from "../observe/LogStats.ts"
import type { SpooledObject, SpoolService } from "../store/Spool.ts"
import { type Backoff, pauseBeforeRetry } from "../store/StoreRetry.ts"
import { type PackContext, packSegment } from "./PackSegment.ts"
import type { PutWorkerPool } from "./PutWorker.ts"
import type { Settled, StampedSegment } from "./Segment.ts"
import type { SegmentQueue } from "./SegmentQueue.ts"
import { Signal } from "./Signal.ts"
import type { SlotLedger } from "./SlotLedger.ts"

/** One write to the spool takes at most so many bytes from the queue, so that acknowledgements do not wait for all of it. */
const batchBytes = 8_388_608

export interface SpoolerParts {
  readonly spool: SpoolService
  readonly epoch: number
  readonly queue: SegmentQueue
  readonly ledger: SlotLedger
  readonly pool: Pick<PutWorkerPool, "packedOf" | "oldestSentAt" | "stamp">
  readonly pack: PackContext
  readonly stats: LogStats
  readonly backoff: Backoff
  /** So many buffered bytes are free. */
  readonly onSpooled: (bufferBytes: number) => void
  /** What lies at or below this place must stay though later slots are durable: its copy is not. */
  readonly keepFrom: () => SlotName | undefined
}

const withoutBody = ({ body: _, ...stamped }: StampedSegment): StampedSegment => ({ ...stamped, bufferBytes: 0 })

const spooled: Exit.Exit<Settled> = Exit.succeed("spooled")

export class Spooler {
  private readonly parts: SpoolerParts
  private readonly events = new Signal()
  /** Slots below it are in the spool, or durable. */
  private written = 0
  private writtenSeq = 0
  private busy = false
  /** A PUT has been under way for longer than it should. */
  private isSlow = false
  private shortOfRoom = false
  private dropped: SlotName = { epoch: 0, slot: -1 }
  private failures = 0
  private kept = 0
  private error: string | undefined = undefined

  constructor(parts: SpoolerParts) {
    this.parts = parts
  }

  /** Everything up to this number is in the spool or durable. */
  get seq(): number {
    return Math.max(this.writtenSeq, this.parts.ledger.durable.seq)
  }

  /** The slot can be read back. */
  holds(slot: number): boolean {
    return slot < this.written
  }

  /** Slots in the spool that are not durable. */
  get segments(): number {
    return Math.max(0, this.written - this.parts.ledger.durable.slot)
  }

  /** A segment that is sealed now goes to the spool at once. */
  get isFree(): boolean {
    return !this.busy && !this.shortOfRoom && this.parts.queue.size === 0 && this.hasReason
  }

  /** The store does not take what is sent. */
  get isOutage(): boolean {
    return this.parts.stats.failingSinceMillis !== undefined || this.isSlow
  }

  /** Why nothing can be spooled, for people; `undefined` while it can. */
  get problem(): string | undefined {
    if (this.error !== undefined) return this.error
    return this.shortOfRoom ? `the spool holds its ${this.parts.spool.maxBytes} bytes` : undefined
  }

  /** What of the buffer is taken for calls in the spool. */
  get keptBytes(): number {
    return this.kept
  }

  /** Calls that were in the spool are durable: what was kept for them is free. */
  callsDurable(keptBytes: number): void {
    this.kept -= keptBytes
    this.parts.onSpooled(keptBytes)
  }

  /** Something has changed: a segment was sealed, packed, refused, stored. */
  poke(): void {
    this.events.wake()
  }

  /** Spools and drops, until interrupted. Fails only with what the codec says of the machine. */
  get run(): Effect.Effect<never, CodecError> {
    return Effect.forever(Effect.suspend(() => this.step()))
  }

  private get hasReason(): boolean {
    return this.isOutage || this.parts.ledger.hasBacklog
  }

  private readonly step = Effect.fnUntraced(function*(this: Spooler) {
    const now = yield* monotonicNow
    const sentAt = this.parts.pool.oldestSentAt
    const dueIn = sentAt === undefined ? undefined : sentAt + this.parts.spool.afterMillis - now
    this.isSlow = dueIn !== undefined && dueIn <= 0
    yield* this.drop()
    const moves = this.hasReason ? this.take() : []
    if (moves.length > 0) return yield* this.write(moves)
    return yield* dueIn === undefined || dueIn <= 0 ? this.events.wait : this.events.waitAtMost(dueIn)
  })

  /** What goes to the spool next: first what is being sent, so that nothing is missing there, then what waits. */
  private take(): ReadonlyArray<StampedSegment> {
    const { ledger, pool, queue, spool } = this.parts
    const moves: Array<StampedSegment> = []
    let bytes = 0
    const fits = (size: number) => spool.usedBytes() + bytes + size <= spool.maxBytes
    let slot = Math.max(this.written, ledger.durable.slot)
    this.shortOfRoom = false
    for (; slot < ledger.last.slot; slot++) {
      const packed = pool.packedOf(slot)
      const stamped = ledger.at(slot)
      if (packed === undefined || stamped === undefined) return moves
      this.shortOfRoom = !fits(packed.object.length)
      if (this.shortOfRoom) return moves
      bytes += packed.object.length
      moves.push(stamped)
    }
    for (let next = queue.oldest; next !== undefined && bytes < batchBytes; next = queue.oldest) {
      // At most: how it packs is known only once it has its slot.
      const atMost = next.bufferBytes + maxHeaderBytes
      this.shortOfRoom = !fits(atMost)
      if (this.shortOfRoom) return moves
      const stamped = pool.stamp()
      if (stamped === undefined) return moves
      bytes += atMost
      moves.push(stamped)
    }
    return moves
  }

  private readonly write = Effect.fnUntraced(function*(this: Spooler, moves: ReadonlyArray<StampedSegment>) {
    const { epoch, spool } = this.parts
    this.busy = true
    const objects: Array<SpooledObject> = []
    for (const stamped of moves) {
      const { slot } = stamped.header
      const object = this.parts.pool.packedOf(slot)?.object ?? (yield* packSegment(stamped, this.parts.pack)).object
      objects.push({ epoch, slot, object })
    }
    for (;;) {
      const answer = yield* Effect.result(spool.write(objects))
      if (Result.isSuccess(answer)) break
      if (this.error === undefined) yield* Effect.logWarning(`nothing can be spooled: ${answer.failure.message}`)
      this.error = answer.failure.message
      // The store may take meanwhile what the disk does not.
      this.parts.queue.wake()
      yield* pauseBeforeRetry(this.parts.backoff, this.failures++)
      if (moves.every((stamped) => this.isDurable(stamped))) return this.rest()
    }
    this.rest()
    this.settle(moves)
  })

  /** No write is under way. */
  private rest(): void {
    this.error = undefined
    this.failures = 0
    this.busy = false
  }

  private isDurable({ header }: StampedSegment): boolean {
    return header.slot < this.parts.ledger.durable.slot
  }

  /** They are kept: first everything is noted, then who waits is told. */
  private settle(moves: ReadonlyArray<StampedSegment>): void {
    const { ledger, queue, stats } = this.parts
    let freed = 0
    for (const stamped of moves) {
      const { slot } = stamped.header
      this.written = slot + 1
      this.writtenSeq = stamped.after.seq
      stats.segmentsSpooled++
      // It was stored while it was written: its bytes are free, and who waits has been told.
      if (this.isDurable(stamped)) continue
      stamped.ticket.spooledSeq = stamped.after.seq
      const kept = stamped.callBytes ?? 0
      if (kept > 0) stamped.ticket.keptBytes = kept
      this.kept += kept
      freed += stamped.bufferBytes - kept
      if (slot >= ledger.nextToSend) ledger.forget(slot)
      // Being sent: the worker has its bytes, at most one window of segments, and nobody needs more.
      else ledger.load(withoutBody(stamped))
    }
    for (const { ticket } of moves) Deferred.doneUnsafe(ticket.settled, spooled)
    this.parts.onSpooled(freed)
    queue.wake()
  }

  /** Lets go of what is durable. */
  private readonly drop = Effect.fnUntraced(function*(this: Spooler) {
    const { epoch, ledger, spool } = this.parts
    if (this.written === 0 && spool.usedBytes() === 0) return
    const kept = this.parts.keepFrom() ?? { epoch, slot: ledger.durable.slot }
    const place = { epoch: kept.epoch, slot: kept.slot - 1 }
    if (compareBoundaries(place, this.dropped) <= 0) return
    const answer = yield* Effect.result(spool.dropThrough(place.epoch, place.slot))
    if (Result.isFailure(answer)) {
      return yield* Effect.logWarning(`the spool was not emptied: ${answer.failure.message}; it is tried again`)
    }
    this.dropped = place
    this.shortOfRoom = false
  })
}
