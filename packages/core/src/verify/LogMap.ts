/**
 * The log as it has to be: which slots each epoch holds, and the points that the manifest knows exactly.
 *
 * Taken from a manifest; where there is none, from what is stored (`ObjectMap.ts`).
 */
import type { Boundary } from "../format/Boundary.ts"
import type { DamagedSlots, Manifest } from "../format/ManifestCodec.ts"
import type { Place } from "../read/LogView.ts"

/** The slots of an epoch. */
export interface Span {
  readonly epoch: number
  readonly from: number
  /** The first slot after them. Where the end is not recorded, one that is not stored yet is among them. */
  readonly end: number
  /** The end is not recorded: it is where an end marker or a slot that nobody knows to be durable is met. */
  readonly open: boolean
}

/** Where a point of the manifest comes from; a recorded end is more than the others. */
export type PointKind = "end" | "checkpoint" | "index"

export interface KnownPoint {
  readonly kind: PointKind
  readonly boundary: Boundary
}

export interface LogMap {
  /** `undefined`: the one that the first readable segment names. */
  readonly logId: string | undefined
  /** What the first slot follows; `undefined`: only that slot says it. */
  readonly start: Boundary | undefined
  /** The highest trim point that is known; the log can have been trimmed further where it has no manifest. */
  readonly trim: Boundary | undefined
  /** Ascending; none is empty. */
  readonly spans: ReadonlyArray<Span>
  readonly points: ReadonlyMap<string, ReadonlyArray<KnownPoint>>
}

const pointKey = ({ epoch, slot }: Place): string => `${epoch}/${slot}`

/** What the manifest says of a point, recorded ends first. */
export const pointsAt = (map: LogMap, place: Place): ReadonlyArray<KnownPoint> => map.points.get(pointKey(place)) ?? []

const order: ReadonlyArray<PointKind> = ["end", "checkpoint", "index"]

const collectPoints = (manifest: Manifest, ends: ReadonlyArray<Boundary>): LogMap["points"] => {
  const all: ReadonlyArray<KnownPoint> = [
    ...ends.map((boundary) => ({ kind: "end" as const, boundary })),
    ...(manifest.live === manifest.checkpoint.epoch && manifest.live !== 0
      ? [{ kind: "checkpoint" as const, boundary: manifest.checkpoint }]
      : []),
    ...manifest.index.map((boundary) => ({ kind: "index" as const, boundary }))
  ]
  const points = new Map<string, Array<KnownPoint>>()
  for (const point of all) {
    const there = points.get(pointKey(point.boundary)) ?? []
    points.set(
      pointKey(point.boundary),
      [...there, point].sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    )
  }
  return points
}

/** An epoch whose end is not recorded. One slot more than is stored, so that the end itself is looked at. */
export const openSpan = (epoch: number, from: number, high: number): Span => ({
  epoch,
  from,
  end: Math.max(high + 1, from) + 1,
  open: true
})

/** What is stored of the epochs that have no recorded end. */
export type OpenRanges = ReadonlyMap<number, { readonly low: number; readonly high: number }>

/**
 * The map of a manifest. `stored` has what a listing shows of its live epoch, and of epochs up to `unknownThrough` whose
 * ends are not known.
 */
export const mapOf = (
  manifest: Manifest,
  ends: ReadonlyArray<Boundary>,
  stored: OpenRanges,
  unknownThrough: number
): LogMap => {
  const { live, trim } = manifest
  const from = (epoch: number) => epoch === trim.epoch ? trim.slot : 0
  const checkpoint = manifest.checkpoint.epoch === live ? manifest.checkpoint.slot : 0
  const lost = [...stored].filter(([epoch]) => epoch <= unknownThrough && epoch >= trim.epoch && epoch !== live)
  const spans: ReadonlyArray<Span> = [
    ...lost.map(([epoch, { high }]) => openSpan(epoch, from(epoch), high)),
    ...ends.map((end): Span => ({ epoch: end.epoch, from: from(end.epoch), end: end.slot, open: false })),
    ...(live === 0 ? [] : [openSpan(live, from(live), Math.max(stored.get(live)?.high ?? -1, checkpoint - 1))])
  ]
  return {
    logId: manifest.log_id,
    start: trim,
    trim,
    spans: spans.filter((span) => span.from < span.end).sort((a, b) => a.epoch - b.epoch),
    points: collectPoints(manifest, ends)
  }
}

/** Slots to check, without those that are looked at only to see that they are not there. */
export const slotsOf = (map: LogMap): number =>
  map.spans.reduce((sum, span) => sum + span.end - span.from - (span.open ? 1 : 0), 0)

/** All places, in the order of the log, but for those that have become of no account when it is their turn. */
export function* placesOf(map: LogMap, isPassed: (place: Place) => boolean): Generator<Place> {
  for (const { end, epoch, from } of map.spans) {
    for (let slot = from; slot < end; slot++) if (!isPassed({ epoch, slot })) yield { epoch, slot }
  }
}

/** A place, or the point after the last one of its epoch. */
export interface MapPoint {
  readonly place: Place
  readonly span: Span
  readonly isEnd: boolean
}

/** The points behind a place, up to the end of the log. */
export function* pointsAfter(map: LogMap, place: Place): Generator<MapPoint> {
  for (const span of map.spans) {
    if (span.epoch < place.epoch) continue
    const first = span.epoch === place.epoch ? place.slot + 1 : span.from
    for (let slot = first; slot <= span.end; slot++) {
      yield { place: { epoch: span.epoch, slot }, span, isEnd: slot === span.end }
    }
  }
}

/** Whether a repair has recorded damage at a slot. */
export const isKnownDamage = (damage: ReadonlyArray<DamagedSlots>, { epoch, slot }: Place): boolean =>
  damage.some((one) => one.epoch === epoch && one.slot <= slot && slot <= one.through)
