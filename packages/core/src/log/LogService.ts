/** The service of an open log: its methods over the engine. */
import { Effect } from "effect"
import { monotonicMillis } from "../internal/Monotonic.ts"
import type { WalMetricsHandle } from "../observe/WalMetrics.ts"
import type { CursorError, WalEnd } from "../WalError.ts"
import type { AppendRecord, LostRange } from "../WalRecord.ts"
import type { Appended, CloseReport, WalService } from "../WalService.ts"
import type { Ticket } from "../write/Segment.ts"
import type { Admitted } from "../write/SegmenterParts.ts"
import { makeSink } from "./AppendSink.ts"
import { awaitDurable, awaitTicket } from "./AwaitTicket.ts"
import { checkTrim, makeCursorMethods } from "./CursorMethods.ts"
import type { LogEngine } from "./LogEngine.ts"
import { makeReads, readFrom, replayFrom } from "./LogReading.ts"
import { statusOf } from "./LogStatus.ts"

type Waits = Pick<Appended, "durable" | "spooled">

const nothingToWaitFor: Waits = { durable: Effect.void, spooled: Effect.void }

/** Asks for the segment of a ticket to be sealed soon, and waits for it. */
const waitsFor = (engine: LogEngine, ticket: Ticket): Waits => {
  const demanded = (wait: Effect.Effect<void, WalEnd>) =>
    Effect.suspend(() => {
      engine.segmenter.demand(ticket)
      return wait
    })
  return {
    durable: demanded(awaitDurable(engine, ticket)),
    spooled: demanded(Effect.asVoid(awaitTicket(engine, ticket)))
  }
}

const answerOf = (engine: LogEngine): (admitted: Admitted) => Appended => {
  // Calls in one segment wait in the same way, and most follow one that is in theirs.
  let newest: { readonly ticket: Ticket; readonly waits: Waits } | undefined
  return ({ epoch, first, isRepeat, last, ticket }) => {
    if (ticket !== undefined && newest?.ticket !== ticket) newest = { ticket, waits: waitsFor(engine, ticket) }
    const { durable, spooled } = ticket === undefined ? nothingToWaitFor : newest?.waits ?? nothingToWaitFor
    return { first, last, epoch, durable, spooled, ...(isRepeat === true ? { isRepeat } : {}) }
  }
}

const makeTrim = (engine: LogEngine): WalService["trim"] =>
  Effect.fnUntraced(function*(seq: number): Effect.fn.Return<number, CursorError> {
    yield* checkTrim(seq)
    // What is not durable yet was not meant: it names no record.
    const { trimming } = engine
    trimming.requestedSeq = Math.max(trimming.requestedSeq, Math.min(seq, engine.ledger.durable.seq))
    // Before the first look everything counts as young.
    yield* trimming.refresh
    yield* engine.coordinator.commit
    return engine.coordinator.current.trim.seq
  })

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
  return makeReads({
    replay: (options) => replayFrom(parts, options),
    read: (options) => readFrom(engine.view, options, countLost)
  })
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
  const append: WalService["append"] = (records, options) =>
    traced(Effect.map(engine.segmenter.append(records, options), answer), records)
  const flush = Effect.gen(function*() {
    yield* engine.fate.check
    const ticket = engine.segmenter.flush("flush")
    if (ticket !== undefined) yield* awaitDurable(engine, ticket)
    return engine.ledger.durable.seq
  }).pipe(Effect.withSpan("wal.flush"))
  return {
    append,
    appendNow: (records, options) => traced(Effect.map(engine.segmenter.appendNow(records, options), answer), records),
    sink: makeSink(append, engine.fate.check),
    flush,
    ...makeCursorMethods({
      fate: engine.fate,
      cursors: engine.cursors,
      nowMillis: () => monotonicMillis(engine.clock),
      onChange: () => engine.coordinator.cursorChanged(),
      store: Effect.suspend(() => engine.coordinator.commit)
    }),
    trim: makeTrim(engine),
    ...makeReadMethods(engine, metrics),
    status: Effect.sync(() => statusOf(engine)),
    close,
    ended: Effect.flip(engine.fate.awaitEnd)
  }
}
