/** Replay and reads of an open log. */
import { Effect, Stream } from "effect"
import { defaultCursor } from "../format/CursorSet.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { WalMetricsHandle } from "../observe/WalMetrics.ts"
import { locateSeq, locateTime } from "../read/Locate.ts"
import { countFrom, type LogView } from "../read/LogView.ts"
import { streamRecords, type StreamRequest } from "../read/RecordStream.ts"
import { InvalidCursor, type ReadError } from "../WalError.ts"
import { isLostRange, type LostRange, type WalRecord } from "../WalRecord.ts"
import type { LogReads, ReadOptions, ReplayOptions, SkipDamage } from "../WalService.ts"

type Element = WalRecord | LostRange

const seqProblem = (from: number): InvalidCursor | undefined =>
  Number.isSafeInteger(from) && from >= 1
    ? undefined
    : new InvalidCursor({
      cursor: "from",
      value: String(from),
      rule: `must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`
    })

/** A time search starts at or shortly before the time; what is lost there has none, and is told in any case. */
const isFrom = (atMillis: number) => (element: Element): boolean =>
  isLostRange(element) || element.appendedAt >= atMillis

/** Where a read starts: a number, and for a time what to leave out. */
const startOf = Effect.fnUntraced(function*(view: LogView, from: ReadOptions["from"]) {
  if (from === undefined) return view.trim().seq + 1
  if (typeof from === "number") {
    const problem = seqProblem(from)
    return problem === undefined ? from : yield* problem
  }
  const { appendedAtMillis } = from
  // No record is older or younger than that: all would be read, and none delivered.
  if (Number.isNaN(appendedAtMillis)) {
    return yield* new InvalidCursor({ cursor: "from", value: "NaN", rule: "must be a time in milliseconds" })
  }
  return (yield* locateTime(view, appendedAtMillis)).seq + 1
})

const quiet = { onSegment: () => Effect.void, onLost: () => Effect.void, onCaughtUp: Effect.void }

/** Records from a number or a time on. */
export const readFrom = (
  view: LogView,
  options: ReadOptions & { readonly onDamage?: "skip" },
  onLost: (lost: LostRange) => Effect.Effect<void> = quiet.onLost
): Stream.Stream<Element, ReadError> => {
  const stream = Stream.unwrap(Effect.map(startOf(view, options.from), (fromSeq) =>
    streamRecords(view, {
      ...quiet,
      onLost,
      fromSeq,
      until: options.until ?? "durable-end",
      onDamage: options.onDamage ?? "fail"
    })))
  const from = options.from
  const timed = typeof from === "object" ? Stream.filter(stream, isFrom(from.appendedAtMillis)) : stream
  return options.limit === undefined ? timed : Stream.take(timed, options.limit)
}

export interface ReplayParts {
  readonly view: LogView
  readonly metrics: WalMetricsHandle
  readonly mark: (cursor: string) => number | undefined
  /** A lost range was delivered in place of its records. */
  readonly onLost: (cursor: string, lost: LostRange) => Effect.Effect<void>
}

/** Counts what a replay has delivered, and says so. */
const observe = (parts: ReplayParts, options: ReplayOptions, fromSeq: number) =>
  Effect.gen(function*() {
    const startedAt = yield* monotonicNow
    const total = options.onProgress === undefined ? 0 : countFrom(parts.view, yield* locateSeq(parts.view, fromSeq))
    const done = { records: 0, bytes: 0, segments: 0 }
    const onSegment: StreamRequest["onSegment"] = (segment) => {
      done.records += segment.records
      done.bytes += segment.bytes
      done.segments++
      return options.onProgress?.({ ...done, segmentsTotal: Math.max(total, done.segments) }) ?? Effect.void
    }
    const onCaughtUp = Effect.flatMap(monotonicNow, (now) => {
      const millis = now - startedAt
      parts.metrics.recovery(millis / 1_000)
      return Effect.logInfo(
        `Recovery: replayed ${done.records} entries from ${done.segments} segments in ${Math.round(millis)}ms`
      )
    })
    return { onSegment, onCaughtUp }
  })

/** Records after a cursor's mark, in order, durable ones only. */
export const replayFrom = (
  parts: ReplayParts,
  options: ReplayOptions & { readonly onDamage?: "skip" }
): Stream.Stream<Element, ReadError> => {
  const cursor = options.cursor ?? defaultCursor
  return Stream.unwrap(Effect.gen(function*() {
    const mark = parts.mark(cursor)
    if (mark === undefined) {
      return yield* new InvalidCursor({ cursor, value: cursor, rule: "does not exist; commit creates it" })
    }
    const fromSeq = mark + 1
    return streamRecords(parts.view, {
      ...(yield* observe(parts, options, fromSeq)),
      fromSeq,
      until: options.until ?? "live",
      onDamage: options.onDamage ?? "fail",
      onLost: (lost) => parts.onLost(cursor, lost)
    })
  })).pipe(Stream.withSpan("wal.replay", { attributes: { cursor } }))
}

/** What a reader may ask for, where damage is concerned too. */
type Asked<Options> = Options & { readonly onDamage?: "skip" }

/** The two methods of `LogReads` over streams of both kinds of elements: only who skips damage sees lost ranges. */
export const makeReads = (streams: {
  readonly replay: (options: Asked<ReplayOptions>) => Stream.Stream<Element, ReadError>
  readonly read: (options: Asked<ReadOptions>) => Stream.Stream<Element, ReadError>
}): LogReads => {
  const isRecord = (element: Element): element is WalRecord => !isLostRange(element)
  function replay(options: ReplayOptions & SkipDamage): Stream.Stream<Element, ReadError>
  function replay(options?: ReplayOptions): Stream.Stream<WalRecord, ReadError>
  function replay(options: Asked<ReplayOptions> = {}) {
    const stream = streams.replay(options)
    return options.onDamage === "skip" ? stream : Stream.filter(stream, isRecord)
  }
  function read(options: ReadOptions & SkipDamage): Stream.Stream<Element, ReadError>
  function read(options?: ReadOptions): Stream.Stream<WalRecord, ReadError>
  function read(options: Asked<ReadOptions> = {}) {
    const stream = streams.read(options)
    return options.onDamage === "skip" ? stream : Stream.filter(stream, isRecord)
  }
  return { replay, read }
}
