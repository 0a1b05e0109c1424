/**
 * What the headers of a log say about what its manifest was: gathered on a walk.
 *
 * Memory grows with epochs and damaged stretches, not with segments.
 */
import { type Boundary, compareBoundaries, laterBoundary } from "../format/Boundary.ts"
import { boundaryBefore } from "../format/ChainHash.ts"
import { type CursorSet, newerCursors } from "../format/CursorSet.ts"
import {
  type CallSpan,
  callSpanOf,
  cursorsOf,
  linkOf,
  type OriginMarks,
  originsOf,
  ownerOf,
  trimOf
} from "../format/Extensions.ts"
import { slotKey } from "../format/ObjectKey.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { Finding, LostNumbers } from "../verify/Finding.ts"
import type { WalkStep } from "../verify/SegmentWalk.ts"

/** Neighbouring slots that cannot be read for one reason, and what is lost with them. */
export interface DamagedStretch {
  readonly epoch: number
  readonly slot: number
  /** The last of them, inclusive. */
  readonly through: number
  /** Nothing is stored in any of them. */
  readonly isMissing: boolean
  /** Absent where a stretch before it, or nothing, has the numbers. */
  readonly lost?: LostNumbers
  readonly reason: string
}

/** Where an epoch was found to end. */
export interface FoundEnd {
  readonly boundary: Boundary
  /** Numbers and chain are those of the segment before it. */
  readonly isExact: boolean
}

/** Kinds that are about the bytes of a slot. */
const slotKinds: ReadonlySet<Finding["kind"]> = new Set([
  "segment-missing",
  "segment-corrupt",
  "segment-misplaced",
  "sequence-doubled",
  "sequence-gap",
  "chain-broken"
])

export class Evidence {
  trim: Boundary | undefined = undefined
  cursors: CursorSet | undefined = undefined
  origins: OriginMarks = {}
  /** The first header that reads. */
  first: Boundary | undefined = undefined
  logId: string | undefined = undefined
  /** Segments that can be read. */
  segments = 0
  /** The newest epoch of which a header reads. */
  newestRead = 0
  /** The highest epoch that anything names. */
  highestEpoch = 0
  readonly ends = new Map<number, FoundEnd>()
  /** By epoch: its end, as the first segment of the next one says. */
  readonly links = new Map<number, Boundary>()
  /** Epochs whose end marker was met. */
  readonly marked = new Set<number>()
  readonly callSpans = new Map<number, CallSpan>()
  readonly stretches: Array<DamagedStretch> = []
  /** Objects that are there and are not what belongs there. */
  readonly damagedKeys: Array<{ readonly key: string; readonly reason: string }> = []
  /** What the segments say of points that the manifest has wrong. */
  readonly corrected: Array<Boundary> = []
  /** The point after the last stretch of missing slots, where a segment follows. */
  afterLastMissing: Boundary | undefined = undefined
  private awaitsSegment = false

  /** Takes in a step of the walk. */
  step(step: WalkStep): void {
    switch (step._tag) {
      case "Header":
        return this.header(step.header)
      case "Marker":
        this.marked.add(step.header.epoch)
        this.sawEpoch(step.header.epoch, ownerOf(step.header)?.epoch)
        this.logId ??= step.header.logId
        return
      case "EpochEnd":
        this.ends.set(step.boundary.epoch, { boundary: step.boundary, isExact: step.isExact })
        this.sawEpoch(step.boundary.epoch)
        return
      case "Finding":
        return this.finding(step)
      case "Checked":
        if (step.records > 0) this.segments++
        return
    }
  }

  private sawEpoch(...epochs: ReadonlyArray<number | undefined>): void {
    this.highestEpoch = Math.max(this.highestEpoch, ...epochs.map((epoch) => epoch ?? 0))
  }

  /** A trim point that a header knows, be it one that the walk does not come to. */
  sawTrim(trim: Boundary): void {
    this.trim = this.trim === undefined ? trim : laterBoundary(trim, this.trim)
    this.sawEpoch(trim.epoch)
  }

  private header(header: SegmentHeader): void {
    const before = boundaryBefore(header)
    this.first ??= before
    this.logId ??= header.logId
    this.newestRead = Math.max(this.newestRead, header.epoch)
    if (this.awaitsSegment) this.afterLastMissing = before
    this.awaitsSegment = false
    const trim = trimOf(header)
    if (trim !== undefined) this.sawTrim(trim)
    const cursors = cursorsOf(header)
    if (cursors !== undefined) this.cursors = this.cursors === undefined ? cursors : newerCursors(cursors, this.cursors)
    const link = header.slot === 0 ? linkOf(header) : undefined
    // The first epoch of a log follows the start of the log, which is no end.
    if (link !== undefined && link.epoch < header.epoch) this.links.set(link.epoch, link)
    const calls = callSpanOf(header)
    if (calls !== undefined) this.callSpans.set(header.epoch, calls)
    for (const [spool, mark] of Object.entries(originsOf(header)?.marks ?? {})) {
      const known = this.origins[spool]
      if (known === undefined || compareBoundaries(mark, known) > 0) this.origins = { ...this.origins, [spool]: mark }
    }
    this.sawEpoch(header.epoch, trim?.epoch, cursors?.revision.epoch, link?.epoch)
  }

  private finding(finding: Finding): void {
    if (finding.actual !== undefined) this.corrected.push(finding.actual)
    const { epoch, kind, key, lost, reason, slot } = finding
    if (!slotKinds.has(kind) || epoch === undefined || slot === undefined) return
    const isMissing = kind === "segment-missing"
    if (isMissing) this.awaitsSegment = true
    else if (kind !== "sequence-gap") this.damagedKeys.push({ key, reason })
    const last = this.stretches.at(-1)
    const isNext = last !== undefined && last.epoch === epoch && last.through + 1 === slot &&
      last.isMissing === isMissing && lost === undefined
    if (isNext) this.stretches.splice(-1, 1, { ...last, through: slot })
    else this.stretches.push({ epoch, slot, through: slot, isMissing, reason, ...(lost === undefined ? {} : { lost }) })
  }
}

/** A stretch in one line, for people. */
export const describeStretch = (prefix: string, stretch: DamagedStretch): string => {
  const { epoch, lost, slot, through } = stretch
  const slots = slot === through ? "" : ` to slot ${through}`
  const numbers = lost === undefined
    ? "no records of its own"
    : `records ${lost.from} to ${lost.to}${lost.exact ? "" : " at most"}`
  return `${slotKey(prefix, epoch, slot)}${slots}: ${stretch.isMissing ? "missing" : stretch.reason}: ${numbers}`
}
