/**
 * Reading the manifest, and replacing it by compare-and-swap.
 *
 * A try has succeeded only by the store's word, or when the manifest read back has the commit id of that very body. An
 * earlier commit id of mine means: go on from what was read. Another epoch or nonce means: another writer.
 */
import { Effect, Result } from "effect"
import { decodeManifest, encodeManifest, type Manifest } from "../format/ManifestCodec.ts"
import { NonceSource } from "../Nonce.ts"
import type { Tag } from "../store/ObjectStore.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import type { ObjectStoreError, Reason } from "../store/ObjectStoreError.ts"
import { type Backoff, pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import {
  type ManifestCorrupt,
  type ManifestTooNew,
  ManifestVanished,
  type StoreError,
  WriterFenced
} from "../WalError.ts"

/** A manifest as it is in the store. */
export interface HeldManifest {
  readonly manifest: Manifest
  readonly tag: Tag
}

export interface ManifestAccess {
  readonly key: string
  readonly streamId: string
  readonly backoff: Backoff
  /** Tries of one read while the store's answers may pass. */
  readonly readAttempts: number
}

/** The manifest, or `undefined` where there is none. */
export const readManifest = Effect.fnUntraced(function*(access: ManifestAccess) {
  const store = yield* ObjectStore
  const read = yield* Effect.result(
    retryWhilePassing(store.get(access.key), { backoff: access.backoff, attempts: access.readAttempts })
  )
  if (Result.isFailure(read)) {
    if (read.failure.reason === "NotFound") return undefined
    return yield* toStoreError(read.failure)
  }
  const manifest = yield* decodeManifest(access.key, read.success.body)
  return { manifest, tag: read.success.tag } satisfies HeldManifest
})

/** The manifest that must be there: fails `ManifestVanished` where it is not. */
export const rereadManifest = Effect.fnUntraced(function*(access: ManifestAccess) {
  const read = yield* readManifest(access)
  return read ?? (yield* new ManifestVanished({ key: access.key }))
})

export interface SwapRequest {
  /** What the next body is built from what was read, anew for each try. */
  readonly next: (current: Manifest, commitId: string) => Manifest
  /** The writer that may go on after another body was read; absent while claiming, where anybody's body is a new start. */
  readonly owner?: { readonly epoch: number; readonly nonce: string }
  /** Told after each try that did not succeed. */
  readonly onConflict: (error: ObjectStoreError, attempt: number) => Effect.Effect<void>
  /** Tries before giving up with the last answer; opening has no limit but its time-out. */
  readonly attempts: number
}

/** The body that a swap could not place, after all tries. */
export interface SwapGaveUp {
  readonly _tag: "GaveUp"
  readonly held: HeldManifest
  readonly last: ObjectStoreError
}

export type SwapError = WriterFenced | ManifestVanished | ManifestCorrupt | ManifestTooNew | StoreError

/** Answers that trying at once again does not change: rights, the bucket, what the store does not know. */
const needsAttention: ReadonlySet<Reason> = new Set<Reason>([
  "AccessDenied",
  "NoSuchBucket",
  "NotSupported",
  "UnexpectedResponse"
])

/** What a writer is told whose manifest belongs to somebody else now. */
const fencedBy = (streamId: string, owner: { readonly epoch: number }, found: Manifest): WriterFenced =>
  new WriterFenced({ streamId, epoch: owner.epoch, byEpoch: found.epoch, byHost: found.host })

/** Fails `WriterFenced` where the stored manifest is another writer's by now. */
export const checkOwner = Effect.fnUntraced(function*(
  access: ManifestAccess,
  owner: { readonly epoch: number; readonly nonce: string }
) {
  const { manifest } = yield* rereadManifest(access)
  if (manifest.epoch === owner.epoch && manifest.nonce === owner.nonce) return
  return yield* fencedBy(access.streamId, owner, manifest)
})

/** Replaces the manifest. Answers what is in the store now, by its own word or read back. */
export const swapManifest = Effect.fnUntraced(
  function*(access: ManifestAccess, start: HeldManifest, request: SwapRequest) {
    const store = yield* ObjectStore
    const freshNonce = yield* NonceSource
    let held = start
    for (let attempt = 0;; attempt++) {
      const commitId = yield* freshNonce
      const manifest = request.next(held.manifest, commitId)
      const answer = yield* Effect.result(store.replace(access.key, encodeManifest(manifest), held.tag))
      if (Result.isSuccess(answer)) return { manifest, tag: answer.success } satisfies HeldManifest
      const error = answer.failure
      yield* request.onConflict(error, attempt)
      // The pause comes before reading, never between reading and trying: a busy writer replaces the manifest faster than
      // that, and each try would be lost before it is made.
      if (attempt > 0 || error.retryAfterMillis !== undefined) {
        yield* pauseBeforeRetry(access.backoff, Math.max(0, attempt - 1), error.retryAfterMillis)
      }
      const found = yield* rereadManifest(access)
      if (found.manifest.commit_id === commitId) return found
      const owner = request.owner
      if (owner !== undefined && (found.manifest.epoch !== owner.epoch || found.manifest.nonce !== owner.nonce)) {
        return yield* fencedBy(access.streamId, owner, found.manifest)
      }
      if (needsAttention.has(error.reason)) return yield* toStoreError(error)
      held = found
      if (attempt + 1 >= request.attempts) return { _tag: "GaveUp", held, last: error } satisfies SwapGaveUp
    }
  }
)
