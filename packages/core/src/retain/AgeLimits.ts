/**
 * What age and size say about deletion, by the store's own time.
 *
 * The local clock alone never decides: the age of a segment is the difference between two of the store's time stamps, that
 * of the segment and that of the manifest as it was last written. An idle log writes nothing, so nothing of it ages away.
 *
 * A listing is summed up between the boundaries that are known, and only there can the log be cut. So memory does not grow
 * with the log, and neither the store's order nor an upload that came late makes anything young go.
 */
import { Duration, Effect, Result } from "effect"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { keyBefore, manifestKey, parseSlotKey, segmentsPrefix, type SlotName } from "../format/ObjectKey.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { SparseIndex } from "../manifest/SparseIndex.ts"
import { followPages } from "../store/ListPages.ts"
import type { ListedObject, ObjectStore } from "../store/ObjectStore.ts"
import { type Backoff, retryWhilePassing } from "../store/StoreRetry.ts"
import type { RetentionOptions } from "../WalOptions.ts"

/** The store is asked at most so often, */
const refreshEveryMillis = 60_000

/** and for a log of many pages less often: in the long run at most one page in this time. */
const millisPerPage = 1_000

/** Tries of one page: a single refusal must not make a look at thousands of pages worth nothing. */
const attempts = 4

export interface AgeLimitsParts {
  readonly retention: RetentionOptions
  readonly store: ObjectStore["Service"]
  readonly prefix: string
  readonly backoff: Backoff
  readonly index: SparseIndex
  /** The stored trim point. */
  readonly trim: () => Boundary
}

export interface AgeLimitsNow {
  /** What age and size let go lies before this point. */
  readonly aged: Boundary | undefined
  /** What lies before this point is old enough to go. */
  readonly tooYoungFrom: Boundary | undefined
}

/** What is stored from one boundary up to the next. */
export interface Stretch {
  readonly start: Boundary
  bytes: number
  /** When the store got the youngest of it, in milliseconds of its time. */
  youngestMillis: number
}

const isYoung = (retention: RetentionOptions): boolean => Duration.toMillis(retention.minAge) > 0

const isNeeded = (retention: RetentionOptions): boolean => retention.policy === "age" || isYoung(retention)

/** The last stretch that starts at or before the slot; `undefined` for one before all of them. */
const stretchOf = (stretches: ReadonlyArray<Stretch>, place: SlotName): Stretch | undefined => {
  let low = 0
  let high = stretches.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const stretch = stretches[middle]
    if (stretch !== undefined && compareBoundaries(stretch.start, place) <= 0) low = middle + 1
    else high = middle
  }
  return stretches[low - 1]
}

/** The start of the first stretch that stays; of the last one, whose end is not known, where none does. */
const firstKept = (stretches: ReadonlyArray<Stretch>, goes: (stretch: Stretch) => boolean): Boundary | undefined => {
  const kept = stretches.find((stretch) => !goes(stretch)) ?? stretches.at(-1)
  return kept?.start
}

/** What may go of the stretches, oldest first, at a time of the store. */
export const limitsOf = (
  retention: RetentionOptions,
  stretches: ReadonlyArray<Stretch>,
  nowMillis: number
): AgeLimitsNow => {
  const youngAfter = nowMillis - Duration.toMillis(retention.minAge)
  const keptAfter = retention.maxAge === undefined
    ? Number.NEGATIVE_INFINITY
    : nowMillis - Duration.toMillis(retention.maxAge)
  const maxBytes = retention.maxBytes ?? Number.POSITIVE_INFINITY
  let leftBytes = stretches.reduce((sum, stretch) => sum + stretch.bytes, 0)
  const aged = retention.policy !== "age" ? undefined : firstKept(stretches, (stretch) => {
    const goes = stretch.youngestMillis <= keptAfter || leftBytes > maxBytes
    leftBytes -= stretch.bytes
    return goes
  })
  const tooYoungFrom = isYoung(retention)
    ? firstKept(stretches, (stretch) => stretch.youngestMillis <= youngAfter)
    : undefined
  return { aged, tooYoungFrom }
}

const add = (stretches: ReadonlyArray<Stretch>, prefix: string, object: ListedObject): void => {
  const place = parseSlotKey(prefix, object.key)
  const stretch = place === undefined ? undefined : stretchOf(stretches, place)
  if (stretch === undefined) return
  stretch.bytes += object.sizeBytes
  // Of unknown age is as good as young.
  stretch.youngestMillis = Math.max(stretch.youngestMillis, object.modifiedMillis ?? Number.POSITIVE_INFINITY)
}

/** Looks at all that is stored; answers what may go. */
const measure = Effect.fnUntraced(function*(parts: AgeLimitsParts, onPage: () => void) {
  const { backoff, index, prefix, retention, store } = parts
  const list: typeof store.list = (request) => retryWhilePassing(store.list(request), { backoff, attempts })
  const trim = parts.trim()
  const manifests = yield* list({ prefix: manifestKey(prefix), limit: 1 })
  const stretches = [trim, ...index.all.filter((entry) => compareBoundaries(entry, trim) > 0)].map((
    start
  ): Stretch => ({
    start,
    bytes: 0,
    youngestMillis: Number.NEGATIVE_INFINITY
  }))
  const request = { prefix: segmentsPrefix(prefix), startAfter: keyBefore(prefix, trim) }
  yield* followPages(list, request, (listed) =>
    Effect.sync(() => {
      onPage()
      for (const object of listed.objects) add(stretches, prefix, object)
      return true
    }))
  const now = manifests.objects[0]?.modifiedMillis ?? Number.NEGATIVE_INFINITY
  return limitsOf(retention, stretches, now)
})

/**
 * The limits as they were last measured; `refresh` asks the store, once in a while, and never where no limit is set. It
 * answers whether they are new, and is not run twice at a time.
 */
export const makeAgeLimits = (parts: AgeLimitsParts) => {
  const { retention } = parts
  let measured: AgeLimitsNow | undefined
  let nextAt = Number.NEGATIVE_INFINITY
  const refresh = Effect.gen(function*() {
    const now = yield* monotonicNow
    if (!isNeeded(retention) || now < nextAt) return false
    let pages = 0
    const answer = yield* Effect.result(measure(parts, () => {
      pages++
    }))
    // One that failed has cost as much.
    nextAt = (yield* monotonicNow) + Math.max(refreshEveryMillis, pages * millisPerPage)
    if (Result.isSuccess(answer)) measured = answer.success
    else yield* Effect.logWarning(`retention by age waits: ${answer.failure.message}`)
    return Result.isSuccess(answer)
  })
  /** While nothing was measured, everything could be young. */
  const limits = (): AgeLimitsNow =>
    measured ?? { aged: undefined, tooYoungFrom: isYoung(retention) ? parts.trim() : undefined }
  return { refresh, limits }
}
