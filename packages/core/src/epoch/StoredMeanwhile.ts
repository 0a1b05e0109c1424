/** Listings of several pages, and a writer that goes on while they are read. */
import { Effect } from "effect"
import type { Manifest } from "../format/ManifestCodec.ts"
import { maxMarkerBytes } from "../format/SegmentCodec.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import { firstMissing, isSegmentOf, type ListedSlot, orderSlots } from "./EndOfEpoch.ts"
import { lookAt, type LookContext } from "./SlotLook.ts"

interface LiveEpoch extends LookContext {
  readonly manifest: Manifest
  /** Below it everything is known to be durable. */
  readonly from: { readonly slot: number }
}

/**
 * The listing with what was stored while it was read; `undefined` where nothing is to be added. Its pages are not of one
 * moment: a header on a later page (`above`) can know slots as durable that an earlier page did not have yet. These are no
 * loss, they are there. Asks nothing where no header knows more than the listing.
 */
export const storedMeanwhile = Effect.fnUntraced(
  function*(epoch: LiveEpoch, ordered: ReadonlyArray<ListedSlot>, above: ReadonlyArray<SegmentHeader>) {
    const { from, manifest: { live, log_id: logId } } = epoch
    const mine = above.filter((header) => isSegmentOf(header, { logId, epoch: live, slot: header.slot }))
    const durable = mine.reduce((slot, header) => Math.max(slot, header.watermarkSlot), 0)
    let later = ordered
    for (let slot = firstMissing(later, from.slot); slot < durable; slot = firstMissing(later, from.slot)) {
      const header = yield* lookAt(epoch, live, slot)
      if (header === undefined || !isSegmentOf(header, { logId, epoch: live, slot })) break
      later = orderSlots([...later, { slot, sizeBytes: maxMarkerBytes + 1 }], from.slot)
    }
    return later === ordered ? undefined : later
  }
)
