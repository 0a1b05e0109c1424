/** The command line in this process: what it prints and how it ends, without the time that a process takes to start. */
import { Cause, Console, Effect, Exit, Runtime } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { ProgressOutput } from "../../src/cli/Progress.ts"
import { runWith } from "../../src/cli/Root.ts"

/** What a call left. */
export interface Ended {
  readonly code: number
  readonly text: string
  readonly err: string
}

/** Runs the command line to its end; results end with a line end, as on a terminal. */
export const inProcess = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const out: Array<string> = []
  const err: Array<string> = []
  const console = yield* Console.Console
  const into = (lines: Array<string>) => (...parts: ReadonlyArray<unknown>) => {
    lines.push(`${parts.map(String).join(" ")}\n`)
  }
  const exit = yield* Effect.exit(runWith(args)).pipe(
    Effect.provideService(Console.Console, { ...console, log: into(out), error: into(err) }),
    Effect.provideService(ProgressOutput, {
      isTerminal: false,
      columns: 80,
      write: (text) =>
        Effect.sync(() => {
          err.push(text)
        })
    })
  )
  return {
    code: Exit.isSuccess(exit) ? 0 : Runtime.getErrorExitCode(Cause.squash(exit.cause)),
    text: out.join(""),
    err: err.join("")
  } satisfies Ended as Ended
})

/** Makes the store's path of a `wal.yaml` absolute: this process stays where it is. Answers the file's path. */
export const absolute = (cwd: string): string => {
  const path = `${cwd}/wal.yaml`
  writeFileSync(path, readFileSync(path, "utf8").replaceAll("path: store", `path: ${cwd}/store`))
  return path
}
