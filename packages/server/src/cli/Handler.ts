/** What every command but `serve` has around its handler. */
import { Effect, Logger, Option, References } from "effect"
import { GlobalFlag } from "effect/cli"
import type { ExitCode } from "./ExitCode.ts"
import { reportingFailures, type TaggedFailure } from "./Failure.ts"
import { outliveReaders } from "./LostOutput.ts"

/**
 * Runs a command's work: errors are told on stderr and become exit codes; logs go to stderr, so that stdout holds results
 * alone, and begin at warnings where `--log-level` says nothing else.
 */
export const runHandler = Effect.fnUntraced(function*<A, E extends TaggedFailure | ExitCode, R>(
  work: Effect.Effect<A, E, R>
) {
  const level = Option.getOrElse(yield* GlobalFlag.LogLevel, () => "Warn" as const)
  return yield* Effect.scoped(Effect.andThen(outliveReaders, reportingFailures(work))).pipe(
    Effect.provideService(References.MinimumLogLevel, level),
    Effect.provideService(Logger.LogToStderr, true)
  )
})
