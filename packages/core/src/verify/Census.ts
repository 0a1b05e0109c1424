/**
 * One listing of everything below the log's prefix: what is the log's, what is garbage, what is foreign, and what the
 * manifest should know of and does not.
 *
 * Owns: counts, and the lowest and highest slots of each epoch that is not ended. Does not own: whether segments are right.
 * Memory grows with the number of epochs that are not recorded, not with objects.
 */
import { Effect, Option, Stream } from "effect"
import { isMarkerOf, isSegmentOf } from "../epoch/EndOfEpoch.ts"
import { lookAt, lookAtReadable, type LookContext } from "../epoch/SlotLook.ts"
import { compareBoundaries } from "../format/Boundary.ts"
import type { Boundary } from "../format/Boundary.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { manifestKey, parseSlotKey, segmentsPrefix, type SlotName } from "../format/ObjectKey.ts"
import { maxMarkerBytes } from "../format/SegmentCodec.ts"
import { RoundTrip } from "../store/ListPages.ts"
import { type ListedObject, type ListPage, ObjectStore } from "../store/ObjectStore.ts"
import { retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import { type StoreError, UnexpectedResponse } from "../WalError.ts"
import { type Finding, slotFinding } from "./Finding.ts"
import type { LookAgain } from "./LogLook.ts"
import { lookedAbove } from "./ProvenDurable.ts"

/** What is stored of an epoch: its lowest and its highest slots. */
export interface SlotRange {
  readonly low: number
  readonly high: number
  /** The highest ones, descending: barriers that stand there have segments below them. */
  readonly top: ReadonlyArray<number>
}

/** Slots in `top`, at most: more than there are barriers, which double their distance, and an end marker. */
const keptTop = 16

const withTop = (top: ReadonlyArray<number>, slot: number): ReadonlyArray<number> => {
  if (slot <= (top[keptTop - 1] ?? -1) || top.includes(slot)) return top
  return [...top, slot].sort((left, right) => right - left).slice(0, keptTop)
}

/** What a manifest leads to. */
export interface KnownLog {
  readonly manifest: Manifest
  readonly ends: ReadonlyArray<Boundary>
  /** Ends of epochs up to this one are not known: their archive is lost. 0: all are known. */
  readonly unknownThrough: number
}

export interface CensusContext extends LookContext {
  /** `undefined`: there is no manifest that could know of anything. */
  readonly known: KnownLog | undefined
  readonly lookAgain: LookAgain
}

interface ListedSlotObject extends SlotName {
  readonly object: ListedObject
}

/** Requests of one page at a time. */
const concurrency = 16

/** Objects of the log beside its slots, below its prefix: manifest, archives, probes, what repairs have kept. */
const isOwnKey = (prefix: string, key: string): boolean =>
  key === manifestKey(prefix) || ["epochs/", "probe/", "repair/"].some((folder) => key.startsWith(`${prefix}${folder}`))

export class Census {
  foreign = 0
  belowTrim = 0
  beyondEnds = 0
  /** Of every epoch without a recorded end, at or after the trim point. */
  readonly open = new Map<number, SlotRange>()
  private readonly context: CensusContext
  private readonly ends: ReadonlyMap<number, number>
  /** Epochs about which something was said already. */
  private readonly told = new Set<number>()
  /** By epoch without an end: objects above its first slot that were looked at. */
  private readonly looked = new Map<number, number>()

  constructor(context: CensusContext) {
    this.context = context
    this.ends = new Map(context.known?.ends.map((end) => [end.epoch, end.slot]))
  }

  /** Sorts the objects of a page; answers what is wrong with them. */
  readonly sort = Effect.fnUntraced(function*(this: Census, page: ListPage) {
    const { context } = this
    const slots: Array<ListedSlotObject> = []
    for (const object of page.objects) {
      const name = parseSlotKey(context.prefix, object.key)
      if (name !== undefined) slots.push({ ...name, object })
      else if (!isOwnKey(context.prefix, object.key)) this.foreign++
    }
    const found = yield* Effect.forEach(slots, (slot) => this.sortSlot(slot), { concurrency })
    return found.filter((finding) => finding !== undefined)
  })

  private readonly sortSlot = Effect.fnUntraced(function*(this: Census, slot: ListedSlotObject) {
    const { known } = this.context
    const end = this.ends.get(slot.epoch)
    const isBelow = known !== undefined && compareBoundaries(slot, known.manifest.trim) < 0
    if (isBelow || end !== undefined && slot.slot > end) {
      if (yield* this.isMarker(slot)) return
      if (isBelow) this.belowTrim++
      else this.beyondEnds++
      return
    }
    if (end !== undefined) return
    const { high, low, top } = this.open.get(slot.epoch) ?? { low: slot.slot, high: slot.slot, top: [] }
    this.open.set(slot.epoch, {
      low: Math.min(low, slot.slot),
      high: Math.max(high, slot.slot),
      top: withTop(top, slot.slot)
    })
    if (known === undefined || slot.epoch === known.manifest.live || slot.epoch <= known.unknownThrough) return
    return yield* this.judgeUnrecorded(slot, known.manifest)
  })

  /** Small objects only can be end markers. */
  private readonly isMarker = Effect.fnUntraced(function*(this: Census, slot: ListedSlotObject) {
    if (slot.object.sizeBytes > maxMarkerBytes) return false
    const header = yield* this.header(slot)
    return header !== undefined && isMarkerOf(header, { ...slot, logId: header.logId })
  })

  private header(slot: SlotName) {
    return lookAt(this.context, slot.epoch, slot.slot).pipe(
      Effect.catchTag(["SegmentCorrupt", "SegmentTooNew"], () => Effect.undefined)
    )
  }

  /** Whether to look at one more object of the epoch that is not its first slot. */
  private looksAgain(epoch: number): boolean {
    const count = this.looked.get(epoch) ?? 0
    this.looked.set(epoch, count + 1)
    return count < lookedAbove
  }

  /**
   * Something in an epoch that has no end and is not live: it ended at slot 0, or the manifest does not know it. It did not
   * end there where a segment stands in that slot, or knows that one was durable: it can have been trimmed since.
   */
  private readonly judgeUnrecorded = Effect.fnUntraced(function*(
    this: Census,
    slot: ListedSlotObject,
    manifest: Manifest
  ): Effect.fn.Return<Finding | undefined, StoreError, ObjectStore> {
    const isNewer = slot.epoch > manifest.epoch
    if (this.told.has(slot.epoch)) return
    const isOrphan = !isNewer && slot.slot > 0
    const header = isOrphan && !this.looksAgain(slot.epoch) ? undefined : yield* this.header(slot)
    const isOurs = header !== undefined && header.logId === manifest.log_id
    const isKnown = isOurs && (isNewer || isSegmentOf(header, { ...slot, logId: manifest.log_id }))
    if (!isKnown || isOrphan && header.watermarkSlot === 0) {
      if (isOrphan) this.beyondEnds++
      return
    }
    const look = yield* this.context.lookAgain
    // Taken over since.
    if (look !== undefined && (isNewer ? look.epoch >= slot.epoch : look.live >= slot.epoch)) return
    if (this.told.has(slot.epoch)) return
    this.told.add(slot.epoch)
    return slotFinding(
      this.context.prefix,
      slot,
      isNewer
        ? {
          kind: "manifest-rolled-back",
          reason: `the manifest knows epochs up to ${manifest.epoch} only: it is older than this object`
        }
        : { kind: "unrecorded-epoch", reason: `a segment of epoch ${slot.epoch}, which the manifest does not know` }
    )
  })
}

/** Stored segments that are looked at to see whose log this is. */
const sampled = 8

/** The ids of the log that the first stored segments name, each once. */
export const sampleLogIds = Effect.fnUntraced(function*(context: LookContext) {
  const store = yield* ObjectStore
  const page = yield* Effect.mapError(
    retryWhilePassing(store.list({ prefix: segmentsPrefix(context.prefix) }), context),
    toStoreError
  )
  const names = page.objects.flatMap((object) => parseSlotKey(context.prefix, object.key) ?? []).slice(0, sampled)
  const headers = yield* Effect.forEach(names, ({ epoch, slot }) => lookAtReadable(context, epoch, [slot]))
  return new Set(headers.flat().map((header) => header.logId))
})

/** Lists all pages, one after the other, and sorts what they hold. */
export const takeCensus = (census: Census, context: LookContext) =>
  Stream.suspend(() => {
    const round = new RoundTrip()
    const first: string | undefined = undefined
    return Stream.paginate<string | undefined, Finding, StoreError, ObjectStore>(
      first,
      Effect.fnUntraced(function*(page) {
        const store = yield* ObjectStore
        const request = { prefix: context.prefix, ...(page === undefined ? {} : { page }) }
        const listed = yield* Effect.mapError(retryWhilePassing(store.list(request), context), toStoreError)
        const found = yield* census.sort(listed)
        if (listed.next === undefined) return [found, Option.none<string | undefined>()] as const
        if (round.closes(listed.next)) {
          const detail = "the listing has no end: its pages come round again"
          return yield* new UnexpectedResponse({ operation: "list", key: context.prefix, detail })
        }
        return [found, Option.some<string | undefined>(listed.next)] as const
      })
    )
  })
