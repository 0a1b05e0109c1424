/**
 * The workers: each takes the oldest sealed segment, stamps it, packs it and PUTs it until its outcome is definite.
 *
 * Owns: retries of segment PUTs and what their answers mean. Does not own: when segments are sealed, what happens once
 * they are durable.
 *
 * Invariants: a segment is never dropped while the log is open · every try has the same key and the same bytes · an end
 * marker at a slot says nothing about the slots below it: those get the answer of the try that is under way.
 */
import { Effect, Latch, Result } from "effect"
import type { CodecError } from "../codec/Compression.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { readHeader } from "../format/SegmentCodec.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import { maxHeaderBytes } from "../format/SegmentHeader.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { LogStats } from "../observe/LogStats.ts"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"
import type { SpoolError } from "../store/Spool.ts"
import { type Backoff, pauseBeforeRetry } from "../store/StoreRetry.ts"
import { SegmentConflict, WriterFenced } from "../WalError.ts"
import { HedgedPut } from "./HedgedPut.ts"
import type { HedgePolicy } from "./HedgePolicy.ts"
import type { LogFate } from "./LogFate.ts"
import { type PackContext, type Packed, packSegment } from "./PackSegment.ts"
import { afterLook, afterPut } from "./PutOutcome.ts"
import type { StampedSegment } from "./Segment.ts"
import type { SegmentQueue } from "./SegmentQueue.ts"
import type { SlotLedger, StampContext } from "./SlotLedger.ts"
import { unpackSpooled } from "./UnpackSpooled.ts"

export interface PutWorkerSettings {
  readonly streamId: string
  readonly epoch: number
  /** `{prefix}/{node_id}/{stream_id}/`. */
  readonly prefix: string
  readonly backoff: Backoff
  /** When a slow PUT is sent once more; absent: never. */
  readonly hedging: HedgePolicy | undefined
  /** Somebody collects spans. */
  readonly traced: boolean
}

export interface StoredSegment {
  readonly stamped: StampedSegment
  readonly storedBytes: number
  readonly objectBytes: number
  readonly millis: number
}

export interface PutWorkerParts {
  readonly fate: LogFate
  readonly queue: SegmentQueue
  readonly ledger: SlotLedger
  readonly store: ObjectStore["Service"]
  readonly pack: PackContext
  readonly stats: LogStats
  /** The copies for the next header. */
  readonly stampContext: () => StampContext
  /** The slot is stored; told once a segment, in any order. It counts when this is called, the effect comes after. */
  readonly onStored: (stored: StoredSegment) => Effect.Effect<void>
  readonly onRetry: (key: string, error: ObjectStoreError) => Effect.Effect<void>
  /** A worker has nothing to do. */
  readonly onIdle: () => void
  /** What was spooled and has to be sent; `undefined` in a log without a spool. */
  readonly spool: SpoolReads | undefined
  /** The spooler has something to look at. */
  readonly onProgress: () => void
}

/** The spool as the workers see it. */
export interface SpoolReads {
  readonly holds: (slot: number) => boolean
  readonly read: (slot: number) => Effect.Effect<Uint8Array, SpoolError>
}

interface Fencing {
  /** Slots from here on are lost to this writer. */
  readonly slot: number
  readonly error: WriterFenced
}

/** A segment that a worker has taken: packed already where it came back from the spool. */
interface Taken {
  readonly stamped: StampedSegment
  readonly packed?: Packed
}

export class PutWorkerPool {
  private readonly settings: PutWorkerSettings
  private readonly parts: PutWorkerParts
  private readonly puts: HedgedPut
  private idle = 0
  /** Slots under way, with the time of their first try. */
  private readonly sending = new Map<number, number | undefined>()
  /** With a spool: what was packed and is not durable. */
  private readonly packed = new Map<number, Packed>()
  private fencing: Fencing | undefined = undefined
  /** Open once pauses are to be cut short: while closing, and when fenced. */
  private readonly hurry = Latch.makeUnsafe(false)
  private hurried = false

  constructor(settings: PutWorkerSettings, parts: PutWorkerParts) {
    this.settings = settings
    this.parts = parts
    this.puts = new HedgedPut({ store: parts.store, stats: parts.stats, policy: settings.hedging })
  }

  /** A worker has nothing to do and could send now. */
  get hasFreeWorker(): boolean {
    const { ledger, queue } = this.parts
    return this.idle > queue.size && ledger.hasRoom && !ledger.hasBacklog && this.fencing === undefined
  }

  /** The bytes of a slot that is not durable; only with a spool, and once they are packed. */
  packedOf(slot: number): Packed | undefined {
    return this.packed.get(slot)
  }

  /** When the oldest slot under way was first sent, in milliseconds of the monotonic clock. */
  get oldestSentAt(): number | undefined {
    let oldest: number | undefined
    for (const sentAt of this.sending.values()) {
      if (sentAt !== undefined && (oldest === undefined || sentAt < oldest)) oldest = sentAt
    }
    return oldest
  }

  /** The slot is durable: its bytes are not needed any more. */
  durable(slot: number): void {
    this.packed.delete(slot)
  }

  /** Gives the oldest sealed segment its slot. */
  stamp(): StampedSegment | undefined {
    const segment = this.parts.queue.take()
    return segment === undefined ? undefined : this.parts.ledger.stamp(segment, this.parts.stampContext())
  }

  /** Cuts running pauses short. */
  hurryUp(): void {
    this.hurried = true
    Latch.openUnsafe(this.hurry)
  }

  /** The log is lost to a newer writer: slots from `slot` on are over, those below get the answer of their running try. */
  fence(error: WriterFenced, slot = Number.MAX_SAFE_INTEGER): void {
    if (this.fencing !== undefined && this.fencing.slot <= slot) return
    this.fencing = { slot, error }
    this.parts.fate.announce(error)
    this.hurryUp()
    this.parts.onIdle()
    this.endIfSettled()
  }

  /** One worker, until interrupted or the log is over. Fails only with what the codec says of the machine. */
  get run(): Effect.Effect<never, CodecError> {
    return Effect.forever(Effect.flatMap(this.take, (taken) => {
      if (!this.settings.traced) return this.put(taken)
      const { header, key } = taken.stamped
      const attributes = { key, records: header.count, bytes: header.rawBytes }
      return Effect.withSpan(this.put(taken), "wal.put", { attributes, captureStackTrace: false })
    }))
  }

  /** The next segment with its slot. */
  private get take(): Effect.Effect<Taken> {
    const { ledger, queue } = this.parts
    const look: Effect.Effect<Taken> = Effect.suspend(() => {
      if (this.fencing !== undefined || this.parts.fate.ended !== undefined) return Effect.never
      const taken = ledger.hasRoom ? this.takeNext() : undefined
      if (taken !== undefined) {
        this.parts.onIdle()
        return taken
      }
      Latch.closeUnsafe(queue.ready)
      this.idle++
      this.parts.onIdle()
      if (queue.ready.isOpen()) {
        // Something has waited for a free worker only.
        this.idle--
        return look
      }
      return Effect.andThen(
        Effect.ensuring(
          // Opening the latch runs who waits there inside the call: what is done with a segment is not for its caller to wait for.
          Effect.andThen(queue.ready.await, Effect.yieldNow),
          Effect.sync(() => {
            this.idle--
          })
        ),
        look
      )
    })
    return look
  }

  /** What is sent next: what waits in the spool comes before what was sealed later. */
  private takeNext(): Effect.Effect<Taken> | undefined {
    const { ledger } = this.parts
    if (!ledger.hasBacklog) {
      const stamped = this.stamp()
      if (stamped === undefined) return undefined
      ledger.sends()
      this.sending.set(stamped.header.slot, undefined)
      return Effect.succeed({ stamped })
    }
    const spool = this.parts.spool
    const slot = ledger.nextToSend
    const stamped = ledger.at(slot)
    // On its way to the spool, and in memory still: a disk that does not take it must not keep it from the store.
    const inMemory = stamped?.body !== undefined
    if (spool === undefined || !inMemory && !spool.holds(slot)) return undefined
    ledger.sends()
    this.sending.set(slot, undefined)
    return inMemory ? Effect.succeed({ stamped }) : this.load(spool, slot)
  }

  /** The slot as it was spooled. A spool that does not give back what it has taken ends the log: the records are lost. */
  private readonly load = Effect.fnUntraced(function*(this: PutWorkerPool, spool: SpoolReads, slot: number) {
    const { ledger, pack: { digest } } = this.parts
    const { epoch, prefix } = this.settings
    const key = slotKey(prefix, epoch, slot)
    const object = yield* this.readSpooled(spool, slot)
    if (object === undefined) {
      this.sending.delete(slot)
      this.endIfSettled()
      return yield* Effect.never
    }
    const taken = yield* unpackSpooled(key, object, digest)
    ledger.load(taken.stamped)
    return taken
  })

  /** `undefined`: the log is over by now. */
  private readonly readSpooled = Effect.fnUntraced(function*(this: PutWorkerPool, spool: SpoolReads, slot: number) {
    for (let attempt = 0;; attempt++) {
      const read = yield* Effect.result(spool.read(slot))
      if (Result.isSuccess(read)) return read.success
      if (read.failure.reason === "Damaged") return yield* Effect.die(read.failure)
      yield* Effect.logWarning(`a spooled segment could not be read: ${read.failure.message}; it is tried again`)
      yield* this.pause(attempt, undefined)
      if (this.isOver()) return undefined
    }
  })

  private readonly put = Effect.fnUntraced(function*(this: PutWorkerPool, taken: Taken) {
    const { stamped } = taken
    const { count, rawBytes, slot } = stamped.header
    yield* Effect.logDebug(`Sealing segment: entries=${count}, bytes=${rawBytes}`)
    const packed = taken.packed ?? (yield* packSegment(stamped, this.parts.pack))
    const startedAt = yield* monotonicNow
    this.sending.set(slot, startedAt)
    this.parts.stats.segmentsSent++
    if (this.parts.spool !== undefined) {
      packed.memory?.keep()
      this.packed.set(slot, packed)
      this.parts.onProgress()
    }
    const stored = yield* this.store(stamped, packed)
    const millis = (yield* monotonicNow) - startedAt
    // In one step with being told: in between, the end of a fenced log would not wait for this slot.
    this.sending.delete(slot)
    if (stored) {
      this.parts.stats.storeWorks()
      // A body that was packed is done with; one that was not is read by those who follow the log.
      if (packed.memory !== stamped.memory) packed.memory?.release()
      yield* this.parts.onStored({
        stamped,
        storedBytes: packed.header.storedBytes,
        objectBytes: packed.object.length,
        millis
      })
      this.parts.queue.wake()
      this.parts.onProgress()
    }
    this.endIfSettled()
  })

  /** PUTs until stored (true), or given up because the log is over for this slot (false). */
  private readonly store = Effect.fnUntraced(function*(this: PutWorkerPool, stamped: StampedSegment, packed: Packed) {
    const { stats } = this.parts
    for (let attempt = 0;; attempt++) {
      const answer = yield* this.puts.send(stamped, packed)
      if (Result.isSuccess(answer)) return true
      const error = answer.failure
      // What came of it nobody knows: the request may still be read.
      packed.memory?.keep()
      if (afterPut(error) === "look") {
        const looked = yield* this.look(stamped, packed)
        if (looked !== undefined) return looked
      } else {
        stats.countRetry(error, yield* monotonicNow)
        this.parts.onProgress()
        yield* this.parts.onRetry(stamped.key, error)
      }
      if (this.isOver()) return false
      yield* this.pause(attempt, error.retryAfterMillis)
      if (this.isOver()) return false
    }
  })

  private isOver(): boolean {
    return this.fencing !== undefined || this.parts.fate.ended !== undefined
  }

  /** The pause before the next try; cut short once by closing or fencing, from then on of the shortest kind. */
  private pause(attempt: number, retryAfterMillis: number | undefined): Effect.Effect<void> {
    if (this.hurried) return pauseBeforeRetry(this.settings.backoff, 0)
    return Effect.raceFirst(this.hurry.await, pauseBeforeRetry(this.settings.backoff, attempt, retryAfterMillis)).pipe(
      Effect.asVoid
    )
  }

  /** Looks at what took the key: stored (true), lost to a newer writer or to a foreign object (false), undecided. */
  private readonly look = Effect.fnUntraced(function*(this: PutWorkerPool, stamped: StampedSegment, packed: Packed) {
    const { fate, pack: { digest }, stats, store } = this.parts
    for (let attempt = 0;; attempt++) {
      const read = yield* Effect.result(store.get(stamped.key, { firstBytes: maxHeaderBytes }))
      if (Result.isSuccess(read)) {
        const found = yield* Effect.result(readHeader(stamped.key, read.success.body, digest))
        if (Result.isFailure(found)) {
          fate.end(new SegmentConflict({ key: stamped.key, found: found.failure.message }))
          return false
        }
        return this.judge(stamped, packed, found.success.header)
      }
      if (read.failure.reason === "NotFound") return undefined
      stats.countRetry(read.failure, yield* monotonicNow)
      yield* this.parts.onRetry(stamped.key, read.failure)
      yield* this.pause(attempt, read.failure.retryAfterMillis)
      if (this.isOver()) return false
    }
  })

  private judge(stamped: StampedSegment, packed: Packed, found: SegmentHeader): boolean {
    const step = afterLook(packed.header, found)
    if (step._tag === "Confirmed") return true
    if (step._tag === "Conflict") {
      this.parts.fate.end(new SegmentConflict({ key: stamped.key, found: step.found }))
      return false
    }
    const owner = step.owner
    const error = new WriterFenced({
      streamId: this.settings.streamId,
      epoch: this.settings.epoch,
      ...(owner === undefined ? {} : { byEpoch: owner.epoch, byHost: owner.host })
    })
    this.fence(error, stamped.header.slot)
    return false
  }

  /** Ends a fenced log once no slot that could still be acknowledged is under way. */
  private endIfSettled(): void {
    if (this.fencing === undefined) return
    const first = this.parts.ledger.durable.slot
    for (const slot of this.sending.keys()) if (slot >= first && slot < this.fencing.slot) return
    this.parts.fate.end(this.fencing.error)
  }
}
