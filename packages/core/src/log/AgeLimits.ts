/**
 * What age and size say about deletion, by the store's own time.
 *
 * The local clock alone never decides: the age of a segment is the difference between two of the store's time stamps, that
 * of the segment and that of the manifest as it was last written. An idle log writes nothing, so nothing of it ages away.
 */
import { Duration, Effect, Result } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import { manifestKey, parseSlotKey, segmentsPrefix, slotKey } from "../format/ObjectKey.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { SparseIndex } from "../manifest/SparseIndex.ts"
import type { ListedObject, ObjectStore } from "../store/ObjectStore.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"
import type { RetentionOptions } from "../WalOptions.ts"

/** The store is asked for times at most so often. */
const refreshEveryMillis = 60_000

export interface AgeLimitsNow {
  readonly aged: Boundary | undefined
  readonly tooYoungFrom: Boundary | undefined
}

interface Stored {
  readonly epoch: number
  readonly slot: number
  readonly sizeBytes: number
  readonly modifiedMillis: number
}

/** Before everything: nothing may go. */
const nothing: Boundary = { epoch: 0, slot: 0, seq: 0, at: 0, chain: "0".repeat(32) }

const isYoung = (retention: RetentionOptions): boolean => Duration.toMillis(retention.minAge) > 0

const needed = (retention: RetentionOptions): boolean => retention.policy === "age" || isYoung(retention)

/** The last indexed boundary at or before the first slot that `stays` holds for. */
const boundaryBefore = (
  stored: ReadonlyArray<Stored>,
  index: SparseIndex,
  stays: (one: Stored, position: number) => boolean
): Boundary | undefined => {
  const first = stored.find(stays)
  if (first === undefined) return index.all.at(-1)
  return index.all.findLast((entry) =>
    entry.epoch < first.epoch || entry.epoch === first.epoch && entry.slot <= first.slot
  )
}

const listAll = Effect.fnUntraced(function*(store: ObjectStore["Service"], prefix: string, from: Boundary | undefined) {
  const objects: Array<ListedObject> = []
  const startAfter = from === undefined || from.slot === 0 ? undefined : slotKey(prefix, from.epoch, from.slot - 1)
  let page: string | undefined
  do {
    const listed = yield* store.list({
      prefix: segmentsPrefix(prefix),
      ...(startAfter === undefined ? {} : { startAfter }),
      ...(page === undefined ? {} : { page })
    })
    objects.push(...listed.objects)
    page = listed.next
  } while (page !== undefined)
  return objects
})

/** While the store's time is not known: what is young could be anything. */
const unknown = (retention: RetentionOptions): AgeLimitsNow => ({
  aged: undefined,
  tooYoungFrom: isYoung(retention) ? nothing : undefined
})

const measure = Effect.fnUntraced(function*(
  retention: RetentionOptions,
  store: ObjectStore["Service"],
  prefix: string,
  index: SparseIndex
) {
  const manifests = yield* store.list({ prefix: manifestKey(prefix), limit: 1 })
  const now = manifests.objects[0]?.modifiedMillis
  if (now === undefined) return unknown(retention)
  const stored: Array<Stored> = []
  for (const object of yield* listAll(store, prefix, index.all[0])) {
    const name = parseSlotKey(prefix, object.key)
    if (name === undefined || object.modifiedMillis === undefined) continue
    stored.push({ ...name, sizeBytes: object.sizeBytes, modifiedMillis: object.modifiedMillis })
  }
  stored.sort((left, right) => left.epoch - right.epoch || left.slot - right.slot)
  const minAge = Duration.toMillis(retention.minAge)
  const youngFrom = boundaryBefore(stored, index, (one) => one.modifiedMillis > now - minAge)
  const maxAge = retention.maxAge === undefined ? Number.POSITIVE_INFINITY : Duration.toMillis(retention.maxAge)
  const total = stored.reduce((sum, one) => sum + one.sizeBytes, 0)
  const maxBytes = retention.maxBytes ?? Number.POSITIVE_INFINITY
  let before = 0
  const kept = boundaryBefore(stored, index, (one) => {
    const left = total - before
    before += one.sizeBytes
    return one.modifiedMillis > now - maxAge && left <= maxBytes
  })
  return {
    aged: retention.policy === "age" ? kept : undefined,
    tooYoungFrom: minAge > 0 ? youngFrom ?? nothing : undefined
  } satisfies AgeLimitsNow
})

/** The limits as they were last measured; `refresh` asks the store, at most once a minute, and never where no limit is set. */
export const makeAgeLimits = (
  retention: RetentionOptions,
  store: ObjectStore["Service"],
  prefix: string,
  index: SparseIndex
) => {
  let limits: AgeLimitsNow = unknown(retention)
  let refreshedAt = Number.NEGATIVE_INFINITY
  const refresh = Effect.gen(function*() {
    const now = yield* monotonicNow
    if (!needed(retention) || now < refreshedAt + refreshEveryMillis) return
    refreshedAt = now
    const measured: Result.Result<AgeLimitsNow, ObjectStoreError> = yield* Effect.result(
      measure(retention, store, prefix, index)
    )
    if (Result.isSuccess(measured)) limits = measured.success
    else yield* Effect.logWarning(`retention by age waits: ${measured.failure.message}`)
  })
  return { refresh, limits: () => limits }
}
