/** The client through `fetch` against the real program, which is killed with -9 in the middle. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, FileSystem, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { make, type WalClientOptions } from "../../src/client/WalClient.ts"
import { type Program, startProgram } from "../support/Process.ts"
import { startServer } from "../support/TestServer.ts"
import { eventually } from "../support/Wait.ts"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const clientOf = (port: number, options: Partial<WalClientOptions> = {}) =>
  Effect.provide(make({ url: `http://127.0.0.1:${port}`, ...options }), FetchHttpClient.layer)

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Kills the program and starts it again on the same port. */
const restarted = Effect.fnUntraced(function*(program: Program, cwd: string, port: number) {
  program.kill("SIGKILL")
  yield* program.ended
  const next = yield* startProgram({ args: ["--port", String(port)], cwd })
  yield* next.until("log main open")
  return next
})

describe("the client and a server that is killed", () => {
  it.live("loses nothing and doubles nothing, of appends and of a live tail", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const first = yield* startProgram({ args: ["--port", "0"], cwd })
      const port = yield* first.portOnce("log main open")
      // However long a start takes on a machine that has other things to do.
      const client = yield* clientOf(port, { retry: { times: 1_000 } })
      const count = 240
      const seen: Array<{ readonly seq: number; readonly payload: string }> = []
      const following = yield* client.tail("main").pipe(
        Stream.take(count),
        Stream.runForEach(({ payload, seq }) => Effect.sync(() => seen.push({ seq, payload: text(payload) }))),
        Effect.forkChild({ startImmediately: true })
      )
      const appending = yield* Effect.forEach(
        Array.from({ length: count }, (_, index) => index),
        (index) => Effect.map(client.append("main", { ndjson: `${index}\n` }), ({ first_seq }) => first_seq),
        { concurrency: 4 }
      ).pipe(Effect.forkChild)
      yield* eventually(() => seen.length >= 40)
      const second = yield* restarted(first, cwd, port)
      yield* eventually(() => seen.length >= 120)
      yield* restarted(second, cwd, port)
      const answered = yield* Fiber.join(appending)
      yield* Fiber.join(following)
      assert.deepStrictEqual(
        seen.map(({ seq }) => seq),
        Array.from({ length: count }, (_, index) => index + 1)
      )
      assert.deepStrictEqual(answered.map((seq) => seen[seq - 1]?.payload), answered.map((_, index) => String(index)))
      const stored = yield* Stream.runCollect(client.read("main", { pageSize: 50 }))
      assert.deepStrictEqual(Array.from(stored, ({ payload, seq }) => ({ seq, payload: text(payload) })), seen)
    }).pipe(Effect.provide(NodeServices.layer)), 240_000)

  it.live("reads back every form of a record, and does the rest of what the API has", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const program = yield* startProgram({ args: ["--port", "0"], cwd })
      const port = yield* program.portOnce("log main open")
      const client = yield* clientOf(port)
      const bytes = new Uint8Array([0, 255, 10])
      assert.deepInclude(
        yield* client.append("main", {
          records: [
            { payload: { a: 1.5 }, key: "k", headers: { h: "v" }, timestamp: 7 },
            { payload: bytes },
            { payload: null }
          ]
        }),
        { first_seq: 1, last_seq: 3, count: 3, ack: "durable", replayed: false }
      )
      yield* client.append("main", { bytes })
      yield* client.append("main", { ndjson: new TextEncoder().encode("{\"b\" : 1.10}\n2\n") }, { ack: "accepted" })
      assert.strictEqual(yield* client.flush("main"), 6)
      const records = Array.from(yield* Stream.runCollect(client.read("main")))
      assert.deepInclude(records[0], { seq: 1, key: "k", headers: { h: "v" }, timestamp: 7 })
      assert.deepStrictEqual(records.map(({ payload }) => text(payload)), [
        "{\"a\":1.5}",
        text(bytes),
        "null",
        text(bytes),
        "{\"b\" : 1.10}",
        "2"
      ])
      assert.deepStrictEqual(records[1]?.payload, bytes)
      assert.deepInclude(yield* client.commit("main", "default", 4), { name: "default", seq: 4, lag: 2 })
      assert.deepInclude(yield* client.commit("main", "other", 1), { name: "other", seq: 1 })
      yield* client.removeCursor("main", "other")
      const gone = yield* Effect.flip(client.cursor("main", "other"))
      assert.strictEqual(gone.reason._tag, "cursor_not_found")
      assert.strictEqual((yield* client.cursor("main", "default")).seq, 4)
      assert.isAtLeast(yield* client.trim("main", 4), 0)
      assert.deepStrictEqual((yield* client.streams).map(({ id }) => id), ["main"])
      assert.strictEqual((yield* client.status("main")).durable, 6)
      assert.isAtLeast((yield* client.epochs("main")).length, 1)
      assert.isTrue(yield* client.health)
      assert.isTrue((yield* client.ready).ready)
      assert.include(yield* client.metrics, "wal_http_requests_total")
      const unknown = yield* Effect.flip(client.append("absent", { ndjson: "1\n" }))
      assert.strictEqual(unknown.reason._tag, "stream_not_found")
      const bad = yield* Effect.flip(client.append("main", { ndjson: "{\n" }))
      assert.deepStrictEqual([bad.reason._tag, bad.status], ["invalid_json", 400])
    }).pipe(Effect.provide(NodeServices.layer)), 60_000)
})

describe("the client and a server that is taken over", () => {
  it.live("ends its tail and its appends typed", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const client = yield* clientOf(port)
      yield* client.append("orders", { ndjson: "1\n" })
      let isFollowing = false
      const following = Effect.sync(() => {
        isFollowing = true
      })
      const tail = yield* Effect.forkChild(
        Effect.flip(Stream.runForEach(client.tail("orders", { from: 1 }), () => following)),
        { startImmediately: true }
      )
      yield* eventually(() => isFollowing)
      yield* log.takeOver
      const refused = yield* Effect.flip(client.append("orders", { ndjson: "2\n" }))
      assert.deepStrictEqual([refused.reason._tag, refused.status], ["fenced", 409])
      assert.strictEqual((yield* Fiber.join(tail)).reason._tag, "fenced")
    }))

  it.live("with a wrong token hears so", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({
        tokens: [{ id: "a", secret: { sha256: "0".repeat(64) }, scopes: ["read"] }]
      })
      const client = yield* clientOf(port, { token: Redacted.make("wrong") })
      assert.strictEqual((yield* Effect.flip(client.streams)).reason._tag, "unauthorized")
      assert.strictEqual(
        (yield* Effect.flip(Stream.runDrain(client.tail("orders", { from: 1 })))).reason._tag,
        "unauthorized"
      )
    }))
})
