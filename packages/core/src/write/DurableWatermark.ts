/**
 * The durable watermark: the highest number such that it and all before it are stored.
 *
 * Owns: acknowledgements, in order only. Does not own: slots (the ledger) and what readers do.
 */
import { Deferred, Effect, Exit, Latch } from "effect"
import type { SparseIndex } from "../manifest/SparseIndex.ts"
import type { LogStats } from "../observe/LogStats.ts"
import type { TailBuffer } from "../read/TailBuffer.ts"
import type { WalEnd } from "../WalError.ts"
import type { LogFate } from "./LogFate.ts"
import type { ProducerTable } from "./ProducerTable.ts"
import type { Settled, StampedSegment } from "./Segment.ts"
import type { SlotLedger } from "./SlotLedger.ts"

const durable: Exit.Exit<Settled> = Exit.succeed("durable")

export interface WatermarkParts {
  readonly fate: LogFate
  readonly ledger: SlotLedger
  readonly index: SparseIndex
  readonly tail: TailBuffer
  readonly stats: LogStats
  readonly producers: ProducerTable
  /** What of the buffer was kept for calls in the spool that are durable now. */
  readonly onCallsDurable: (keptBytes: number) => void
  /** Bytes of a segment that is durable now. */
  readonly onDurable: (segment: StampedSegment) => void
}

export class DurableWatermark {
  private readonly parts: WatermarkParts
  private changed = Latch.makeUnsafe(false)
  /** Durable segments whose callers have not been told yet, in order. */
  private readonly untold: Array<StampedSegment> = []
  private isTelling = false

  constructor(parts: WatermarkParts) {
    this.parts = parts
    parts.fate.onEnd(() => Latch.openUnsafe(this.changed))
  }

  get seq(): number {
    return this.parts.ledger.durable.seq
  }

  /**
   * The slot is stored: acknowledges every segment that is durable because of it.
   *
   * Who is told runs at once, and may bring the next slot here before this call is done: so first everything is noted, and
   * then all are told, in order, by the outermost call.
   */
  stored(slot: number): void {
    const confirmed = this.parts.ledger.confirm(slot)
    if (confirmed.length === 0) return
    for (const segment of confirmed) this.note(segment)
    const keptBytes = this.parts.producers.durableThrough(this.seq)
    this.untold.push(...confirmed)
    if (keptBytes > 0) this.parts.onCallsDurable(keptBytes)
    if (this.isTelling) return
    this.isTelling = true
    for (let segment = this.untold.shift(); segment !== undefined; segment = this.untold.shift()) {
      this.parts.onDurable(segment)
      Deferred.doneUnsafe(segment.ticket.settled, durable)
    }
    this.isTelling = false
    const { changed } = this
    this.changed = Latch.makeUnsafe(false)
    Latch.openUnsafe(changed)
  }

  private note(segment: StampedSegment): void {
    const { index, stats, tail } = this.parts
    index.add(segment.after)
    const { body, header, key, memory } = segment
    if (body === undefined) tail.clear()
    else tail.push({ key, header, body: body.bytes, ...(memory === undefined ? {} : { memory }) })
    stats.recordsDurable += segment.header.count
    stats.segmentsDurable++
  }

  /** Waits until the watermark is above `seq`; fails when the log ends before. */
  beyond(seq: number): Effect.Effect<void, WalEnd> {
    return Effect.suspend((): Effect.Effect<void, WalEnd> => {
      if (this.seq > seq) return Effect.void
      if (this.parts.fate.ended !== undefined) return Effect.fail(this.parts.fate.ended)
      return Effect.andThen(this.changed.await, this.beyond(seq))
    })
  }
}
