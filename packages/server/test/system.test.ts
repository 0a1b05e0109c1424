import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Fiber, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { TestClock } from "effect/testing"
import { Connections } from "../src/Listener.ts"
import { append, call, connect, json } from "./support/Client.ts"
import { parseExposition } from "./support/Exposition.ts"
import { smallBuffer, threeLines } from "./support/TestLog.ts"
import { startServer } from "./support/TestServer.ts"
import { advanceUntil, until } from "./support/Wait.ts"

const get = call

describe("healthz and readyz", () => {
  it.effect("tell a full buffer and a store that has been failing for longer than store_grace", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({
        storeGrace: Duration.seconds(30),
        limits: { ackTimeout: Duration.hours(1) },
        log: smallBuffer
      })
      assert.deepStrictEqual(json(yield* get(port, "/readyz")), { ready: true, reasons: [] })
      yield* log.hold
      yield* append(port, "application/x-ndjson", threeLines, "?ack=accepted")
      const full = yield* get(port, "/readyz")
      assert.deepStrictEqual([full.status, json(full).reasons[0].code], [503, "buffer_full"])
      yield* log.release
      assert.strictEqual((yield* append(port, "application/x-ndjson", "1")).status, 200)
      const mend = log.faults.rule(({ operation }) =>
        operation === "create" ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      const failed = log.faults.requests.length
      const waiting = yield* Effect.forkChild(append(port, "application/x-ndjson", "2"))
      yield* until(() => log.faults.requests.length > failed)
      yield* TestClock.adjust("29 seconds")
      assert.strictEqual((yield* get(port, "/readyz")).status, 200)
      yield* TestClock.adjust("1 second")
      const failing = yield* get(port, "/readyz")
      assert.deepStrictEqual([failing.status, json(failing).reasons[0].code], [503, "store_unavailable"])
      assert.strictEqual((yield* get(port, "/healthz")).status, 200)
      mend()
      assert.strictEqual((yield* advanceUntil(waiting, "1 second")).status, 200)
      assert.strictEqual((yield* get(port, "/readyz")).status, 200)
    }))

  it.effect("a dead log is 503 on both, and the process is told", () =>
    Effect.gen(function*() {
      const { log, port, streams } = yield* startServer({ streams: ["orders", "payments"] })
      const died = yield* Effect.forkChild(streams.died, { startImmediately: true })
      yield* log.kill
      const answer = yield* append(port, "application/x-ndjson", "1")
      assert.deepStrictEqual([answer.status, json(answer).error.code], [500, "log_failed"])
      yield* until(() => died.pollUnsafe() !== undefined)
      assert.strictEqual((yield* Fiber.join(died)).streamId, "orders")
      const health = yield* get(port, "/healthz")
      assert.deepStrictEqual([health.status, health.body.toString()], [503, "dead: orders\n"])
      assert.strictEqual((yield* get(port, "/readyz")).status, 503)
      assert.strictEqual((yield* append(port, "application/x-ndjson", "1", "", "payments")).status, 200)
    }))
})

describe("HEAD", () => {
  it.effect("is answered as GET is, without a body", () =>
    Effect.gen(function*() {
      const { lifecycle, port } = yield* startServer()
      const statusOf = (path: string) =>
        Effect.map(call(port, path, { method: "HEAD" }), ({ body, status }) => {
          assert.strictEqual(body.length, 0)
          return status
        })
      assert.deepStrictEqual(
        [yield* statusOf("/healthz"), yield* statusOf("/readyz"), yield* statusOf("/nowhere")],
        [200, 200, 404]
      )
      yield* lifecycle.leave
      assert.strictEqual(yield* statusOf("/readyz"), 503)
    }))
})

describe("documents", () => {
  it.effect("the OpenAPI document names every error schema by its status, and no schema twice", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const { components } = json(yield* get(port, "/openapi.json"))
      const names = Object.keys(components.schemas)
      assert.include(names, "Error404")
      assert.deepStrictEqual(names.filter((name) => /_\d+$/.test(name)), [])
    }))

  it.effect("the OpenAPI document lists every route", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const { paths } = json(yield* get(port, "/openapi.json"))
      const listed = Object.entries<Record<string, unknown>>(paths).flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
      )
      assert.sameMembers(listed, [
        "POST /v1/streams/{stream}/records",
        "GET /v1/streams/{stream}/records",
        "GET /v1/streams",
        "GET /v1/streams/{stream}",
        "GET /v1/streams/{stream}/epochs",
        "POST /v1/streams/{stream}/flush",
        "POST /v1/streams/{stream}/trim",
        "GET /v1/streams/{stream}/cursors/{name}",
        "PUT /v1/streams/{stream}/cursors/{name}",
        "DELETE /v1/streams/{stream}/cursors/{name}",
        "GET /metrics",
        "GET /healthz",
        "GET /readyz",
        "GET /openapi.json",
        "GET /docs",
        "GET /",
        "GET /v1/dashboard"
      ])
      for (const route of listed) {
        const [method = "", path = ""] = route.split(" ")
        const answer = yield* call(port, path.replace("{stream}", "orders").replace("{name}", "default"), { method })
        assert.notStrictEqual(answer.body.toString().includes("route_not_found"), true, route)
      }
      const append = paths["/v1/streams/{stream}/records"].post
      assert.sameMembers(Object.keys(append.requestBody.content), [
        "application/json",
        "application/x-ndjson",
        "application/octet-stream"
      ])
      const key = append.parameters.find((one: { readonly name: string }) => one.name === "idempotency-key")
      assert.deepInclude(key, { in: "header", required: false })
      assert.include(key.schema.description, "producer_conflict")
      assert.property(append.responses["200"].headers, "idempotency-replayed")
      assert.includeMembers(Object.keys(append.responses), [
        "200",
        "400",
        "401",
        "403",
        "404",
        "408",
        "409",
        "413",
        "415",
        "422",
        "503",
        "504"
      ])
    }))

  it.effect("the docs page loads nothing from elsewhere", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const page = (yield* get(port, "/docs")).body.toString()
      assert.notMatch(page, /<(script|link|img|iframe)[^>]+(src|href)\s*=\s*["']?(https?:)?\/\//i)
      assert.notMatch(page, /@import|url\(\s*["']?(https?:)?\/\//i)
    }))
})

describe("metrics", () => {
  it.effect("[case 27] parse strictly, whatever the labels hold", () =>
    Effect.gen(function*() {
      const registry = new Map()
      const nasty = "a\"b\\c\nd"
      const text = yield* Effect.gen(function*() {
        const counter = Metric.counter("wal_test_total", { description: "back\\slash\nand line", incremental: true })
        yield* Metric.update(Metric.withAttributes(counter, { stream: nasty }), 2)
        yield* Metric.update(Metric.withAttributes(counter, { stream: "plain" }), 1)
        yield* Metric.update(Metric.histogram("wal_test_seconds", { boundaries: [0.1, 1] }), 0.5)
        return yield* PrometheusMetrics.format()
      }).pipe(Effect.provideService(Metric.MetricRegistry, registry))
      const families = parseExposition(text)
      assert.deepStrictEqual(
        families.get("wal_test_total")?.samples.map(({ labels, value }) => [labels["stream"], value]),
        [[nasty, 2], ["plain", 1]]
      )
      assert.strictEqual(families.get("wal_test_seconds")?.type, "histogram")
    }))

  it.effect("count requests that were answered, and not those whose client went before", () =>
    Effect.gen(function*() {
      const { context, log, port } = yield* startServer({
        limits: { headerTimeout: Duration.seconds(1), requestTimeout: Duration.seconds(1) }
      })
      const head = "POST /v1/streams/orders/records HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\n"
      yield* log.hold
      const gone = yield* connect(port)
      gone.write(`${head}content-length: 1\r\n\r\na`)
      yield* until(() => log.records.length === 1)
      gone.socket.destroy()
      const late = yield* connect(port)
      late.write(`${head}content-length: 2\r\n\r\na`)
      assert.include(yield* late.closed, "HTTP/1.1 408 ")
      yield* Context.get(context, Connections).answered
      yield* log.release
      const families = parseExposition((yield* get(port, "/metrics")).body.toString())
      assert.deepStrictEqual(
        families.get("wal_http_requests_total")?.samples.map(({ labels, value }) => [labels["status"], value]),
        [["408", 1]]
      )
    }))

  it.effect("[case 27] are served in every state, one TYPE a family", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* append(port, "application/x-ndjson", "1")
      yield* call(port, "/nowhere")
      const check = Effect.gen(function*() {
        const answer = yield* get(port, "/metrics")
        assert.strictEqual(answer.status, 200)
        assert.strictEqual(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        return parseExposition(answer.body.toString())
      })
      const families = yield* check
      const requests = families.get("wal_http_requests_total")
      const labels = (requests?.samples ?? []).map((sample) => sample.labels)
      assert.strictEqual(requests?.type, "counter")
      assert.deepInclude(labels, {
        method: "POST",
        route: "/v1/streams/{stream}/records",
        status: "200"
      })
      // A path that is not a route must not become a label.
      assert.deepInclude(labels, {
        method: "GET",
        route: "other",
        status: "404"
      })
      assert.strictEqual(families.get("wal_records_durable_total")?.samples[0]?.value, 1)
      const mend = log.faults.rule(() => ({ _tag: "Fail", reason: "Unavailable" }))
      yield* append(port, "application/x-ndjson", "2", "?ack=accepted")
      yield* check
      mend()
      yield* log.kill
      assert.strictEqual((yield* append(port, "application/x-ndjson", "3")).status, 500)
      yield* check
    }))
})
