/**
 * How far the live epoch of a log reaches, seen without writing anything.
 *
 * Segments that follow each other without a gap from a known durable point, below the lowest end marker, are part of the
 * log for ever: whoever ends the epoch ends it above them.
 */
import { Effect } from "effect"
import type { Manifest } from "../format/ManifestCodec.ts"
import { maxMarkerBytes } from "../format/SegmentCodec.ts"
import { findMarker, refuseLoss, searchStart, tailBefore } from "./EndLiveEpoch.ts"
import { firstMissing, inspect, orderSlots } from "./EndOfEpoch.ts"
import { listSlots, lookAtStored, type LookContext } from "./SlotLook.ts"
import { storedMeanwhile } from "./StoredMeanwhile.ts"

/**
 * The point after the last segment of the live epoch, and the newest cursors. The manifest's `live` is not 0. Fails
 * `SegmentMissing` where something that is stored above that point knows that more was durable.
 */
export const observeLiveEpoch = Effect.fnUntraced(function*(context: LookContext, manifest: Manifest) {
  const from = searchStart(manifest)
  const search = { ...context, manifest, from }
  let ordered = orderSlots(yield* listSlots(context, manifest.live, from.slot), from.slot)
  for (;;) {
    const missing = firstMissing(ordered, from.slot)
    const look = inspect(ordered, { from: from.slot, missing, window: manifest.live_window, maxMarkerBytes })
    const [marker, above] = yield* Effect.all([
      findMarker(search, look.maybeMarkers),
      Effect.result(lookAtStored(search, manifest.live, look.above, look.ownThrough))
    ], { concurrency: "unbounded" })
    const headers = marker === undefined ? yield* Effect.fromResult(above) : []
    const later = yield* storedMeanwhile(search, ordered, headers)
    if (later === undefined) {
      const tail = yield* tailBefore(search, marker ?? missing)
      yield* refuseLoss(search, tail, headers)
      return tail
    }
    ordered = later
  }
})
