/**
 * Streams of records: what the store holds up to the durable end, then what becomes durable, as long as it is wanted.
 *
 * A live reader is fed from memory while it keeps up, and falls back to the store when it is slower.
 */
import { Effect, Option, Stream } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { recordsOf } from "../format/SegmentCodec.ts"
import { type DamageError, type ReadError, SequenceGap, Trimmed } from "../WalError.ts"
import type { LostRange, WalRecord } from "../WalRecord.ts"
import { locateSeq } from "./Locate.ts"
import type { LogView } from "./LogView.ts"
import { readSteps, type Step } from "./SegmentReader.ts"

export interface StreamRequest {
  /** First number wanted. */
  readonly fromSeq: number
  readonly until: "durable-end" | "live"
  readonly onDamage: "fail" | "skip"
  /** Told after every segment. */
  readonly onSegment: (segment: { readonly records: number; readonly bytes: number }) => Effect.Effect<void>
  /** Told once, when everything durable has been delivered. */
  readonly onCaughtUp: Effect.Effect<void>
  /** Told of every lost range before it is delivered. */
  readonly onLost: (lost: LostRange) => Effect.Effect<void>
}

type Element = WalRecord | LostRange

interface Batch {
  readonly elements: ReadonlyArray<Element>
  /** First number after the batch. */
  readonly nextSeq: number
}

const recordsBatch = Effect.fnUntraced(function*(
  key: string,
  segment: Parameters<typeof recordsOf>[1],
  request: StreamRequest,
  fromSeq: number
) {
  const records = yield* recordsOf(key, segment, fromSeq)
  yield* request.onSegment({ records: records.length, bytes: segment.body.length })
  return { elements: records, nextSeq: segment.header.firstSeq + segment.header.count } satisfies Batch
})

/** What stands in the place of records that damage took away. */
const lossBatch = Effect.fnUntraced(function*(
  loss: { readonly from: number; readonly to: number; readonly error: DamageError },
  request: StreamRequest,
  fromSeq: number
) {
  const from = Math.max(loss.from, fromSeq)
  // Damage before what is wanted, where the search started, harms nobody here.
  if (loss.to < from) return { elements: [], nextSeq: fromSeq } satisfies Batch
  if (request.onDamage === "fail") return yield* loss.error
  const lost: LostRange = { _tag: "LostRange", from, to: loss.to, reason: loss.error.message }
  yield* request.onLost(lost)
  return { elements: [lost], nextSeq: loss.to + 1 } satisfies Batch
})

const stepBatch = (step: Step, request: StreamRequest, fromSeq: number): Effect.Effect<Batch, ReadError> => {
  if (step._tag === "Lost") return lossBatch(step, request, fromSeq)
  const { count, firstSeq } = step.segment.header
  return recordsBatch(step.key, step.segment, request, fromSeq).pipe(
    // Whole by its checksums, and yet no records: damage as any other.
    Effect.catchTag(
      "SegmentCorrupt",
      (error) => lossBatch({ from: firstSeq, to: firstSeq + count - 1, error }, request, fromSeq)
    )
  )
}

/** One stretch from the store, up to the durable end as it was when it started. */
const fromStore = (view: LogView, request: StreamRequest, fromSeq: number): Stream.Stream<Batch, ReadError> =>
  Stream.suspend(() => {
    const end = view.durable()
    let reached = fromSeq
    const steps = Stream.unwrap(Effect.map(
      locateSeq(view, fromSeq),
      (start: Boundary) =>
        readSteps(view, start, fromSeq).pipe(Stream.mapEffect((step) => stepBatch(step, request, fromSeq)))
    )).pipe(Stream.tap((batch) =>
      Effect.sync(() => {
        reached = Math.max(reached, batch.nextSeq)
      })
    ))
    // No slot holds the rest: the manifest does not know an epoch that it must. Asking again would not end.
    const rest = Stream.suspend(() => {
      if (reached > end.seq) return Stream.empty
      const key = slotKey(view.prefix, end.epoch, end.slot)
      const error = new SequenceGap({ key, from: reached, to: end.seq })
      return Stream.fromEffect(lossBatch({ from: reached, to: end.seq, error }, request, reached))
    })
    return Stream.concat(steps, rest)
  })

/** One segment from memory, where it is there. */
const fromTail = (
  view: LogView,
  request: StreamRequest,
  fromSeq: number
): Stream.Stream<Batch, ReadError> | undefined => {
  const segment = view.tail?.find(fromSeq)
  return segment === undefined
    ? undefined
    : Stream.fromEffect(recordsBatch(segment.key, segment, request, fromSeq))
}

const stretch = (view: LogView, request: StreamRequest, fromSeq: number): Stream.Stream<Batch, ReadError> => {
  const trim = view.trim()
  if (fromSeq <= trim.seq) return Stream.fail(new Trimmed({ from: fromSeq, trimmedTo: trim.seq }))
  return fromTail(view, request, fromSeq) ?? fromStore(view, request, fromSeq)
}

/** The records from a number on. Fails `Trimmed` where it, or what follows while reading, has been deleted. */
export const streamRecords = (view: LogView, request: StreamRequest): Stream.Stream<Element, ReadError> =>
  Stream.suspend(() => {
    let nextSeq = request.fromSeq
    let caughtUp = false
    const more = Effect.suspend((): Effect.Effect<boolean, ReadError> => {
      const ended = view.ended?.()
      if (ended !== undefined) return Effect.fail(ended)
      if (nextSeq <= view.durable().seq) return Effect.succeed(true)
      const told = caughtUp ? Effect.void : request.onCaughtUp
      caughtUp = true
      if (request.until === "durable-end") return Effect.as(told, false)
      return told.pipe(Effect.andThen(view.beyond(nextSeq - 1)), Effect.as(true))
    })
    // Each stretch is asked for when the one before is delivered, so a reader without an end takes no room.
    return Stream.paginate(
      0,
      (count) =>
        Effect.map(more, (isMore) =>
          isMore
            ? [[stretch(view, request, nextSeq)], Option.some(count + 1)] as const
            : [[], Option.none<number>()] as const)
    ).pipe(
      Stream.flatMap((batches) => batches),
      Stream.tap((batch) =>
        Effect.sync(() => {
          nextSeq = Math.max(nextSeq, batch.nextSeq)
        })
      ),
      Stream.map((batch) => batch.elements),
      Stream.flattenIterable
    )
  })
