/** The service of an open log: its methods over the engine. */
import { Deferred, Effect, Sink, Stream } from "effect"
import { defaultCursor } from "../format/CursorSet.ts"
import { monotonicMillis } from "../internal/Monotonic.ts"
import type { WalMetricsHandle } from "../observe/WalMetrics.ts"
import { type CursorError, InvalidCursor, type WalEnd } from "../WalError.ts"
import type { AppendRecord, LostRange, WalRecord } from "../WalRecord.ts"
import type { Appended, CloseReport, ReadOptions, ReplayOptions, WalService } from "../WalService.ts"
import type { Ticket } from "../write/Segment.ts"
import type { Admitted } from "../write/Segmenter.ts"
import type { LogEngine } from "./LogEngine.ts"
import { readFrom, replayFrom } from "./LogReading.ts"
import { statusOf } from "./LogStatus.ts"

/** Waits for the segment of a ticket; one that was sealed while the log was ending is known to nobody any more. */
const awaitTicket = (engine: LogEngine, ticket: Ticket): Effect.Effect<void, WalEnd> =>
  Effect.suspend(() => {
    const ended = engine.fate.ended
    return ended === undefined || Deferred.isDoneUnsafe(ticket.durable)
      ? Deferred.await(ticket.durable)
      : Effect.fail(ended)
  })

const durableOf = (engine: LogEngine, admitted: Admitted): Effect.Effect<void, WalEnd> => {
  const ticket = admitted.ticket
  if (ticket === undefined) return Effect.void
  return Effect.suspend(() => {
    engine.segmenter.demand(ticket)
    return awaitTicket(engine, ticket)
  })
}

const answerOf = (engine: LogEngine) => (admitted: Admitted): Appended => ({
  first: admitted.first,
  last: admitted.last,
  epoch: engine.epoch,
  durable: durableOf(engine, admitted)
})

const makeSink = (engine: LogEngine, append: WalService["append"]): WalService["sink"] =>
  Sink.unwrap(Effect.sync(() => {
    let newest: Appended | undefined
    return Sink.forEachArray((records: ReadonlyArray<AppendRecord>) =>
      Effect.map(append(records), (appended) => {
        newest = appended
      })
    ).pipe(
      Sink.mapEffect(() => Effect.suspend(() => Effect.as(newest?.durable ?? engine.fate.check, newest?.last ?? 0)))
    )
  }))

/** Cursor calls, which change memory at once and the store later. */
const makeCursorMethods = (engine: LogEngine) => {
  const change = <E>(attempt: (nowMillis: number) => E | undefined): Effect.Effect<void, E | WalEnd> =>
    Effect.suspend((): Effect.Effect<void, E | WalEnd> => {
      if (engine.fate.ended !== undefined) return Effect.fail(engine.fate.ended)
      const error = attempt(monotonicMillis(engine.clock))
      if (error !== undefined) return Effect.fail(error)
      engine.coordinator.cursorChanged()
      return Effect.void
    })
  const ack: WalService["ack"] = (done, options) => {
    const range = typeof done === "number" ? { from: done, to: done } : done
    return change((now) => engine.cursors.ack(options?.cursor ?? defaultCursor, range, now))
  }
  const commit: WalService["commit"] = (seq, options) =>
    change((now) => engine.cursors.commit(options?.cursor ?? defaultCursor, seq, now))
  const removeCursor: WalService["removeCursor"] = (cursor) => change((now) => engine.cursors.remove(cursor, now))
  const trim = Effect.fnUntraced(function*(seq: number): Effect.fn.Return<number, CursorError> {
    if (!Number.isSafeInteger(seq) || seq < 0) {
      return yield* new InvalidCursor({ cursor: "trim", value: String(seq), rule: "must be a whole number from 0" })
    }
    // What is not durable yet was not meant: it names no record.
    engine.requestedTrimSeq = Math.max(engine.requestedTrimSeq, Math.min(seq, engine.ledger.durable.seq))
    yield* engine.coordinator.commit
    return engine.coordinator.current.trim.seq
  })
  return { ack, commit, removeCursor, trim }
}

const isRecord = (element: WalRecord | LostRange): element is WalRecord => !("_tag" in element)

const makeReadMethods = (engine: LogEngine, metrics: WalMetricsHandle) => {
  const countLost = (lost: LostRange) =>
    Effect.sync(() => {
      engine.stats.recordsLost += lost.to - lost.from + 1
    }).pipe(Effect.andThen(Effect.logError(`records ${lost.from} to ${lost.to} are lost: ${lost.reason}`)))
  const parts = {
    view: engine.view,
    metrics,
    mark: (cursor: string) => engine.cursors.mark(cursor),
    // A lost range counts as acknowledged once it is delivered: its records come to nobody who could do it.
    onLost: (cursor: string, lost: LostRange) =>
      Effect.andThen(
        countLost(lost),
        Effect.suspend(() => {
          const refused = engine.cursors.ack(cursor, lost, monotonicMillis(engine.clock))
          engine.coordinator.cursorChanged()
          return refused === undefined
            ? Effect.void
            : Effect.logError(`the lost records ${lost.from} to ${lost.to} have to be acknowledged: ${refused.message}`)
        })
      )
  }
  function replay(options: ReplayOptions & { readonly onDamage: "skip" }): ReturnType<typeof replayFrom>
  function replay(options?: ReplayOptions): Stream.Stream<WalRecord, Stream.Error<ReturnType<typeof replayFrom>>>
  function replay(options: ReplayOptions & { readonly onDamage?: "skip" } = {}) {
    const stream = replayFrom(parts, options)
    return options.onDamage === "skip" ? stream : Stream.filter(stream, isRecord)
  }
  function read(options: ReadOptions & { readonly onDamage: "skip" }): ReturnType<typeof readFrom>
  function read(options?: ReadOptions): Stream.Stream<WalRecord, Stream.Error<ReturnType<typeof readFrom>>>
  function read(options: ReadOptions & { readonly onDamage?: "skip" } = {}) {
    const stream = readFrom(engine.view, options, countLost)
    return options.onDamage === "skip" ? stream : Stream.filter(stream, isRecord)
  }
  return { replay, read }
}

/** The methods of an open log. `close` is run once; every call gets its report. */
export const makeService = (
  engine: LogEngine,
  metrics: WalMetricsHandle,
  close: Effect.Effect<CloseReport>
): WalService => {
  const answer = answerOf(engine)
  const traced = <A, E>(effect: Effect.Effect<A, E>, records: ReadonlyArray<AppendRecord>): Effect.Effect<A, E> =>
    engine.traced ? Effect.withSpan(effect, "wal.append", { attributes: { records: records.length } }) : effect
  const append: WalService["append"] = (records) =>
    traced(Effect.map(engine.segmenter.append(records), answer), records)
  const flush = Effect.gen(function*() {
    yield* engine.fate.check
    const ticket = engine.segmenter.flush("flush")
    if (ticket !== undefined) yield* awaitTicket(engine, ticket)
    return engine.ledger.durable.seq
  }).pipe(Effect.withSpan("wal.flush"))
  return {
    append,
    appendNow: (records) => traced(Effect.map(engine.segmenter.appendNow(records), answer), records),
    sink: makeSink(engine, append),
    flush,
    ...makeCursorMethods(engine),
    ...makeReadMethods(engine, metrics),
    status: Effect.sync(() => statusOf(engine)),
    close,
    ended: Effect.flip(engine.fate.awaitEnd)
  }
}
