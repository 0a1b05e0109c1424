/** How far a loss reaches: to the next point behind it that is known exactly. */
import { Effect } from "effect"
import { lookAt, type LookContext } from "../epoch/SlotLook.ts"
import type { Place } from "../read/LogView.ts"
import type { ObjectStore } from "../store/ObjectStore.ts"
import type { StoreError } from "../WalError.ts"
import { misplacement } from "./FetchSlot.ts"
import { type LogMap, type MapPoint, pointsAfter, pointsAt } from "./LogMap.ts"

/** What is behind a loss. */
export interface LossEnd {
  /** The last number before that point; absent where nothing more is known. */
  readonly to?: number
  readonly resumesAt: Place
}

interface LossContext extends LookContext {
  readonly map: LogMap
  /** `undefined`: not known yet. */
  readonly logId: string | undefined
}

/** Points that are looked at together, once a loss is long. */
const mostTogether = 16

const take = (points: Generator<MapPoint>, count: number): ReadonlyArray<MapPoint> => {
  const taken: Array<MapPoint> = []
  while (taken.length < count) {
    const next = points.next()
    if (next.done === true) break
    taken.push(next.value)
  }
  return taken
}

/** What the point says; `undefined`: the loss reaches beyond it. */
const lookAtPoint = Effect.fnUntraced(
  function*(context: LossContext, { isEnd, place, span }: MapPoint, through: number): Effect.fn.Return<
    LossEnd | undefined,
    StoreError,
    ObjectStore
  > {
    const [exact] = pointsAt(context.map, place)
    if (exact !== undefined) return { to: exact.boundary.seq, resumesAt: place }
    if (isEnd) return undefined
    const header = yield* lookAt(context, place.epoch, place.slot).pipe(
      Effect.catchTag(["SegmentCorrupt", "SegmentTooNew"], () => Effect.succeed("unreadable" as const))
    )
    if (header === "unreadable") return undefined
    // Not known to be durable: the log ends there, and what stands above is none of it.
    if (header === undefined) return span.open && place.slot >= through ? { resumesAt: place } : undefined
    const isHere = misplacement(header, { ...place, logId: context.logId ?? header.logId }) === undefined
    return isHere ? { to: header.firstSeq - 1, resumesAt: place } : undefined
  }
)

/** Where the loss that starts at a slot ends. All slots of its epoch below `through` were durable, where it has no end. */
export const lossEnd = Effect.fnUntraced(function*(context: LossContext, lost: Place, through: number) {
  const points = pointsAfter(context.map, lost)
  for (let count = 1;; count = Math.min(2 * count, mostTogether)) {
    const together = take(points, count)
    const looks = yield* Effect.forEach(together, (point) => lookAtPoint(context, point, through), {
      concurrency: mostTogether
    })
    const found = looks.find((look) => look !== undefined)
    if (found !== undefined) return found
    if (together.length < count) return { resumesAt: lost } satisfies LossEnd as LossEnd
  }
})
