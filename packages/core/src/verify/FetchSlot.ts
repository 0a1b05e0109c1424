/** One slot from the store, with everything that its own bytes can be checked for. */
import { Effect, Result } from "effect"
import { isMarkerOf } from "../epoch/EndOfEpoch.ts"
import type { LookContext } from "../epoch/SlotLook.ts"
import { viewOf } from "../format/Bytes.ts"
import { knownCriticalExtensions } from "../format/Extensions.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { type ReadContext, readHeader, readSegment, recordsOf } from "../format/SegmentCodec.ts"
import {
  decodeHeader,
  fixedHeaderBytes,
  formatVersion,
  maxHeaderBytes,
  type SegmentHeader
} from "../format/SegmentHeader.ts"
import type { Place } from "../read/LogView.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import type { StoreError } from "../WalError.ts"

export interface FetchContext extends LookContext, ReadContext {}

/** What stands at a slot. */
export type Fetched =
  & { readonly place: Place; readonly key: string }
  & (
    | { readonly _tag: "Missing" }
    /** Kept until its turn: what stands before it is told first. */
    | { readonly _tag: "Refused"; readonly error: StoreError }
    /** It reads; perhaps it is not what belongs here. `contradiction`: what its header says that cannot be. */
    | {
      readonly _tag: "Whole"
      readonly header: SegmentHeader
      readonly bytes: number
      readonly contradiction?: string
    }
    /** Damaged; with a header where that part reads. */
    | {
      readonly _tag: "Broken"
      readonly header: SegmentHeader | undefined
      readonly bytes: number
      readonly isTooNew: boolean
      readonly reason: string
    }
  )

/** Where an object says its version. */
const versionOffset = 8

/** A single "not found" of a slot that must be there is asked again: some listings run ahead of reads. */
const notFoundAttempts = 3

/** What a segment's numbers say that cannot be, whatever came before it; `undefined`: nothing. */
const contradictionIn = (header: SegmentHeader): string | undefined => {
  if (header.kind === "end-marker") return undefined
  if (header.count === 0) return "it holds no records"
  if (header.firstSeq === 0) return "it starts at number 0"
  if (!(header.lastAt >= header.firstAt)) return "its last time lies before its first"
  if (header.watermarkSlot > header.slot) return `its watermark ${header.watermarkSlot} lies above its slot`
  if (header.watermarkSeq >= header.firstSeq) return `its watermark ${header.watermarkSeq} lies above its first number`
  return undefined
}

/** Reads the object whole, down to its records. */
const readWhole = Effect.fnUntraced(function*(context: FetchContext, key: string, body: Uint8Array) {
  const segment = yield* readSegment(key, body, context)
  const { header } = segment
  if (header.kind === "end-marker") return { header }
  const records = yield* recordsOf(key, segment, 0)
  const wrongTime = records[0]?.appendedAt !== header.firstAt || records.at(-1)?.appendedAt !== header.lastAt
  const contradiction = contradictionIn(header) ?? (wrongTime ? "its times are not those of its records" : undefined)
  return contradiction === undefined ? { header } : { header, contradiction }
})

/**
 * The header of an object whose version is too new, where it is that of this version but for the damaged field itself: its
 * checksum is right once the version is.
 */
const ofThisVersion = (context: FetchContext, body: Uint8Array): SegmentHeader | undefined => {
  const mended = body.slice(0, maxHeaderBytes)
  if (mended.length < fixedHeaderBytes) return undefined
  viewOf(mended).setUint16(versionOffset, formatVersion, true)
  const decoded = decodeHeader(mended, context.digest, knownCriticalExtensions)
  return "header" in decoded ? decoded.header : undefined
}

const judgeBytes = Effect.fnUntraced(function*(context: FetchContext, place: Place, key: string, body: Uint8Array) {
  const bytes = body.length
  const read = yield* Effect.result(readWhole(context, key, body))
  if (Result.isSuccess(read)) {
    return { _tag: "Whole", place, key, bytes, ...read.success } satisfies Fetched as Fetched
  }
  const error = read.failure
  const isTooNew = error._tag === "SegmentTooNew"
  const header = yield* Effect.result(readHeader(key, body, context.digest))
  const mended = isTooNew ? ofThisVersion(context, body) : undefined
  return {
    _tag: "Broken",
    place,
    key,
    header: Result.isSuccess(header) ? header.success.header : mended,
    bytes,
    isTooNew: isTooNew && mended === undefined,
    reason: error._tag === "SegmentCorrupt" ? `${error.reason} (byte ${error.offset})` : error.message
  } satisfies Fetched as Fetched
})

/** One look at the slot. */
export const fetchSlot = Effect.fnUntraced(function*(context: FetchContext, place: Place) {
  const store = yield* ObjectStore
  const key = slotKey(context.prefix, place.epoch, place.slot)
  const got = yield* Effect.result(retryWhilePassing(store.get(key), context))
  if (Result.isSuccess(got)) return yield* judgeBytes(context, place, key, got.success.body)
  return got.failure.reason === "NotFound"
    ? { _tag: "Missing", place, key } satisfies Fetched as Fetched
    : { _tag: "Refused", place, key, error: toStoreError(got.failure) } satisfies Fetched as Fetched
})

/** Looks again at a slot that was not found, with pauses. */
export const fetchAgain = Effect.fnUntraced(function*(context: FetchContext, place: Place) {
  for (let attempt = 0;; attempt++) {
    const fetched = yield* fetchSlot(context, place)
    if (fetched._tag !== "Missing" || attempt + 1 >= notFoundAttempts) return fetched
    yield* pauseBeforeRetry(context.backoff, attempt)
  }
})

/** What a readable object is that is not the segment of its place; `undefined`: it is. */
export const misplacement = (
  header: SegmentHeader,
  place: Place & { readonly logId: string }
): string | undefined => {
  if (header.logId !== place.logId) return `it belongs to log ${header.logId}`
  if (isMarkerOf(header, place)) return "an end marker stands here"
  if (header.kind === "end-marker") return `it is the end marker of epoch ${header.epoch}, slot ${header.slot}`
  if (header.epoch === place.epoch && header.slot === place.slot) return undefined
  return `it is the segment of epoch ${header.epoch}, slot ${header.slot}`
}
