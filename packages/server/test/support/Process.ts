/** The real program, or another one, as its own process. */
import { Effect } from "effect"
import type { Scope } from "effect"
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** The port in what a server prints when it listens. */
const portOf = (output: string): number | undefined => {
  const [, port] = /listens on https?:\/\/[^/\s]*:(\d+)(?=\D)/.exec(output) ?? []
  return port === undefined ? undefined : Number(port)
}

export interface Program {
  readonly pid: number
  readonly kill: (signal: NodeJS.Signals) => boolean
  /** What it has printed so far, both streams. */
  readonly output: () => string
  /** Completes when the output holds `text`; dies when the program ends before. */
  readonly until: (text: string) => Effect.Effect<string>
  /** The port that it listens on, once the output holds that and `text`: which of them comes first is open. */
  readonly portOnce: (text: string) => Effect.Effect<number>
  /** Completes with the exit code, or the signal that ended it. */
  readonly ended: Effect.Effect<number | string>
}

export interface ProgramOptions {
  /** What Node runs. Default: the program. */
  readonly script?: string
  /** Its standard input. Default: none. */
  readonly input?: string
  readonly args?: ReadonlyArray<string>
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
}

/** Starts it; it is killed with the scope where it still runs. */
export const startProgram = (options: ProgramOptions): Effect.Effect<Program, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): Program => {
      const child = spawn(process.execPath, [options.script ?? main, ...options.args ?? []], {
        cwd: options.cwd,
        env: { PATH: process.env["PATH"], ...options.env },
        stdio: "pipe"
      })
      // One that is killed reads no more.
      child.stdin.on("error", () => undefined).end(options.input ?? "")
      let output = ""
      let end: number | string | undefined
      const watchers = new Set<() => void>()
      const wake = () => {
        for (const watcher of watchers) watcher()
      }
      for (const stream of [child.stdout, child.stderr]) {
        stream.on("data", (chunk: Buffer) => {
          output += chunk.toString()
          wake()
        })
      }
      child.on("close", (code, signal) => {
        end = code ?? signal ?? "unknown"
        wake()
      })
      const when = <A>(value: () => Effect.Effect<A> | undefined) =>
        Effect.callback<A>((resume) => {
          const check = () => {
            const found = value()
            if (found === undefined) return
            watchers.delete(check)
            resume(found)
          }
          watchers.add(check)
          check()
        })
      const once = <A>(text: string, value: () => A | undefined) =>
        when(() => {
          const found = output.includes(text) ? value() : undefined
          if (found !== undefined) return Effect.succeed(found)
          return end === undefined ? undefined : Effect.die(new Error(`ended with ${end} before ${text}:\n${output}`))
        })
      return {
        pid: child.pid ?? 0,
        kill: (signal) => child.kill(signal),
        output: () => output,
        until: (text) => once(text, () => output),
        portOnce: (text) => once(text, () => portOf(output)),
        ended: when(() => end === undefined ? undefined : Effect.succeed(end))
      }
    }),
    (program) => Effect.sync(() => program.kill("SIGKILL"))
  )
