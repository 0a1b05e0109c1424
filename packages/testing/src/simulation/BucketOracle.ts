/**
 * What the stored objects prove, checked at every change of the bucket.
 *
 * It knows each segment that was ever stored, so that it can tell what is in the log after deletion too. A segment is in the
 * log when it lies below the end that a manifest has recorded for its epoch; a recorded end outranks every object.
 *
 * Checked: the manifest's epoch, trim point and ends never go back or change · the trim point is a segment boundary, and
 * passes no record that a cursor or a caller has not given up · nothing that was acknowledged lies at or above a recorded
 * end · only what is trimmed or an orphan is deleted · numbers in the log are dense · segments are sent in their epoch and
 * within its window, and are no longer than they may be.
 */
import type { DigestService } from "@effect-wal/core/codec/Digest"
import { compareBoundaries } from "@effect-wal/core/format/Boundary"
import { knownCriticalExtensions } from "@effect-wal/core/format/Extensions"
import { decodeManifest, type Manifest } from "@effect-wal/core/format/ManifestCodec"
import { manifestKey, parseSlotKey } from "@effect-wal/core/format/ObjectKey"
import { decodeBody } from "@effect-wal/core/format/SegmentBody"
import { decodeHeader } from "@effect-wal/core/format/SegmentHeader"
import { Context, Effect, Exit } from "effect"
import { zstdDecompressSync } from "node:zlib"
import type { Bucket } from "./Bucket.ts"
import { checkManifest } from "./ManifestRules.ts"
import { idOf } from "./Payload.ts"
import { SendOrder } from "./SendOrder.ts"
import type { Violations } from "./Violations.ts"

/** A segment that was stored at some time. */
export interface SegmentFact {
  readonly epoch: number
  readonly slot: number
  readonly firstSeq: number
  readonly lastSeq: number
  /** The ids of its records, in order. */
  readonly ids: ReadonlyArray<number>
  /** It is in the bucket now. */
  isStored: boolean
  /** Somebody was told that its records are durable, or was shown one. */
  isPromised: boolean
  /** It was deleted once. Late requests can bring it back. */
  wasRemoved: boolean
}

export interface BucketOracleParts {
  readonly bucket: Bucket
  readonly prefix: string
  readonly digest: DigestService
  readonly violations: Violations
  /** Everything up to this number was given up by the cursor that is always there. */
  readonly givenUpTo: () => number
  /** Deletion by age or size is on: cursors hold nothing back. */
  readonly deletesByAge: boolean
  /** Most records of a segment. */
  readonly maxEntries: number
}

interface EpochFacts {
  /** By slot; `undefined` where nothing was stored yet. */
  readonly segments: Array<SegmentFact | undefined>
  end: { readonly slot: number; readonly seq: number } | undefined
}

const isStoredOnce = (segment: SegmentFact | undefined): segment is SegmentFact => segment !== undefined

export class BucketOracle {
  private readonly parts: BucketOracleParts
  private readonly epochs = new Map<number, EpochFacts>()
  private readonly order: SendOrder
  /** The manifest as it is stored; absent until there is one. */
  manifest: Manifest | undefined
  /** Records of epochs that were trimmed as a whole before their end was recorded: they were in the log, or were orphans. */
  readonly trimmedUnseen = new Set<number>()
  /** Epochs that were activated. */
  activations = 0

  constructor(parts: BucketOracleParts) {
    this.parts = parts
    this.order = new SendOrder(parts.violations)
    parts.bucket.observe({
      onWritten: (key, body) => this.written(key, body),
      onRemoved: (key) => this.removed(key),
      onChanged: (key) => parts.violations.add(`P1: ${key} has changed while it was sent`)
    })
  }

  /** The segment of an epoch that holds a number, as long as it was stored at some time. */
  find(epoch: number, seq: number): SegmentFact | undefined {
    return this.epochs.get(epoch)?.segments.find((one) =>
      one !== undefined && one.firstSeq <= seq && seq <= one.lastSeq
    )
  }

  /** The end that was recorded for an epoch. */
  endOf(epoch: number): { readonly slot: number; readonly seq: number } | undefined {
    return this.epochs.get(epoch)?.end
  }

  /** A record is durable, or so its writer says. */
  promise(epoch: number, seq: number, id: number): void {
    const { violations } = this.parts
    const trimmedTo = this.manifest?.trim.seq ?? 0
    const segment = this.find(epoch, seq)
    if (segment === undefined) {
      violations.unless(seq <= trimmedTo, () => `P1: record ${seq} of epoch ${epoch} is called durable and not stored`)
      return
    }
    const stored = segment.ids[seq - segment.firstSeq]
    violations.unless(stored === id, () => `P1: record ${seq} of epoch ${epoch} is ${stored}, acknowledged was ${id}`)
    this.keep(segment)
    this.keepBelow(segment)
  }

  /**
   * All segments that are in the log: below the recorded ends, and of the live epoch up to its first gap. Ascending. Of an
   * epoch that was trimmed as a whole in the very body that would have recorded its end, nobody knows.
   */
  get inLog(): ReadonlyArray<SegmentFact> {
    return [...this.epochs.entries()].sort(([left], [right]) => left - right).flatMap(([epoch, facts]) => {
      if (facts.end !== undefined) return facts.segments.slice(0, facts.end.slot).filter(isStoredOnce)
      if (epoch !== this.manifest?.live) return []
      const gap = facts.segments.findIndex((one) => one === undefined)
      return facts.segments.slice(0, gap < 0 ? undefined : gap).filter(isStoredOnce)
    })
  }

  /** Segments of the log with numbers above `fromSeq` and up to the trim point that were never deleted. */
  leftBelowTrim(fromSeq: number): ReadonlyArray<SegmentFact> {
    const trimmedTo = this.manifest?.trim.seq ?? 0
    return this.inLog.filter(({ firstSeq, isStored, lastSeq, wasRemoved }) =>
      isStored && !wasRemoved && firstSeq > fromSeq && lastSeq <= trimmedTo
    )
  }

  /** A promised segment is below the recorded end of its epoch, and stored unless it is trimmed. */
  private keep(segment: SegmentFact): void {
    segment.isPromised = true
    const { epoch, isStored, lastSeq, slot } = segment
    const end = this.endOf(epoch)
    const { violations } = this.parts
    violations.unless(
      end === undefined || slot < end.slot,
      () => `P1: slot ${slot} of epoch ${epoch} is acknowledged and lies at or above its end ${end?.slot}`
    )
    violations.unless(
      isStored || lastSeq <= (this.manifest?.trim.seq ?? 0),
      () => `P1: slot ${slot} of epoch ${epoch} is acknowledged, not trimmed and not stored`
    )
  }

  /** In order: what lies below a durable slot of its epoch is durable too. */
  private keepBelow(segment: SegmentFact): void {
    const { segments } = this.epochOf(segment.epoch)
    for (let slot = segment.slot - 1; slot >= 0; slot--) {
      const below = segments[slot]
      if (below === undefined) {
        this.parts.violations.add(`P1: slot ${segment.slot} of epoch ${segment.epoch} is durable before slot ${slot}`)
        return
      }
      if (below.isPromised) return
      this.keep(below)
    }
  }

  private epochOf(epoch: number): EpochFacts {
    const known = this.epochs.get(epoch)
    if (known !== undefined) return known
    const fresh: EpochFacts = { segments: [], end: undefined }
    this.epochs.set(epoch, fresh)
    return fresh
  }

  private written(key: string, body: Uint8Array): void {
    if (key === manifestKey(this.parts.prefix)) return this.manifestWritten(key, body)
    const place = parseSlotKey(this.parts.prefix, key)
    if (place === undefined) return
    const decoded = decodeHeader(body, this.parts.digest, knownCriticalExtensions)
    if ("_tag" in decoded) return this.parts.violations.add(`${key} was written and does not decode`)
    const { header, headerBytes } = decoded
    if (header.kind === "end-marker") return
    const stored = body.subarray(headerBytes)
    const raw = header.codec === "none" ? stored : new Uint8Array(zstdDecompressSync(stored))
    const records = decodeBody(raw, header)
    if ("_tag" in records) return this.parts.violations.add(`${key} was written and its body does not decode`)
    this.segmentWritten(place, header.firstSeq, records.map((record) => idOf(record.payload)))
  }

  private segmentWritten(place: { epoch: number; slot: number }, firstSeq: number, ids: ReadonlyArray<number>): void {
    const { segments } = this.epochOf(place.epoch)
    const before = segments[place.slot]
    const fact: SegmentFact = {
      ...place,
      firstSeq,
      lastSeq: firstSeq + ids.length - 1,
      ids,
      isStored: true,
      isPromised: before?.isPromised ?? false,
      wasRemoved: before?.wasRemoved ?? false
    }
    if (before === undefined) {
      this.order.segmentWritten(place)
      const { maxEntries, violations } = this.parts
      violations.unless(
        ids.length <= maxEntries,
        () => `P5: a segment of ${ids.length} records, most are ${maxEntries}`
      )
    } else {
      const same = before.firstSeq === firstSeq && before.ids.join() === ids.join()
      this.parts.violations.unless(
        same,
        () => `slot ${place.slot} of epoch ${place.epoch} was written twice, differently`
      )
    }
    while (segments.length < place.slot) segments.push(undefined)
    segments[place.slot] = fact
  }

  private removed(key: string): void {
    const { prefix, violations } = this.parts
    if (key === manifestKey(prefix)) return violations.add("the manifest was removed")
    const place = parseSlotKey(prefix, key)
    if (place === undefined) return
    const segment = this.epochs.get(place.epoch)?.segments[place.slot]
    if (segment === undefined) return violations.add(`the end marker ${key} was removed`)
    segment.isStored = false
    segment.wasRemoved = true
    const trim = this.manifest?.trim
    const end = this.endOf(place.epoch)
    const isTrimmed = trim !== undefined && compareBoundaries(place, trim) < 0
    const isOrphan = end !== undefined && place.slot >= end.slot
    violations.unless(
      isTrimmed || (isOrphan && !segment.isPromised),
      () => `P1: ${key} was removed: the trim point is ${trim?.epoch}/${trim?.slot}, the end ${end?.slot}`
    )
  }

  private manifestWritten(key: string, body: Uint8Array): void {
    const { violations } = this.parts
    const exit = Effect.runSyncExitWith(Context.empty())(decodeManifest(key, body))
    if (Exit.isFailure(exit)) return violations.add("the manifest was written and does not decode")
    const next = exit.value
    const before = this.manifest
    this.manifest = next
    if (next.live !== 0 && next.live !== before?.live) this.activations++
    this.order.manifestWritten(next)
    checkManifest(violations, next, (epoch) => this.order.firstMissing(epoch))
    for (const end of next.ends) this.recordEnd(end)
    if (before === undefined) return
    violations.unless(next.epoch >= before.epoch, () => `the manifest's epoch went back to ${next.epoch}`)
    violations.unless(compareBoundaries(next.trim, before.trim) >= 0, () => "the trim point went back")
    violations.unless(next.trim.seq >= before.trim.seq, () => "the trim point's number went back")
    this.checkTrim(next)
    this.checkEndedEpochs(next)
  }

  private recordEnd(end: Manifest["ends"][number]): void {
    const facts = this.epochOf(end.epoch)
    if (facts.end !== undefined) {
      this.parts.violations.unless(
        facts.end.slot === end.slot && facts.end.seq === end.seq,
        () => `the end of epoch ${end.epoch} changed from ${facts.end?.slot} to ${end.slot}`
      )
      return
    }
    facts.end = { slot: end.slot, seq: end.seq }
    for (const segment of facts.segments.slice(end.slot)) if (segment?.isPromised === true) this.keep(segment)
  }

  /** An epoch that is over without an end in the list ended at 0, or lies below the trim point. */
  private checkEndedEpochs(manifest: Manifest): void {
    for (const [epoch, facts] of this.epochs) {
      if (epoch >= manifest.live || facts.end !== undefined || manifest.live === 0) continue
      const promised = facts.segments.findLast((segment) => segment?.isPromised === true)
      if (promised !== undefined && promised.lastSeq > manifest.trim.seq) {
        this.parts.violations.add(`P1: epoch ${epoch} has acknowledged records and is not in the log`)
      }
      facts.end = { slot: 0, seq: 0 }
      if (compareBoundaries(manifest.trim, { epoch, slot: 0 }) <= 0) continue
      for (const segment of facts.segments) for (const id of segment?.ids ?? []) this.trimmedUnseen.add(id)
    }
  }

  private checkTrim({ cursors, trim }: Manifest): void {
    const { deletesByAge, givenUpTo, violations } = this.parts
    const allowed = deletesByAge ? Infinity : Math.min(givenUpTo(), ...Object.values(cursors.marks))
    violations.unless(trim.seq <= allowed, () => `P3: trimmed to ${trim.seq}, given up was ${allowed}`)
    const last = this.epochs.get(trim.epoch)?.segments[trim.slot - 1]
    if (last !== undefined) {
      violations.unless(last.lastSeq === trim.seq, () => `the trim point ${trim.seq} is no segment boundary`)
    }
  }
}
