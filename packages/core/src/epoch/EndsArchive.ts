/**
 * Recorded ends that no longer fit the manifest: immutable objects, chained from the newest to the oldest.
 */
import { Effect, Result, Schema } from "effect"
import { Boundary, compareBoundaries, Count } from "../format/Boundary.ts"
import { decodeText, encodeText } from "../format/Bytes.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import { ManifestCorrupt } from "../WalError.ts"
import type { LookContext } from "./SlotLook.ts"

const Pointer = Schema.Struct({ key: Schema.String, through: Count })

const Archive = Schema.fromJsonString(Schema.Struct({
  format: Schema.Literal("effect-wal ends"),
  version: Schema.Literal(1),
  ends: Schema.Array(Boundary),
  previous: Schema.NullOr(Pointer)
}))

const decodeArchive = Schema.decodeUnknownResult(Archive)

/** The ends that lie after the point, ascending. */
export const endsAbove = (ends: ReadonlyArray<Boundary>, trim: Boundary): ReadonlyArray<Boundary> =>
  ends.filter((end) => compareBoundaries(end, trim) > 0).sort(compareBoundaries)

/** The key of an archive of ends up to an epoch; the nonce of who puts it makes the body the only one that can be there. */
export const archiveKey = (prefix: string, through: number, nonce: string): string =>
  `${prefix}epochs/${String(through).padStart(10, "0")}-${nonce}.json`

/** The bytes of an archive. */
export const encodeArchive = (
  { ends, previous }: { readonly ends: ReadonlyArray<Boundary>; readonly previous: Manifest["ends_archive"] }
): Uint8Array => encodeText(JSON.stringify({ format: "effect-wal ends", version: 1, ends, previous }))

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
    const { key, through }: NonNullable<Manifest["ends_archive"]> = pointer
    const object = yield* retryWhilePassing(store.get(key), context).pipe(
      Effect.mapError((error) =>
        error.reason === "NotFound"
          ? new ManifestCorrupt({ key, reason: "the manifest names it and it is not there" })
          : toStoreError(error)
      )
    )
    const archive = decodeArchive(decodeText(object.body))
    if (Result.isFailure(archive)) return yield* new ManifestCorrupt({ key, reason: archive.failure.message })
    const { previous } = archive.success
    // Each one leads further back: archives that lead to each other would be followed for ever.
    if (previous !== null && previous.through >= through) {
      return yield* new ManifestCorrupt({
        key,
        reason: `previous.through must be below ${through}, the through of this archive; it is ${previous.through}`
      })
    }
    for (const end of archive.success.ends) ends.push(end)
    pointer = previous
  }
  return endsAbove(ends, manifest.trim)
})
