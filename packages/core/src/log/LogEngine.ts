/**
 * The parts of an open log, joined: append to segmenter to queue to workers to watermark, and the manifest beside it.
 *
 * Owns: the wiring, and the fibers. What each part does stands in its own file.
 */
import { Clock, Deferred, Effect, Exit, Tracer } from "effect"
import { BufferBudget, type BufferBudgetState } from "../BufferBudget.ts"
import { Cursors } from "../cursor/Cursors.ts"
import { compareRevisions } from "../format/CursorSet.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { manifestKey } from "../format/ObjectKey.ts"
import { monotonicMillis } from "../internal/Monotonic.ts"
import { type Progress, storedIndexEntries } from "../manifest/Manifest.ts"
import { ManifestCoordinator } from "../manifest/ManifestCoordinator.ts"
import { SparseIndex, thinIndex } from "../manifest/SparseIndex.ts"
import { EpochMap } from "../read/EpochMap.ts"
import type { LogView } from "../read/LogView.ts"
import { TailBuffer } from "../read/TailBuffer.ts"
import { GarbageCollector } from "../retain/GarbageCollector.ts"
import { Trimming } from "../retain/Trimming.ts"
import { DiskFull, type WalEnd } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import { DurableWatermark } from "../write/DurableWatermark.ts"
import { LogFate } from "../write/LogFate.ts"
import type { PackContext } from "../write/PackSegment.ts"
import { ProducerTable } from "../write/ProducerTable.ts"
import { PutWorkerPool, type SpoolReads, type StoredSegment } from "../write/PutWorker.ts"
import type { SegmentOpener, StampedSegment } from "../write/Segment.ts"
import { Segmenter } from "../write/Segmenter.ts"
import { SegmentQueue } from "../write/SegmentQueue.ts"
import { SlotLedger } from "../write/SlotLedger.ts"
import { Spooler } from "../write/Spooler.ts"
import type { openLog } from "./OpenLog.ts"
import { PendingCopies } from "./PendingCopies.ts"
import { makePutLog } from "./PutLog.ts"
import {
  coordinatorSettings,
  lanesOf,
  producerLimits,
  putSettings,
  queuedPerWorker,
  segmenterSettings,
  segmentsOf
} from "./Settings.ts"
import { supervise } from "./Supervise.ts"
import { viewOf } from "./WriterView.ts"

/** Boundaries kept in memory. */
const indexEntries = 4_096

export type Opened = Effect.Success<ReturnType<typeof openLog>>

interface Ambient {
  readonly clock: Clock.Clock
  readonly budget: BufferBudgetState
  /** Somebody collects spans: those of the hot path are made for nobody else. */
  readonly traced: boolean
}

export class LogEngine {
  readonly options: WalOptions
  readonly logId: string
  readonly epoch: number
  readonly clock: Clock.Clock
  readonly traced: boolean
  readonly fate = new LogFate()
  readonly queue: SegmentQueue
  readonly ledger: SlotLedger
  readonly index: SparseIndex
  readonly epochMap: EpochMap
  readonly cursors: Cursors
  readonly producers: ProducerTable
  readonly segmenter: Segmenter
  readonly watermark: DurableWatermark
  readonly pool: PutWorkerPool
  readonly coordinator: ManifestCoordinator
  readonly collector: GarbageCollector
  readonly trimming: Trimming
  readonly view: LogView
  /** `undefined` in a log without a spool. */
  readonly spooler: Spooler | undefined
  /** Spooled segments of ended epochs that were appended again and are not durable. */
  readonly copies = new PendingCopies(() => this.ledger.durable.seq, () => this.coordinator.current.origins ?? {})
  /** Told of every stored segment. */
  onStored: (stored: StoredSegment) => void = () => undefined
  /** When the oldest record came for which the log ended before it had a slot, in milliseconds of the monotonic clock. */
  unsentSinceMillis: number | undefined = undefined
  /** The highest trim point of any manifest body that was sent: what a new cursor must not start below. */
  private sentTrimSeq: number
  private readonly open: Opened
  private readonly segments: SegmentOpener
  private readonly putLog = makePutLog()

  constructor(options: WalOptions, open: Opened, ambient: Ambient) {
    const { digest, opened, prefix, stats } = open
    const manifest = opened.held.manifest
    this.options = options
    this.open = open
    this.sentTrimSeq = manifest.trim.seq
    this.clock = ambient.clock
    this.traced = ambient.traced
    this.logId = manifest.log_id
    this.epoch = opened.epoch
    this.segments = segmentsOf(options, open.spool)
    this.queue = new SegmentQueue(queuedPerWorker * options.parallelPut.workers)
    this.ledger = new SlotLedger({
      prefix,
      logId: manifest.log_id,
      nonce: opened.nonce,
      epoch: opened.epoch,
      window: lanesOf(options),
      link: opened.link,
      digest
    })
    this.index = new SparseIndex([...manifest.index, ...opened.ends, manifest.checkpoint], indexEntries)
    this.epochMap = new EpochMap(opened.ends, opened.epoch, () => this.ledger.durable.slot)
    this.cursors = new Cursors(
      opened.cursors,
      { epoch: opened.epoch, maxAhead: options.cursor.maxAhead },
      () => this.ledger.durable.seq,
      () => this.sentTrimSeq
    )
    this.producers = new ProducerTable(producerLimits(options), manifest.producers)
    stats.producers = this.producers
    this.segmenter = new Segmenter(segmenterSettings(options, opened), {
      fate: this.fate,
      queue: this.queue,
      budget: ambient.budget,
      producers: this.producers,
      digest,
      segments: this.segments,
      clock: ambient.clock,
      workerFree: () => this.pool.hasFreeWorker || this.spooler?.isFree === true,
      stats,
      onSealed: () => this.spooler?.poke(),
      refusal: () => this.diskFull
    })
    const tail = new TailBuffer(options.tailBufferBytes)
    this.watermark = new DurableWatermark({
      fate: this.fate,
      ledger: this.ledger,
      index: this.index,
      tail,
      stats,
      producers: this.producers,
      onCallsDurable: (bytes) => this.spooler?.callsDurable(bytes),
      onDurable: (segment) => this.segmentDurable(segment)
    })
    this.pool = this.makePool()
    this.spooler = this.makeSpooler()
    this.collector = this.makeCollector(manifest)
    this.trimming = this.makeTrimming()
    this.coordinator = this.makeCoordinator()
    this.view = viewOf(this, open, tail)
    this.fate.onEnd((error) => this.failOutstanding(error))
  }

  get spool(): Opened["spool"] {
    return this.open.spool
  }

  get stats(): Opened["stats"] {
    return this.open.stats
  }

  /** Starts the fibers; each that ends, ends the log, and the end of the log ends all. */
  get run() {
    const parts = { streamId: this.options.streamId, fate: this.fate, store: this.open.store }
    const lanes = Array.from({ length: lanesOf(this.options) }, () => supervise(parts, "worker", this.pool.run))
    return Effect.all([
      supervise(parts, "segmenter", this.segmenter.run),
      ...lanes,
      ...(this.spooler === undefined ? [] : [supervise(parts, "spooler", this.spooler.run)]),
      supervise(parts, "manifest coordinator", this.coordinator.run),
      supervise(parts, "garbage collector", this.collector.run),
      supervise(parts, "trimming", this.trimming.run)
    ]).pipe(Effect.map((fibers) => {
      // From then on nothing is sent any more, and what is under way is given up.
      this.fate.onEnd(() => {
        for (const fiber of fibers) fiber.interruptUnsafe()
      })
    }))
  }

  /** While the disk has no room, and nothing takes what waits, nothing more is accepted. */
  private get diskFull(): DiskFull | undefined {
    const path = this.open.store.disk
    if (!this.stats.isStoreFull || path === undefined || this.spooler !== undefined) return undefined
    return new DiskFull({ path })
  }

  private get pack(): PackContext {
    const { compression, digest } = this.open
    return { compression, digest, setting: this.options.compression, buffers: this.segments.buffers }
  }

  private makePool(): PutWorkerPool {
    const { opened, prefix, spool, stats, store } = this.open
    const reads: SpoolReads | undefined = spool === undefined ? undefined : {
      holds: (slot) => this.spooler?.holds(slot) === true,
      read: (slot) => spool.read(opened.epoch, slot)
    }
    return new PutWorkerPool({ ...putSettings(this.options, opened, prefix), traced: this.traced }, {
      pack: this.pack,
      spool: reads,
      onProgress: () => this.spooler?.poke(),
      fate: this.fate,
      queue: this.queue,
      ledger: this.ledger,
      store,
      stats,
      stampContext: () => ({ cursors: this.cursors.snapshot(), trim: this.coordinator.current.trim }),
      onStored: (stored) => this.segmentStored(stored),
      onRetry: this.putLog.failed,
      onIdle: () => this.segmenter.poke()
    })
  }

  private makeSpooler(): Spooler | undefined {
    const { opened, spool, stats } = this.open
    if (spool === undefined) return undefined
    return new Spooler({
      spool,
      epoch: opened.epoch,
      queue: this.queue,
      ledger: this.ledger,
      pool: this.pool,
      pack: this.pack,
      stats,
      backoff: this.options.retry,
      onSpooled: (bytes) => this.segmenter.release(bytes),
      keepFrom: () => this.copies.keepFrom(spool.id)
    })
  }

  private makeCollector(manifest: Manifest): GarbageCollector {
    const { digest, prefix, stats } = this.open
    return new GarbageCollector({
      prefix,
      logId: manifest.log_id,
      digest,
      backoff: this.options.retry,
      trim: manifest.trim,
      endOf: (epoch) => this.epochMap.endOf(epoch),
      epochs: () => this.epochMap.epochs
    }, stats)
  }

  private makeTrimming(): Trimming {
    const { prefix, store } = this.open
    return new Trimming({
      retention: this.options.retention,
      store,
      prefix,
      backoff: this.options.retry,
      index: this.index,
      fate: this.fate,
      current: () => this.coordinator.current,
      wantManifest: () => this.coordinator.want()
    })
  }

  private makeCoordinator(): ManifestCoordinator {
    const { opened, prefix, stats, store } = this.open
    return new ManifestCoordinator(coordinatorSettings(this.options, opened, manifestKey(prefix)), {
      fate: this.fate,
      store,
      stats,
      cursors: this.cursors,
      carrierDueMillis: (nowMillis) => this.carrierDueMillis(nowMillis),
      progress: (current) => this.progress(current),
      onTrimmed: (trim) => {
        this.index.dropThrough(trim)
        this.collector.trimmed(trim)
        this.trimming.manifestStored()
      },
      onFenced: (error) => this.pool.fence(error)
    }, opened.held)
  }

  private segmentStored(stored: StoredSegment): Effect.Effect<void> {
    this.stats.rawBytes += stored.stamped.header.rawBytes
    this.stats.storedBytes += stored.storedBytes
    this.watermark.stored(stored.stamped.header.slot)
    this.onStored(stored)
    return this.putLog.complete(stored)
  }

  private segmentDurable(segment: StampedSegment): void {
    this.cursors.stored(segment.cursors)
    this.pool.durable(segment.header.slot)
    this.segmenter.release(segment.bufferBytes)
    this.spooler?.poke()
    this.coordinator.segmentDurable(monotonicMillis(this.clock))
  }

  /** What the next manifest body says. */
  private progress(current: Manifest): Progress {
    const cursors = this.cursors.snapshot()
    const trim = this.trimming.next(current.trim, cursors)
    this.sentTrimSeq = Math.max(this.sentTrimSeq, trim.seq)
    const checkpoint = this.ledger.durable
    return {
      checkpoint,
      trim,
      cursors,
      // Thinned before it is looked at entry by entry: a commit must not take longer the more the index holds.
      index: thinIndex(this.index.above(trim), storedIndexEntries),
      origins: this.copies.marksWith(this.spool?.id, checkpoint),
      producers: this.producers.stored(checkpoint.at)
    }
  }

  /** When a segment header with the cursors as they are now is due. */
  private carrierDueMillis(nowMillis: number): number | undefined {
    const newest = this.ledger.outstanding.at(-1)
    if (newest !== undefined && compareRevisions(newest.cursors.revision, this.cursors.current) >= 0) return nowMillis
    return this.queue.size > 0 ? nowMillis : this.segmenter.sealDueMillis(nowMillis)
  }

  private failOutstanding(error: WalEnd): void {
    const failed = Exit.fail(error)
    const abandoned = this.segmenter.abandon()
    const unsent = [...this.queue.drain(), ...(abandoned === undefined ? [] : [abandoned])]
    this.unsentSinceMillis = unsent[0]?.openedAt
    for (const { ticket } of [...this.ledger.outstanding, ...unsent]) Deferred.doneUnsafe(ticket.settled, failed)
  }
}

/** Builds the parts of an opened log and starts their fibers; they end with the scope. */
export const makeEngine = Effect.fnUntraced(function*(options: WalOptions, open: Opened) {
  const engine = new LogEngine(options, open, {
    clock: yield* Clock.Clock,
    budget: yield* BufferBudget,
    traced: (yield* Effect.context()).mapUnsafe.has(Tracer.Tracer.key)
  })
  yield* engine.run
  return engine
})
