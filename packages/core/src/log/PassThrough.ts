/**
 * The log that is switched off (`enabled: false`): records are checked and numbered and pass through, nothing is kept, no
 * store is asked. For programs that take a log and can be told to run without one.
 */
import { Effect, Sink, Stream } from "effect"
import { Cursors } from "../cursor/Cursors.ts"
import { emptyCursorSet } from "../format/CursorSet.ts"
import { type AppendError, WalClosed, type WalEnd } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import type { AppendRecord, SequenceNumber } from "../WalRecord.ts"
import type { Appended, CloseReport, WalService, WalStatus } from "../WalService.ts"
import { LogFate } from "../write/LogFate.ts"
import { measure } from "../write/RecordCheck.ts"
import { checkTrim, makeCursorMethods } from "./CursorMethods.ts"

const statusOf = (options: WalOptions, fate: LogFate, cursors: Cursors, last: SequenceNumber): WalStatus => ({
  nodeId: options.nodeId,
  streamId: options.streamId,
  state: fate.state,
  ...(fate.ended === undefined ? {} : { stateReason: fate.ended.message }),
  logId: "",
  epoch: 0,
  lastAccepted: last,
  durable: last,
  spooled: last,
  // Everything is gone as soon as it is taken.
  trimmedTo: last,
  cursors: cursors.statuses(),
  atRisk: { records: 0, bytes: 0, oldestAgeMillis: 0 },
  buffered: { bytes: 0, limitBytes: options.maxBufferedBytes, queuedSegments: 0 },
  segments: { durable: 0, inFlight: 0 },
  epochs: []
})

/** A log that keeps nothing. Its numbers start at 1 each time; a replay finds nothing, a live one waits until it is closed. */
export const makePassThrough = (options: WalOptions): WalService => {
  const fate = new LogFate()
  let last: SequenceNumber = 0
  const append = (records: ReadonlyArray<AppendRecord>): Effect.Effect<Appended, AppendError> =>
    Effect.suspend((): Effect.Effect<Appended, AppendError> => {
      if (fate.ended !== undefined) return Effect.fail(fate.ended)
      const measured = measure(records, options.maxRecordBytes)
      if ("_tag" in measured) return Effect.fail(measured)
      const first = last + 1
      last += records.length
      return Effect.succeed({ first, last, epoch: 0, durable: Effect.void, spooled: Effect.void })
    })
  const cursors = new Cursors(emptyCursorSet, { epoch: 0, maxAhead: options.cursor.maxAhead }, () => last, () => 0)
  const nothing = (until: "durable-end" | "live"): Stream.Stream<never, WalEnd> =>
    until === "live" ? Stream.fromEffect(fate.awaitEnd) : Stream.fromEffectDrain(fate.check)
  const close: Effect.Effect<CloseReport> = Effect.sync(() => {
    fate.end(new WalClosed({ streamId: options.streamId }))
    return { streamId: options.streamId, durable: last, lost: null, spooled: null, manifestWritten: true }
  })
  return {
    append,
    appendNow: append,
    sink: Sink.forEachArray((records: ReadonlyArray<AppendRecord>) => append(records)).pipe(Sink.map(() => last)),
    flush: Effect.map(fate.check, () => last),
    // Checked as in every log; nothing is ever stored, so no time counts.
    ...makeCursorMethods({ fate, cursors, nowMillis: () => 0, onChange: () => undefined }),
    trim: (seq) => checkTrim(seq).pipe(Effect.andThen(fate.check), Effect.map(() => last)),
    replay: (given?: { readonly until?: "durable-end" | "live" }) => nothing(given?.until ?? "live"),
    read: (given?: { readonly until?: "durable-end" | "live" }) => nothing(given?.until ?? "durable-end"),
    status: Effect.sync(() => statusOf(options, fate, cursors, last)),
    close,
    ended: Effect.flip(fate.awaitEnd)
  }
}
