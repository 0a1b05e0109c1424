/** The command line in this process: the same commands, their output caught. Starting a process takes its time. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Layer, Result, Sink, Stdio, Stream } from "effect"
import { CliError, Command } from "effect/cli"
import { ExitCode, exitCodes } from "../../../src/cli/ExitCode.ts"
import { ProgressOutput } from "../../../src/cli/Progress.ts"
import { root } from "../../../src/cli/Root.ts"
import * as Usage from "../../../src/cli/Usage.ts"
import type { Outcome } from "./Cli.ts"

const codeOf = (error: unknown): number => {
  if (error instanceof ExitCode) return error.code
  return CliError.isCliError(error) ? exitCodes.usage.code : -1
}

/** Runs it to its end; paths are absolute, as this process stays where it is. */
export const run = Effect.fnUntraced(function*(args: ReadonlyArray<string>, input: string | Uint8Array = "") {
  const out: Array<Buffer> = []
  const err: Array<string> = []
  const caught: Console.Console = Object.assign(Object.create(globalThis.console), {
    log: (...parts: ReadonlyArray<unknown>) => out.push(Buffer.from(`${parts.join(" ")}\n`)),
    error: (...parts: ReadonlyArray<unknown>) => err.push(parts.join(" "))
  })
  const stdio = Stdio.layerTest({
    stdin: Stream.succeed(Buffer.from(input)),
    stdout: () =>
      Sink.forEach((part: string | Uint8Array) =>
        Effect.sync(() => {
          out.push(Buffer.from(part))
        })
      )
  })
  const result = yield* Effect.result(Command.runWith(root, { version: "0" })(args)).pipe(
    Effect.provide(Layer.mergeAll(NodeServices.layer, Usage.layer(args), stdio)),
    Effect.provideService(Console.Console, caught),
    Effect.provideService(ProgressOutput, { isTerminal: false, columns: 80, write: () => Effect.void })
  )
  const bytes = Buffer.concat(out)
  const outcome: Outcome = {
    code: Result.isSuccess(result) ? 0 : codeOf(result.failure),
    out: bytes,
    text: bytes.toString("utf8"),
    err: `${err.join("\n")}\n`
  }
  return outcome
})
