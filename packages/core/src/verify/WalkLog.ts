/** The walk as a stream: slots are fetched a bounded number ahead, and judged in order. */
import { Stream } from "effect"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { StoreError } from "../WalError.ts"
import { fetchSlot } from "./FetchSlot.ts"
import { placesOf } from "./LogMap.ts"
import { SegmentWalk, type WalkContext, type WalkStep } from "./SegmentWalk.ts"

/** Judges all slots of the map; `walk` says where it stands. At most `prefetch` objects are held. */
export const walkLog = (
  context: WalkContext,
  prefetch: number
): { readonly walk: SegmentWalk; readonly steps: Stream.Stream<WalkStep, StoreError, ObjectStore> } => {
  const walk = new SegmentWalk(context)
  const places = { [Symbol.iterator]: () => placesOf(context.map, (place) => walk.isPassed(place)) }
  const steps = Stream.fromIterable(places, { chunkSize: 1 }).pipe(
    Stream.mapEffect((place) => fetchSlot(context, place), { concurrency: prefetch }),
    Stream.mapEffect((fetched) => walk.judge(fetched)),
    Stream.flattenIterable
  )
  return { walk, steps }
}
