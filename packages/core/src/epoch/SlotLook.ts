/** Looking at slots of an epoch in the store: listings and headers. */
import { Effect, Result } from "effect"
import type { DigestService } from "../codec/Digest.ts"
import { epochPrefix, keyBefore, parseSlotKey, slotKey } from "../format/ObjectKey.ts"
import { readHeader } from "../format/SegmentCodec.ts"
import { maxHeaderBytes } from "../format/SegmentHeader.ts"
import { followPages } from "../store/ListPages.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { type Backoff, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import { isMarkerOf, type ListedSlot } from "./EndOfEpoch.ts"

export interface LookContext {
  /** `{prefix}/{node_id}/{stream_id}/`. */
  readonly prefix: string
  readonly digest: DigestService
  readonly backoff: Backoff
  /** Tries of one request while the store's answers may pass. */
  readonly attempts: number
  /** Told of every listed key that is not ours. */
  readonly onForeign?: (key: string) => void
}

/** All slots of the epoch from `from` up, in the store's order; keys that are not ours are left out. */
export const listSlots = Effect.fnUntraced(function*(context: LookContext, epoch: number, from: number) {
  const store = yield* ObjectStore
  const slots: Array<ListedSlot> = []
  const request = {
    prefix: epochPrefix(context.prefix, epoch),
    startAfter: keyBefore(context.prefix, { epoch, slot: from })
  }
  yield* followPages((page) => retryWhilePassing(store.list(page), context), request, (page) =>
    Effect.sync(() => {
      for (const object of page.objects) {
        const name = parseSlotKey(context.prefix, object.key)
        if (name === undefined) context.onForeign?.(object.key)
        else if (name.epoch === epoch) slots.push({ slot: name.slot, sizeBytes: object.sizeBytes })
      }
      return true
    })).pipe(Effect.mapError(toStoreError))
  return slots
})

/** The header of a slot; `undefined` where nothing is stored. Fails `SegmentCorrupt` or `SegmentTooNew` for what is no header. */
export const lookAt = Effect.fnUntraced(function*(context: LookContext, epoch: number, slot: number) {
  const store = yield* ObjectStore
  const key = slotKey(context.prefix, epoch, slot)
  const read = yield* Effect.result(retryWhilePassing(store.get(key, { firstBytes: maxHeaderBytes }), context))
  if (Result.isFailure(read)) {
    return read.failure.reason === "NotFound" ? undefined : yield* toStoreError(read.failure)
  }
  return (yield* readHeader(key, read.success.body, context.digest)).header
})

/** The headers of those slots that are stored and readable; damage elsewhere is for readers to find. */
export const lookAtReadable = (context: LookContext, epoch: number, slots: ReadonlyArray<number>) =>
  Effect.forEach(
    slots,
    (slot) =>
      lookAt(context, epoch, slot).pipe(
        Effect.catchTag(["SegmentCorrupt", "SegmentTooNew"], () => Effect.void)
      ),
    { concurrency: 16 }
  ).pipe(Effect.map((headers) => headers.filter((header) => header !== undefined)))

/** The lowest of the slots that holds an end marker of the epoch; `undefined` where none does. */
export const lowestMarker = Effect.fnUntraced(function*(
  context: LookContext,
  { epoch, logId }: { readonly epoch: number; readonly logId: string },
  slots: ReadonlyArray<number>
) {
  const headers = yield* lookAtReadable(context, epoch, slots)
  const markers = headers.filter((header) => isMarkerOf(header, { logId, epoch, slot: header.slot }))
  return markers.length === 0 ? undefined : Math.min(...markers.map((header) => header.slot))
})
