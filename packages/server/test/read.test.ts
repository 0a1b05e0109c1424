import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { append, call, connect, json } from "./support/Client.ts"
import { startServer } from "./support/TestServer.ts"
import { advanceUntil, turn } from "./support/Wait.ts"

const path = "/v1/streams/orders/records"
const ndjson = "application/x-ndjson"

describe("read", () => {
  it.effect("pages through records, in JSON and in NDJSON", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* append(port, ndjson, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n")
      const first = json(yield* call(port, `${path}?limit=2`))
      assert.deepStrictEqual(first, {
        records: [{ seq: 1, appended_at: 0, payload: { a: 1 } }, { seq: 2, appended_at: 0, payload: { a: 2 } }],
        next: 3
      })
      const second = yield* call(port, `${path}?from=${first.next}`, { headers: { accept: ndjson } })
      assert.strictEqual(second.headers["content-type"], ndjson)
      assert.strictEqual(second.body.toString(), "{\"seq\":3,\"appended_at\":0,\"payload\":{\"a\":3}}\n")
      assert.strictEqual(second.headers["wal-next"], "4")
      assert.deepStrictEqual(json(yield* call(port, `${path}?from=4`)), { records: [], next: 4 })
    }))

  it.effect("ends a page with the record that passes the limit of bytes", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ limits: { maxPageBytes: 60 } })
      yield* append(port, ndjson, "1\n2\n3\n4\n")
      assert.strictEqual(json(yield* call(port, path)).next, 3)
    }))

  it.effect("gives payloads that are not one line of JSON as base64, and one record as its bytes", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      for (const payload of ["", "{\n}", "plain", "{\"a\":\"\u2028\"}"]) {
        yield* append(port, "application/octet-stream", payload)
      }
      const { records } = json(yield* call(port, path))
      assert.deepStrictEqual(
        records.map((record: Record<string, unknown>) => record["payload_base64"] ?? record["payload"]),
        ["", "ewp9", "cGxhaW4=", { a: "\u2028" }]
      )
      const raw = yield* call(port, `${path}?from=3`, { headers: { accept: "application/octet-stream" } })
      assert.strictEqual(raw.body.toString(), "plain")
      assert.strictEqual(raw.headers["wal-seq"], "3")
      const none = yield* call(port, `${path}?from=9`, { headers: { accept: "application/octet-stream" } })
      assert.strictEqual(none.status, 204)
    }))

  it.effect("passes over nothing that becomes durable while an empty page is made", () =>
    Effect.gen(function*() {
      const { log, port, streams } = yield* startServer()
      const wal = yield* streams.log("orders")
      let isDone = false
      yield* log.onStatus(Effect.suspend(() => {
        if (isDone) return Effect.void
        isDone = true
        return Effect.orDie(Effect.flatMap(wal.appendNow([{ payload: Buffer.from("1") }]), ({ durable }) => durable))
      }))
      const page = json(yield* call(port, path))
      const next = json(yield* call(port, `${path}?from=${page.next}`))
      assert.strictEqual([...page.records, ...next.records].length, 1)
    }))

  it.effect("reads by time", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* append(port, ndjson, "1\n")
      yield* TestClock.adjust("1 second")
      yield* append(port, ndjson, "2\n")
      assert.deepStrictEqual(
        json(yield* call(port, `${path}?from_time=500`)).records.map((record: { seq: number }) => record.seq),
        [2]
      )
    }))

  it.effect("answers 410 for what was trimmed", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ log: { retention: { policy: "keep" } } })
      yield* append(port, ndjson, "1\n2\n")
      yield* append(port, ndjson, "3\n")
      const committed = yield* call(port, "/v1/streams/orders/cursors/default", {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: "{\"seq\":3}"
      })
      assert.strictEqual(committed.status, 200)
      const trimmed = yield* call(port, "/v1/streams/orders/trim", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{\"seq\":2}"
      })
      assert.deepStrictEqual(json(trimmed), { trimmed_to: 2 })
      const answer = yield* call(port, `${path}?from=2`)
      assert.strictEqual(answer.status, 410)
      assert.strictEqual(json(answer).error.code, "trimmed")
      assert.deepStrictEqual(json(answer).error.details, { from: 2, trimmedTo: 2 })
      const tail = yield* call(port, `${path}?from=1`, { headers: { accept: "text/event-stream" } })
      assert.strictEqual(tail.status, 410)
    }))

  it.effect("refuses parameters that it would have to guess at", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const bad = [
        "from=0",
        "from=-1",
        "from=1.5",
        "from=x",
        "from=1&from=2",
        "limit=0",
        "limit=99999999",
        "wait=30",
        "wait=56s",
        "wait=-1s",
        "form=1",
        "from=1&from_time=1"
      ]
      for (const query of bad) {
        const answer = yield* call(port, `${path}?${query}`)
        assert.deepStrictEqual([answer.status, json(answer).error.code], [400, "invalid_request"], query)
      }
      assert.strictEqual((yield* call(port, path, { headers: { accept: "text/html" } })).status, 406)
      for (const query of ["limit=2", "wait=1s"]) {
        const tail = yield* call(port, `${path}?${query}`, { headers: { accept: "text/event-stream" } })
        assert.deepStrictEqual([tail.status, json(tail).error.code], [400, "invalid_request"], query)
      }
    }))

  it.effect("waits for the first record, and no longer than asked", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const waiting = yield* Effect.forkChild(call(port, `${path}?wait=55s`), { startImmediately: true })
      yield* append(port, ndjson, "1\n")
      assert.strictEqual(json(yield* Fiber.join(waiting)).records.length, 1)
      yield* log.hold
      const inVain = yield* Effect.forkChild(call(port, `${path}?from=2&wait=55s`), { startImmediately: true })
      assert.deepStrictEqual(json(yield* advanceUntil(inVain, "1 second")), { records: [], next: 2 })
    }))

  it.effect("shows nothing that is not durable", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      yield* append(port, ndjson, "1\n", "?ack=accepted")
      assert.deepStrictEqual(json(yield* call(port, path)).records, [])
    }))
})

describe("live tail", () => {
  const subscribe = Effect.fnUntraced(function*(port: number, query: string, headers = "") {
    const raw = yield* connect(port)
    raw.write(`GET ${path}${query} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n${headers}\r\n`)
    yield* raw.until(": open\n\n")
    return raw
  })

  it.effect("sends what becomes durable, with its number as the id", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* append(port, ndjson, "{\"a\":1}\n")
      const tail = yield* subscribe(port, "")
      yield* append(port, ndjson, "{\"a\":2}\n")
      const text = yield* tail.until("\"payload\":{\"a\":2}}\n\n")
      assert.include(text, "content-type: text/event-stream")
      assert.include(text, "id: 2\ndata: {\"seq\":2,")
      assert.notInclude(text, "\"a\":1")
    }))

  it.effect("resumes after Last-Event-ID, whatever the URL says", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* append(port, ndjson, "1\n2\n3\n")
      const tail = yield* subscribe(port, "?from=1", "last-event-id: 2\r\n")
      const text = yield* tail.until("id: 3\n")
      assert.notInclude(text, "id: 2\n")
    }))

  it.effect("sends a comment every 15 s of silence", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const tail = yield* subscribe(port, "")
      const comment = yield* Effect.forkChild(tail.until(": alive\n\n"), { startImmediately: true })
      yield* TestClock.adjust("14 seconds")
      yield* turn
      assert.isUndefined(comment.pollUnsafe())
      yield* advanceUntil(comment, "1 second")
    }))

  it.effect("ends with the error when the log ends, and just ends when the server drains", () =>
    Effect.gen(function*() {
      const first = yield* startServer()
      const cut = yield* subscribe(first.port, "")
      yield* first.log.takeOver
      assert.strictEqual((yield* append(first.port, ndjson, "1\n")).status, 409)
      assert.include(yield* cut.until("event: error"), "\"code\":\"fenced\"")
      const second = yield* startServer()
      const drained = yield* subscribe(second.port, "")
      yield* second.lifecycle.drain
      assert.notInclude(yield* drained.until("0\r\n\r\n"), "event: error")
    }))
})
