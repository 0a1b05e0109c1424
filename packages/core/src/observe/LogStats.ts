/**
 * What one log counts: plain numbers, written on hot paths, read by the status and by the metrics.
 */
import { Effect } from "effect"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { ObjectStoreError, Operation, Reason } from "../store/ObjectStoreError.ts"

/** So many foreign objects are told apart. */
const maxForeignKeys = 10_000

export class LogStats {
  recordsAppended = 0
  recordsDurable = 0
  /** Segments whose PUT was sent for the first time. */
  segmentsSent = 0
  segmentsDurable = 0
  /** Segments that somebody waited for longer than `linger`, for the budget's sake, and how much longer in all. */
  lingersStretched = 0
  lingerStretchedMillis = 0
  /** Segments that went to the spool, and spooled segments of ended epochs that were appended again. */
  segmentsSpooled = 0
  segmentsReappended = 0
  /** Bodies of stored segments, before packing and as they are stored. */
  rawBytes = 0
  storedBytes = 0
  /** Manifest tries that found another body, or whose answer was lost. */
  manifestConflicts = 0
  manifestCommits = 0
  manifestContentions = 0
  segmentsDeleted = 0
  deleteFailures = 0
  private readonly foreignKeys = new Set<string>()
  /** Records that readers with the policy `skip` were told are lost. */
  recordsLost = 0
  /** Epochs of earlier writers that opening this log ended: 1, or 0 where none was live. */
  takeovers = 0
  /** The producers that are remembered, and the repeats that were answered. */
  producers: { readonly size: number; readonly repeats: number } = { size: 0, repeats: 0 }
  readonly requests: Record<Operation, number> = { get: 0, create: 0, replace: 0, list: 0, remove: 0 }
  /** PUTs of segments that were sent once more because they were slow, and those whose second request was answered first. */
  hedges = 0
  hedgesWon = 0
  readonly retries = new Map<Reason, number>()
  /** Since when PUTs fail without a success between, in milliseconds of the monotonic clock; `undefined` while all is well. */
  failingSinceMillis: number | undefined = undefined
  lastStoreError: string | undefined = undefined
  /** The last PUT found no room in the store. */
  isStoreFull = false
  /** The last answer that was no success, of any request. */
  lastAnswer = "none yet"

  /** Objects that are not ours among those that were listed; beyond the bound they are not told apart any more. */
  get foreignObjects(): number {
    return this.foreignKeys.size
  }

  /** PUTs that were not the first of a segment: of the manifest, tries again, of opening. */
  get otherPuts(): number {
    return this.requests.create + this.requests.replace - this.segmentsSent
  }

  countForeign(key: string): void {
    if (this.foreignKeys.size < maxForeignKeys) this.foreignKeys.add(key)
  }

  countRetry(error: ObjectStoreError, nowMillis: number): void {
    this.retries.set(error.reason, (this.retries.get(error.reason) ?? 0) + 1)
    this.failingSinceMillis ??= nowMillis
    this.lastStoreError = error.message
    this.isStoreFull = error.reason === "StoreFull"
  }

  storeWorks(): void {
    this.failingSinceMillis = undefined
    this.lastStoreError = undefined
    this.isStoreFull = false
  }
}

/** The store, counting every request. */
export const countingStore = (store: ObjectStore["Service"], stats: LogStats): ObjectStore["Service"] => {
  const counted = <A>(operation: Operation, request: () => Effect.Effect<A, ObjectStoreError>) =>
    Effect.suspend(() => {
      stats.requests[operation]++
      return request()
    }).pipe(Effect.tapError((error) =>
      Effect.sync(() => {
        stats.lastAnswer = error.message
      })
    ))
  return {
    ...store,
    get: (key, request) => counted("get", () => store.get(key, request)),
    create: (key, body, options) => counted("create", () => store.create(key, body, options)),
    replace: (key, body, tag, options) => counted("replace", () => store.replace(key, body, tag, options)),
    list: (request) => counted("list", () => store.list(request)),
    remove: (keys) => counted("remove", () => store.remove(keys))
  }
}
