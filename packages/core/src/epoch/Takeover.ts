/**
 * Opening a log for writing: fence the manifest first, then end the live epoch, then activate.
 *
 * Five round trips on the straight path, so the first segment is durable after six; no clock, no lease, no wait. Invariants:
 * from step 2 on no older writer can move the trim point or a cursor · no segment is sent before step 4 is confirmed ·
 * another epoch or nonce read back in step 4 is a newer writer, never something to merge with.
 */
import { Effect, Result } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import { chainSeed } from "../format/ChainHash.ts"
import type { CursorSet } from "../format/CursorSet.ts"
import { encodeManifest, type Manifest } from "../format/ManifestCodec.ts"
import { manifestKey, parseSlotKey, segmentsPrefix, slotKey } from "../format/ObjectKey.ts"
import { encodeEndMarker } from "../format/SegmentCodec.ts"
import { activate, claim, endsToArchive, newManifest, originsWith, recordedTail } from "../manifest/Manifest.ts"
import {
  checkOwner,
  type HeldManifest,
  type ManifestAccess,
  readManifest,
  rereadManifest,
  swapManifest
} from "../manifest/ManifestStore.ts"
import { NonceSource } from "../Nonce.ts"
import { followPages } from "../store/ListPages.ts"
import { type ListedObject, ObjectStore } from "../store/ObjectStore.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"
import { retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import { EndMarkerLost, ManifestMissing } from "../WalError.ts"
import { type EndedEpoch, endLiveEpoch, listLive, type Opener } from "./EndLiveEpoch.ts"
import { isMarkerOf } from "./EndOfEpoch.ts"
import { allEnds, archiveEnds, endsAbove } from "./EndsArchive.ts"
import { recoverProducers, type RecoveryContext } from "./RecoverProducers.ts"
import { lookAt } from "./SlotLook.ts"

export interface TakeoverRequest extends RecoveryContext {
  readonly streamId: string
  readonly host: string
  /** Slots that this writer can have in flight. */
  readonly window: number
  readonly onConflict: (error: ObjectStoreError) => Effect.Effect<void>
  /** The spool of this writer, where it has one. */
  readonly spool?: Manifest["spool"]
  /** Ids of spools of earlier writers that hold nothing any more. */
  readonly emptiedSpools?: ReadonlyArray<string>
}

/** The log as this writer has taken it over. */
export interface OpenedEpoch {
  readonly held: HeldManifest
  readonly epoch: number
  readonly nonce: string
  /** What the first segment of this epoch follows. */
  readonly link: Boundary
  readonly ends: ReadonlyArray<Boundary>
  readonly cursors: CursorSet
  /** The epoch that this opening ended, with its end; absent where none was live. */
  readonly ended?: Boundary
}

/** Recorded ends whose markers are looked at: the newest ones, where a late request could still land. */
const checkedEnds = 3

/** Opening is limited by its time-out, not by tries. */
const unlimited = Number.MAX_SAFE_INTEGER

const accessOf = (request: TakeoverRequest): ManifestAccess => ({
  key: manifestKey(request.prefix),
  streamId: request.streamId,
  backoff: request.backoff,
  readAttempts: request.attempts
})

/** The key of any segment or end marker, behind however many foreign objects. */
const firstSegment = Effect.fnUntraced(function*(request: TakeoverRequest) {
  const store = yield* ObjectStore
  const isOurs = (object: ListedObject) => parseSlotKey(request.prefix, object.key) !== undefined
  let found: string | undefined
  yield* followPages(
    (page) => retryWhilePassing(store.list(page), request),
    { prefix: segmentsPrefix(request.prefix) },
    (page) =>
      Effect.sync(() => {
        for (const object of page.objects) if (!isOurs(object)) request.onForeign?.(object.key)
        found = page.objects.find(isOurs)?.key
        return found === undefined
      })
  ).pipe(Effect.mapError(toStoreError))
  return found
})

/** Creates the manifest of a new log, or reads the one that somebody else created meanwhile. */
const createManifest = Effect.fnUntraced(function*(request: TakeoverRequest, nonce: string) {
  const store = yield* ObjectStore
  const freshNonce = yield* NonceSource
  const access = accessOf(request)
  const found = yield* firstSegment(request)
  // No damage where another opener has created the log, and written to it, since the manifest was looked for.
  if (found !== undefined) {
    return (yield* readManifest(access)) ?? (yield* new ManifestMissing({ key: access.key, found }))
  }
  const logId = yield* freshNonce
  const chain = chainSeed(logId, request.digest)
  const manifest = newManifest({ logId, chain }, { nonce, host: request.host }, yield* freshNonce)
  return yield* retryWhilePassing(store.create(access.key, encodeManifest(manifest)), request).pipe(
    Effect.map((tag): HeldManifest => ({ manifest, tag })),
    // Taken: by somebody else, or by this very body whose answer was lost. Both go on from what is there.
    Effect.catchIf((error) => error.reason === "AlreadyExists", () => rereadManifest(access)),
    Effect.catchTag("ObjectStoreError", (error) => Effect.fail(toStoreError(error)))
  )
})

/**
 * Steps 1 and 2: the manifest with a higher epoch and my nonce; and the first look of step 3, for which nothing needs to
 * wait. It counts where the first try of the claim succeeded, on the very manifest that the look started from: then nothing
 * that it saw can have been deleted since, and what was stored since is met where the marker is put.
 */
const fenceManifest = Effect.fnUntraced(function*(request: TakeoverRequest, nonce: string) {
  const access = accessOf(request)
  const held = (yield* readManifest(access)) ?? (yield* createManifest(request, nonce))
  let tries = 1
  const onConflict: TakeoverRequest["onConflict"] = (error) =>
    Effect.suspend(() => {
      tries++
      return request.onConflict(error)
    })
  const claiming = swapUnlimited(access, held, { ...request, onConflict }, {
    next: (current, commitId) => claim(current, { nonce, host: request.host }, commitId)
  })
  const looking = held.manifest.live === 0 ? Effect.undefined : listLive(request, held.manifest)
  const [claimed, listed] = yield* Effect.all([claiming, looking], { concurrency: "unbounded" })
  return { claimed, listed: tries === 1 ? listed : undefined }
})

const swapUnlimited = (
  access: ManifestAccess,
  held: HeldManifest,
  request: TakeoverRequest,
  swap: {
    readonly next: (current: Manifest, commitId: string) => Manifest
    readonly owner?: { readonly epoch: number; readonly nonce: string }
  }
) =>
  swapManifest(access, held, { ...swap, attempts: unlimited, onConflict: request.onConflict }).pipe(
    Effect.flatMap((swapped) => "_tag" in swapped ? Effect.die(swapped.last) : Effect.succeed(swapped))
  )

/** Puts back an end marker that is missing at a recorded end; data there is `EndMarkerLost`. */
const checkMarker = Effect.fnUntraced(
  function*(request: TakeoverRequest, manifest: Manifest, opener: Opener, end: Boundary) {
    const store = yield* ObjectStore
    const place = { logId: manifest.log_id, epoch: end.epoch, slot: end.slot }
    const key = slotKey(request.prefix, end.epoch, end.slot)
    const marker = encodeEndMarker({ ...place, nonce: opener.nonce, owner: opener }, request.digest)
    for (;;) {
      const header = yield* lookAt(request, end.epoch, end.slot)
      if (header !== undefined) return isMarkerOf(header, place) ? undefined : yield* new EndMarkerLost({ key })
      yield* Effect.logWarning(`end marker ${key} is missing and is put back`)
      const answer = yield* Effect.result(retryWhilePassing(store.create(key, marker), request))
      if (Result.isSuccess(answer)) return
      // Taken: by this marker, another opener's, or a late segment. Look.
      if (answer.failure.reason !== "AlreadyExists") return yield* toStoreError(answer.failure)
    }
  }
)

/** A repair has looked at what stands in the place of this end marker, and has kept a copy of it. */
const isSettled = (manifest: Manifest, end: Boundary): boolean =>
  manifest.damage?.some(({ epoch, from, slot, through }) =>
    epoch === end.epoch && from === undefined && slot <= end.slot && end.slot <= through
  ) === true

const checkMarkers = (request: TakeoverRequest, manifest: Manifest, opener: Opener) =>
  Effect.forEach(
    manifest.ends.slice(-checkedEnds).filter((end) => !isSettled(manifest, end)),
    (end) => checkMarker(request, manifest, opener, end),
    {
      concurrency: "unbounded",
      discard: true
    }
  )

/**
 * How far spools are done with at the end of an epoch. What it has stored of its own spool is, whatever its markers say
 * later: once its end is trimmed and its segments are deleted, a late marker of some opener can land below that end, and
 * the spool would be appended again from there.
 */
const originsAt = ({ spool }: Manifest, ended: EndedEpoch | undefined): Pick<Manifest, "origins"> => {
  if (ended === undefined) return {}
  const { end, isPastCopies, origins } = ended
  const own = spool === undefined || isPastCopies !== true || end.slot === 0
    ? {}
    : { [spool.id]: { epoch: end.epoch, slot: end.slot - 1 } }
  return originsWith(origins === undefined ? {} : { origins }, own)
}

/** Takes the log over. Interrupting it leaves a log that opens again. */
export const takeOver = Effect.fnUntraced(function*(request: TakeoverRequest) {
  const freshNonce = yield* NonceSource
  const nonce = yield* freshNonce
  const { claimed, listed } = yield* fenceManifest(request, nonce)
  const manifest = claimed.manifest
  const opener: Opener = { nonce, epoch: manifest.epoch, host: request.host }
  // Before anything is ended: an archive that cannot be read leaves everything as it is.
  const known = yield* allEnds(request, manifest)
  const noLiveEpoch: EndedEpoch | undefined = undefined
  const [ended] = yield* Effect.all([
    manifest.live === 0 ? Effect.succeed(noLiveEpoch) : endLiveEpoch(request, manifest, opener, listed),
    checkMarkers(request, manifest, opener)
  ], { concurrency: "unbounded" }).pipe(
    // A newer opener may have deleted what this one misses: then it is fenced, and nothing is damaged.
    Effect.tapErrorTag(
      ["SegmentMissing", "SegmentCorrupt", "EndMarkerLost"],
      () => checkOwner(accessOf(request), manifest)
    )
  )
  const producers = yield* recoverProducers(request, manifest, ended)
  const moved = endsToArchive(manifest)
  const archived = moved.length === 0
    ? undefined
    : yield* archiveEnds(request, { ends: moved, previous: manifest.ends_archive, nonce })
  const cursors = ended?.cursors ?? manifest.cursors
  const held = yield* swapUnlimited(accessOf(request), claimed, request, {
    owner: { epoch: manifest.epoch, nonce },
    next: (current, commitId) =>
      activate(current, {
        cursors,
        producers,
        window: request.window,
        commitId,
        ...(ended === undefined ? {} : { ended: ended.end }),
        ...originsAt(manifest, ended),
        ...(request.spool === undefined ? {} : { spool: request.spool }),
        ...(request.emptiedSpools === undefined ? {} : { emptiedSpools: request.emptiedSpools }),
        ...(archived === undefined ? {} : { archived })
      })
  })
  return {
    held,
    epoch: held.manifest.epoch,
    nonce,
    link: ended === undefined ? recordedTail(manifest) : ended.end,
    ends: endsAbove(ended === undefined || ended.end.slot === 0 ? known : [...known, ended.end], held.manifest.trim),
    cursors: held.manifest.cursors,
    ...(ended === undefined ? {} : { ended: ended.end })
  } satisfies OpenedEpoch
})
