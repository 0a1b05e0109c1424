/** The routes of the dashboard, as a program sees them. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import type { TokenSettings } from "../../src/Settings.ts"
import { append, call, connect, json } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { advanceUntil, turn, until } from "../support/Wait.ts"

const ndjson = "application/x-ndjson"

const tokens: ReadonlyArray<TokenSettings> = [["reader", ["orders"]], ["all", undefined]].map(([id, streams]) => ({
  id: String(id),
  secret: { sha256: createHash("sha256").update(String(id)).digest("hex") },
  scopes: ["read"],
  ...Array.isArray(streams) ? { streams } : {}
}))

const look = (port: number, token?: string) =>
  call(port, "/v1/dashboard", token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })

/** A connection to the feed; `events` are those that have come so far, as text. */
const openFeed = Effect.fnUntraced(function*(port: number, token?: string) {
  const raw = yield* connect(port)
  yield* Effect.addFinalizer(() => Effect.sync(() => raw.socket.destroy()))
  const header = token === undefined ? "" : `authorization: Bearer ${token}\r\n`
  raw.write(`GET /v1/dashboard HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n${header}\r\n`)
  let received = ""
  raw.socket.on("data", (chunk) => {
    received += chunk.toString()
  })
  const events = () => [...received.matchAll(/^(?:event: (\w+)\n)?data: (.*)$/gm)].map(([, , data = ""]) => data)
  /** Moves the clock until so many events have come, and answers the last of them. */
  const next = (count: number) =>
    Effect.gen(function*() {
      while (events().length < count) {
        yield* TestClock.adjust("1 second")
        yield* turn
        yield* turn
      }
      return JSON.parse(events()[count - 1] ?? "")
    })
  yield* until(() => events().length > 0)
  return { events, next, raw, received: () => received }
})

describe("GET /v1/dashboard", () => {
  it.effect("tells of each stream where it stands, how it is doing, and how it went", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      // A sample of before, one of then, and one of five seconds later: what was there before does not count as a rate.
      yield* TestClock.adjust("1 second")
      yield* look(port)
      yield* append(port, ndjson, "1\n2\n3\n")
      yield* TestClock.adjust("5 seconds")
      yield* look(port)
      yield* append(port, ndjson, "4\n5\n6\n7\n8\n")
      yield* TestClock.adjust("5 seconds")
      const answer = yield* look(port)
      assert.strictEqual(answer.headers["content-type"], "application/json")
      assert.strictEqual(answer.headers["cache-control"], "no-store")
      const { history, server, streams: [orders] } = json(answer)
      assert.deepInclude(server, { phase: "serving", ready: true, reasons: [] })
      assert.deepInclude(orders, { id: "orders", level: "ok", epochs_total: 1 })
      assert.deepInclude(orders.status, { state: "open", durable: 8, last_accepted: 8, epoch: 1 })
      assert.strictEqual(orders.activity.rates.accepted, 1)
      assert.strictEqual(orders.activity.put.count, 2)
      assert.isAbove(orders.activity.requests.total.puts, 2)
      assert.isUndefined(orders.activity.requests.dollars_per_month)
      assert.deepStrictEqual(orders.judged.put_p99_ms, { level: "ok", warn: 200, page: 500 })
      assert.deepStrictEqual(history.orders.accepted.length, history.orders.lag.length)
      assert.isAbove(Math.max(...history.orders.lag), 0)
    }))

  it.effect("the feed of an idle log is some thirty bytes a second, and asks nothing of the store", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* append(port, ndjson, "1\n")
      const feed = yield* openFeed(port)
      // What the last minute has seen moves out of it.
      yield* feed.next(90)
      const asked = log.faults.requests.length
      yield* feed.next(130)
      const idle = feed.events().slice(90)
      for (const event of idle) assert.match(event, /^\{"at":\d+\}$/)
      assert.isAtLeast(idle.length, 30)
      assert.strictEqual(log.faults.requests.length, asked)
    }))

  it.effect("the feed tells a change within a second, and only what has changed", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ streams: ["orders", "payments"] })
      const feed = yield* openFeed(port)
      const first = yield* feed.next(1)
      assert.deepStrictEqual(Object.keys(first.history), ["orders", "payments"])
      yield* feed.next(90)
      yield* append(port, ndjson, "1\n2\n", "", "payments")
      const after = yield* feed.next(feed.events().length + 1)
      assert.isUndefined(after.history)
      assert.deepStrictEqual(
        after.streams.map(({ id, status }: { id: string; status: { durable: number } }) => [id, status.durable]),
        [["payments", 2]]
      )
    }))

  it.effect("a store that fails shows as an outage, with what is at risk and until when there is room", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const feed = yield* openFeed(port)
      const mend = log.faults.rule(({ key, operation }) =>
        operation === "create" && key.includes("/segments/") ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      yield* append(port, ndjson, "1\n2\n3\n", "?ack=accepted")
      yield* feed.next(5)
      yield* append(port, ndjson, "4\n", "?ack=accepted")
      yield* feed.next(40)
      const { server, streams: [orders] } = json(yield* look(port))
      assert.strictEqual(orders.level, "page")
      assert.isNumber(orders.status.store_failing_since)
      assert.strictEqual(orders.status.at_risk.records, 4)
      assert.isAbove(orders.activity.retries.Unavailable.window, 0)
      assert.deepStrictEqual([server.ready, server.reasons[0].code], [false, "store_unavailable"])
      mend()
    }))

  it.effect("a fenced log, a dead one and one that cannot be opened say so", () =>
    Effect.gen(function*() {
      const { log, logs, port } = yield* startServer({ streams: ["orders", "payments"] })
      yield* log.takeOver
      yield* append(port, ndjson, "1\n")
      yield* logs["payments"]?.kill ?? Effect.void
      yield* append(port, ndjson, "1\n", "", "payments")
      yield* TestClock.adjust("2 seconds")
      const { streams: [orders, payments] } = json(yield* look(port))
      assert.deepStrictEqual([orders.level, orders.status.state, orders.status.new_owner], ["page", "fenced", "pod-2"])
      assert.deepStrictEqual([payments.level, payments.status.state], ["page", "failed"])
    }))

  it.effect("shows each stream to those who may read it, and nothing to others", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ streams: ["orders", "payments"], tokens })
      const none = yield* look(port)
      assert.deepStrictEqual([none.status, json(none).error.code], [401, "unauthorized"])
      assert.strictEqual(none.headers["www-authenticate"], "Bearer")
      const ids = (answer: { readonly body: Buffer }) =>
        JSON.parse(answer.body.toString()).streams.map(({ id }: { readonly id: string }) => id)
      const one = yield* look(port, "reader")
      assert.deepStrictEqual(ids(one), ["orders"])
      assert.deepStrictEqual(Object.keys(json(one).history), ["orders"])
      assert.notInclude(one.body.toString(), "payments")
      assert.deepStrictEqual(ids(yield* look(port, "all")), ["orders", "payments"])
    }))

  it.effect("the feed of a token that is withdrawn ends with the reason", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/token`
      yield* fs.writeFileString(file, "old")
      const server = yield* startServer({ tokens: [{ id: "one", secret: { file }, scopes: ["read"] }] })
      const feed = yield* openFeed(server.port, "old")
      const ended = yield* Effect.forkChild(feed.raw.until("\r\n0\r\n\r\n"))
      yield* feed.next(2)
      yield* fs.writeFileString(file, "new")
      yield* server.tokens.reload
      yield* advanceUntil(ended, "1 second")
      assert.include(feed.received(), "event: error\ndata: {\"error\":{\"code\":\"unauthorized\"")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("the feed ends when the server drains", () =>
    Effect.gen(function*() {
      const { lifecycle, port } = yield* startServer()
      const feed = yield* openFeed(port)
      const ended = yield* Effect.forkChild(feed.raw.until("\r\n0\r\n\r\n"))
      yield* lifecycle.leave
      const leaving = yield* feed.next(2)
      assert.deepInclude(leaving.server, { phase: "leaving", ready: false })
      yield* lifecycle.drain
      yield* advanceUntil(ended, "1 second")
    }))

  it.effect("a hundred who look cost one sample a second", () =>
    Effect.gen(function*() {
      const { port, streams } = yield* startServer()
      yield* look(port)
      const log = yield* streams.log("orders")
      const before = yield* log.status
      const answers = yield* Effect.forEach(Array.from({ length: 100 }), () => look(port), { concurrency: 10 })
      const times = new Set(answers.map((answer) => json(answer).at))
      assert.strictEqual(times.size, 1)
      assert.strictEqual((yield* log.status).durable, before.durable)
    }))
})

describe("GET /", () => {
  it.effect("is the page, for everybody and without data, with a strict policy", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ tokens })
      const page = yield* call(port, "/")
      assert.strictEqual(page.status, 200)
      assert.strictEqual(page.headers["content-type"], "text/html; charset=utf-8")
      assert.include(String(page.headers["content-security-policy"]), "default-src 'none'")
      assert.strictEqual(page.headers["x-content-type-options"], "nosniff")
      assert.strictEqual(page.headers["referrer-policy"], "no-referrer")
      assert.notInclude(page.body.toString(), "orders")
      const again = yield* call(port, "/", { headers: { "if-none-match": String(page.headers.etag) } })
      assert.deepStrictEqual([again.status, again.body.length], [304, 0])
      assert.strictEqual((yield* call(port, "/", { method: "HEAD" })).status, 200)
      assert.strictEqual((yield* call(port, "/", { method: "POST" })).status, 404)
    }))

  it.effect("and its feed are counted as routes of their own", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* call(port, "/")
      yield* look(port)
      const metrics = (yield* call(port, "/metrics")).body.toString()
      assert.match(metrics, /wal_http_requests_total\{.*route="\/",.*\} 1/)
      assert.match(metrics, /wal_http_requests_total\{.*route="\/v1\/dashboard",.*\} 1/)
    }))
})
