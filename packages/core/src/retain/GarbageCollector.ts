/**
 * The garbage collector: deletes what lies below the stored trim point, and what late requests brought back there.
 *
 * Owns: deletions and their repeats. Does not own: the trim point; it is told once a manifest with it is stored.
 *
 * Invariants: nothing at or after the stored trim point is deleted · never an end marker, never a foreign object · what
 * could not be deleted is counted and tried again.
 */
import { Effect, Latch, Result } from "effect"
import type { DigestService } from "../codec/Digest.ts"
import { isMarkerOf } from "../epoch/EndOfEpoch.ts"
import { lookAt, type LookContext } from "../epoch/SlotLook.ts"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { epochPrefix, parseSlotKey, segmentsPrefix, slotKey, type SlotName } from "../format/ObjectKey.ts"
import { maxMarkerBytes } from "../format/SegmentCodec.ts"
import type { LogStats } from "../observe/LogStats.ts"
import { KeyOrder } from "../store/KeyOrder.ts"
import { followPages } from "../store/ListPages.ts"
import { type ListedObject, type ListPage, ObjectStore } from "../store/ObjectStore.ts"
import { type Backoff, pauseBeforeRetry, retryWhilePassing } from "../store/StoreRetry.ts"
import { Signal } from "../write/Signal.ts"

/** Keys of one delete request. */
const batchSize = 1_000

/** Tries of one request before the batch is put back. */
const attempts = 4

/** Once so many keys wait for another try, nothing more is taken on: their number must not grow with the outage. */
const maxAgain = 10_000

/** Epochs before the trim point in which a sweep looks for what late requests brought back; in a journal in all. */
const sweptEpochs = 16

export interface CollectorSettings {
  readonly prefix: string
  readonly logId: string
  readonly digest: DigestService
  readonly backoff: Backoff
  /** The trim point as it was found at opening. */
  readonly trim: Boundary
  /** Slots of an ended epoch that exist: up to its recorded end. */
  readonly endOf: (epoch: number) => number | undefined
  /** Epochs with segments, ascending. */
  readonly epochs: () => ReadonlyArray<number>
}

export class GarbageCollector {
  private readonly settings: CollectorSettings
  private readonly stats: LogStats
  private readonly events = new Signal()
  /** Everything before this point is deleted or in `again`. */
  private deleted: SlotName
  private trim: Boundary
  private sweptEpoch: number | undefined = undefined
  private again: Array<string> = []
  private failures = 0
  /** Open while no slot below the trim point is still to be deleted, but for what could not be. */
  private readonly done = Latch.makeUnsafe(true)

  constructor(settings: CollectorSettings, stats: LogStats) {
    this.settings = settings
    this.stats = stats
    this.deleted = settings.trim
    this.trim = settings.trim
  }

  /** A manifest with this trim point is stored. */
  trimmed(trim: Boundary): void {
    if (compareBoundaries(trim, this.trim) <= 0) return
    this.trim = trim
    Latch.closeUnsafe(this.done)
    this.events.wake()
  }

  /** Waits until each slot below the trim point is deleted, or was tried and could not be. */
  get settled(): Effect.Effect<void> {
    return this.done.await
  }

  /**
   * Deletes as it is told, until interrupted. What earlier writers had no time to delete is looked for at the first trim; in
   * a journal, which costs no requests, at once: where all writers are short-lived, nobody else would.
   */
  get run(): Effect.Effect<never, never, ObjectStore> {
    const start = Effect.map(ObjectStore, (store) => store.proven === true ? this.events.wake() : undefined)
    const collect = Effect.forever(Effect.andThen(this.events.wait, Effect.suspend(() => this.collect())))
    return Effect.andThen(start, collect)
  }

  private readonly collect = Effect.fnUntraced(function*(this: GarbageCollector) {
    const trim = this.trim
    yield* this.remove(this.again.splice(0))
    yield* this.removeUpTo(trim)
    if (this.trim === trim) Latch.openUnsafe(this.done)
    // A sweep would find again what could not be deleted.
    if (this.again.length === 0 && this.sweptEpoch !== trim.epoch) {
      const swept = yield* Effect.result(this.sweep(trim))
      if (Result.isFailure(swept)) {
        yield* Effect.logWarning(`garbage below the trim point was not looked for: ${swept.failure.message}`)
      } else if (swept.success) this.sweptEpoch = trim.epoch
    }
    if (this.again.length === 0) {
      this.failures = 0
      return
    }
    yield* pauseBeforeRetry(this.settings.backoff, this.failures++)
    this.events.wake()
  })

  /** Goes on from where it is, batch by batch; stops early when too much waits for another try. */
  private readonly removeUpTo = Effect.fnUntraced(function*(this: GarbageCollector, trim: Boundary) {
    let keys: Array<string> = []
    for (const { epoch, slot } of this.slotsBetween(this.deleted, trim)) {
      if (this.again.length >= maxAgain) return
      keys.push(slotKey(this.settings.prefix, epoch, slot))
      if (keys.length < batchSize) continue
      yield* this.remove(keys)
      keys = []
      this.deleted = { epoch, slot: slot + 1 }
    }
    yield* this.remove(keys)
    this.deleted = trim
  })

  /** All slots from one point up to another. They are dense, so no listing is needed. */
  private *slotsBetween(from: SlotName, to: SlotName): Generator<SlotName> {
    for (const epoch of this.settings.epochs()) {
      if (epoch < from.epoch || epoch > to.epoch) continue
      const first = epoch === from.epoch ? from.slot : 0
      const end = epoch === to.epoch ? to.slot : this.settings.endOf(epoch) ?? 0
      for (let slot = first; slot < end; slot++) yield { epoch, slot }
    }
  }

  private readonly remove = Effect.fnUntraced(function*(this: GarbageCollector, keys: ReadonlyArray<string>) {
    const store = yield* ObjectStore
    for (let start = 0; start < keys.length; start += batchSize) {
      const batch = keys.slice(start, start + batchSize)
      const answer = yield* Effect.result(
        retryWhilePassing(store.remove(batch), { backoff: this.settings.backoff, attempts })
      )
      const failed = Result.isSuccess(answer)
        ? answer.success
        : batch.map((key) => ({ key, code: answer.failure.reason }))
      this.stats.segmentsDeleted += batch.length - failed.length
      if (failed.length === 0) continue
      this.stats.deleteFailures += failed.length
      this.again.push(...failed.map((failure) => failure.key))
      yield* Effect.logWarning(
        `${failed.length} objects were not deleted (${failed[0]?.code ?? ""}); it is tried again`
      )
    }
  })

  /** Looks for segments below the trim point and beyond recorded ends, and deletes them. False: not to the end. */
  private readonly sweep = Effect.fnUntraced(function*(this: GarbageCollector, trim: Boundary) {
    const store = yield* ObjectStore
    const { prefix } = this.settings
    // In a journal end markers go too, so that there is little to look at; and what is left in its first file keeps all
    // files behind that one.
    const first = store.proven === true ? 0 : Math.max(0, trim.epoch - sweptEpochs)
    const startAfter = epochPrefix(prefix, first)
    const context: LookContext = { ...this.settings, attempts }
    const list: typeof store.list = (request) => retryWhilePassing(store.list(request), context)
    const order = new KeyOrder()
    yield* followPages(list, { prefix: segmentsPrefix(prefix), startAfter }, (listed) => {
      order.add(listed.objects)
      return Effect.map(
        this.sweepPage(context, listed, trim),
        () => this.again.length < maxAgain && !order.hasPassed(this.behindGarbage(trim))
      )
    })
    return this.again.length < maxAgain
  })

  /** No garbage has this key or a higher one. */
  private behindGarbage(trim: Boundary): string {
    const { endOf, prefix } = this.settings
    // An epoch that goes on has no end beyond which something could be: what is above its trim point is the log.
    const isLive = endOf(trim.epoch) === undefined
    return isLive ? slotKey(prefix, trim.epoch, trim.slot) : epochPrefix(prefix, trim.epoch + 1)
  }

  private readonly sweepPage = Effect.fnUntraced(
    function*(this: GarbageCollector, context: LookContext, listed: ListPage, trim: Boundary) {
      const garbage: Array<string> = []
      for (const object of listed.objects) {
        if (yield* this.isGarbage(context, object, trim)) garbage.push(object.key)
      }
      yield* this.remove(garbage)
    }
  )

  private readonly isGarbage = Effect.fnUntraced(function*(
    this: GarbageCollector,
    context: LookContext,
    object: ListedObject,
    trim: Boundary
  ) {
    const store = yield* ObjectStore
    const name = parseSlotKey(this.settings.prefix, object.key)
    if (name === undefined) this.stats.countForeign(object.key)
    if (name === undefined || object.sizeBytes === 0) return false
    const end = this.settings.endOf(name.epoch)
    const below = compareBoundaries(name, trim) < 0
    if (!below && (end === undefined || name.slot <= end)) return false
    const header = yield* Effect.result(lookAt(context, name.epoch, name.slot))
    // Where only this program puts anything, damage is its own, and must not keep the files of what it has trimmed.
    if (Result.isFailure(header) && header.failure._tag === "SegmentCorrupt" && below) return store.proven === true
    // What does not read as a segment of this log is not ours to delete.
    if (Result.isFailure(header) || header.success === undefined) return false
    if (object.sizeBytes <= maxMarkerBytes && isMarkerOf(header.success, { ...name, logId: this.settings.logId })) {
      return false
    }
    return header.success.logId === this.settings.logId && header.success.kind === "segment"
  })
}
