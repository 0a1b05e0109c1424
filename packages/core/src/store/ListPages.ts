/**
 * Following a listing from page to page, as long as it leads on.
 *
 * A store, or a proxy before it, can answer with a token that it has given before: then the same pages come round and
 * round. That is noticed in constant memory, after a few times as many pages as there are.
 */
import { Effect } from "effect"
import type { ListPage, ListRequest, ObjectStore } from "./ObjectStore.ts"
import { ObjectStoreError } from "./ObjectStoreError.ts"

/** Notices a token that comes again: each is compared with the one at the last power of two (Brent's algorithm). */
export class RoundTrip {
  private mark: string | undefined = undefined
  private steps = 0
  private power = 1

  /** Whether this token shows that the listing goes in circles. */
  closes(token: string): boolean {
    if (token === this.mark) return true
    this.steps++
    if (this.steps < this.power) return false
    this.mark = token
    this.power *= 2
    this.steps = 0
    return false
  }
}

/**
 * Lists all pages; `onPage` answers whether to go on. Answers how many pages were seen. Fails with the store's error, and
 * `UnexpectedResponse` where the pages come round again; `list` decides about repeats of one request.
 */
export const followPages = Effect.fnUntraced(function*<E, R>(
  list: ObjectStore["Service"]["list"],
  request: Omit<ListRequest, "page">,
  onPage: (page: ListPage) => Effect.Effect<boolean, E, R>
) {
  const round = new RoundTrip()
  let page: string | undefined
  for (let pages = 1;; pages++) {
    const listed = yield* list({ ...request, ...(page === undefined ? {} : { page }) })
    const goesOn = yield* onPage(listed)
    if (!goesOn || listed.next === undefined) return pages
    if (round.closes(listed.next)) {
      return yield* new ObjectStoreError({
        operation: "list",
        key: request.prefix,
        reason: "UnexpectedResponse",
        detail: `page ${pages} names a next page that came before: the listing has no end`
      })
    }
    page = listed.next
  }
})
