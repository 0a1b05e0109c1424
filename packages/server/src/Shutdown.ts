/**
 * The end of the process: what makes it end, in which order, and with which exit code.
 *
 * 1. told to stop: not ready from now on, connections are closed after their answer
 * 2. `drainDelay` later: appends are refused, live readers end
 * 3. every log seals, drains, writes manifest and cursors, all within `drainTimeout` of the signal
 * 4. answers that are still due go out, then the connections are closed
 */
import type { CloseReport } from "@effect-wal/core/WalService"
import { Duration, Effect } from "effect"
import { Lifecycle } from "./Lifecycle.ts"
import * as Listener from "./Listener.ts"
import { LogStream } from "./observe/LogStream.ts"
import { type ServerSettings, Settings } from "./Settings.ts"
import { Streams } from "./Streams.ts"

/** What the process says to whoever started it. */
export const exitCodes = {
  /** Everything that was accepted is durable, or in the spool. */
  drained: 0,
  /** The configuration breaks rules. */
  config: 2,
  /** A log has died of a defect. */
  dead: 70,
  /** Records were accepted that are not known to be durable or spooled; the report names them. */
  recordsLeft: 75
} as const

/** The last of the time: for the answers that are still due. */
const answerMillis = 500

/** How much longer than a log itself the process waits for its report. */
const reportMillis = 250

const timeForLogs = (settings: ServerSettings): number =>
  Duration.toMillis(settings.drainTimeout) - Duration.toMillis(settings.drainDelay) - answerMillis

/** How long the logs have for closing, so that their reports come in time; at least 1 ms. */
export const closeBudget = (settings: ServerSettings): Duration.Duration =>
  Duration.millis(Math.max(timeForLogs(settings) - reportMillis, 1))

const line = (report: CloseReport): string => {
  const left = report.lost === null
    ? "nothing left"
    : `NOT STORED: records ${report.lost.from} to ${report.lost.to} (${report.lost.to - report.lost.from + 1})`
  const kept = report.spooled === null ? "" : `, in the spool: records ${report.spooled.from} to ${report.spooled.to}`
  return `stream ${report.streamId}: durable to ${report.durable}${kept}, ${left}${
    report.manifestWritten ? "" : ", manifest not written"
  }`
}

/** What was left is an error for whoever reads the log; the exit code says it too. */
const tell = (report: CloseReport): Effect.Effect<void> =>
  Effect.provideService(
    report.lost === null ? Effect.logInfo(line(report)) : Effect.logError(line(report)),
    LogStream,
    report.streamId
  )

/** Steps 1 to 4; answers what each log left. */
export const drain = Effect.gen(function*() {
  const settings = yield* Settings
  const lifecycle = yield* Lifecycle
  const streams = yield* Streams
  const connections = yield* Listener.Connections
  yield* lifecycle.leave
  yield* Effect.sleep(settings.drainDelay)
  yield* lifecycle.drain
  const reports = yield* streams.closeAll(Duration.millis(Math.max(timeForLogs(settings), 1)))
  yield* Effect.forEach(reports, tell, { discard: true })
  yield* connections.answered.pipe(Effect.timeoutOption(answerMillis))
  yield* connections.closeAll
  return reports
})

/** Waits for `stop` or for a log to die, drains, and answers the exit code. */
export const serveUntil = Effect.fnUntraced(function*(stop: Effect.Effect<string>) {
  const streams = yield* Streams
  const why = yield* Effect.raceFirst(
    Effect.map(stop, (signal) => ({ dead: false, text: `received ${signal}` })),
    Effect.map(streams.died, (error) => ({ dead: true, text: error.message }))
  )
  yield* Effect.logInfo(`shutting down: ${why.text}`)
  const reports = yield* drain
  if (why.dead) return exitCodes.dead
  return reports.some(({ lost }) => lost !== null) ? exitCodes.recordsLeft : exitCodes.drained
})
