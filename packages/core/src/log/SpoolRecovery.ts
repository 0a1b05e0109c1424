/**
 * What an earlier process has left in the spool: sent to its own slots while its epoch is live, appended again under the
 * new epoch where that one has ended.
 *
 * Invariants: nothing is sent or dropped while it is not known how the epoch ended · what the store has under its old
 * number is not appended again, nor is what an earlier start has appended again · a spooled segment becomes exactly one
 * segment · the order is that in which they were spooled, whichever spool holds them.
 */
import { Effect, Result } from "effect"
import type { CompressionService } from "../codec/Compression.ts"
import { searchStart } from "../epoch/EndLiveEpoch.ts"
import { allEnds } from "../epoch/EndsArchive.ts"
import { listSlots, lookAt, type LookContext, lowestMarker } from "../epoch/SlotLook.ts"
import type { OpenedEpoch } from "../epoch/Takeover.ts"
import type { Boundary } from "../format/Boundary.ts"
import { originsOf, type SpoolPlace } from "../format/Extensions.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { slotKey, type SlotName } from "../format/ObjectKey.ts"
import { decodeCalls } from "../format/SegmentBody.ts"
import { maxMarkerBytes, readHeader, readSegment, recordsOf } from "../format/SegmentCodec.ts"
import type { LogStats } from "../observe/LogStats.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import type { SpooledSlot, SpoolService } from "../store/Spool.ts"
import { pauseBeforeRetry, toStoreError } from "../store/StoreRetry.ts"
import { type OpenTimeout, SegmentConflict, SpoolUndecided, type WalEnd } from "../WalError.ts"
import { afterLook } from "../write/PutOutcome.ts"
import type { Segmenter } from "../write/Segmenter.ts"
import type { PendingCopies } from "./PendingCopies.ts"

export interface SpoolContext extends LookContext {
  readonly compression: CompressionService
  readonly maxSegmentBytes: number
}

/** Slots asked of a spool at one time. */
const pageSlots = 1_000

const undecided = (spool: SpoolService, place: SlotName, reason: string) =>
  new SpoolUndecided({ spool: spool.path, epoch: place.epoch, slot: place.slot, reason })

const slotsFrom = (spool: SpoolService, from: SlotName, limit: number) =>
  spool.slots(from, limit).pipe(Effect.mapError((error) => undecided(spool, from, error.detail)))

const readSlot = (spool: SpoolService, { epoch, slot }: SlotName) =>
  spool.read(epoch, slot).pipe(Effect.mapError((error) => undecided(spool, { epoch, slot }, error.detail)))

/** The next slots of one epoch; none where it holds no more of it. */
const slotsOf = (spool: SpoolService, from: SlotName, limit: number) =>
  Effect.map(slotsFrom(spool, from, limit), (slots) => slots.filter(({ epoch }) => epoch === from.epoch))

/** The first slot of each epoch in the spool, ascending. */
const epochsIn = Effect.fnUntraced(function*(spool: SpoolService) {
  const firsts: Array<SpooledSlot> = []
  for (let from = { epoch: 0, slot: 0 };;) {
    const [first] = yield* slotsFrom(spool, from, 1)
    if (first === undefined) return firsts
    firsts.push(first)
    from = { epoch: first.epoch + 1, slot: 0 }
  }
})

const headerOf = Effect.fnUntraced(function*(context: SpoolContext, spool: SpoolService, place: SpooledSlot) {
  const key = slotKey(context.prefix, place.epoch, place.slot)
  const object = yield* readSlot(spool, place)
  const read = yield* readHeader(key, object, context.digest).pipe(
    Effect.mapError((error) => undecided(spool, place, error.message))
  )
  return { key, object, header: read.header }
})

/** Where an epoch ended, by its marker: these stay when all else of it is deleted. */
const endByMarker = Effect.fnUntraced(function*(context: SpoolContext, logId: string, epoch: number) {
  const slots = yield* listSlots(context, epoch, 0)
  const small = slots.filter((one) => one.sizeBytes <= maxMarkerBytes).map((one) => one.slot)
  return yield* lowestMarker(context, { logId, epoch }, small)
})

/** The end of an epoch that is over: recorded, or by its marker. Fails `SpoolUndecided` where neither is there. */
const endOf = Effect.fnUntraced(function*(
  context: SpoolContext,
  spool: SpoolService,
  known: { readonly logId: string; readonly ends: ReadonlyArray<Boundary> },
  first: SpooledSlot
) {
  const recorded = known.ends.find((end) => end.epoch === first.epoch)
  if (recorded !== undefined) return recorded.slot
  const marked = yield* endByMarker(context, known.logId, first.epoch).pipe(
    Effect.catchTag(["SegmentCorrupt", "SegmentTooNew"], (error) => Effect.fail(undecided(spool, first, error.message)))
  )
  return marked ?? (yield* undecided(spool, first, `nothing in the store says how epoch ${first.epoch} ended`))
})

/** The last slot of a spool that is durable under its own number or as a copy, of all epochs. */
const doneWith = (manifest: Manifest, spool: SpoolService): SlotName =>
  manifest.origins?.[spool.id] ?? { epoch: 0, slot: -1 }

/** Whether something is stored there; what is wrong with it is for others to say. */
const isStored = (context: SpoolContext, { epoch, slot }: SlotName) =>
  lookAt(context, epoch, slot).pipe(
    Effect.map((header) => header !== undefined),
    Effect.catchTag(["SegmentCorrupt", "SegmentTooNew"], () => Effect.succeed(true))
  )

/** Stores one spooled slot under its own key: `stored`, or `ended` by a marker that stands there. */
const sendSlot = Effect.fnUntraced(function*(context: SpoolContext, spool: SpoolService, place: SpooledSlot) {
  const store = yield* ObjectStore
  const { header, key, object } = yield* headerOf(context, spool, place)
  for (let attempt = 0;; attempt++) {
    const answer = yield* Effect.result(store.create(key, object, { crc32: context.digest.crc32(object) }))
    if (Result.isSuccess(answer)) return "stored"
    const error = answer.failure
    if (error.reason === "AlreadyExists") {
      const found = yield* lookAt(context, place.epoch, place.slot)
      const step = found === undefined ? undefined : afterLook(header, found)
      if (step?._tag === "Confirmed") return "stored"
      if (step?._tag === "Fenced") return "ended"
      if (step !== undefined) return yield* new SegmentConflict({ key, found: step.found })
    } else if (!error.isRetryable) return yield* toStoreError(error)
    yield* pauseBeforeRetry(context.backoff, attempt, error.retryAfterMillis)
  }
})

/**
 * What is spooled follows what is durable, without a hole: where slots are missing in the spool, the store has them. Where
 * it does not, damage has taken them, and what lies behind them must not be sent as if they had never been.
 */
const checkHoles = Effect.fnUntraced(function*(context: SpoolContext, spool: SpoolService, manifest: Manifest) {
  const epoch = manifest.live
  let due = searchStart(manifest).slot
  for (;;) {
    const slots = yield* slotsOf(spool, { epoch, slot: due }, pageSlots)
    if (slots.length === 0) return
    for (const { slot } of slots) {
      if (slot > due && !(yield* isStored(context, { epoch, slot: slot - 1 }))) {
        return yield* undecided(spool, { epoch, slot: slot - 1 }, "neither the spool nor the store has this slot")
      }
      due = slot + 1
    }
  }
})

/**
 * Sends what is spooled of the live epoch, in order and never more than one window ahead, up to a marker of somebody who
 * is taking the log over. Answers how many slots are stored.
 */
const sendEpoch = Effect.fnUntraced(
  function*(context: SpoolContext, spool: SpoolService, manifest: Manifest, perStep: StepLimit) {
    const epoch = manifest.live
    const window = Math.max(1, manifest.live_window)
    let from = { epoch, slot: searchStart(manifest).slot }
    let sent = 0
    for (;;) {
      const slots = yield* slotsOf(spool, from, window)
      const last = slots.at(-1)
      if (last === undefined) return sent
      const results = yield* perStep(
        Effect.forEach(slots, (slot) => sendSlot(context, spool, slot), { concurrency: window })
      )
      if (results.includes("ended")) return sent + results.indexOf("ended")
      sent += results.length
      from = { epoch, slot: last.slot + 1 }
    }
  }
)

/** A limit on the time that one step of a long recovery may take. */
export type StepLimit = <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.Effect<A, E | OpenTimeout, R>

/**
 * Before the log is taken over: checks that it is known, or will be, how every spooled epoch ended, and sends what is
 * spooled of the live one. `manifest` is what the store has now. Answers false for a spool that holds nothing.
 */
export const sendSpooled = Effect.fnUntraced(function*(
  context: SpoolContext,
  spool: SpoolService,
  manifest: Manifest | undefined,
  perStep: StepLimit
) {
  const firsts = yield* epochsIn(spool)
  const [first] = firsts
  if (first === undefined) return false
  if (manifest === undefined) return yield* undecided(spool, first, "the store has no manifest of this log")
  const ends = yield* allEnds(context, manifest)
  for (const one of firsts) {
    const { header } = yield* headerOf(context, spool, one)
    if (header.logId !== manifest.log_id) {
      return yield* undecided(spool, one, `they belong to log ${header.logId}, the store holds log ${manifest.log_id}`)
    }
    if (one.epoch > manifest.epoch) {
      return yield* undecided(spool, one, `the manifest in the store is older: it knows epochs up to ${manifest.epoch}`)
    }
    // What lies below the mark is done with, however its epoch ended.
    const isDone = one.epoch < doneWith(manifest, spool).epoch
    if (one.epoch !== manifest.live && !isDone) yield* endOf(context, spool, { logId: manifest.log_id, ends }, one)
  }
  const live = firsts.find((one) => one.epoch === manifest.live)
  if (live === undefined) return true
  yield* perStep(checkHoles(context, spool, manifest))
  yield* Effect.logInfo(`spool ${spool.path}: sending what it holds from slot ${live.slot} of epoch ${live.epoch} on`)
  const sent = yield* sendEpoch(context, spool, manifest, perStep)
  yield* Effect.logInfo(`spool ${spool.path}: ${sent} segments of epoch ${live.epoch} are stored`)
  return true
})

interface Reappending {
  readonly context: SpoolContext
  readonly spool: SpoolService
  readonly opened: OpenedEpoch
  readonly segmenter: Segmenter
  readonly copies: PendingCopies
}

/**
 * One spooled segment becomes one segment of this epoch. A copy of another spooled slot does not: that slot is there
 * itself, and has come before, as its epoch is an earlier one.
 */
const reappendSlot = Effect.fnUntraced(function*(job: Reappending, place: SpooledSlot) {
  const { context, copies, segmenter, spool } = job
  const key = slotKey(context.prefix, place.epoch, place.slot)
  const object = yield* readSlot(spool, place)
  const damaged = (error: { readonly message: string }) => undecided(spool, place, error.message)
  const segment = yield* readSegment(key, object, context).pipe(Effect.mapError(damaged))
  const copyOf: SpoolPlace = { spool: spool.id, epoch: place.epoch, slot: place.slot }
  if (originsOf(segment.header)?.copy === true) {
    copies.add(copyOf, segmenter.lastAccepted, true)
    return false
  }
  const records = yield* recordsOf(key, segment, 0).pipe(Effect.mapError(damaged))
  const calls = decodeCalls(segment.body, segment.header)
  if ("_tag" in calls) return yield* undecided(spool, place, calls.reason)
  const admitted = yield* segmenter.adopt({ records, calls, copyOf })
  const isBlank = admitted.last < admitted.first
  copies.add(copyOf, admitted.last, isBlank)
  return !isBlank
})

/** The slots of one ended epoch from its end on, but for those that an earlier start has appended again. */
const reappendEpoch = Effect.fnUntraced(function*(job: Reappending, first: SpooledSlot) {
  const { context, opened, spool } = job
  const { epoch } = first
  const mark = doneWith(opened.held.manifest, spool)
  if (epoch < mark.epoch) return 0
  const logId = opened.held.manifest.log_id
  const end = opened.ended?.epoch === epoch
    ? opened.ended.slot
    : yield* endOf(context, spool, { logId, ends: opened.ends }, first)
  let due = epoch === mark.epoch ? Math.max(end, mark.slot + 1) : end
  let count = 0
  for (;;) {
    const slots = yield* slotsOf(spool, { epoch, slot: due }, pageSlots)
    if (slots.length === 0) return count
    for (const place of slots) {
      if (place.slot !== due) {
        return yield* undecided(spool, { epoch, slot: due }, "neither the spool nor the store has this slot")
      }
      if (yield* reappendSlot(job, place)) count++
      due++
    }
  }
})

/** The epochs that the spools hold, as they followed each other: each has been spooled in one of them only. */
const epochsInAll = Effect.fnUntraced(function*(spools: ReadonlyArray<SpoolService>) {
  const epochs: Array<{ readonly spool: SpoolService; readonly first: SpooledSlot }> = []
  for (const spool of spools) {
    for (const first of yield* epochsIn(spool)) epochs.push({ spool, first })
  }
  return epochs.sort((left, right) => left.first.epoch - right.first.epoch)
})

/** What the engine of an opened log gives to recovery. */
export interface SpoolParts {
  readonly context: SpoolContext
  readonly opened: OpenedEpoch
  /** Those that an earlier configuration has left, and the log's own. */
  readonly left: ReadonlyArray<SpoolService>
  readonly own: SpoolService | undefined
  readonly segmenter: Segmenter
  readonly copies: PendingCopies
  readonly stats: LogStats
  /** All is appended, or is durable now: something may go. */
  readonly onComplete: () => void
  /** Waits until the number is durable, and the manifest says so. */
  readonly durable: (seq: number) => Effect.Effect<void, WalEnd>
}

/**
 * After the log is taken over, before anybody appends: what the ended epochs could not store is appended again. Waits for
 * room, so for the store, as long as it takes.
 */
const reappend = Effect.fnUntraced(function*(parts: SpoolParts, spools: ReadonlyArray<SpoolService>) {
  const { copies, opened, stats } = parts
  // All of them, before the first copy: while the store is away, copies go to the log's own spool, as this epoch.
  const epochs = yield* epochsInAll(spools)
  for (const { first, spool } of epochs) {
    const count = yield* reappendEpoch({ ...parts, spool }, first)
    if (count === 0) continue
    stats.segmentsReappended += count
    yield* Effect.logInfo(
      `spool ${spool.path}: ${count} segments of epoch ${first.epoch} are appended again, with new numbers`
    )
  }
  for (const spool of spools) {
    const kept = copies.first(spool.id) ?? { epoch: opened.epoch, slot: 0 }
    yield* spool.dropThrough(kept.epoch, kept.slot - 1).pipe(
      Effect.catch((error) => Effect.logWarning(`the spool was not emptied: ${error.message}; it is tried again`))
    )
  }
})

/** Appends what the spools hold of ended epochs; spools that were left behind are emptied once all of that is durable. */
export const emptySpools = Effect.fnUntraced(function*(parts: SpoolParts) {
  const { copies, left, opened, own } = parts
  yield* reappend(parts, own === undefined ? left : [...left, own])
  copies.isComplete = true
  parts.onComplete()
  const last = copies.lastSeq
  if (last === undefined || left.length === 0 && !copies.needsManifest) return
  const drop = Effect.forEach(left, (spool) =>
    spool.dropThrough(opened.epoch, 0).pipe(
      Effect.catch((error) => Effect.logWarning(`spool ${spool.path} was not emptied: ${error.message}`))
    ))
  const done = parts.durable(last).pipe(
    Effect.andThen(drop),
    Effect.andThen(Effect.sync(parts.onComplete)),
    Effect.catch((error) => Effect.logDebug(`the log ended before its spools were emptied: ${error.message}`))
  )
  yield* Effect.forkScoped(done)
})
