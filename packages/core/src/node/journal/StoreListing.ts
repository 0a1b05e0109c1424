/**
 * Listing a store that keeps slots in a journal and everything else as files: one order, that of the keys.
 */
import { Effect } from "effect"
import { parseSlotKey, segmentsPrefix, slotKey, type SlotName } from "../../format/ObjectKey.ts"
import type { ListedObject, ListPage, ListRequest, ObjectStore } from "../../store/ObjectStore.ts"
import type { ObjectStoreError } from "../../store/ObjectStoreError.ts"
import type { Journal } from "./Journal.ts"
import type { JournalError } from "./JournalError.ts"

const maxPage = 1_000

export interface ListedStore {
  readonly files: ObjectStore["Service"]
  readonly journal: Journal
  /** Where the keys of the log start. */
  readonly prefix: string
}

const partialKey = /^(\d{10})\/(\d{0,12})/

/**
 * The lowest slot whose key can be at or after `text`, so that a listing need not begin at the first one; `undefined` when
 * all keys of slots are before it.
 */
const firstSlotAt = (prefix: string, text: string): SlotName | undefined => {
  const start = segmentsPrefix(prefix)
  if (!text.startsWith(start)) return text < start ? { epoch: 0, slot: 0 } : undefined
  const rest = text.slice(start.length)
  if (/^\d{0,10}$/.test(rest)) return { epoch: Number(rest.padEnd(10, "0")), slot: 0 }
  const match = partialKey.exec(rest)
  return { epoch: Number(match?.[1] ?? 0), slot: Number((match?.[2] ?? "").padEnd(12, "0")) }
}

/** At least `wanted` slots with such keys, where there are so many, in order. */
const slotsAfter = Effect.fnUntraced(
  function*(store: ListedStore, request: ListRequest, after: string, wanted: number): Effect.fn.Return<
    ReadonlyArray<ListedObject>,
    JournalError
  > {
    const found: Array<ListedObject> = []
    let from = firstSlotAt(store.prefix, after > request.prefix ? after : request.prefix)
    while (from !== undefined && found.length < wanted) {
      const page = yield* store.journal.list(from, wanted)
      for (const entry of page) {
        const key = slotKey(store.prefix, entry.epoch, entry.slot)
        if (key <= after) continue
        if (key.startsWith(request.prefix)) {
          found.push({ key, sizeBytes: entry.bodyBytes, modifiedMillis: entry.writtenAtMillis })
        } else if (key > request.prefix) return found
      }
      const last = page.at(-1)
      from = last === undefined || page.length < wanted ? undefined : { epoch: last.epoch, slot: last.slot + 1 }
    }
    return found
  }
)

/** One page, in the order of the keys. The page token is the last key of the page before. */
export const listStore = Effect.fnUntraced(
  function*(
    store: ListedStore,
    request: ListRequest,
    toStoreError: (error: JournalError) => ObjectStoreError
  ): Effect.fn.Return<ListPage, ObjectStoreError> {
    const limit = Math.min(request.limit ?? maxPage, maxPage)
    const after = request.page ?? request.startAfter ?? ""
    const files = yield* store.files.list({ prefix: request.prefix, startAfter: after, limit })
    const slots = yield* Effect.mapError(slotsAfter(store, request, after, limit + 1), toStoreError)
    const { next } = files
    const merged = [
      // A file with the key of a slot is nobody's: that key is answered from the journal.
      ...files.objects.filter((object) => parseSlotKey(store.prefix, object.key) === undefined),
      // Behind the end of this page of files, more files may follow.
      ...slots.filter((object) => next === undefined || object.key <= next)
    ].sort((left, right) => left.key < right.key ? -1 : 1)
    if (merged.length <= limit && next === undefined) return { objects: merged }
    const objects = merged.slice(0, limit)
    const last = objects.length === limit ? objects.at(-1)?.key : next
    return last === undefined ? { objects } : { objects, next: last }
  }
)
