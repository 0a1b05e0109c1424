/** Programs whose output nobody takes any more. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { closeSync, existsSync, openSync } from "node:fs"
import { append } from "../support/Client.ts"
import { eventually } from "../support/Wait.ts"
import { configured, main, temporary } from "./data/Cli.ts"

interface Child {
  readonly process: ReturnType<typeof spawn>
  readonly out: () => string
  readonly err: () => string
  readonly ended: () => number | string | undefined
}

/** Starts it with this as its stdout; it is killed with the scope. */
const start = (args: ReadonlyArray<string>, cwd: string, stdout: "pipe" | number) =>
  Effect.acquireRelease(
    Effect.sync((): Child => {
      const child = spawn(process.execPath, [main, ...args], { cwd, stdio: ["ignore", stdout, "pipe"] })
      const texts = { out: "", err: "" }
      let end: number | string | undefined
      child.stdout?.on("data", (chunk: Buffer) => {
        texts.out += chunk.toString()
      })
      child.stderr?.on("data", (chunk: Buffer) => {
        texts.err += chunk.toString()
      })
      child.on("exit", (code, signal) => {
        end = code ?? signal ?? "unknown"
      })
      return { process: child, out: () => texts.out, err: () => texts.err, ended: () => end }
    }),
    (child) => Effect.sync(() => child.process.kill("SIGKILL"))
  )

describe("without anybody who reads its log", () => {
  for (const format of ["text", "json"]) {
    it.live(`a server goes on, and drains at its end (${format})`, () =>
      Effect.gen(function*() {
        const cwd = yield* configured("local")
        const child = yield* start(["serve", "--config", "wal.yaml", "--log-format", format], cwd, "pipe")
        const port = () => Number(/listens on http:\/\/127\.0\.0\.1:(\d+)/.exec(child.out())?.[1])
        yield* eventually(() => child.out().includes("log orders open") && port() > 0)
        child.process.stdout?.destroy()
        // Each of them is a line or more of the log.
        for (let call = 0; call < 3; call++) {
          assert.strictEqual((yield* append(port(), "application/x-ndjson", "1\n")).status, 200, child.err())
          assert.strictEqual((yield* append(port(), "application/x-ndjson", "nothing\n")).status, 400, child.err())
        }
        child.process.kill("SIGTERM")
        yield* eventually(() => child.ended() !== undefined)
        assert.strictEqual(child.ended(), 0, child.err())
      }).pipe(Effect.provide(NodeServices.layer)))
  }
})

describe.skipIf(!existsSync("/dev/full"))("on a full disk", () => {
  it.live("a command whose result cannot be written ends with 1, and says so", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const full = yield* Effect.acquireRelease(
        Effect.sync(() => openSync("/dev/full", "w")),
        (file) => Effect.sync(() => closeSync(file))
      )
      for (const args of [["config", "schema"], ["cost", "--json"]]) {
        const child = yield* start(args, cwd, full)
        yield* eventually(() => child.ended() !== undefined && child.err() !== "")
        assert.strictEqual(child.ended(), 1)
        assert.include(child.err(), "the output cannot be written: ENOSPC")
        assert.notMatch(child.err(), /^\s+at /m)
      }
    }).pipe(Effect.provide(NodeServices.layer)))
})
