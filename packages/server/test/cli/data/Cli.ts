/** The real `effect-wal` as its own process, with its input and its two outputs apart, and servers for it. */
import { Effect, FileSystem, Schema } from "effect"
import type { Scope } from "effect"
import { spawn } from "node:child_process"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Program, startProgram } from "../../support/Process.ts"

/** The program. */
export const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))

/** What Node has compiled once it need not compile again for each of the many processes. */
const compiled = { NODE_COMPILE_CACHE: join(tmpdir(), "effect-wal-test-compiled") }

/** Where it runs, and what it gets. */
export interface CliOptions {
  readonly cwd: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
}

/** What it left. */
export interface Outcome {
  readonly code: number | string
  readonly out: Buffer
  readonly text: string
  readonly err: string
}

/** Runs it to its end. */
export const cli = (args: ReadonlyArray<string>, { cwd, env, input }: CliOptions): Effect.Effect<Outcome> =>
  Effect.callback<Outcome>((resume) => {
    const child = spawn(process.execPath, [main, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], ...compiled, ...env },
      stdio: ["pipe", "pipe", "pipe"]
    })
    const out: Array<Buffer> = []
    const err: Array<Buffer> = []
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk))
    // One that ends at a bad flag does not read.
    child.stdin.on("error", () => undefined)
    child.stdin.end(input ?? "")
    child.on("close", (code, signal) => {
      const bytes = Buffer.concat(out)
      resume(Effect.succeed({
        code: code ?? signal ?? "unknown",
        out: bytes,
        text: bytes.toString("utf8"),
        err: Buffer.concat(err).toString("utf8")
      }))
    })
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** A running command whose input stays open. */
export interface Running {
  readonly pid: number
  readonly write: (input: string | Uint8Array) => void
  readonly endInput: () => void
  readonly kill: (signal: NodeJS.Signals) => boolean
  readonly err: () => string
  readonly ended: Effect.Effect<number | string>
}

/** Starts it; it is killed with the scope. */
export const startCli = (
  args: ReadonlyArray<string>,
  { cwd, env }: Omit<CliOptions, "input">
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): Running => {
      const child = spawn(process.execPath, [main, ...args], {
        cwd,
        env: { PATH: process.env["PATH"], ...compiled, ...env },
        stdio: ["pipe", "ignore", "pipe"]
      })
      let err = ""
      child.stderr.on("data", (chunk: Buffer) => {
        err += chunk.toString()
      })
      child.stdin.on("error", () => undefined)
      const end = new Promise<number | string>((resolve) => {
        child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"))
      })
      return {
        pid: child.pid ?? 0,
        write: (input) => {
          child.stdin.write(input)
        },
        endInput: () => {
          child.stdin.end()
        },
        kill: (signal) => child.kill(signal),
        err: () => err,
        ended: Effect.promise(() => end)
      }
    }),
    (running) => Effect.sync(() => running.kill("SIGKILL"))
  )

/** Asks the server until so many records of `orders` are durable. */
export const untilDurable = (url: string, seq: number): Effect.Effect<void> =>
  Effect.flatMap(
    Effect.promise(() => fetch(`${url}/v1/streams/orders`).then((answer) => answer.json())),
    (status) =>
      Schema.is(Durable)(status) && status.durable >= seq ? Effect.void : Effect.suspend(() => untilDurable(url, seq))
  )

const Durable = Schema.Struct({ durable: Schema.Number })

/** A test that starts several processes fails after this long; a machine that does much else is slow to start them. */
export const slowMillis = 400_000

/** A directory for one test. */
export const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** Where a stream is kept. */
export type Backend = "directory" | "local"

const durability: Readonly<Record<Backend, (id: string, path: string) => string>> = {
  // A writer that writes nothing by itself: what changes while a test looks was changed by the test.
  directory: (id, path) =>
    `{ backend: { type: object_store, node_id: n, stream_id: ${id}, directory: { path: ${path} }, ` +
    "retention: { policy: keep }, manifest: { max_delay: 1h } } }",
  local: (id, path) => `{ backend: { type: local, node_id: n, stream_id: ${id}, local: { path: ${path} } } }`
}

/** A directory with `wal.yaml` of these streams, kept in `store` there; `server` are settings of the server. */
export const configured = Effect.fnUntraced(
  function*(backend: Backend, ids: ReadonlyArray<string> = ["orders"], server = "port: 0") {
    const cwd = yield* temporary
    const fs = yield* FileSystem.FileSystem
    const streams = ids.map((id) => `  - { id: ${id}, durability: ${durability[backend](id, `${cwd}/store`)} }\n`)
    yield* fs.writeFileString(`${cwd}/wal.yaml`, `server: { ${server} }\nstreams:\n${streams.join("")}`)
    return cwd
  }
)

/** A running server. */
export interface Serving {
  readonly program: Program
  readonly port: number
  readonly url: string
}

/** Serves `wal.yaml`, and answers once its streams are open. */
export const serve = Effect.fnUntraced(
  function*(cwd: string, options: {
    readonly ids?: ReadonlyArray<string>
    readonly port?: number
    readonly env?: Readonly<Record<string, string>>
  } = {}): Effect.fn.Return<Serving, never, Scope.Scope> {
    const program = yield* startProgram({
      args: ["serve", "--config", "wal.yaml", "--port", String(options.port ?? 0)],
      cwd,
      env: { ...compiled, ...options.env }
    })
    for (const id of options.ids ?? ["orders"]) yield* program.until(`log ${id} open`)
    const port = Number(/listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(yield* program.until("listens on"))?.[1])
    return { program, port, url: `http://127.0.0.1:${port}` }
  }
)

/** Every file below a directory with its bytes, as text that can be compared; times are left out. */
export const snapshot = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).toSorted().map((name) => {
    const path = join(directory, name)
    return statSync(path).isDirectory() ? `${name}/` : `${name} ${readFileSync(path).toString("base64")}`
  })

/** The lines of a text that ends with a line end. */
export const lines = (text: string): ReadonlyArray<string> => text.split("\n").slice(0, -1)

/** One parsed value a line. */
export const parsed = (text: string) => lines(text).map((line) => JSON.parse(line))

/** So many lines of JSON. */
export const ndjson = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `{"n":${from + index}}\n`).join("")
