/**
 * Whether a slot of an epoch without a recorded end was durable: the rule of a take-over, for one slot after the other.
 *
 * What was stored above it says so in its header, or the checkpoint, or a cursor does. Where nothing does, the epoch ends
 * there.
 */
import { Effect } from "effect"
import { isSegmentOf } from "../epoch/EndOfEpoch.ts"
import { lookAtReadable, type LookContext, lowestSlots } from "../epoch/SlotLook.ts"
import type { Place } from "../read/LogView.ts"
import type { LogLook } from "./LogLook.ts"

/** Slots above that are looked at: more than any writer can have in flight, 8 workers of depth 8. */
export const lookedAbove = 2 * 64

export interface Proof {
  /** All slots below this one were durable. */
  readonly through: number
  /** Who says so, for people. */
  readonly by: string
}

/** The proof that a slot was durable; `undefined` where nothing says it. `before` is the last number before the slot. */
export const proveDurable = Effect.fnUntraced(function*(
  context: LookContext & { readonly logId: string | undefined },
  place: Place,
  before: number,
  look: LogLook | undefined
) {
  const proofs: Array<Proof> = []
  if (look !== undefined && look.checkpoint.epoch === place.epoch && look.checkpoint.slot > place.slot) {
    proofs.push({ through: look.checkpoint.slot, by: "the manifest's checkpoint says that it was durable" })
  }
  const above = yield* lowestSlots(context, place.epoch, { from: place.slot + 1, count: lookedAbove })
  const headers = yield* lookAtReadable(context, place.epoch, above)
  for (const header of headers) {
    const isOurs = isSegmentOf(header, { logId: context.logId ?? header.logId, epoch: place.epoch, slot: header.slot })
    if (!isOurs || header.watermarkSlot <= place.slot) continue
    proofs.push({ through: header.watermarkSlot, by: `the header of slot ${header.slot} says that it was durable` })
  }
  if (look !== undefined && look.live === place.epoch && look.highestCursor > before) {
    proofs.push({ through: place.slot + 1, by: `a cursor stands at ${look.highestCursor}` })
  }
  const none: Proof | undefined = undefined
  return proofs.reduce<Proof | undefined>(
    (best, proof) => best === undefined || proof.through > best.through ? proof : best,
    none
  )
})
