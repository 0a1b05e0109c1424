/**
 * What a reader needs to know of a log: its epochs, where it starts, how far it is durable.
 *
 * The writer's own view is live; the one of a `WalReader` is taken from the store.
 */
import type { Effect } from "effect"
import type { CompressionService } from "../codec/Compression.ts"
import type { DigestService } from "../codec/Digest.ts"
import type { Boundary } from "../format/Boundary.ts"
import type { SparseIndex } from "../manifest/SparseIndex.ts"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { Backoff } from "../store/StoreRetry.ts"
import type { ReadError, WalEnd } from "../WalError.ts"
import type { TailBuffer } from "./TailBuffer.ts"

/** Where the durable slots of an epoch end. */
export interface EpochSpan {
  readonly epoch: number
  /** First slot that is not (or not yet) part of the log. */
  readonly end: number
}

export interface LogView {
  readonly prefix: string
  readonly logId: string
  readonly store: ObjectStore["Service"]
  readonly digest: DigestService
  readonly compression: CompressionService
  readonly backoff: Backoff
  readonly maxSegmentBytes: number
  /** Segments fetched ahead, 1 or more. */
  readonly prefetch: number
  /** The point that everything left lies after. */
  readonly trim: () => Boundary
  /** The point that everything durable lies before. */
  readonly durable: () => Boundary
  /** Epochs that hold something, ascending, the live one last. */
  readonly epochs: () => ReadonlyArray<EpochSpan>
  readonly index: SparseIndex
  /** Newest segments in memory; absent for a reader without a writer. */
  readonly tail?: TailBuffer
  /** Why the log is over: what is deleted from then on is not known here. Absent for a reader without a writer. */
  readonly ended?: () => WalEnd | undefined
  /** Waits until there is more than `seq`, or fails when there never will be. */
  readonly beyond: (seq: number) => Effect.Effect<void, ReadError>
  /** Looks again at what may have changed behind the view, whose owner may be another by now: done before a segment is called missing. */
  readonly refresh: Effect.Effect<void, ReadError>
}

/** A slot of the log. */
export interface Place {
  readonly epoch: number
  readonly slot: number
}

/** All slots from `start` up to the durable end as it is now, one after the other. */
export function* placesFrom(view: LogView, start: Place): Generator<Place> {
  for (const { end, epoch } of view.epochs()) {
    if (epoch < start.epoch) continue
    for (let slot = epoch === start.epoch ? start.slot : 0; slot < end; slot++) yield { epoch, slot }
  }
}

/** How many slots lie between a place and the durable end. */
export const countFrom = (view: LogView, start: Place): number => {
  let count = 0
  for (const span of view.epochs()) {
    if (span.epoch < start.epoch) continue
    count += Math.max(0, span.end - (span.epoch === start.epoch ? start.slot : 0))
  }
  return count
}
