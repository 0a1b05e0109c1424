/** The server on logs of this machine's disk: as the real program, and its openers inside this process. */
import { DirectoryLocked } from "@effect-wal/core/WalError"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer, Metric } from "effect"
import { TestClock } from "effect/testing"
import { loadConfig } from "../src/config/ServerConfig.ts"
import { LogOpener } from "../src/LogOpener.ts"
import { Settings } from "../src/Settings.ts"
import * as StoreLayer from "../src/StoreLayer.ts"
import { append, call, json } from "./support/Client.ts"
import { startProgram } from "./support/Process.ts"
import { settingsOf, startServer } from "./support/TestServer.ts"
import { until } from "./support/Wait.ts"

const ndjson = "application/x-ndjson"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const config = (...lines: ReadonlyArray<string>): string =>
  ["server:", "  port: 0", "streams:", "  - id: orders", "    durability:", ...lines.map((line) => `      ${line}`)]
    .join(
      "\n"
    )

const local = config("backend: { type: local, local: { path: data } }")

/** Writes the configuration to a directory of its own and answers how to start the program there. */
const inDirectory = Effect.fnUntraced(function*(text: string) {
  const cwd = yield* temporary
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(`${cwd}/wal.yaml`, text)
  return { cwd, args: ["--config", "wal.yaml"] }
})

const payloads = (port: number) =>
  Effect.map(
    call(port, "/v1/streams/orders/records"),
    (answer) => json(answer).records.map((record: { readonly payload: unknown }) => record.payload)
  )

const readiness = (port: number) =>
  Effect.map(call(port, "/readyz"), (answer) => ({ status: answer.status, text: answer.body.toString("utf8") }))

/** What opens the streams of a configuration inside this process. */
const openerOf = Effect.fnUntraced(function*(text: string) {
  const { streams } = yield* loadConfig({ text, env: {} })
  const settings = settingsOf({ streams: streams.map((stream) => stream.id) })
  const context = yield* Layer.build(StoreLayer.layer(streams).pipe(Layer.provide(Layer.succeed(Settings, settings))))
  return Context.get(context, LogOpener)
})

const oneStream = (backend: string): string => `streams: [{ id: a, durability: { backend: { ${backend} } } }]`

const abandoned = (registry: Metric.MetricRegistry): number | undefined => {
  const context = Context.make(Metric.MetricRegistry, registry)
  const found = Metric.snapshotUnsafe(context).find((one) => one.id === "wal_abandoned_logs")
  return found?.type === "Gauge" ? Number(found.state.value) : undefined
}

const inProcess = <A, E, R>(use: (path: string) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(temporary, use).pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

describe("the program on a local log", () => {
  it.live(
    "appends, reads, commits, and finds all of it after a restart and after kill -9",
    () =>
      Effect.gen(function*() {
        const start = yield* inDirectory(local)
        const first = yield* startProgram(start)
        const port = yield* first.portOnce("log orders open")
        assert.deepInclude(json(yield* append(port, ndjson, "1\n2\n3\n")), {
          first_seq: 1,
          last_seq: 3,
          ack: "durable"
        })
        const committed = yield* call(port, "/v1/streams/orders/cursors/default", {
          method: "PUT",
          headers: { "content-type": "application/json" },
          body: "{\"seq\":2}"
        })
        assert.strictEqual(committed.status, 200, committed.body.toString("utf8"))
        first.kill("SIGTERM")
        assert.strictEqual(yield* first.ended, 0)
        assert.include(first.output(), "stream orders: durable to 3, nothing left")
        assert.include(first.output(), "does not survive the loss of this machine's disk")
        const second = yield* startProgram(start)
        const again = yield* second.portOnce("log orders open")
        assert.deepStrictEqual(yield* payloads(again), [1, 2, 3])
        assert.deepInclude(json(yield* append(again, ndjson, "4\n")), { first_seq: 4, epoch: 2 })
        second.kill("SIGKILL")
        assert.strictEqual(yield* second.ended, "SIGKILL")
        const third = yield* startProgram(start)
        const last = yield* third.portOnce("log orders open")
        assert.deepStrictEqual(yield* payloads(last), [1, 2, 3, 4])
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "[case 10] a second server is told who has the directory, and takes over when that one has ended",
    () =>
      Effect.gen(function*() {
        const start = yield* inDirectory(local)
        const first = yield* startProgram(start)
        const port = yield* first.portOnce("log orders open")
        assert.strictEqual((yield* append(port, ndjson, "1\n")).status, 200)
        const second = yield* startProgram(start)
        const other = yield* second.portOnce("stream orders is not open yet")
        const refused = yield* append(other, ndjson, "2\n")
        assert.strictEqual(refused.status, 409)
        assert.strictEqual(json(refused).error.code, "directory_locked")
        assert.include(json(refused).error.message, `${start.cwd}/data/node-0/orders`)
        const ready = yield* readiness(other)
        assert.strictEqual(ready.status, 503)
        assert.include(ready.text, "directory_locked")
        // The first is not harmed.
        assert.strictEqual((yield* append(port, ndjson, "2\n")).status, 200)
        first.kill("SIGTERM")
        assert.strictEqual(yield* first.ended, 0)
        yield* second.until("log orders open")
        assert.strictEqual((yield* readiness(other)).status, 200)
        assert.deepStrictEqual(yield* payloads(other), [1, 2])
        assert.deepInclude(json(yield* append(other, ndjson, "3\n")), { first_seq: 3, epoch: 2 })
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "data of the directory store is not begun anew: it says what to write, and that opens it",
    () =>
      Effect.gen(function*() {
        const cwd = yield* temporary
        // What the program kept without a configuration before it had local logs.
        const before = yield* openerOf(
          oneStream(`type: object_store, node_id: node-0, stream_id: main, directory: { path: "${cwd}/data" }`)
        )
        yield* Effect.scoped(
          Effect.flatMap(before.open("a"), (log) => log.append([{ payload: new Uint8Array(1) }]))
        )
        const program = yield* startProgram({ cwd, args: ["--port", "0"] })
        const port = yield* program.portOnce("stream main cannot be opened")
        assert.include(program.output(), "write that (directory: { path: … }) to open it")
        assert.strictEqual((yield* append(port, ndjson, "2\n", "", "main")).status, 500)
        assert.strictEqual((yield* readiness(port)).status, 503)
        assert.deepInclude(yield* (yield* before.open("a")).status, { epoch: 2, durable: 1 })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    60_000
  )
})

describe("local logs of a server", () => {
  it.effect("[case 10] one that another process has is tried every 2 s at the latest, and not in a hot loop", () =>
    Effect.gen(function*() {
      let tries = 0
      const { streams } = yield* startServer({
        open: () =>
          Effect.suspend(() => {
            tries++
            return Effect.fail(new DirectoryLocked({ path: "data" }))
          })
      })
      yield* until(() => tries === 1)
      yield* TestClock.adjust("10 minutes")
      assert.isAbove(tries, 290)
      assert.isBelow(tries, 620)
      const [entry] = streams.entries()
      assert.strictEqual(entry?.state._tag === "Opening" ? entry.state.last?._tag : undefined, "DirectoryLocked")
    }))

  it.live("a log that is closed gives its directory free while the server lives on", () =>
    inProcess((path) =>
      Effect.gen(function*() {
        const { open } = yield* openerOf(oneStream(`type: local, local: { path: "${path}" }`))
        const first = yield* open("a")
        yield* first.append([{ payload: new Uint8Array(1) }])
        yield* first.close
        assert.deepInclude(yield* (yield* open("a")).status, { epoch: 2, durable: 1 })
      })
    ))

  it.live("[predecessor 28] sync per_entry of the whole block reaches the log", () =>
    inProcess((path) =>
      Effect.gen(function*() {
        const { open } = yield* openerOf(`streams: [{ id: a, durability: { path: "${path}", sync: per_entry } }]`)
        const log = yield* open("a")
        const { durable } = yield* log.append(Array.from({ length: 3 }, () => ({ payload: new Uint8Array(1) })))
        yield* durable
        assert.strictEqual((yield* log.status).segments.durable, 3)
      })
    ))

  it.live("streams in one directory are logs of their own, each with its lock", () =>
    inProcess((path) =>
      Effect.gen(function*() {
        const { open } = yield* openerOf(
          `streams: [${["a", "b"].map((id) => `{ id: ${id}, durability: { path: "${path}" } }`).join(", ")}]`
        )
        const logs = yield* Effect.forEach(["a", "b"], open)
        for (const log of logs) yield* log.append([{ payload: new Uint8Array(1) }])
        for (const log of logs) assert.strictEqual(yield* log.flush, 1)
      })
    ))

  it.live("of other nodes with uncommitted records are counted at start", () =>
    inProcess((path) =>
      Effect.gen(function*() {
        const stream = (node: string) => oneStream(`type: local, node_id: ${node}, local: { path: "${path}" }`)
        yield* Effect.scoped(Effect.gen(function*() {
          const { open } = yield* openerOf(stream("gone"))
          yield* (yield* open("a")).append([{ payload: new Uint8Array(1) }])
        }))
        const { open } = yield* openerOf(stream("here"))
        yield* open("a")
        const registry = yield* Metric.MetricRegistry
        yield* until(() => abandoned(registry) === 1)
      })
    ))

  it.live("are not opened by the directory store, which would find them empty", () =>
    inProcess((path) =>
      Effect.gen(function*() {
        const own = yield* openerOf(oneStream(`type: local, local: { path: "${path}" }`))
        yield* Effect.scoped(Effect.flatMap(own.open("a"), (log) => log.append([{ payload: new Uint8Array(1) }])))
        const other = yield* openerOf(
          oneStream(`type: object_store, node_id: node-0, stream_id: a, directory: { path: "${path}" }`)
        )
        const error = yield* Effect.flip(Effect.scoped(other.open("a")))
        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, "type: local")
        assert.deepInclude(yield* (yield* own.open("a")).status, { durable: 1 })
      })
    ))
})
