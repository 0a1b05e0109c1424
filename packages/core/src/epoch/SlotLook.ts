/** Looking at slots of an epoch in the store: listings and headers. */
import { Effect, Result } from "effect"
import type { DigestService } from "../codec/Digest.ts"
import { epochPrefix, keyBefore, parseSlotKey, slotKey } from "../format/ObjectKey.ts"
import { readHeader } from "../format/SegmentCodec.ts"
import { maxHeaderBytes, type SegmentHeader } from "../format/SegmentHeader.ts"
import { followPages } from "../store/ListPages.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { type Backoff, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import type { SegmentCorrupt, SegmentTooNew } from "../WalError.ts"
import { isMarkerOf, isSegmentOf, type ListedSlot } from "./EndOfEpoch.ts"

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

/** Lists the slots of the epoch from `from` up, a page at a time; keys that are not ours are left out. */
const listPages = (
  context: LookContext,
  epoch: number,
  from: number,
  onPage: (slots: ReadonlyArray<ListedSlot>) => void
) =>
  Effect.flatMap(ObjectStore, (store) => {
    const request = {
      prefix: epochPrefix(context.prefix, epoch),
      startAfter: keyBefore(context.prefix, { epoch, slot: from })
    }
    return followPages((page) => retryWhilePassing(store.list(page), context), request, (page) =>
      Effect.sync(() => {
        const slots: Array<ListedSlot> = []
        for (const object of page.objects) {
          const name = parseSlotKey(context.prefix, object.key)
          if (name === undefined) context.onForeign?.(object.key)
          else if (name.epoch === epoch) slots.push({ slot: name.slot, sizeBytes: object.sizeBytes })
        }
        onPage(slots)
        return true
      })).pipe(Effect.mapError(toStoreError))
  })

/** All slots of the epoch from `from` up, in the store's order; keys that are not ours are left out. */
export const listSlots = Effect.fnUntraced(function*(context: LookContext, epoch: number, from: number) {
  const slots: Array<ListedSlot> = []
  yield* listPages(context, epoch, from, (page) => slots.push(...page))
  return slots
})

/** The lowest stored slots of the epoch from `from` up, ascending, each once: at most `count`, and no more are held. */
export const lowestSlots = Effect.fnUntraced(
  function*(context: LookContext, epoch: number, { count, from }: { readonly count: number; readonly from: number }) {
    let lowest: ReadonlyArray<number> = []
    yield* listPages(context, epoch, from, (page) => {
      // A store may ignore where a listing is to start.
      const above = page.map((one) => one.slot).filter((slot) => slot >= from)
      lowest = [...new Set([...lowest, ...above])].sort((left, right) => left - right).slice(0, count)
    })
    return lowest
  }
)

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

/** What some slots hold. */
interface SlotsSeen {
  readonly headers: ReadonlyArray<SegmentHeader>
  /** Stored, and no header: damaged, or the answer of something that is not the store. */
  readonly unreadable: ReadonlyArray<{ readonly slot: number; readonly error: SegmentCorrupt | SegmentTooNew }>
}

const lookAtAll = (context: LookContext, epoch: number, slots: ReadonlyArray<number>) =>
  Effect.forEach(slots, (slot) => Effect.result(lookAt(context, epoch, slot)), { concurrency: 16 }).pipe(
    Effect.flatMap((results) => {
      const headers: Array<SegmentHeader> = []
      const unreadable: Array<SlotsSeen["unreadable"][number]> = []
      for (const [index, result] of results.entries()) {
        if (Result.isSuccess(result)) {
          if (result.success !== undefined) headers.push(result.success)
        } else if (result.failure._tag === "SegmentCorrupt" || result.failure._tag === "SegmentTooNew") {
          unreadable.push({ slot: slots[index] ?? 0, error: result.failure })
        } else return Effect.fail(result.failure)
      }
      return Effect.succeed<SlotsSeen>({ headers, unreadable })
    })
  )

/** The headers of those slots that are stored and readable; damage elsewhere is for readers to find. */
export const lookAtReadable = (context: LookContext, epoch: number, slots: ReadonlyArray<number>) =>
  Effect.map(lookAtAll(context, epoch, slots), ({ headers }) => headers)

/**
 * The headers of those slots that are stored. Fails `SegmentCorrupt` or `SegmentTooNew` where one up to `through` is not
 * readable; beyond that it is for readers to find.
 */
export const lookAtStored = Effect.fnUntraced(function*(
  context: LookContext,
  epoch: number,
  slots: ReadonlyArray<number>,
  through: number
) {
  const { headers, unreadable } = yield* lookAtAll(context, epoch, slots)
  const unknown = unreadable.find(({ slot }) => slot <= through)
  return unknown === undefined ? headers : yield* unknown.error
})

/**
 * The lowest of the slots that holds an end marker of the epoch; `undefined` where none does. What is not readable could
 * be that marker: it fails `SegmentCorrupt` or `SegmentTooNew`, but where a higher one of the slots knows that it was
 * a durable segment.
 */
export const lowestMarker = Effect.fnUntraced(function*(
  context: LookContext,
  { epoch, logId }: { readonly epoch: number; readonly logId: string },
  slots: ReadonlyArray<number>
) {
  const { headers, unreadable } = yield* lookAtAll(context, epoch, slots)
  const markers = headers.filter((header) => isMarkerOf(header, { logId, epoch, slot: header.slot }))
  const lowest = Math.min(...markers.map((header) => header.slot))
  const durableBelow = headers.filter((header) => isSegmentOf(header, { logId, epoch, slot: header.slot }))
    .reduce((slot, header) => Math.max(slot, header.watermarkSlot), 0)
  const unknown = unreadable.find(({ slot }) => slot < lowest && slot >= durableBelow)
  if (unknown !== undefined) return yield* unknown.error
  return markers.length === 0 ? undefined : lowest
})
