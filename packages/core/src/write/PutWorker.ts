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
import type { CodecError, CompressionService } from "../codec/Compression.ts"
import type { DigestService } from "../codec/Digest.ts"
import { encodeSegment, readHeader } from "../format/SegmentCodec.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import { maxHeaderBytes } from "../format/SegmentHeader.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { LogStats } from "../observe/LogStats.ts"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"
import { type Backoff, pauseBeforeRetry } from "../store/StoreRetry.ts"
import { SegmentConflict, WriterFenced } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import type { LogFate } from "./LogFate.ts"
import { afterLook, afterPut } from "./PutOutcome.ts"
import type { StampedSegment } from "./Segment.ts"
import type { SegmentQueue } from "./SegmentQueue.ts"
import type { SlotLedger, StampContext } from "./SlotLedger.ts"

export interface PutWorkerSettings {
  readonly streamId: string
  readonly epoch: number
  readonly compression: WalOptions["compression"]
  readonly backoff: Backoff
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
  readonly digest: DigestService
  readonly compression: CompressionService
  readonly stats: LogStats
  /** The copies for the next header. */
  readonly stampContext: () => StampContext
  /** The slot is stored; told once a segment, in any order. */
  readonly onStored: (stored: StoredSegment) => Effect.Effect<void>
  readonly onRetry: (key: string, error: ObjectStoreError) => Effect.Effect<void>
  /** A worker has nothing to do. */
  readonly onIdle: () => void
}

interface Fencing {
  /** Slots from here on are lost to this writer. */
  readonly slot: number
  readonly error: WriterFenced
}

interface Packed {
  readonly header: SegmentHeader
  readonly object: Uint8Array
  readonly crc32: number
}

export class PutWorkerPool {
  private readonly settings: PutWorkerSettings
  private readonly parts: PutWorkerParts
  private idle = 0
  private readonly sending = new Set<number>()
  private fencing: Fencing | undefined = undefined
  /** Open once pauses are to be cut short: while closing, and when fenced. */
  private readonly hurry = Latch.makeUnsafe(false)
  private hurried = false

  constructor(settings: PutWorkerSettings, parts: PutWorkerParts) {
    this.settings = settings
    this.parts = parts
  }

  /** A worker has nothing to do and could send now. */
  get hasFreeWorker(): boolean {
    return this.idle > this.parts.queue.size && this.parts.ledger.hasRoom && this.fencing === undefined
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
    return Effect.forever(Effect.flatMap(this.take, (stamped) => {
      const attributes = { key: stamped.key, records: stamped.header.count, bytes: stamped.header.rawBytes }
      return Effect.withSpan(this.put(stamped), "wal.put", { attributes })
    }))
  }

  /** The next segment with its slot. */
  private get take(): Effect.Effect<StampedSegment> {
    const { ledger, queue } = this.parts
    const look: Effect.Effect<StampedSegment> = Effect.suspend(() => {
      if (this.fencing !== undefined || this.parts.fate.ended !== undefined) return Effect.never
      const segment = ledger.hasRoom ? queue.take() : undefined
      if (segment !== undefined) {
        const stamped = ledger.stamp(segment, this.parts.stampContext())
        this.sending.add(stamped.header.slot)
        this.parts.onIdle()
        return Effect.succeed(stamped)
      }
      Latch.closeUnsafe(queue.ready)
      this.idle++
      this.parts.onIdle()
      return Effect.andThen(
        Effect.ensuring(
          queue.ready.await,
          Effect.sync(() => {
            this.idle--
          })
        ),
        look
      )
    })
    return look
  }

  private readonly put = Effect.fnUntraced(function*(this: PutWorkerPool, stamped: StampedSegment) {
    const { count, rawBytes, slot } = stamped.header
    yield* Effect.logDebug(`Sealing segment: entries=${count}, bytes=${rawBytes}`)
    const packed = yield* this.pack(stamped)
    const startedAt = yield* monotonicNow
    const stored = yield* this.store(stamped, packed)
    this.sending.delete(slot)
    if (stored) {
      const millis = (yield* monotonicNow) - startedAt
      this.parts.stats.storeWorks()
      yield* this.parts.onStored({
        stamped,
        storedBytes: packed.header.storedBytes,
        objectBytes: packed.object.length,
        millis
      })
      this.parts.queue.wake()
    }
    this.endIfSettled()
  })

  private readonly pack = Effect.fnUntraced(function*(this: PutWorkerPool, stamped: StampedSegment) {
    const { compression, digest } = this.parts
    const setting = this.settings.compression
    const raw = stamped.body
    let header = stamped.header
    let stored = raw
    if (setting.type !== "none" && raw.length >= setting.thresholdBytes) {
      const packed = yield* compression.compress(raw, setting)
      // What does not shrink is stored, and marked, as it is.
      if (packed.length < raw.length) {
        stored = packed
        header = { ...header, codec: setting.type, storedBytes: packed.length, storedCrc: digest.crc32(packed) }
      }
    }
    const object = encodeSegment(header, stored, digest)
    return { header, object, crc32: digest.crc32(object) } satisfies Packed
  })

  /** PUTs until stored (true), or given up because the log is over for this slot (false). */
  private readonly store = Effect.fnUntraced(function*(this: PutWorkerPool, stamped: StampedSegment, packed: Packed) {
    const { stats, store } = this.parts
    for (let attempt = 0;; attempt++) {
      const answer = yield* Effect.result(store.create(stamped.key, packed.object, { crc32: packed.crc32 }))
      if (Result.isSuccess(answer)) return true
      const error = answer.failure
      if (afterPut(error) === "look") {
        const looked = yield* this.look(stamped, packed)
        if (looked !== undefined) return looked
      } else {
        stats.countRetry(error, yield* monotonicNow)
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
    const { digest, fate, stats, store } = this.parts
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
    for (const slot of this.sending) if (slot >= first && slot < this.fencing.slot) return
    this.parts.fate.end(this.fencing.error)
  }
}
