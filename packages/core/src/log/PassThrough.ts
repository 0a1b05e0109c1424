/**
 * The log that is switched off (`enabled: false`): records are checked and numbered and pass through, nothing is kept, no
 * store is asked. Repeats of a producer's call are answered as long as the program runs. For programs that take a log and can be told to run without one.
 */
import { type Clock, Effect, Stream } from "effect"
import type { DigestService } from "../codec/Digest.ts"
import { Cursors } from "../cursor/Cursors.ts"
import { emptyCursorSet } from "../format/CursorSet.ts"
import { type AppendError, WalClosed, type WalEnd } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import type { AppendRecord, SequenceNumber } from "../WalRecord.ts"
import type { Appended, AppendOptions, CloseReport, WalService, WalStatus } from "../WalService.ts"
import { LogFate } from "../write/LogFate.ts"
import { measureCall } from "../write/ProducerCheck.ts"
import { ProducerTable } from "../write/ProducerTable.ts"
import { measure } from "../write/RecordCheck.ts"
import { makeSink } from "./AppendSink.ts"
import { checkTrim, makeCursorMethods } from "./CursorMethods.ts"
import { producerLimits } from "./Settings.ts"

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

/** What stands in for the parts of a log that keeps something. */
export interface PassThroughParts {
  readonly digest: DigestService
  readonly clock: Clock.Clock
}

/** A log that keeps nothing. Its numbers start at 1 each time; a replay finds nothing, a live one waits until it is closed. */
export const makePassThrough = (options: WalOptions, parts: PassThroughParts): WalService => {
  const fate = new LogFate()
  const producers = new ProducerTable(producerLimits(options))
  let last: SequenceNumber = 0
  const check = (records: ReadonlyArray<AppendRecord>, { producer }: AppendOptions) => {
    const measured = measure(records, options.maxRecordBytes)
    if ("_tag" in measured || producer === undefined) return measured
    const limits = {
      ...options.segment,
      maxSegmentBytes: options.maxSegmentBytes,
      bufferBytes: options.maxBufferedBytes
    }
    return measureCall(measured, producer, limits, parts.digest)
  }
  const append = (
    records: ReadonlyArray<AppendRecord>,
    given: AppendOptions = {}
  ): Effect.Effect<Appended, AppendError> =>
    Effect.suspend((): Effect.Effect<Appended, AppendError> => {
      if (fate.ended !== undefined) return Effect.fail(fate.ended)
      const measured = check(records, given)
      if ("_tag" in measured) return Effect.fail(measured)
      const { call } = measured
      const at = parts.clock.currentTimeMillisUnsafe()
      const known = call && producers.answer(call, records.length, at)
      if (known !== undefined) {
        return Effect.map(
          known,
          ({ first, last }) => ({ first, last, epoch: 0, durable: Effect.void, spooled: Effect.void, isRepeat: true })
        )
      }
      const first = last + 1
      last += records.length
      if (call !== undefined && records.length > 0) {
        const { fingerprint, id, sequence } = call
        producers.remember(id, { sequence, first, last, epoch: 0, at, fingerprint })
      }
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
    sink: makeSink(append, fate.check),
    flush: Effect.map(fate.check, () => last),
    // Checked as in every log; nothing is ever stored, so no time counts.
    ...makeCursorMethods({ fate, cursors, nowMillis: () => 0, onChange: () => undefined, store: Effect.void }),
    trim: (seq) => checkTrim(seq).pipe(Effect.andThen(fate.check), Effect.map(() => last)),
    replay: (given?: { readonly until?: "durable-end" | "live" }) => nothing(given?.until ?? "live"),
    read: (given?: { readonly until?: "durable-end" | "live" }) => nothing(given?.until ?? "durable-end"),
    status: Effect.sync(() => statusOf(options, fate, cursors, last)),
    close,
    ended: Effect.flip(fate.awaitEnd)
  }
}
