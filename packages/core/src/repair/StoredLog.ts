/** What a repair finds in the store before it looks at segments: the manifest as it is, and a fingerprint of the rest. */
import { Effect, Result } from "effect"
import { encodeText } from "../format/Bytes.ts"
import { decodeManifest, type Manifest } from "../format/ManifestCodec.ts"
import { manifestKey, segmentsPrefix } from "../format/ObjectKey.ts"
import { followPages } from "../store/ListPages.ts"
import { ObjectStore, type Tag } from "../store/ObjectStore.ts"
import { retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import type { VerifyContext } from "../verify/Verify.ts"
import type { Fingerprint } from "./RepairPlan.ts"

export interface StoredManifest {
  readonly tag: Tag
  /** `undefined`: it does not decode. */
  readonly manifest: Manifest | undefined
}

/** The manifest with its tag, readable or not; `undefined`: there is none. Fails `ManifestTooNew`. */
export const readStored = Effect.fnUntraced(function*(context: VerifyContext) {
  const store = yield* ObjectStore
  const key = manifestKey(context.prefix)
  const read = yield* Effect.result(retryWhilePassing(store.get(key), context))
  if (Result.isFailure(read)) {
    return read.failure.reason === "NotFound" ? undefined : yield* toStoreError(read.failure)
  }
  const { body, tag } = read.success
  const manifest = yield* decodeManifest(key, body).pipe(Effect.catchTag("ManifestCorrupt", () => Effect.undefined))
  return { tag, manifest } satisfies StoredManifest as StoredManifest
})

/** Everything below `segments/` and `epochs/`, but for some keys. Holds the keys: a listing can name one twice. */
export const fingerprint = Effect.fnUntraced(function*(context: VerifyContext, except: ReadonlySet<string>) {
  const store = yield* ObjectStore
  const seen = new Set<string>()
  let sum = 0
  for (const prefix of [segmentsPrefix(context.prefix), `${context.prefix}epochs/`]) {
    yield* followPages((page) => retryWhilePassing(store.list(page), context), { prefix }, (page) =>
      Effect.sync(() => {
        for (const { key, sizeBytes } of page.objects) {
          if (except.has(key) || seen.has(key)) continue
          seen.add(key)
          sum = (sum + context.digest.crc32(encodeText(`${key} ${sizeBytes}`))) >>> 0
        }
        return true
      })).pipe(Effect.mapError(toStoreError))
  }
  return { objects: seen.size, sum } satisfies Fingerprint as Fingerprint
})
