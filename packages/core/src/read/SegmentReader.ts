/**
 * Reading segments from the store: in order, a bounded number ahead, each checked against the one before.
 *
 * Invariants: what is delivered joins without a hole, or a typed error or a lost range stands in the place of the hole ·
 * at most `prefetch` segments are held, whatever the reader does.
 */
import { Effect, Result, Stream } from "effect"
import { isSegmentOf } from "../epoch/EndOfEpoch.ts"
import { lookAt } from "../epoch/SlotLook.ts"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { boundaryAfter } from "../format/ChainHash.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { type ReadSegment, readSegment } from "../format/SegmentCodec.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"
import { pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import {
  type DamageError,
  type ReadError,
  SegmentCorrupt,
  SegmentMissing,
  SequenceGap,
  type StoreError,
  Trimmed
} from "../WalError.ts"
import { type LogView, type Place, placesFrom } from "./LogView.ts"
import { passMissing } from "./PassMissing.ts"

/** Tries of one GET while the store's answers may pass. */
const attempts = 8

/** A single "not found" of a segment that must be there is asked again: some listings run ahead of reads. */
const notFoundAttempts = 3

/** So many slots in a row that hold nothing are looked at; then a listing says where something is again. */
const lookedAtInRow = 16

/** One step of the way: a segment that joins, or what is wrong with a slot. */
export type Step =
  | { readonly _tag: "Segment"; readonly key: string; readonly segment: ReadSegment; readonly after: Boundary }
  | { readonly _tag: "Lost"; readonly from: number; readonly to: number; readonly error: DamageError }

type Fetched =
  | { readonly _tag: "Read"; readonly place: Place; readonly key: string; readonly segment: ReadSegment }
  | { readonly _tag: "Missing"; readonly place: Place; readonly key: string }
  | { readonly _tag: "Damaged"; readonly place: Place; readonly key: string; readonly error: DamageError }
  /** Kept until its turn: what stands before it is delivered first. */
  | { readonly _tag: "Refused"; readonly place: Place; readonly error: StoreError }

const getSegment = (view: LogView, key: string) => {
  const tryFrom = (attempt: number): Effect.Effect<Uint8Array, ObjectStoreError> =>
    retryWhilePassing(view.store.get(key), { backoff: view.backoff, attempts }).pipe(
      Effect.map((object) => object.body),
      Effect.catchIf(
        (error) => error.reason === "NotFound" && attempt + 1 < notFoundAttempts,
        () => Effect.andThen(pauseBeforeRetry(view.backoff, attempt), tryFrom(attempt + 1))
      )
    )
  return tryFrom(0)
}

const fetch = Effect.fnUntraced(function*(view: LogView, place: Place) {
  const key = slotKey(view.prefix, place.epoch, place.slot)
  const got = yield* Effect.result(getSegment(view, key))
  if (Result.isFailure(got)) {
    if (got.failure.reason !== "NotFound") {
      return { _tag: "Refused", place, error: toStoreError(got.failure) } satisfies Fetched as Fetched
    }
    return { _tag: "Missing", place, key } satisfies Fetched as Fetched
  }
  const read = yield* Effect.result(readSegment(key, got.success, view))
  if (Result.isFailure(read)) return { _tag: "Damaged", place, key, error: read.failure } satisfies Fetched as Fetched
  const { header } = read.success
  if (!isSegmentOf(header, { logId: view.logId, ...place })) {
    const error = new SegmentCorrupt({ key, offset: 16, reason: "it is not the segment of this slot" })
    return { _tag: "Damaged", place, key, error } satisfies Fetched as Fetched
  }
  return { _tag: "Read", place, key, segment: read.success } satisfies Fetched as Fetched
})

/** The next segment after `place` that can be read, or the durable end: where a loss ends. Fails when the store does not say. */
const lossEnd = Effect.fnUntraced(function*(view: LogView, place: Place) {
  // Of the same moment as the places: what becomes durable while they are looked at is not lost.
  const durable = view.durable()
  let missing = 0
  let goesOnAt: Place = place
  for (const next of placesFrom(view, { epoch: place.epoch, slot: place.slot + 1 })) {
    if (missing === lookedAtInRow) {
      goesOnAt = yield* passMissing(view, next)
      missing = 0
    }
    if (compareBoundaries(next, goesOnAt) < 0) continue
    const header = yield* lookAt({ ...view, attempts }, next.epoch, next.slot).pipe(
      Effect.catchTag(["SegmentCorrupt", "SegmentTooNew"], () => Effect.succeed("unreadable" as const))
    )
    if (header !== undefined && header !== "unreadable" && isSegmentOf(header, { logId: view.logId, ...next })) {
      return { lastLost: header.firstSeq - 1, resumesAt: next }
    }
    missing = header === undefined ? missing + 1 : 0
  }
  return { lastLost: durable.seq, resumesAt: durable }
})

const segmentStep = (
  view: LogView,
  fetched: Fetched & { readonly _tag: "Read" }
): Step & { readonly _tag: "Segment" } => {
  const after = boundaryAfter(fetched.segment.header, view.digest)
  return { _tag: "Segment", key: fetched.key, segment: fetched.segment, after }
}

/** Why a readable segment does not follow what came before; after a loss only its numbers can be checked. */
const joinError = (
  view: LogView,
  fetched: Fetched & { readonly _tag: "Read" },
  position: Position
): DamageError | undefined => {
  const { header } = fetched.segment
  const due = position.before.seq + 1
  const corrupt = (offset: number, reason: string) => new SegmentCorrupt({ key: fetched.key, offset, reason })
  const last = header.firstSeq + header.count - 1
  const durable = view.durable().seq
  // Believed, it would make everything up to there look like numbers that were given out before.
  if (last > durable) return corrupt(64, `its last number is ${last}, the log ends at ${durable}`)
  if (header.firstSeq < due) return corrupt(64, `it starts at ${header.firstSeq}, ${due} was due`)
  if (position.broken) return undefined
  if (header.firstSeq > due) return new SequenceGap({ key: fetched.key, from: due, to: header.firstSeq - 1 })
  return header.chain === position.before.chain
    ? undefined
    : corrupt(128, "its chain does not follow the segment before")
}

interface Position {
  readonly before: Boundary
  /** Something before is lost, so the chain cannot be followed. */
  readonly broken: boolean
  /** Where the loss ends that was found last: what cannot be read before that was told with it. */
  readonly resumesAt?: Place
}

type Judged = readonly [Position, ReadonlyArray<Step>]

/** A slot that cannot be delivered: the loss up to the next one that can, unless a loss before it said so already. */
const judgeLoss = Effect.fnUntraced(function*(
  view: LogView,
  place: Place,
  position: Position,
  errorOf: (from: number, to: number) => DamageError
) {
  const from = position.before.seq + 1
  const { lastLost: to, resumesAt } = yield* lossEnd(view, place)
  if (to < from) return [{ ...position, broken: true, resumesAt }, []] satisfies Judged as Judged
  const lost: Step = { _tag: "Lost", from, to, error: errorOf(from, to) }
  const before: Boundary = { ...position.before, ...place, seq: to }
  return [{ before, broken: true, resumesAt }, [lost]] satisfies Judged as Judged
})

/** What a fetched slot is, after what came before it: mostly one step; a loss and a segment where numbers are missing. */
const judge = Effect.fnUntraced(function*(view: LogView, fetched: Fetched, position: Position, fromSeq: number) {
  const { place } = fetched
  const isTold = position.resumesAt !== undefined && compareBoundaries(place, position.resumesAt) < 0
  if (isTold && (fetched._tag === "Missing" || fetched._tag === "Damaged")) {
    return [position, []] satisfies Judged as Judged
  }
  if (fetched._tag === "Missing") {
    yield* view.refresh
    const ended = view.ended?.()
    if (ended !== undefined) return yield* ended
  }
  const trim = view.trim()
  if (compareBoundaries(place, trim) < 0) {
    const wanted = Math.max(position.before.seq + 1, fromSeq)
    // A search may start before what is wanted; only that must not be gone.
    if (trim.seq < wanted) return [{ before: trim, broken: false }, []] satisfies Judged as Judged
    return yield* new Trimmed({ from: wanted, trimmedTo: trim.seq })
  }
  if (fetched._tag === "Refused") return yield* fetched.error
  if (fetched._tag === "Missing") {
    return yield* judgeLoss(view, place, position, (from, to) => new SegmentMissing({ key: fetched.key, from, to }))
  }
  if (fetched._tag === "Damaged") return yield* judgeLoss(view, place, position, () => fetched.error)
  const error = joinError(view, fetched, position)
  const segment = segmentStep(view, fetched)
  const next: Position = { before: segment.after, broken: false }
  if (error === undefined) return [next, [segment]] satisfies Judged as Judged
  if (error._tag !== "SequenceGap") return yield* judgeLoss(view, place, position, () => error)
  const gap: Step = { _tag: "Lost", from: error.from, to: error.to, error }
  return [next, [gap, segment]] satisfies Judged as Judged
})

/** All slots from `start` on but those that a loss has taken, as far as it was told by the time of their turn. */
function* placesAfterLoss(view: LogView, start: Place, resumesAt: () => Place): Generator<Place> {
  for (const place of placesFrom(view, start)) if (compareBoundaries(place, resumesAt()) >= 0) yield place
}

/**
 * The slots from a boundary, at or before the record `fromSeq`, up to the durable end as it is now. Damage is a step of
 * its own: the caller decides whether to go on. Fails with the store's errors and `Trimmed`, after what stands before.
 */
export const readSteps = (view: LogView, start: Boundary, fromSeq: number): Stream.Stream<Step, ReadError> =>
  Stream.suspend(() => {
    let resumesAt: Place = start
    const places = { [Symbol.iterator]: () => placesAfterLoss(view, start, () => resumesAt) }
    return Stream.fromIterable(places, { chunkSize: 1 }).pipe(
      Stream.mapEffect((place) => fetch(view, place), { concurrency: view.prefetch }),
      Stream.mapAccumEffect(
        (): Position => ({ before: start, broken: false }),
        Effect.fnUntraced(function*(position, fetched) {
          const judged = yield* judge(view, fetched, position, fromSeq)
          resumesAt = judged[0].resumesAt ?? resumesAt
          return judged
        })
      ),
      Stream.provideService(ObjectStore, view.store)
    )
  })
