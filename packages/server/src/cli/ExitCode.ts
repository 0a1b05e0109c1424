/** How a command ends: the exit codes as one table, for the program and for `docs/cli.md`. */
import { Data, Effect, Runtime } from "effect"
import { exitCodes as serveCodes } from "../Shutdown.ts"
import { hangUp, stopSignal } from "../Signals.ts"

/** One row of the table. */
export interface ExitCodeEntry {
  readonly code: number
  /** When a command ends so, as a sentence. */
  readonly when: string
}

const entry = (code: number, when: string): ExitCodeEntry => ({ code, when })

/** Every code that a command ends with. Codes never change. */
export const exitCodes = {
  ok: entry(serveCodes.drained, "Done. Of `serve`: everything that was accepted is durable, or in the spool."),
  failed: entry(1, "It could not be done, or a check of `doctor` failed; the text on stderr says why and what to do."),
  usage: entry(
    serveCodes.config,
    "A flag, an argument, the configuration or the input breaks a rule. Nothing was changed, but for `append`, which says " +
      "what stands before the bad input and is stored."
  ),
  notFound: entry(3, "What was asked for is not there: a log, a stream, a cursor, a record that was deleted."),
  damaged: entry(4, "Stored data is damaged or missing: found by `verify`, or met while reading."),
  refused: entry(5, "A live writer has the log, or has taken it over; nothing was changed."),
  unavailable: entry(69, "The store or the server does not answer, or has no room. The same call may succeed later."),
  dead: entry(serveCodes.dead, "A defect of the program. Of `serve`: a log has died of it."),
  recordsLeft: entry(
    serveCodes.recordsLeft,
    "Records were accepted that are not known to be durable or spooled; the report names them."
  ),
  denied: entry(77, "The store refused the credentials, or the server the token."),
  interrupted: entry(
    130,
    "Ended by Ctrl-C; 143 where it was SIGTERM, 129 where its terminal was closed. `serve` drains at the first signal instead."
  )
} as const satisfies Record<string, ExitCodeEntry>

/** Names a row. */
export type ExitCodeName = keyof typeof exitCodes

/** Ends the process with `code`; everything that is to be said was said before. */
export class ExitCode extends Data.TaggedError("ExitCode")<{ readonly code: number }> {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
}

/** Ends the process with the code of a row. */
export const exitWith = (name: ExitCodeName): ExitCode => new ExitCode({ code: exitCodes[name].code })

/** Signals whose code is not that of the row `interrupted`. */
const codeOfSignal: Readonly<Record<string, number>> = { SIGTERM: 143, SIGHUP: 129 }

/** Ends the process as this signal ends one. */
export const interruptedBy = (signal: string): ExitCode =>
  new ExitCode({ code: codeOfSignal[signal] ?? exitCodes.interrupted.code })

/**
 * Runs the work to its end, or to the first SIGINT, SIGTERM or SIGHUP: then what it has begun is tidied up before the
 * process ends. A second SIGINT or SIGTERM ends it at once.
 */
export const untilSignal = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E | ExitCode, R> =>
  Effect.raceFirst(
    work,
    Effect.flatMap(Effect.raceFirst(stopSignal, hangUp), (signal) => Effect.fail(interruptedBy(signal)))
  )

/**
 * Runs the program and ends the process with its code. Signals are left to the program: a server that is told to stop
 * has work to do first.
 */
export const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) => teardown(exit, (code) => process.exit(code)))
})
