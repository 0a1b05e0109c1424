/**
 * Closing a log: refuse appends, seal, drain, write manifest and cursors, delete what is trimmed, all within
 * `shutdown_timeout`.
 */
import { Duration, Effect, Option } from "effect"
import { monotonicNow } from "../internal/Monotonic.ts"
import { WalClosed, type WalEnd } from "../WalError.ts"
import type { CloseReport } from "../WalService.ts"
import type { Ticket } from "../write/Segment.ts"
import { awaitDurable, awaitTicket } from "./AwaitTicket.ts"
import type { LogEngine } from "./LogEngine.ts"

/** How long closing waits for deletions that are under way. */
const deletionMillis = 2_000

/** The share of the time-out that draining leaves for the manifest, and the most that it needs. */
const manifestShare = 0.2
const manifestMillis = 2_000

const rangeAfter = (seq: number, last: number) => last > seq ? { from: seq + 1, to: last } : null

const reportOf = (engine: LogEngine, manifestWritten: boolean): CloseReport => {
  const durable = engine.ledger.durable.seq
  const spooled = engine.spooler?.seq ?? durable
  return {
    streamId: engine.options.streamId,
    durable,
    spooled: rangeAfter(durable, spooled),
    lost: rangeAfter(spooled, engine.segmenter.lastAccepted),
    manifestWritten
  }
}

const logReport = (report: CloseReport): Effect.Effect<void> => {
  const { durable, lost, spooled, streamId } = report
  const kept = spooled === null ? "" : `; ${spooled.from} to ${spooled.to} are in the spool and sent at the next start`
  if (lost === null) return Effect.logInfo(`log ${streamId} closed: durable up to ${durable}${kept}`)
  return Effect.logError(
    `log ${streamId} closed with records not stored: ${lost.from} to ${lost.to} (durable up to ${durable}${kept})`
  )
}

/** Waits until all is durable; where the store does not take anything, until all is in the spool. */
const settled = (engine: LogEngine, last: Ticket): Effect.Effect<void, WalEnd> =>
  Effect.flatMap(
    awaitTicket(engine, last),
    () => engine.spooler?.isOutage === true ? Effect.void : awaitDurable(engine, last)
  )

/** Closes an open log; one that is over already is only reported. */
export const closeLog = Effect.fnUntraced(function*(engine: LogEngine) {
  const { fate, pool, segmenter } = engine
  if (!fate.beginClosing()) {
    const report = reportOf(engine, false)
    yield* logReport(report)
    return report
  }
  const total = Duration.toMillis(engine.options.parallelPut.shutdownTimeout)
  const endsAt = (yield* monotonicNow) + total
  const within = <A>(effect: Effect.Effect<A>, reserveMillis = 0) =>
    Effect.flatMap(
      monotonicNow,
      (now) => Effect.timeoutOption(effect, Duration.millis(Math.max(0, endsAt - reserveMillis - now)))
    )
  const last = segmenter.flush("close")
  segmenter.poke()
  pool.hurryUp()
  // Why a log ended while it drained is in its fate and in the report.
  const drained = last === undefined ? Effect.void : Effect.exit(settled(engine, last))
  const written = engine.coordinator.commit.pipe(Effect.as(true), Effect.catch(() => Effect.succeed(false)))
  yield* within(drained, Math.min(manifestMillis, total * manifestShare))
  let manifest = yield* within(written)
  // What is still on its way gets the rest of the time: opening finds it without the manifest.
  yield* within(drained)
  if (engine.cursors.dirtySinceMillis !== undefined) manifest = yield* within(written)
  // Where every writer is short-lived nobody else would: the next ones look for leftovers a few epochs back only.
  if (fate.refusal === undefined) yield* within(Effect.timeoutOption(engine.collector.settled, deletionMillis))
  const report = reportOf(engine, Option.getOrElse(manifest, () => false))
  // One that was taken over while it drained stays fenced: who has it now is worth more than that it is closed.
  fate.end(fate.refusal ?? new WalClosed({ streamId: engine.options.streamId }))
  yield* logReport(report)
  return report
})
