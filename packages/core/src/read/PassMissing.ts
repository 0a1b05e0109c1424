/**
 * Passing over a long run of slots that are not stored, in few requests.
 *
 * A listing is asked by the first digits of the slots: only whether it names any of many, and which is the lowest of some.
 * So neither the order in which a store lists matters, nor how long its pages are or what comes twice.
 */
import { Effect } from "effect"
import { parseSlotKey, slotsPrefix } from "../format/ObjectKey.ts"
import { followPages } from "../store/ListPages.ts"
import { retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import type { StoreError } from "../WalError.ts"
import type { LogView, Place } from "./LogView.ts"

/** Tries of one listing while the store's answers may pass. */
const attempts = 8

/** Blocks of slots that differ in so many digits are listed to their end: a page, as a rule. */
const wholeDigits = 3

/** Where less of the epoch is left, looking at each slot costs no more. */
const worthListing = 16

/** The slots from `first` on that differ in the last `digits` digits only. */
interface Block {
  readonly first: number
  readonly digits: number
}

interface Search {
  readonly view: LogView
  readonly epoch: number
  /** What lies before it is not looked for; blocks after the first one lie behind it. */
  readonly from: number
  readonly end: number
}

/** A slot of the block that the store lists: any of a large block, the lowest of another one. */
const slotIn = Effect.fnUntraced(function*({ epoch, from, view }: Search, { digits, first }: Block) {
  const { backoff, prefix, store } = view
  const request = { prefix: slotsPrefix(prefix, { epoch, slot: first }, digits) }
  let lowest: number | undefined
  yield* followPages(
    (page) => retryWhilePassing(store.list(page), { backoff, attempts }),
    request,
    (page) =>
      Effect.sync(() => {
        for (const object of page.objects) {
          const slot = parseSlotKey(prefix, object.key)?.slot
          if (slot !== undefined && slot >= from) lowest = Math.min(lowest ?? slot, slot)
        }
        return lowest === undefined || digits <= wholeDigits
      })
  ).pipe(Effect.mapError(toStoreError))
  return lowest
})

/** The lowest stored slot of the block; what lies at or above the end is not told apart. */
const lowestIn = Effect.fnUntraced(
  function*(search: Search, block: Block): Effect.fn.Return<number | undefined, StoreError> {
    const found = yield* slotIn(search, block)
    if (found === undefined || block.digits <= wholeDigits) return found
    const digits = block.digits - 1
    const behind = Math.min(search.end, block.first + 10 ** block.digits)
    for (let first = block.first; first < behind; first += 10 ** digits) {
      const lowest = yield* lowestIn(search, { first, digits })
      if (lowest !== undefined) return lowest
    }
    return undefined
  }
)

/** Goes from block to block, in larger ones as they fit: a few for each digit, however many slots there are. */
const nextStored = Effect.fnUntraced(function*(search: Search) {
  let digits = wholeDigits
  let first = search.from - search.from % 10 ** digits
  while (first < search.end) {
    const found = yield* lowestIn(search, { first, digits })
    if (found !== undefined) return found
    first += 10 ** digits
    if (first % 10 ** (digits + 1) === 0) digits++
  }
  return undefined
})

/**
 * The first place from this one on that can hold something: the next slot of its epoch that the store lists, or the start of
 * the next epoch; the place itself where listing would help nothing. Fails when the store does not say.
 */
export const passMissing = (view: LogView, place: Place): Effect.Effect<Place, StoreError> => {
  const { epoch, slot } = place
  const end = view.epochs().find((span) => span.epoch === epoch)?.end ?? 0
  if (end - slot <= worthListing) return Effect.succeed(place)
  return nextStored({ view, epoch, from: slot, end }).pipe(
    Effect.map((found = end): Place => found < end ? { epoch, slot: found } : { epoch: epoch + 1, slot: 0 }),
    // Not every store lists by a part of a name (a directory bucket does not): slot by slot, the answer is the same.
    Effect.catchTag("UnexpectedResponse", () => Effect.succeed(place))
  )
}
