/**
 * Where an epoch ends: pure decisions on a listing and on headers.
 *
 * The end is the first slot, at or above the start of the search, that holds no segment of the epoch. What lies above it
 * can be slots that were in flight when the writer stopped, barrier markers, and foreign things; what says that the slot
 * was durable makes it a loss, not an end.
 */
import type { SegmentHeader } from "../format/SegmentHeader.ts"

export interface ListedSlot {
  readonly slot: number
  readonly sizeBytes: number
}

/** Sorted by slot, each once, none below `from`. */
export const orderSlots = (listed: ReadonlyArray<ListedSlot>, from: number): ReadonlyArray<ListedSlot> => {
  const bySlot = new Map<number, ListedSlot>()
  for (const one of listed) if (one.slot >= from) bySlot.set(one.slot, one)
  return [...bySlot.values()].sort((left, right) => left.slot - right.slot)
}

/** The first slot at or above `from` that the ordered listing does not have. */
export const firstMissing = (ordered: ReadonlyArray<ListedSlot>, from: number): number => {
  let slot = from
  for (const one of ordered) {
    if (one.slot !== slot) break
    slot++
  }
  return slot
}

/** Slots whose headers have to be seen before an end marker is put at `missing`. */
export interface Inspection {
  /** Could be end markers that were put before: small, in the top two windows of what is contiguous. */
  readonly maybeMarkers: ReadonlyArray<number>
  /** Stored above the missing slot: could know that it was durable. */
  readonly above: ReadonlyArray<number>
  /** Up to here what is stored above is this epoch's own: in flight when its writer stopped, or a barrier. */
  readonly ownThrough: number
}

export const inspect = (
  ordered: ReadonlyArray<ListedSlot>,
  search: { readonly from: number; readonly missing: number; readonly window: number; readonly maxMarkerBytes: number }
): Inspection => {
  const lowest = Math.max(search.from, search.missing - 2 * search.window - 2)
  return {
    maybeMarkers: ordered
      .filter((one) => one.slot >= lowest && one.slot < search.missing && one.sizeBytes <= search.maxMarkerBytes)
      .map((one) => one.slot),
    // Barriers and slots that were in flight are fewer than two windows: anything beyond them is among the first that many.
    above: ordered
      .filter((one) => one.slot > search.missing)
      .slice(0, 2 * search.window)
      .map((one) => one.slot),
    ownThrough: search.missing + 2 * search.window
  }
}

/** Whether a stored object is a segment of this epoch in its own place. */
export const isSegmentOf = (
  header: SegmentHeader,
  place: { readonly logId: string; readonly epoch: number; readonly slot: number }
): boolean =>
  header.kind === "segment" && header.logId === place.logId && header.epoch === place.epoch &&
  header.slot === place.slot

/** Whether a stored object is an end marker of this epoch in its own place. */
export const isMarkerOf = (
  header: SegmentHeader,
  place: { readonly logId: string; readonly epoch: number; readonly slot: number }
): boolean =>
  header.kind === "end-marker" && header.logId === place.logId && header.epoch === place.epoch &&
  header.slot === place.slot

/** The highest sequence number that anything seen says was durable, if it lies above what is left; else `undefined`. */
export const lostThrough = (
  left: { readonly slot: number; readonly seq: number },
  evidence: { readonly above: ReadonlyArray<SegmentHeader>; readonly highestCursor: number }
): number | undefined => {
  let through = evidence.highestCursor > left.seq ? evidence.highestCursor : undefined
  for (const header of evidence.above) {
    if (header.watermarkSlot <= left.slot) continue
    through = Math.max(through ?? left.seq + 1, header.watermarkSeq)
  }
  return through
}
