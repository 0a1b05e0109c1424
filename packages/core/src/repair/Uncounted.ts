/**
 * Records of which nothing is left but the end marker of their epoch: which numbers they had, objects do not say.
 *
 * A log that was trimmed as a whole is like that, and so is one of which a single trimmed segment came back.
 */
import { Effect } from "effect"
import { isMarkerOf, orderSlots } from "../epoch/EndOfEpoch.ts"
import { listSlots, lookAtReadable } from "../epoch/SlotLook.ts"
import { compareBoundaries } from "../format/Boundary.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { maxMarkerBytes } from "../format/SegmentCodec.ts"
import { recordedTail } from "../manifest/Manifest.ts"
import type { SlotRange } from "../verify/Census.ts"
import type { VerifyContext } from "../verify/Verify.ts"
import type { Examined } from "./Examine.ts"
import { RepairUndecided } from "./RepairError.ts"

/** Small objects of an epoch that are looked at, the highest ones: above a marker lies only what was in flight. */
const lookedAt = 2 * 64

export interface CountedFrom {
  /** A manifest of this log, perhaps an older one. */
  readonly base: Manifest | undefined
  readonly logId: string
  /** A walk over all objects, without a manifest. */
  readonly objects: Examined
}

/** The point up to which headers or the manifest know the numbers. */
const countedTo = ({ base, objects: { evidence } }: CountedFrom) =>
  [
    evidence.ends.get(evidence.newestRead)?.boundary,
    ...(base === undefined ? [] : [recordedTail(base), base.checkpoint])
  ].filter((one) => one !== undefined).reduce<{ readonly epoch: number; readonly slot: number }>(
    (left, right) => compareBoundaries(left, right) >= 0 ? left : right,
    { epoch: 0, slot: 0 }
  )

/** The walk has come to the marker of this epoch, slot by slot, from one that reads or from the first one. */
const isWalked = ({ objects: { evidence } }: CountedFrom, epoch: number, { low }: SlotRange): boolean =>
  evidence.marked.has(epoch) && (epoch <= evidence.newestRead || low === 0)

/** Whether an end marker stands above everything that is counted: there were segments right below it. */
const isMarkedAbove = Effect.fnUntraced(function*(context: VerifyContext, from: CountedFrom) {
  const counted = countedTo(from)
  for (const [epoch, range] of from.objects.census.open) {
    // An epoch that holds nothing has its marker at slot 0.
    const above = epoch === counted.epoch ? counted.slot + 1 : 1
    if (epoch < counted.epoch || range.high < above || isWalked(from, epoch, range)) continue
    const listed = yield* listSlots(context, epoch, above)
    const small = orderSlots(listed, above).filter(({ sizeBytes }) => sizeBytes <= maxMarkerBytes)
    const headers = yield* lookAtReadable(context, epoch, small.map(({ slot }) => slot).slice(-lookedAt))
    if (headers.some((header) => isMarkerOf(header, { logId: from.logId, epoch, slot: header.slot }))) return true
  }
  return false
})

/** Nothing reads, and something stands above a first slot. */
const isAllUnread = ({ base, objects: { census, evidence } }: CountedFrom): boolean =>
  base === undefined && evidence.first === undefined && [...census.open.values()].some(({ high }) => high > 0)

/** Asks for the last number where it may lie above all that is counted. */
export const refuseUncounted = Effect.fnUntraced(function*(context: VerifyContext, from: CountedFrom) {
  const isUnread = isAllUnread(from)
  if (!isUnread && !(yield* isMarkedAbove(context, from))) return
  return yield* new RepairUndecided({
    question: isUnread
      ? "No segment of the log reads, so nothing says which numbers its records have had."
      : "Above everything that reads stands the end marker of an epoch whose segments are gone, so nothing says which " +
        "numbers its records have had.",
    choices: [{
      option: "lastSeq",
      value: "",
      means:
        "the number of the last record that anybody has seen, or a larger one: the next record gets the one after it"
    }]
  })
})
