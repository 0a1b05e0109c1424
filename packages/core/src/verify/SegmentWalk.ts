/**
 * The walk along the chain: each slot is judged after the one before it.
 *
 * Owns: where the walk is and what is known of that point. Does not own: requests ahead (`WalkLog.ts`), what the bytes of
 * one object say (`FetchSlot.ts`).
 *
 * Invariants: a slot is called missing only after it was looked for again and the manifest was · after damage the walk goes
 * on with the next point that is known exactly · what is held does not grow with the log.
 */
import { Effect } from "effect"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { boundaryAfter } from "../format/ChainHash.ts"
import { linkOf, trimOf } from "../format/Extensions.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { Place } from "../read/LogView.ts"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { StoreError } from "../WalError.ts"
import { fetchAgain, type FetchContext, type Fetched, misplacement } from "./FetchSlot.ts"
import { type Finding, type FindingKind, type LostNumbers, slotFinding } from "./Finding.ts"
import { endedSince, type LogLook, type LookAgain } from "./LogLook.ts"
import { type LogMap, pointsAt, type Span } from "./LogMap.ts"
import { lossEnd } from "./LossEnd.ts"
import { type Proof, proveDurable } from "./ProvenDurable.ts"

/** What the walk tells. */
export type WalkStep =
  | Finding
  /** A slot was judged. */
  | { readonly _tag: "Checked"; readonly records: number; readonly bytes: number }
  /** An epoch is over; `boundary` is the point after its last slot. */
  | { readonly _tag: "EpochEnd"; readonly boundary: Boundary; readonly isExact: boolean }
  /** A header that reads, in its place, before anything is said of how it joins. */
  | { readonly _tag: "Header"; readonly header: SegmentHeader }
  /** The end marker of an epoch whose end was not known. */
  | { readonly _tag: "Marker"; readonly header: SegmentHeader }

export interface WalkContext extends FetchContext {
  readonly map: LogMap
  readonly lookAgain: LookAgain
}

type Judged = Effect.Effect<ReadonlyArray<WalkStep>, StoreError, ObjectStore>

type Missing = Fetched & { readonly _tag: "Missing" }
type Whole = Fetched & { readonly _tag: "Whole" }
type Broken = Fetched & { readonly _tag: "Broken" }

/** A whole segment that does not follow the one before it is not delivered by a reader either. */
const unread: ReadonlySet<FindingKind> = new Set(["sequence-doubled", "chain-broken"])

const checked = (records: number, bytes: number): WalkStep => ({ _tag: "Checked", records, bytes })

export class SegmentWalk {
  private readonly context: WalkContext
  private readonly spans: ReadonlyMap<number, Span>
  private before: Boundary
  /** Numbers and chain before the next slot are known. */
  private isExact: boolean
  private logId: string | undefined
  /** Whose the epoch is that was walked last: the walk may skip to another one, where what it passes is trimmed. */
  private writer: { readonly epoch: number; readonly nonce: string } | undefined = undefined
  /** The epoch has ended before its span did. */
  private endedEpoch: number | undefined = undefined
  /** The loss that was told last: its first slot, and where it ends. */
  private told: { readonly from: Place; readonly to: Place } | undefined = undefined
  /** What was proven last: it holds for slots further up too. */
  private proof: (Proof & { readonly epoch: number }) | undefined = undefined
  /** Trimmed while the walk went on: nothing before it is looked at any more. */
  private skipTo: Place | undefined = undefined

  constructor(context: WalkContext) {
    this.context = context
    this.spans = new Map(context.map.spans.map((span) => [span.epoch, span]))
    const { logId, spans, start } = context.map
    const first = spans[0]
    this.logId = logId
    this.isExact = start !== undefined
    this.before = start ?? { epoch: first?.epoch ?? 0, slot: first?.from ?? 0, seq: 0, at: 0, chain: "" }
  }

  /** The point that the walk has reached. */
  get reached(): { readonly boundary: Boundary; readonly isExact: boolean } {
    return { boundary: this.before, isExact: this.isExact }
  }

  /** Judges the next slot, and closes its epoch after the last one. */
  readonly judge = Effect.fnUntraced(function*(this: SegmentWalk, fetched: Fetched) {
    const { place } = fetched
    const span = this.spans.get(place.epoch)
    if (span === undefined || this.isPassed(place)) return []
    const entered = place.epoch === this.before.epoch ? [] : this.enter(place)
    const judged: ReadonlyArray<WalkStep> = yield* this.judgeSlot(span, fetched)
    const isLast = place.slot + 1 === span.end && this.endedEpoch !== span.epoch && !this.isPassed(place)
    return [...entered, ...judged, ...(isLast ? [this.close(span.epoch)] : [])]
  })

  /** Nothing is said of the place any more: its epoch has ended, or it was trimmed meanwhile. */
  isPassed(place: Place): boolean {
    return this.endedEpoch === place.epoch || this.skipTo !== undefined && compareBoundaries(place, this.skipTo) < 0
  }

  private enter(place: Place): ReadonlyArray<WalkStep> {
    this.before = { ...this.before, epoch: place.epoch, slot: place.slot }
    return this.comparePoints()
  }

  private close(epoch: number): WalkStep {
    this.endedEpoch = epoch
    return { _tag: "EpochEnd", boundary: this.before, isExact: this.isExact }
  }

  private judgeSlot(span: Span, fetched: Fetched): Judged {
    switch (fetched._tag) {
      case "Refused":
        return Effect.fail(fetched.error)
      case "Missing":
        return this.judgeMissing(span, fetched)
      case "Broken":
        return this.judgeBroken(span, fetched)
      case "Whole":
        return this.judgeWhole(span, fetched)
    }
  }

  private judgeWhole(span: Span, fetched: Whole): Judged {
    const { header, place } = fetched
    this.logId ??= header.logId
    const wrong = misplacement(header, { ...place, logId: this.logId })
    if (wrong !== undefined) {
      if (span.open && header.kind === "end-marker" && header.epoch === place.epoch && header.slot === place.slot) {
        return Effect.succeed([{ _tag: "Marker", header }, this.close(span.epoch)])
      }
      return this.lose(span, place, { kind: "segment-misplaced", reason: wrong }, fetched.bytes)
    }
    return Effect.map(this.olderManifest(header), (older) => {
      const doubts = this.doubts(fetched)
      const joined = this.join(place, header)
      const isRead = !joined.some((step) => step._tag === "Finding" && unread.has(step.kind))
      const count = checked(isRead ? header.count : 0, fetched.bytes)
      return [{ _tag: "Header", header }, ...older, ...doubts, ...joined, count]
    })
  }

  /** What is wrong with a segment that readers deliver all the same. */
  private doubts(fetched: Whole): ReadonlyArray<Finding> {
    const { contradiction, header, place } = fetched
    const { prefix } = this.context
    if (this.writer?.epoch !== place.epoch) this.writer = { epoch: place.epoch, nonce: header.nonce }
    const { nonce } = this.writer
    const isOther = header.nonce !== nonce
    const reason = contradiction ??
      (header.firstAt < this.before.at ? "its first time lies before the last one of the segment before" : undefined)
    return [
      ...(reason === undefined ? [] : [slotFinding(prefix, place, { kind: "segment-corrupt", reason })]),
      ...(isOther
        ? [slotFinding(prefix, place, {
          kind: "segment-misplaced",
          reason: `it is of writer ${header.nonce}, the epoch is of ${nonce}`
        })]
        : [])
    ]
  }

  /** Damaged: with a header that fits, only the records of this segment are lost, and the chain goes on. */
  private judgeBroken(span: Span, fetched: Broken): Judged {
    const { header, place, reason } = fetched
    const kind: FindingKind = fetched.isTooNew ? "segment-too-new" : "segment-corrupt"
    const due = this.before.seq + 1
    const isHere = header !== undefined &&
      misplacement(header, { ...place, logId: this.logId ?? header.logId }) === undefined
    const joins = isHere && header.count > 0 && header.firstSeq >= due &&
      (!this.isExact || header.firstSeq === due && header.chain === this.before.chain)
    if (!joins) return this.lose(span, place, { kind, reason }, fetched.bytes)
    const isTold = this.isTold(place)
    this.before = boundaryAfter(header, this.context.digest)
    this.isExact = true
    const lost: LostNumbers = { from: header.firstSeq, to: this.before.seq, exact: true }
    const finding = slotFinding(this.context.prefix, place, { kind, reason, ...(isTold ? {} : { lost }) })
    return Effect.succeed([
      { _tag: "Header", header },
      finding,
      checked(0, fetched.bytes),
      ...this.comparePoints()
    ])
  }

  /** How a segment that is in its place follows what was before it. */
  private join(place: Place, header: SegmentHeader): ReadonlyArray<WalkStep> {
    const found: Array<WalkStep> = []
    const tell = (kind: FindingKind, reason: string, lost?: LostNumbers) =>
      found.push(slotFinding(this.context.prefix, place, { kind, reason, ...(lost === undefined ? {} : { lost }) }))
    const due = this.before.seq + 1
    const last = header.firstSeq + header.count - 1
    const own: LostNumbers = { from: header.firstSeq, to: last, exact: true }
    const link = header.slot === 0 ? linkOf(header) : undefined
    if (header.firstSeq < due) {
      const lost = last < due ? undefined : { ...own, from: due }
      tell("sequence-doubled", `it starts at ${header.firstSeq}, ${due} was due`, lost)
    } else if (this.isExact && header.firstSeq > due) {
      const lost: LostNumbers = { from: due, to: header.firstSeq - 1, exact: true }
      tell("sequence-gap", `it starts at ${header.firstSeq}, ${due} was due`, lost)
    } else if (this.isExact && header.chain !== this.before.chain) {
      tell("chain-broken", "its chain does not follow the segment before", own)
    } else if (
      link !== undefined && this.isExact && (link.seq !== this.before.seq || link.chain !== this.before.chain)
    ) {
      tell("boundary-wrong", `its link names record ${link.seq} as the last one of the epoch before, it is ${due - 1}`)
    }
    this.before = boundaryAfter(header, this.context.digest)
    this.isExact = true
    return [...found, ...this.comparePoints()]
  }

  /** A header knows a trim point that the manifest does not: the manifest is older. */
  private olderManifest(header: SegmentHeader): Judged {
    const { map, prefix } = this.context
    const copy = trimOf(header)
    if (copy === undefined || map.start === undefined || compareBoundaries(copy, map.start) <= 0) {
      return Effect.succeed([])
    }
    return Effect.map(this.context.lookAgain, (look) => {
      if (look === undefined || compareBoundaries(copy, look.trim) <= 0) return []
      const reason = `this header knows the trim point ${copy.epoch}/${copy.slot}, the manifest is at ` +
        `${look.trim.epoch}/${look.trim.slot}: it is older`
      return [slotFinding(prefix, header, { kind: "manifest-rolled-back", reason })]
    })
  }

  private isTold(place: Place): boolean {
    return this.told !== undefined && compareBoundaries(place, this.told.to) < 0
  }

  /** It was looked at when the loss before it was told, and was known to be durable by then. */
  private isKnownMissing(span: Span, place: Place): boolean {
    return this.isTold(place) && (!span.open || this.told?.from.epoch === place.epoch)
  }

  /** What the manifest says of this point; after damage the walk takes it over. */
  private comparePoints(): ReadonlyArray<WalkStep> {
    const points = pointsAt(this.context.map, this.before)
    const [best] = points
    if (best === undefined) return []
    if (!this.isExact) {
      // The numbers of a loss only rise.
      this.before = { ...best.boundary, seq: Math.max(best.boundary.seq, this.before.seq) }
      this.isExact = true
      return []
    }
    const { at, chain, seq } = this.before
    return points.filter(({ boundary }) => boundary.seq !== seq || boundary.chain !== chain || boundary.at !== at)
      .map(({ boundary, kind }) =>
        slotFinding(this.context.prefix, boundary, {
          kind: "boundary-wrong",
          reason: `the manifest's ${kind} names record ${boundary.seq} as the last one before it, it is ${seq}` +
            (boundary.seq === seq ? "; time or chain differ" : ""),
          actual: this.before
        })
      )
  }

  /** A slot whose records cannot be had: the loss reaches to the next point that is known. */
  private readonly lose = Effect.fnUntraced(function*(
    this: SegmentWalk,
    span: Span,
    place: Place,
    what: { readonly kind: FindingKind; readonly reason: string; readonly proof?: Proof },
    bytes: number
  ) {
    const from = this.before.seq + 1
    const isTold = this.isTold(place)
    if (!isTold) {
      const known = what.proof ?? (span.open ? yield* this.prove(place.epoch, place.slot + 1) : undefined)
      const { resumesAt, to } = yield* lossEnd({ ...this.context, logId: this.logId }, place, known?.through ?? 0)
      // Asked after that: what is deleted while it is looked at looks lost too, and is trimmed.
      if (this.isTrimmed(place, yield* this.context.lookAgain)) return []
      this.told = { from: place, to: resumesAt }
      this.before = { ...this.before, seq: Math.max(this.before.seq, to ?? 0) }
      if (to === undefined) {
        // At least one record was in it.
        const look = yield* this.context.lookAgain
        this.before = { ...this.before, seq: Math.max(from, look?.live === place.epoch ? look.highestCursor : 0) }
      }
      const lost: LostNumbers = { from, to: this.before.seq, exact: to !== undefined }
      const finding = slotFinding(this.context.prefix, place, { ...what, ...(lost.to < from ? {} : { lost }) })
      return [finding, ...this.pass(place, bytes)]
    }
    return [slotFinding(this.context.prefix, place, what), ...this.pass(place, bytes)]
  })

  private pass(place: Place, bytes: number): ReadonlyArray<WalkStep> {
    this.before = { ...this.before, epoch: place.epoch, slot: place.slot + 1 }
    this.isExact = false
    return [checked(0, bytes), ...this.comparePoints()]
  }

  private readonly prove = Effect.fnUntraced(function*(this: SegmentWalk, epoch: number, slot: number) {
    const known = this.proof
    if (known !== undefined && known.epoch === epoch && known.through > slot) return known
    const look: LogLook | undefined = yield* this.context.lookAgain
    const found = yield* proveDurable({ ...this.context, logId: this.logId }, { epoch, slot }, this.before.seq, look)
    if (found !== undefined) this.proof = { ...found, epoch }
    return found
  })

  /** Nothing is there: trimmed meanwhile, the end of the log, or a loss. */
  private readonly judgeMissing = Effect.fnUntraced(function*(this: SegmentWalk, span: Span, fetched: Missing) {
    const { place } = fetched
    let proof: Proof | undefined
    if (span.open) {
      proof = yield* this.prove(place.epoch, place.slot)
      const look = yield* this.context.lookAgain
      if (this.isTrimmed(place, look)) return []
      const ended = look === undefined ? undefined : endedSince(look, place.epoch)
      if (ended === undefined ? proof === undefined : place.slot >= ended) return [this.close(span.epoch)]
    }
    // Stored since, where a writer is at work: what says that it was durable may be newer than the first look.
    const again = this.isKnownMissing(span, place) ? fetched : yield* fetchAgain(this.context, place)
    if (again._tag !== "Missing") return yield* this.judgeSlot(span, again)
    // Asked after the slot: whatever the trim point is now, it was no further when the slot was not there.
    if (this.isTrimmed(place, yield* this.context.lookAgain)) return []
    const reason = proof?.by ?? "the end of its epoch is recorded above it"
    return yield* this.lose(
      span,
      place,
      { kind: "segment-missing", reason, ...(proof === undefined ? {} : { proof }) },
      0
    )
  })

  /** The trim point has passed the place: the walk goes on from there. */
  private isTrimmed(place: Place, look: LogLook | undefined): boolean {
    if (look === undefined || compareBoundaries(place, look.trim) >= 0) return false
    this.before = look.trim
    this.isExact = true
    this.skipTo = look.trim
    return true
  }
}
