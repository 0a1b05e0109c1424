/**
 * Recorded ends that no longer fit the manifest: immutable objects, chained from the newest to the oldest.
 */
import { Effect, Result } from "effect"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { type ArchivePointer, decodeArchive, encodeArchive } from "../format/EndsArchiveCodec.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import { ManifestCorrupt } from "../WalError.ts"
import type { LookContext } from "./SlotLook.ts"

/** The ends that lie after the point, ascending. */
export const endsAbove = (ends: ReadonlyArray<Boundary>, trim: Boundary): ReadonlyArray<Boundary> =>
  ends.filter((end) => compareBoundaries(end, trim) > 0).sort(compareBoundaries)

/** The key of an archive of ends up to an epoch; the nonce of who puts it makes the body the only one that can be there. */
export const archiveKey = (prefix: string, through: number, nonce: string): string =>
  `${prefix}epochs/${String(through).padStart(10, "0")}-${nonce}.json`

/** Stores the ends in an object of their own; answers what the manifest says of it. */
export const archiveEnds = Effect.fnUntraced(function*(
  context: LookContext,
  request: {
    readonly ends: ReadonlyArray<Boundary>
    readonly previous: Manifest["ends_archive"]
    readonly nonce: string
  }
) {
  const store = yield* ObjectStore
  const through = request.ends.reduce((highest, end) => Math.max(highest, end.epoch), 0)
  // Nobody else can have put another body there: an unknown outcome needs no look.
  const key = archiveKey(context.prefix, through, request.nonce)
  const body = encodeArchive(request)
  for (let attempt = 0;; attempt++) {
    const answer = yield* Effect.result(store.create(key, body))
    if (Result.isSuccess(answer) || answer.failure.reason === "AlreadyExists") return { key, through }
    if (!answer.failure.isRetryable) return yield* toStoreError(answer.failure)
    yield* pauseBeforeRetry(context.backoff, attempt, answer.failure.retryAfterMillis)
  }
})

/**
 * All recorded ends above the trim point, ascending. Fails `ManifestCorrupt` for an archive that is gone, does not decode
 * or leads to one that is not older, and with the store's errors.
 */
export const allEnds = Effect.fnUntraced(function*(context: LookContext, manifest: Manifest) {
  const store = yield* ObjectStore
  const ends: Array<Boundary> = [...manifest.ends]
  let pointer = manifest.ends_archive
  while (pointer !== null && pointer.through >= manifest.trim.epoch) {
    const { key }: ArchivePointer = pointer
    const object = yield* retryWhilePassing(store.get(key), context).pipe(
      Effect.mapError((error) =>
        error.reason === "NotFound"
          ? new ManifestCorrupt({ key, reason: "the manifest names it and it is not there" })
          : toStoreError(error)
      )
    )
    const archive = yield* decodeArchive(pointer, object.body)
    for (const end of archive.ends) ends.push(end)
    pointer = archive.previous
  }
  return endsAbove(ends, manifest.trim)
})
