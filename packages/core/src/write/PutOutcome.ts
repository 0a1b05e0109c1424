/**
 * What the answer to a segment PUT means for the slot: the table of the protocol, as a pure function.
 */
import { isMarkerOf } from "../epoch/EndOfEpoch.ts"
import { type Owner, ownerOf } from "../format/Extensions.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { ObjectStoreError } from "../store/ObjectStoreError.ts"

/** What to do after a PUT that was not answered with success. */
export type PutStep =
  /** The key is taken: by this very segment, or by an end marker. Look. */
  | "look"
  /** Unknown, undecided or not now: the same key and the same bytes again. */
  | "retry"

export const afterPut = (error: ObjectStoreError): PutStep => error.reason === "AlreadyExists" ? "look" : "retry"

export type LookStep =
  | { readonly _tag: "Confirmed" }
  | { readonly _tag: "Fenced"; readonly owner: Owner | undefined }
  | { readonly _tag: "Conflict"; readonly found: string }

/** What stands at my key. Mine is what has my nonce and the checksum of what I sent; an end marker fences me. */
export const afterLook = (mine: SegmentHeader, found: SegmentHeader): LookStep => {
  const same = found.kind === "segment" && found.nonce === mine.nonce && found.logId === mine.logId &&
    found.epoch === mine.epoch && found.slot === mine.slot && found.storedCrc === mine.storedCrc &&
    found.rawCrc === mine.rawCrc && found.firstSeq === mine.firstSeq && found.count === mine.count
  if (same) return { _tag: "Confirmed" }
  if (isMarkerOf(found, mine)) return { _tag: "Fenced", owner: ownerOf(found) }
  return {
    _tag: "Conflict",
    found: `a ${found.kind} of writer ${found.nonce}, epoch ${found.epoch}, slot ${found.slot}`
  }
}
