/**
 * Finding the segment that holds a sequence number or a time: the sparse index, then a binary search over headers.
 */
import { Effect, Result } from "effect"
import { isSegmentOf } from "../epoch/EndOfEpoch.ts"
import { lookAt, type LookContext } from "../epoch/SlotLook.ts"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { boundaryBefore } from "../format/ChainHash.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import type { EpochSpan, LogView } from "./LogView.ts"

/** So few slots are all looked at in one round trip; of more, the middle one says in which half to go on. */
const lookedAtOnce = 8

/** Tries of one header while the store's answers may pass. */
const attempts = 4

interface Search {
  readonly view: LogView
  readonly context: LookContext
  /** The segment starts before what is looked for. */
  readonly startsBefore: (header: SegmentHeader) => boolean
}

/** The header of a slot; `undefined` where its segment cannot be read, or is that of another place: its numbers say nothing. */
const headerOf = ({ context, view }: Search, epoch: number, slot: number) =>
  Effect.map(Effect.result(lookAt(context, epoch, slot)), (looked) => {
    const header = Result.isSuccess(looked) ? looked.success : undefined
    return header !== undefined && isSegmentOf(header, { logId: view.logId, epoch, slot }) ? header : undefined
  })

/** The last of the slots [low, high) of an epoch that starts before what is looked for; unreadable ones are left to the reader. */
const searchSlots = Effect.fnUntraced(function*(search: Search, epoch: number, start: Boundary, end: number) {
  const headerAt = (slot: number) => headerOf(search, epoch, slot)
  let best = start
  let low = start.slot + 1
  let high = end
  while (high - low > lookedAtOnce) {
    const middle = (low + high) >>> 1
    const header = yield* headerAt(middle)
    if (header === undefined) return best
    if (search.startsBefore(header)) {
      best = boundaryBefore(header)
      low = middle + 1
    } else high = middle
  }
  const slots = Array.from({ length: high - low }, (_, at) => low + at)
  const last = (yield* Effect.forEach(slots, headerAt, { concurrency: "unbounded" })).findLast((header) =>
    header !== undefined && search.startsBefore(header)
  )
  return last === undefined ? best : boundaryBefore(last)
})

/** The first slot of each epoch after `from` says whether the epoch starts before what is looked for. */
const searchEpochs = Effect.fnUntraced(function*(search: Search, from: Boundary, limit: Boundary | undefined) {
  const spans = search.view.epochs().filter((span) =>
    span.epoch > from.epoch && span.end > 0 && (limit === undefined || span.epoch <= limit.epoch)
  )
  let start = from
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const span: EpochSpan | undefined = spans[middle]
    if (span === undefined) break
    const first = yield* headerOf(search, span.epoch, 0)
    if (first === undefined) return start
    if (search.startsBefore(first)) {
      start = boundaryBefore(first)
      low = middle + 1
    } else high = middle
  }
  return start
})

const locate = Effect.fnUntraced(function*(
  view: LogView,
  from: Boundary,
  startsBefore: (header: SegmentHeader) => boolean
) {
  const search: Search = { view, startsBefore, context: { ...view, attempts } }
  const limit = view.index.after(from)
  const start = yield* searchEpochs(search, from, limit)
  const span = view.epochs().find((one) => one.epoch === start.epoch)
  if (span === undefined) return start
  const end = limit !== undefined && limit.epoch === start.epoch ? Math.min(limit.slot, span.end) : span.end
  return yield* searchSlots(search, start.epoch, start, end)
}, (effect, view) => Effect.provideService(effect, ObjectStore, view.store))

const startOf = (view: LogView, indexed: Boundary | undefined): Boundary => {
  const trim = view.trim()
  return indexed === undefined || compareBoundaries(indexed, trim) < 0 ? trim : indexed
}

/** A boundary at or shortly before the segment that holds `seq`: nothing from `seq` on lies before it. */
export const locateSeq = (view: LogView, seq: number): Effect.Effect<Boundary> => {
  const durable = view.durable()
  if (seq > durable.seq) return Effect.succeed(durable)
  const from = startOf(view, view.index.before(seq))
  if (from.seq + 1 === seq) return Effect.succeed(from)
  return locate(view, from, (header) => header.firstSeq <= seq)
}

/** A boundary such that no record appended at or after the time lies before it. */
export const locateTime = (view: LogView, atMillis: number): Effect.Effect<Boundary> => {
  const from = startOf(view, view.index.olderThan(atMillis))
  return locate(view, from, (header) => header.firstAt < atMillis)
}
