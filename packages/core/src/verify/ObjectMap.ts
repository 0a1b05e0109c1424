/**
 * The map of a log without a manifest: what is stored, each epoch as far as it goes, from the trim point on that the
 * newest headers know.
 *
 * End markers outlive their epochs. So the epoch that is trimmed in part is the first that has more than its marker, and
 * only what lies behind it can be told to be missing.
 */
import { Effect, Option, Stream } from "effect"
import { isMarkerOf } from "../epoch/EndOfEpoch.ts"
import { lookAtReadable, type LookContext } from "../epoch/SlotLook.ts"
import { type Boundary, laterBoundary } from "../format/Boundary.ts"
import { trimOf } from "../format/Extensions.ts"
import type { Place } from "../read/LogView.ts"
import { sampleLogIds, type SlotRange } from "./Census.ts"
import { type LogMap, openSpan } from "./LogMap.ts"

type Stored = ReadonlyMap<number, SlotRange>

/** Epochs that are looked at together. */
const concurrency = 16

/** The trim point that the newest headers know: that of the newest epoch whose highest slots have a header that reads. */
const newestTrim = Effect.fnUntraced(function*(context: LookContext, stored: Stored, logId: string) {
  for (const [epoch, { top }] of [...stored].sort(([left], [right]) => right - left)) {
    const headers = yield* lookAtReadable(context, epoch, top)
    const [first, ...others] = headers.flatMap((header) => header.logId === logId ? trimOf(header) ?? [] : [])
    if (first !== undefined) return others.reduce(laterBoundary, first)
  }
  return undefined
})

/** The lowest stored slot of each epoch that is not before the trim point. */
const lowestOf = (stored: Stored, trim: Boundary | undefined): ReadonlyArray<Place> =>
  [...stored].filter(([epoch]) => trim === undefined || epoch >= trim.epoch)
    .sort(([left], [right]) => left - right)
    .map(([epoch, { low }]) => ({ epoch, slot: epoch === trim?.epoch ? Math.max(low, trim.slot) : low }))

/** The first of the places where no end marker stands. */
const firstSegment = (context: LookContext, places: ReadonlyArray<Place>) =>
  Stream.fromIterable(places, { chunkSize: 1 }).pipe(
    Stream.mapEffect(
      (place) =>
        Effect.map(lookAtReadable(context, place.epoch, [place.slot]), ([header]) => ({
          place,
          isMarker: header !== undefined && isMarkerOf(header, { ...place, logId: header.logId })
        })),
      { concurrency }
    ),
    Stream.filter(({ isMarker }) => !isMarker),
    Stream.map(({ place }) => place),
    Stream.runHead
  )

/** Whether nothing but trimmed slots can lie between the trim point and the first segment: all between them is stored. */
const isJoined = (places: ReadonlyArray<Place>, first: Place, trim: Boundary): boolean =>
  places[0]?.epoch === trim.epoch &&
  places.every(({ epoch, slot }) => epoch > first.epoch || slot === (epoch === trim.epoch ? trim.slot : 0))

/** The map of what is stored. `logId`: whose objects count; `undefined`: those of the log that the first ones name. */
export const mapOfObjects = Effect.fnUntraced(function*(context: LookContext, stored: Stored, logId?: string) {
  const ids = logId === undefined ? yield* sampleLogIds(context) : new Set([logId])
  const only = ids.size === 1 ? [...ids][0] : undefined
  const trim = only === undefined ? undefined : yield* newestTrim(context, stored, only)
  const places = lowestOf(stored, trim)
  const first = Option.getOrElse(yield* firstSegment(context, places), () => places[0])
  const isStart = first !== undefined && trim !== undefined && isJoined(places, first, trim)
  return {
    logId: only,
    start: isStart ? trim : undefined,
    trim,
    spans: places.map(({ epoch, slot }) =>
      openSpan(epoch, first !== undefined && epoch <= first.epoch ? slot : 0, stored.get(epoch)?.high ?? slot)
    ),
    points: new Map()
  } satisfies LogMap as LogMap
})
