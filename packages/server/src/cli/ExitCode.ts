/** How a command ends with a code of its own. */
import type { ConfigError } from "@effect-wal/core/WalError"
import { Console, Data, Effect, Runtime } from "effect"
import { exitCodes } from "../Shutdown.ts"

/** Ends the process with `code`; everything that is to be said was said before. */
export class ExitCode extends Data.TaggedError("ExitCode")<{ readonly code: number }> {
  override readonly [Runtime.errorExitCode] = this.code
  override readonly [Runtime.errorReported] = false
}

/** Tells what is wrong with the configuration and ends with its code. */
export const reportConfigError = (error: ConfigError): Effect.Effect<never, ExitCode> =>
  Effect.andThen(Console.error(error.message), Effect.fail(new ExitCode({ code: exitCodes.config })))

/**
 * Runs the program and ends the process with its code. Signals are left to the program: a server that is told to stop
 * has work to do first.
 */
export const runMain = Runtime.makeRunMain(({ fiber, teardown }) => {
  fiber.addObserver((exit) => teardown(exit, (code) => process.exit(code)))
})
