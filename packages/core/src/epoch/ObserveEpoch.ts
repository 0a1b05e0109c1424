/**
 * How far the live epoch of a log reaches, seen without writing anything.
 *
 * Segments that follow each other without a gap from a known durable point, below the lowest end marker, are part of the
 * log for ever: whoever ends the epoch ends it above them.
 */
import { Effect } from "effect"
import type { Manifest } from "../format/ManifestCodec.ts"
import { lookForEnd, searchStart } from "./EndLiveEpoch.ts"
import { orderSlots } from "./EndOfEpoch.ts"
import { listSlots, type LookContext } from "./SlotLook.ts"

/**
 * The point after the last segment of the live epoch, and the newest cursors. The manifest's `live` is not 0. Fails as an
 * opening does that looks at the epoch now.
 */
export const observeLiveEpoch = Effect.fnUntraced(function*(context: LookContext, manifest: Manifest) {
  const from = searchStart(manifest)
  const listed = yield* listSlots(context, manifest.live, from.slot)
  const { found } = yield* lookForEnd({ ...context, manifest, from }, orderSlots(listed, from.slot))
  return found
})
