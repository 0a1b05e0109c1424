/**
 * Step 3 of a take-over: finding the end of the live epoch and putting the end marker there.
 *
 * Invariants: the marker is created, never written over · nothing is written where a durable slot was lost · a writer that
 * is busy is caught after finitely many rounds, because it cannot pass a barrier.
 */
import { Effect, Result } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import { boundaryAfter } from "../format/ChainHash.ts"
import { type CursorSet, highestMark, lowestMark, newerCursors } from "../format/CursorSet.ts"
import { type CallSpan, callSpanOf, cursorsOf, type OriginMarks, originsOf } from "../format/Extensions.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { encodeEndMarker, maxMarkerBytes } from "../format/SegmentCodec.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import { liveStart } from "../manifest/Manifest.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { pauseBeforeRetry, toStoreError } from "../store/StoreRetry.ts"
import { SegmentCorrupt, SegmentMissing } from "../WalError.ts"
import {
  firstMissing,
  inspect,
  isMarkerOf,
  isSegmentOf,
  type ListedSlot,
  lostThrough,
  orderSlots
} from "./EndOfEpoch.ts"
import { listSlots, lookAt, lookAtStored, type LookContext, lowestMarker } from "./SlotLook.ts"
import { storedMeanwhile } from "./StoredMeanwhile.ts"

/** Who puts the marker. */
export interface Opener {
  readonly nonce: string
  readonly epoch: number
  readonly host: string
}

export interface EndedEpoch {
  /** The end, with what precedes it; its slot is 0 where the epoch holds nothing. */
  readonly end: Boundary
  /** The newest cursors that the epoch's last segment or the manifest knows. */
  readonly cursors: CursorSet
  /** The last spooled slots that the epoch has appended again. */
  readonly origins?: OriginMarks
  /** Its last segment is no copy of a spooled slot, so all that it had to append again lies before that one. */
  readonly isPastCopies?: boolean
  /** Where the epoch holds calls of producers, as far as its last segment knows. */
  readonly calls?: CallSpan
}

/** After so many rounds a barrier is put above a busy writer. */
const roundsBeforeBarrier = 3

/** A search for the end of the live epoch, from a point below which everything is known to be durable. */
export interface LiveSearch extends LookContext {
  readonly manifest: Manifest
  readonly from: Boundary
}

interface Search extends LiveSearch {
  readonly opener: Opener
}

const place = (search: LiveSearch, slot: number) => ({
  logId: search.manifest.log_id,
  epoch: search.manifest.live,
  slot
})

const markerAt = (search: Search, slot: number): Uint8Array =>
  encodeEndMarker({ ...place(search, slot), nonce: search.opener.nonce, owner: search.opener }, search.digest)

/** Where the search starts: below it everything is known to be durable. */
export const searchStart = (manifest: Manifest): Boundary => {
  const known = [manifest.checkpoint, manifest.trim].filter((one) => one.epoch === manifest.live)
  return known.reduce((left, right) => right.slot > left.slot ? right : left, liveStart(manifest))
}

/** What is known of the point `slot`, from the header of the segment before it. */
const tailBefore = Effect.fnUntraced(function*(search: LiveSearch, slot: number) {
  const { manifest, from } = search
  const cursors = manifest.cursors
  if (slot === 0 || slot === from.slot && manifest.trim.epoch === manifest.live && manifest.trim.slot === slot) {
    return { end: { ...from, slot }, cursors } satisfies EndedEpoch
  }
  const key = slotKey(search.prefix, manifest.live, slot - 1)
  const header = yield* lookAt(search, manifest.live, slot - 1)
  if (header === undefined) {
    const committed = lowestMark(cursors)
    // A missing segment that every cursor has passed takes nothing from anybody, and the checkpoint still knows its end.
    if (slot === from.slot && committed >= from.seq) {
      yield* Effect.logWarning(`segment ${key} is missing; every cursor is past it, so nothing is lost`)
      return { end: { ...from, slot }, cursors } satisfies EndedEpoch
    }
    const first = slot === from.slot ? committed + 1 : from.seq + 1
    return yield* new SegmentMissing({ key, from: first, to: Math.max(from.seq, first) })
  }
  if (!isSegmentOf(header, place(search, slot - 1))) {
    return yield* new SegmentCorrupt({ key, offset: 16, reason: "it is not the segment of this slot" })
  }
  const calls = callSpanOf(header)
  const origins = originsOf(header)
  return {
    end: boundaryAfter(header, search.digest),
    cursors: newerCursors(cursorsOf(header) ?? cursors, cursors),
    ...(calls === undefined ? {} : { calls }),
    ...(origins === undefined ? {} : { origins: origins.marks }),
    isPastCopies: origins?.copy !== true
  } satisfies EndedEpoch
})

/** Refuses an end where what is left lies below what was durable. */
const refuseLoss = Effect.fnUntraced(
  function*(search: LiveSearch, tail: EndedEpoch, above: ReadonlyArray<SegmentHeader>) {
    const { manifest } = search
    const mine = above.filter((header) => isSegmentOf(header, place(search, header.slot)))
    const through = lostThrough(
      { slot: tail.end.slot, seq: tail.end.seq },
      { above: mine, highestCursor: highestMark(tail.cursors) }
    )
    if (through === undefined) return
    return yield* new SegmentMissing({
      key: slotKey(search.prefix, manifest.live, tail.end.slot),
      from: tail.end.seq + 1,
      to: Math.max(through, tail.end.seq + 1)
    })
  }
)

type MarkerAnswer = "ended" | "taken"
const ended: MarkerAnswer = "ended"
const taken: MarkerAnswer = "taken"

/** Puts the marker at `slot` until the answer is definite. */
const putMarker = Effect.fnUntraced(function*(search: Search, slot: number) {
  const store = yield* ObjectStore
  const key = slotKey(search.prefix, search.manifest.live, slot)
  const body = markerAt(search, slot)
  for (let attempt = 0;; attempt++) {
    const answer = yield* Effect.result(store.create(key, body, { crc32: search.digest.crc32(body) }))
    if (Result.isSuccess(answer)) return ended
    const error = answer.failure
    if (error.reason === "AlreadyExists") {
      const header = yield* lookAt(search, search.manifest.live, slot)
      if (header !== undefined) {
        if (isMarkerOf(header, place(search, slot))) return ended
        if (isSegmentOf(header, place(search, slot))) return taken
        return yield* new SegmentCorrupt({
          key,
          offset: 16,
          reason: "it is neither a segment of this slot nor its end marker"
        })
      }
    } else if (!error.isRetryable) return yield* toStoreError(error)
    yield* pauseBeforeRetry(search.backoff, attempt, error.retryAfterMillis)
  }
})

/**
 * Puts a marker that a busy writer cannot pass, so many windows above the highest slot that it has; false if it got there
 * first.
 */
const putBarrier = Effect.fnUntraced(function*(search: Search, highest: number, windows: number) {
  const slot = highest + Math.max(1, search.manifest.live_window) * windows
  yield* Effect.logInfo(`the writer of epoch ${search.manifest.live} is busy: barrier at slot ${slot}`)
  return (yield* putMarker(search, slot)) === "ended"
})

/** Where the epoch is over. */
interface SeenEnd {
  readonly found: EndedEpoch
  /** The slot after it holds nothing: the end marker belongs there. Absent where a marker stands. */
  readonly free?: number
}

/**
 * One look at the epoch: what follows each other without a gap, below the lowest marker. Fails `SegmentMissing` where
 * something that is stored above knows that more was durable.
 */
export const lookForEnd = Effect.fnUntraced(function*(search: LiveSearch, listed: ReadonlyArray<ListedSlot>) {
  const { manifest } = search
  for (let ordered = listed;;) {
    const missing = firstMissing(ordered, search.from.slot)
    const look = inspect(ordered, { from: search.from.slot, missing, window: manifest.live_window, maxMarkerBytes })
    const [marker, above, tail] = yield* Effect.all([
      lowestMarker(search, { logId: manifest.log_id, epoch: manifest.live }, look.maybeMarkers),
      Effect.result(lookAtStored(search, manifest.live, look.above, look.ownThrough)),
      Effect.result(tailBefore(search, missing))
    ], { concurrency: "unbounded" })
    if (marker !== undefined) {
      const found = yield* tailBefore(search, marker)
      yield* refuseLoss(search, found, [])
      return { found } satisfies SeenEnd as SeenEnd
    }
    const found = yield* Effect.fromResult(tail)
    // What cannot be read there could know of a loss.
    const headers = yield* Effect.fromResult(above)
    const later = yield* storedMeanwhile(search, ordered, headers)
    if (later === undefined) {
      yield* refuseLoss(search, found, headers)
      return { found, free: missing } satisfies SeenEnd as SeenEnd
    }
    ordered = later
  }
})

/** Ends the epoch where it is over, or answers `undefined` because the writer was faster. */
const tryToEnd = Effect.fnUntraced(function*(search: Search, listed: ReadonlyArray<ListedSlot>) {
  const { found, free } = yield* lookForEnd(search, listed)
  return free === undefined || (yield* putMarker(search, free)) === "ended" ? found : undefined
})

/** What the live epoch has stored from where its search starts, in order: what is known of that, and what was added since. */
export const listLive = Effect.fnUntraced(
  function*(search: LookContext, manifest: Manifest, known: ReadonlyArray<ListedSlot> = []) {
    const from = searchStart(manifest)
    const after = Math.max(from.slot, firstMissing(known, from.slot))
    const listed = yield* listSlots(search, manifest.live, after)
    return orderSlots([...known, ...listed], from.slot)
  }
)

/**
 * Ends the live epoch of a manifest that the opener has claimed. `early`: the epoch as it was listed while the manifest
 * was claimed, where nobody replaced it in between.
 */
export const endLiveEpoch = Effect.fnUntraced(
  function*(context: LookContext, manifest: Manifest, opener: Opener, early?: ReadonlyArray<ListedSlot>) {
    const search: Search = { ...context, manifest, opener, from: searchStart(manifest) }
    let known: ReadonlyArray<ListedSlot> = []
    let stopped = false
    // Doubled each time: a writer that stores slots faster than this opener asks would be ahead of every barrier.
    let reach = 1
    for (let round = 1;; round++) {
      known = round === 1 && early !== undefined ? early : yield* listLive(search, manifest, known)
      const found = yield* tryToEnd(search, known)
      if (found !== undefined) return found
      if (round < roundsBeforeBarrier || stopped) continue
      const missing = firstMissing(known, search.from.slot)
      const segments = known.filter((one) => one.sizeBytes > maxMarkerBytes || one.slot <= missing)
      stopped = yield* putBarrier(
        search,
        segments.reduce((highest, one) => Math.max(highest, one.slot), missing),
        reach
      )
      reach *= 2
    }
  }
)
