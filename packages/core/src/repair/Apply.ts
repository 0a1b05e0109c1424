/**
 * Doing what a plan says, as it stands: copies first, then end markers, the manifest last.
 *
 * Invariants: nothing is removed · a key is created if it is free; only the manifest is replaced, if it still is the one
 * that was planned with · ended half-way it can be done again, and goes on.
 */
import { Effect, Result } from "effect"
import { isMarkerOf } from "../epoch/EndOfEpoch.ts"
import { lookAt } from "../epoch/SlotLook.ts"
import { encodeArchive } from "../format/EndsArchiveCodec.ts"
import { encodeManifest } from "../format/ManifestCodec.ts"
import { manifestKey } from "../format/ObjectKey.ts"
import { encodeEndMarker } from "../format/SegmentCodec.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import type { VerifyContext } from "../verify/Verify.ts"
import { createdKeys } from "./Plan.ts"
import { RepairStale } from "./RepairError.ts"
import type { RepairAction, RepairPlan } from "./RepairPlan.ts"
import { fingerprint, readStored } from "./StoredLog.ts"

/** What a repair has done. */
export interface RepairReport {
  /** Objects that were written; those that an earlier try of the same plan had written are among them. */
  readonly written: number
  /** The whole plan had been done before. */
  readonly isRepeat: boolean
}

type Action<Tag extends RepairAction["_tag"]> = RepairAction & { readonly _tag: Tag }

const isSame = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((byte, index) => byte === right[index])

/** Creates an object that only this plan creates: what stands there already is from an earlier try of it. */
const create = Effect.fnUntraced(function*(context: VerifyContext, key: string, body: Uint8Array) {
  const store = yield* ObjectStore
  const made = yield* Effect.result(
    retryWhilePassing(store.create(key, body, { crc32: context.digest.crc32(body) }), context)
  )
  if (Result.isSuccess(made)) return
  if (made.failure.reason !== "AlreadyExists") return yield* toStoreError(made.failure)
  const there = yield* Effect.mapError(retryWhilePassing(store.get(key), context), toStoreError)
  if (!isSame(there.body, body)) return yield* new RepairStale({ key, reason: "something else stands there" })
})

const copy = Effect.fnUntraced(function*(context: VerifyContext, action: Action<"Copy">) {
  const store = yield* ObjectStore
  const read = yield* Effect.result(retryWhilePassing(store.get(action.from), context))
  if (Result.isSuccess(read)) return yield* create(context, action.to, read.success.body)
  if (read.failure.reason !== "NotFound") return yield* toStoreError(read.failure)
  return yield* new RepairStale({ key: action.from, reason: "it is not there any more" })
})

/** Fails where something other than an end marker stands in its place. */
const checkPlace = Effect.fnUntraced(
  function*(context: VerifyContext, plan: RepairPlan, { epoch, key, slot }: Action<"PutEndMarker">) {
    const stale = new RepairStale({ key, reason: "something has landed where the end marker belongs" })
    const header = yield* lookAt(context, epoch, slot).pipe(
      Effect.catchTag(["SegmentCorrupt", "SegmentTooNew"], () => Effect.fail(stale))
    )
    if (header !== undefined && !isMarkerOf(header, { logId: plan.logId, epoch, slot })) return yield* stale
  }
)

const putMarker = Effect.fnUntraced(
  function*(context: VerifyContext, plan: RepairPlan, action: Action<"PutEndMarker">) {
    const store = yield* ObjectStore
    const { epoch, key, slot } = action
    const place = { logId: plan.logId, epoch, slot }
    const owner = { epoch, host: "repair" }
    const body = encodeEndMarker({ ...place, nonce: plan.id, owner }, context.digest)
    const made = yield* Effect.result(retryWhilePassing(store.create(key, body), context))
    if (Result.isSuccess(made)) return
    if (made.failure.reason !== "AlreadyExists") return yield* toStoreError(made.failure)
    yield* checkPlace(context, plan, action)
  }
)

/** Creates or replaces the manifest; an unknown outcome is looked up by the commit id. */
const putManifest = Effect.fnUntraced(function*(context: VerifyContext, action: Action<"PutManifest">) {
  const store = yield* ObjectStore
  const { key, manifest, replaces } = action
  const body = encodeManifest(manifest)
  for (let attempt = 0;; attempt++) {
    const answer = yield* Effect.result(
      replaces === undefined ? store.create(key, body) : store.replace(key, body, replaces)
    )
    if (Result.isSuccess(answer)) return
    const error = answer.failure
    const stored = yield* readStored(context).pipe(Effect.catchTag("ManifestTooNew", () => Effect.undefined))
    if (stored?.manifest?.commit_id === manifest.commit_id) return
    if (stored?.tag !== replaces) return yield* new RepairStale({ key, reason: "it has changed" })
    if (!error.isRetryable || attempt + 1 >= context.attempts) return yield* toStoreError(error)
    yield* pauseBeforeRetry(context.backoff, attempt, error.retryAfterMillis)
  }
})

const perform = (context: VerifyContext, plan: RepairPlan, action: RepairAction) => {
  switch (action._tag) {
    case "Copy":
      return copy(context, action)
    case "PutEndMarker":
      return putMarker(context, plan, action)
    case "PutArchive":
      return create(context, action.key, encodeArchive({ ends: action.ends, previous: null }))
    case "PutManifest":
      return putManifest(context, action)
  }
}

/** Does what the plan says. Fails `RepairStale` where the log is not the one that was planned for. */
export const applyPlan = Effect.fnUntraced(function*(context: VerifyContext, plan: RepairPlan) {
  const key = manifestKey(plan.prefix)
  if (context.prefix !== plan.prefix) return yield* new RepairStale({ key, reason: "the plan is for another log" })
  const written = plan.actions.length
  const put = plan.actions.find((action) => action._tag === "PutManifest")
  const stored = yield* readStored(context)
  if (put !== undefined && stored?.manifest?.commit_id === put.manifest.commit_id) return { written, isRepeat: true }
  if (stored?.tag !== plan.manifestTag) return yield* new RepairStale({ key, reason: "it has changed" })
  const now = yield* fingerprint(context, createdKeys(plan.actions))
  if (now.objects !== plan.stored.objects || now.sum !== plan.stored.sum) {
    return yield* new RepairStale({ key: plan.prefix, reason: "objects have come, gone or changed" })
  }
  const markers = plan.actions.filter((action) => action._tag === "PutEndMarker")
  yield* Effect.forEach(markers, (action) => checkPlace(context, plan, action), { discard: true, concurrency: 16 })
  yield* Effect.forEach(plan.actions, (action) => perform(context, plan, action), { discard: true })
  return { written, isRepeat: false } satisfies RepairReport as RepairReport
})
