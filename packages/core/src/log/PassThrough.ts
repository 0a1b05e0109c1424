/**
 * The log that is switched off (`enabled: false`): records are checked and numbered and pass through, nothing is kept, no
 * store is asked. For programs that take a log and can be told to run without one.
 */
import { Effect, Sink, Stream } from "effect"
import { defaultCursor } from "../format/CursorSet.ts"
import {
  type AppendError,
  CommitBeyondDurable,
  type CursorError,
  InvalidCursor,
  WalClosed,
  type WalEnd
} from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import type { AppendRecord, SequenceNumber } from "../WalRecord.ts"
import type { Appended, CloseReport, WalService, WalStatus } from "../WalService.ts"
import { LogFate } from "../write/LogFate.ts"
import { measure } from "../write/RecordCheck.ts"

const statusOf = (options: WalOptions, fate: LogFate, last: SequenceNumber): WalStatus => ({
  nodeId: options.nodeId,
  streamId: options.streamId,
  state: fate.state,
  ...(fate.ended === undefined ? {} : { stateReason: fate.ended.message }),
  logId: "",
  epoch: 0,
  lastAccepted: last,
  durable: last,
  // Everything is gone as soon as it is taken.
  trimmedTo: last,
  cursors: { [defaultCursor]: { mark: last, persisted: last, lag: 0 } },
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
      return Effect.succeed({ first, last, epoch: 0, durable: Effect.void })
    })
  const known = (cursor: string, seq: number): Effect.Effect<void, CursorError> =>
    Effect.suspend((): Effect.Effect<void, CursorError> => {
      if (fate.ended !== undefined) return Effect.fail(fate.ended)
      if (!Number.isSafeInteger(seq) || seq < 0) {
        return Effect.fail(new InvalidCursor({ cursor, value: String(seq), rule: "must be a whole number from 0" }))
      }
      return seq <= last ? Effect.void : Effect.fail(new CommitBeyondDurable({ cursor, requested: seq, durable: last }))
    })
  const nothing = (until: "durable-end" | "live"): Stream.Stream<never, WalEnd> =>
    until === "live" ? Stream.fromEffect(fate.awaitEnd) : Stream.fromEffectDrain(fate.check)
  const close: Effect.Effect<CloseReport> = Effect.sync(() => {
    fate.end(new WalClosed({ streamId: options.streamId }))
    return { streamId: options.streamId, durable: last, lost: null, manifestWritten: true }
  })
  return {
    append,
    appendNow: append,
    sink: Sink.forEachArray((records: ReadonlyArray<AppendRecord>) => append(records)).pipe(Sink.map(() => last)),
    flush: Effect.map(fate.check, () => last),
    ack: (done, given) => known(given?.cursor ?? defaultCursor, typeof done === "number" ? done : done.to),
    commit: (seq, given) => known(given?.cursor ?? defaultCursor, seq),
    removeCursor: () => fate.check,
    trim: (seq) => Effect.map(known("trim", Math.min(seq, last)), () => last),
    replay: (given?: { readonly until?: "durable-end" | "live" }) => nothing(given?.until ?? "live"),
    read: (given?: { readonly until?: "durable-end" | "live" }) => nothing(given?.until ?? "durable-end"),
    status: Effect.sync(() => statusOf(options, fate, last)),
    close,
    ended: Effect.flip(fate.awaitEnd)
  }
}
