import { ManifestCorrupt, StoreUnavailable } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { append, call, json } from "./support/Client.ts"
import { startServer } from "./support/TestServer.ts"
import { advanceUntil, until } from "./support/Wait.ts"

const base = "/v1/streams/orders"
const ndjson = "application/x-ndjson"

const send = (port: number, method: string, path: string, body?: unknown) =>
  call(port, path, {
    method,
    headers: body === undefined ? {} : { "content-type": "application/json" },
    ...body === undefined ? {} : { body: JSON.stringify(body) }
  })

describe("streams", () => {
  it.effect("are listed with where they stand", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ streams: ["orders", "payments"] })
      yield* append(port, ndjson, "1\n2\n")
      const { streams } = json(yield* call(port, "/v1/streams"))
      assert.deepStrictEqual(
        streams.map(({ durable, id, state }: Record<string, unknown>) => ({ id, state, durable })),
        [{ id: "orders", state: "open", durable: 2 }, { id: "payments", state: "open", durable: 0 }]
      )
      const one = json(yield* call(port, base))
      assert.deepInclude(one, { id: "orders", epoch: 1, last_accepted: 2, durable: 2, trimmed_to: 0 })
      assert.deepStrictEqual(one.at_risk, { records: 0, bytes: 0, oldest_age_ms: 0 })
      assert.deepStrictEqual(json(yield* call(port, `${base}/epochs`)), {
        epochs: [{ epoch: 1, end: null, last_seq: null }]
      })
    }))

  it.effect("tell times in whole milliseconds", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      yield* append(port, ndjson, "1\n", "?ack=accepted")
      yield* TestClock.adjust(Duration.micros(2_600n))
      assert.strictEqual(json(yield* call(port, base)).at_risk.oldest_age_ms, 3)
    }))

  it.effect("are flushed, and a flush that takes too long says so", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { ackTimeout: Duration.seconds(30) } })
      yield* log.hold
      yield* append(port, ndjson, "1\n", "?ack=accepted")
      const late = yield* Effect.forkChild(send(port, "POST", `${base}/flush`), { startImmediately: true })
      const answer = yield* advanceUntil(late, "1 second")
      assert.deepStrictEqual([answer.status, json(answer).error.code], [504, "flush_pending"])
      yield* log.release
      assert.deepStrictEqual(json(yield* send(port, "POST", `${base}/flush`)), { durable: 1 })
    }))

  it.effect("are trimmed, and a trim whose manifest cannot be stored does not hang", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { ackTimeout: Duration.seconds(30) } })
      yield* append(port, ndjson, "1\n")
      yield* send(port, "PUT", `${base}/cursors/default`, { seq: 1 })
      const mend = log.faults.rule(({ operation }) =>
        operation === "replace" ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      const late = yield* Effect.forkChild(send(port, "POST", `${base}/trim`, { seq: 1 }), { startImmediately: true })
      const answer = yield* advanceUntil(late, "1 second")
      assert.deepStrictEqual([answer.status, json(answer).error.code], [504, "trim_pending"])
      mend()
      const again = yield* Effect.forkChild(send(port, "POST", `${base}/trim`, { seq: 1 }), { startImmediately: true })
      assert.deepStrictEqual(json(yield* advanceUntil(again, "1 second")), { trimmed_to: 1 })
    }))

  it.effect("keep cursors, and a new or removed one whose manifest cannot be stored does not hang", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { ackTimeout: Duration.seconds(30) } })
      yield* append(port, ndjson, "1\n")
      const path = `${base}/cursors/billing`
      for (const [method, body] of [["PUT", { seq: 1 }], ["DELETE", undefined]] as const) {
        const mend = log.faults.rule(({ operation }) =>
          operation === "replace" ? { _tag: "Fail", reason: "Unavailable" } : undefined
        )
        const late = yield* Effect.forkChild(send(port, method, path, body), { startImmediately: true })
        const answer = yield* advanceUntil(late, "1 second")
        assert.deepStrictEqual([answer.status, json(answer).error.code], [504, "cursor_pending"])
        mend()
        const next = send(port, "PUT", `${base}/cursors/after-${method}`, { seq: 1 })
        const stored = yield* advanceUntil(yield* Effect.forkChild(next, { startImmediately: true }), "1 second")
        assert.strictEqual(stored.status, 200)
        assert.strictEqual((yield* call(port, path)).status, method === "PUT" ? 200 : 404)
      }
    }))

  it.effect("keep cursors: read, commit, remove", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* append(port, ndjson, "1\n2\n3\n")
      const path = `${base}/cursors/billing`
      const absent = yield* call(port, path)
      assert.deepStrictEqual([absent.status, json(absent).error.code], [404, "cursor_not_found"])
      assert.deepInclude(json(yield* send(port, "PUT", path, { seq: 2 })), { name: "billing", seq: 2, lag: 1 })
      assert.strictEqual(json(yield* send(port, "PUT", path, { seq: 1 })).seq, 2)
      const beyond = yield* send(port, "PUT", path, { seq: 4 })
      assert.deepStrictEqual([beyond.status, json(beyond).error.code], [409, "commit_beyond_durable"])
      assert.deepStrictEqual(json(beyond).error.details, { cursor: "billing", requested: 4, durable: 3 })
      const longest = yield* send(port, "PUT", `${base}/cursors/${"a".repeat(128)}`, { seq: 1 })
      assert.deepStrictEqual([longest.status, json(longest).name], [200, "a".repeat(128)])
      const longer = yield* send(port, "PUT", `${base}/cursors/${"a".repeat(129)}`, { seq: 1 })
      assert.deepStrictEqual([longer.status, json(longer).error.code], [400, "invalid_cursor"])
      assert.strictEqual((yield* send(port, "DELETE", path)).status, 204)
      assert.strictEqual((yield* call(port, path)).status, 404)
    }))

  it.effect("answer what does not decode with the place", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      for (const body of [{}, { seq: "1" }, []]) {
        const answer = yield* send(port, "PUT", `${base}/cursors/x`, body)
        assert.deepStrictEqual([answer.status, json(answer).error.code], [400, "invalid_request"])
      }
      const place = yield* send(port, "PUT", `${base}/cursors/x`, { seq: "1" })
      assert.strictEqual(json(place).error.message, "body: Expected number at [\"seq\"]")
      const form = yield* call(port, `${base}/cursors/x`, {
        method: "PUT",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: "seq=1"
      })
      assert.deepStrictEqual([form.status, json(form).error.code], [415, "unsupported_media_type"])
      const large = Buffer.alloc(70_000, "1")
      const headers = { "content-type": "application/json" }
      for (const body of [{ body: large }, { pieces: [large.subarray(0, 40_000), large.subarray(40_000)] }]) {
        const answer = yield* call(port, `${base}/cursors/x`, { method: "PUT", headers, ...body })
        assert.deepStrictEqual([answer.status, json(answer).error.code], [413, "body_too_large"])
      }
      const nowhere = yield* call(port, "/v1/nowhere")
      assert.deepStrictEqual([nowhere.status, json(nowhere).error.code], [404, "route_not_found"])
    }))
})

describe("streams that are not open", () => {
  it.effect("are opened again with back-off while the error may pass, and never stop the others", () =>
    Effect.gen(function*() {
      let failures = 0
      let broken = true
      const { port, streams } = yield* startServer({
        streams: ["orders", "payments"],
        open: (id) =>
          id === "orders" && broken
            ? Effect.suspend(() => {
              failures++
              return Effect.fail(new StoreUnavailable({ operation: "get", key: "manifest.json", detail: "down" }))
            })
            : Effect.void
      })
      yield* until(() => failures === 1 && streams.entries().some(({ state }) => state._tag === "Open"))
      assert.strictEqual((yield* append(port, ndjson, "1\n", "", "payments")).status, 200)
      const refused = yield* append(port, ndjson, "1\n")
      assert.deepStrictEqual([refused.status, json(refused).error.code], [503, "store_unavailable"])
      assert.strictEqual(refused.headers["retry-after"], "1")
      assert.deepInclude(json(yield* call(port, base)), { id: "orders", state: "opening" })
      const ready = yield* call(port, "/readyz")
      assert.deepStrictEqual([ready.status, json(ready).reasons[0].stream], [503, "orders"])
      // Ten minutes at pauses of 15 to 30 s: tried again, and not in a hot loop.
      yield* TestClock.adjust("10 minutes")
      assert.isAbove(failures, 15)
      assert.isBelow(failures, 60)
      broken = false
      yield* TestClock.adjust("30 seconds")
      yield* until(() => streams.entries().every(({ state }) => state._tag === "Open"))
      assert.strictEqual((yield* append(port, ndjson, "1\n")).status, 200)
      assert.strictEqual((yield* call(port, "/readyz")).status, 200)
    }))

  it.effect("say after 5 s that they are still being opened, once, and nothing when they are quick", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => {
        lines.push(String(message))
      })
      const { streams } = yield* startServer({
        streams: ["orders", "payments"],
        open: (id) => id === "orders" ? Effect.sleep("12 seconds") : Effect.void
      }).pipe(Effect.provide(Logger.layer([logger])))
      yield* until(() => streams.entries().some(({ state }) => state._tag === "Open"))
      yield* TestClock.adjust("20 seconds")
      yield* until(() => streams.entries().every(({ state }) => state._tag === "Open"))
      assert.deepStrictEqual(lines.filter((line) => line.includes("still being opened")), [
        "stream orders is still being opened after 5s: is its store there and reachable?"
      ])
    }))

  it.effect("stay refused when the error does not pass", () =>
    Effect.gen(function*() {
      let tries = 0
      const { port, streams } = yield* startServer({
        open: () =>
          Effect.suspend(() => {
            tries++
            return Effect.fail(new ManifestCorrupt({ key: "manifest.json", reason: "not JSON" }))
          })
      })
      yield* until(() => streams.entries()[0]?.state._tag === "Refused")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(tries, 1)
      const answer = yield* append(port, ndjson, "1\n")
      assert.deepStrictEqual([answer.status, json(answer).error.code], [500, "manifest_corrupt"])
      assert.deepInclude(json(yield* call(port, base)), { state: "refused" })
      assert.strictEqual((yield* call(port, "/healthz")).status, 200)
    }))

  it.effect("[case 10] a fenced stream answers 409 with the new owner, is not ready, and is not opened again", () =>
    Effect.gen(function*() {
      const { log, port, streams } = yield* startServer()
      yield* log.hold
      const waiting = yield* Effect.forkChild(append(port, ndjson, "1\n"), { startImmediately: true })
      yield* until(() => log.records.length === 1)
      yield* log.takeOver
      yield* log.release
      const pending = yield* Fiber.join(waiting)
      assert.deepStrictEqual([pending.status, json(pending).error.data], [409, "unknown"])
      const answer = yield* append(port, ndjson, "2\n")
      assert.deepStrictEqual([answer.status, json(answer).error.code, json(answer).error.details.byHost], [
        409,
        "fenced",
        "pod-2"
      ])
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(streams.entries()[0]?.state._tag, "Open")
      assert.deepStrictEqual([(yield* call(port, "/readyz")).status, (yield* call(port, "/healthz")).status], [
        503,
        200
      ])
      assert.strictEqual(json(yield* call(port, base)).state, "fenced")
    }))
})
