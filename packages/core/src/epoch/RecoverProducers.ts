/**
 * What is remembered of producers when a log is taken over: the manifest's table, and the calls in the segments that were
 * stored after it.
 *
 * No request where the last segment of the epoch says that there are none. A segment that is lost or damaged has lost its
 * records, so nothing answers with them; readers say what is lost.
 */
import { Effect, Result } from "effect"
import type { CompressionService } from "../codec/Compression.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { decodeCalls, type HeldCall } from "../format/SegmentBody.ts"
import { readSegment } from "../format/SegmentCodec.ts"
import type { StoredProducer } from "../format/StoredProducer.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import { type ProducerLimits, ProducerTable } from "../write/ProducerTable.ts"
import { type EndedEpoch, searchStart } from "./EndLiveEpoch.ts"
import { isSegmentOf } from "./EndOfEpoch.ts"
import type { LookContext } from "./SlotLook.ts"

export interface RecoveryContext extends LookContext {
  readonly compression: CompressionService
  readonly maxSegmentBytes: number
  readonly producers: ProducerLimits
}

/** Segments read at one time. */
const readAhead = 16

/** Segments whose calls are held at one time: an epoch can have more than memory has room for. */
const heldSegments = 4 * readAhead

/** Slots from `from` up to `to`, inclusive. */
const slotsFrom = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)

/** What is between a process and its store may answer once with something else: so often a segment is asked for. */
const looks = 4

/** The calls in a segment, or why there are none to be had. */
const lookFor = Effect.fnUntraced(function*(context: RecoveryContext, manifest: Manifest, slot: number) {
  const store = yield* ObjectStore
  const place = { logId: manifest.log_id, epoch: manifest.live, slot }
  const key = slotKey(context.prefix, manifest.live, slot)
  const got = yield* Effect.result(retryWhilePassing(store.get(key), context))
  if (Result.isFailure(got)) {
    return got.failure.reason === "NotFound" ? "it is missing" : yield* toStoreError(got.failure)
  }
  const read = yield* Effect.result(readSegment(key, got.success.body, context))
  if (Result.isFailure(read)) return read.failure._tag === "SegmentTooNew" ? yield* read.failure : read.failure.message
  const { body, header } = read.success
  if (!isSegmentOf(header, place)) return "it is not the segment of this slot"
  const calls = decodeCalls(body, header)
  return "_tag" in calls ? calls.reason : calls
})

/** The calls in a segment; none, with a word in the process's log, where it is lost or damaged. */
const callsIn = Effect.fnUntraced(function*(context: RecoveryContext, manifest: Manifest, slot: number) {
  for (let look = 1;; look++) {
    const found: ReadonlyArray<HeldCall> | string = yield* lookFor(context, manifest, slot)
    if (typeof found !== "string") return found
    if (look < looks) {
      yield* pauseBeforeRetry(context.backoff, look - 1)
      continue
    }
    const key = slotKey(context.prefix, manifest.live, slot)
    yield* Effect.logWarning(`calls of producers in ${key} are not remembered: ${found}`)
    return []
  }
})

/**
 * The table up to the end of the epoch that was live. Fails with the store's errors, and `SegmentTooNew` for a segment of a
 * newer program, whose calls cannot be known.
 */
export const recoverProducers = Effect.fnUntraced(
  function*(context: RecoveryContext, manifest: Manifest, ended: EndedEpoch | undefined) {
    const stored: ReadonlyArray<StoredProducer> = manifest.producers ?? []
    const span = ended?.calls
    if (ended === undefined || span === undefined) return stored
    const from = Math.max(searchStart(manifest).slot, span.first)
    const to = Math.min(span.last, ended.end.slot - 1)
    const table = new ProducerTable(context.producers, stored)
    for (let slot = from; slot <= to; slot += heldSegments) {
      const slots = slotsFrom(slot, Math.min(to, slot + heldSegments - 1))
      const found = yield* Effect.forEach(slots, (one) => callsIn(context, manifest, one), { concurrency: readAhead })
      for (const { id, ...call } of found.flat()) table.remember(id, { ...call, epoch: manifest.live })
    }
    return table.stored(ended.end.at)
  }
)
