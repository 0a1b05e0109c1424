import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { gzipSync } from "node:zlib"
import { append, call, json } from "./support/Client.ts"
import { smallBuffer, type TestLog, threeLines } from "./support/TestLog.ts"
import { startServer } from "./support/TestServer.ts"
import { advanceUntil, turn, until } from "./support/Wait.ts"

const payloads = (log: TestLog) => log.records.map(({ payload }) => Buffer.from(payload).toString("utf8"))

const ndjson = "application/x-ndjson"

describe("append", () => {
  it.effect("[case 24] takes NDJSON from Windows: BOM, CRLF, empty lines, no last newline", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const body = Buffer.concat([
        Buffer.from([0xef, 0xbb, 0xbf]),
        Buffer.from("{\"a\":1}\r\n{\"a\":2}\r\n\r\n{\"a\":3}")
      ])
      const answer = yield* append(port, ndjson, body)
      assert.deepStrictEqual(json(answer), { first_seq: 1, last_seq: 3, count: 3, epoch: 1, ack: "durable" })
      assert.deepStrictEqual(payloads(log), ["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"])
    }))

  it.effect("refuses a parameter that it does not know, for one that was mistyped would change the meaning", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const answer = yield* append(port, ndjson, "1\n", "?acks=accepted")
      assert.deepStrictEqual([answer.status, json(answer).error.code], [400, "invalid_request"])
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[case 24] refuses a broken line by its number and appends none of its neighbours", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const answer = yield* append(port, ndjson, "{\"a\":1}\n{\"a\":\n{\"a\":3}\n")
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(json(answer).error.code, "invalid_json")
      assert.strictEqual(json(answer).error.details.line, 2)
      assert.strictEqual(json(answer).error.data, "not-durable")
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[case 24] refuses a line that is not UTF-8, by its number", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const answer = yield* append(
        port,
        ndjson,
        Buffer.concat([Buffer.from("\"ok\"\n\""), Buffer.from([0xff]), Buffer.from("\"\n")])
      )
      assert.strictEqual(answer.status, 400)
      assert.strictEqual(json(answer).error.details.line, 2)
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[case 24] does not split at U+2028 and keeps numbers as they were written", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const lines = ["{\"s\":\"a\u2028b\"}", "{\"n\":9007199254740993,\"b\":1.10}"]
      assert.strictEqual((yield* append(port, ndjson, lines.join("\n"))).status, 200)
      assert.deepStrictEqual(payloads(log), lines)
    }))

  it.effect("[case 24] keeps characters whole that are cut between writes", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const body = Buffer.from(`"${"♡".repeat(100_000)}"`)
      const pieces = Array.from({ length: Math.ceil(body.length / 1_000) }, (_, index) =>
        body.subarray(index * 1_000, index * 1_000 + 1_000))
      const headers = { "content-type": ndjson }
      assert.strictEqual(
        (yield* call(port, "/v1/streams/orders/records", { method: "POST", headers, pieces })).status,
        200
      )
      assert.isTrue(Buffer.from(log.records[0]?.payload ?? []).equals(body))
      const back = yield* call(port, "/v1/streams/orders/records?from=1", {
        headers: { accept: "application/octet-stream" }
      })
      assert.isTrue(back.body.equals(body))
    }))

  it.effect("[case 24] takes any bytes as one record", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* append(port, "application/octet-stream", Uint8Array.of(0xff, 0x00, 0xfe))
      assert.deepStrictEqual(log.records[0]?.payload, Uint8Array.of(0xff, 0x00, 0xfe))
      const page = yield* call(port, "/v1/streams/orders/records?from=1")
      assert.strictEqual(json(page).records[0].payload_base64, "/wD+")
    }))

  it.effect("[case 24] cuts JSON payloads out of the body and gives them back byte for byte", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const payload = "{\"n\":9007199254740993, \"b\":1.10}"
      const body =
        `{"records":[{"payload": ${payload} ,"key":"k","headers":{"h":"v"},"timestamp":-1.5},{"payload_base64":"AAE="}]}`
      assert.strictEqual((yield* append(port, "application/json; charset=utf-8", body)).status, 200)
      assert.strictEqual(payloads(log)[0], payload)
      assert.deepStrictEqual(log.records[1]?.payload, Uint8Array.of(0, 1))
      const page = yield* call(port, "/v1/streams/orders/records?from=1")
      assert.include(page.body.toString(), `"timestamp":-1.5,"key":"k","headers":{"h":"v"},"payload":${payload}}`)
    }))

  it.effect("refuses JSON records that it would have to guess at, with their path", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const refused = {
        "[]": "body",
        "{\"records\":1}": "records",
        "{\"records\":[],\"x\":1}": "body",
        "{\"records\":[1]}": "records[0]",
        "{\"records\":[{\"payload\":1},{}]}": "records[1]",
        "{\"records\":[{\"payload\":1,\"payload_base64\":\"AA==\"}]}": "records[0]",
        "{\"records\":[{\"payload\":1,\"timestmap\":1}]}": "records[0].timestmap",
        "{\"records\":[{\"payload\":1,\"payload\":2}]}": "records[0].payload",
        "{\"records\":[{\"payload_base64\":\"A\"}]}": "records[0].payload_base64",
        "{\"records\":[{\"payload\":1,\"key\":2}]}": "records[0].key",
        "{\"records\":[{\"payload\":1,\"headers\":{\"a\":1}}]}": "records[0].headers",
        "{\"records\":[{\"payload\":1,\"headers\":{\"a\":\"1\",\"a\":\"2\"}}]}": "records[0].headers",
        "{\"records\":[{\"payload\":1,\"timestamp\":1e999}]}": "records[0].timestamp"
      }
      for (const [body, path] of Object.entries(refused)) {
        const answer = yield* append(port, "application/json", body)
        assert.deepStrictEqual([answer.status, json(answer).error.details.path], [400, path], body)
      }
      const broken = yield* append(port, "application/json", "{\"records\":[{\"payload\":01}]}")
      assert.strictEqual(json(broken).error.code, "invalid_json")
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[case 25] answers an empty call with an empty range", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      assert.deepInclude(json(yield* append(port, ndjson, "")), { first_seq: 1, last_seq: 0, count: 0 })
    }))

  it.effect("[predecessor 12] answers only when the log has it", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      const waiting = yield* Effect.forkChild(append(port, ndjson, "1\n"), { startImmediately: true })
      yield* until(() => log.records.length === 1)
      // Another call is answered meanwhile, so the server was not just slow.
      assert.strictEqual(json(yield* append(port, ndjson, "2\n", "?ack=accepted")).ack, "accepted")
      assert.isUndefined(waiting.pollUnsafe())
      yield* log.release
      assert.strictEqual((yield* Fiber.join(waiting)).status, 200)
    }))

  it.effect("tells the range of records that are not durable in time, and goes on with them", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { ackTimeout: Duration.seconds(30) } })
      yield* log.hold
      const waiting = yield* Effect.forkChild(append(port, ndjson, "1\n2\n"), { startImmediately: true })
      const answer = yield* advanceUntil(waiting, "1 second")
      assert.strictEqual(answer.status, 504)
      const { error } = json(answer)
      assert.strictEqual(error.code, "ack_pending")
      assert.strictEqual(error.data, "unknown")
      assert.deepStrictEqual(error.details, { first_seq: 1, last_seq: 2, count: 2, epoch: 1 })
      assert.strictEqual(log.records.length, 2)
    }))

  it.effect("waits for room for a bounded time, then asks to come back", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { roomTimeout: Duration.seconds(5) }, log: smallBuffer })
      yield* log.hold
      yield* append(port, ndjson, threeLines, "?ack=accepted")
      const refused = yield* Effect.forkChild(append(port, ndjson, threeLines), { startImmediately: true })
      const answer = yield* advanceUntil(refused, "100 millis")
      assert.strictEqual(answer.status, 503)
      assert.strictEqual(json(answer).error.code, "buffer_full")
      assert.strictEqual(json(answer).error.data, "not-durable")
      assert.strictEqual(answer.headers["retry-after"], "1")
      assert.strictEqual(log.records.length, 3)
      const admitted = yield* Effect.forkChild(append(port, ndjson, threeLines), { startImmediately: true })
      yield* turn
      yield* log.release
      assert.strictEqual((yield* advanceUntil(admitted, "100 millis")).status, 200)
    }))

  it.effect("refuses at once a call that is larger than the whole buffer", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ log: smallBuffer })
      const answer = yield* append(port, ndjson, threeLines + threeLines)
      assert.deepStrictEqual(log.records, [])
      assert.deepStrictEqual([answer.status, json(answer).error.code], [413, "batch_too_large"])
    }))

  it.effect("refuses a call that could never fit, by all that it takes of the buffer", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ log: smallBuffer })
      // One byte each and 32 around it: 100 of them fill the buffer to the last byte.
      assert.strictEqual((yield* append(port, ndjson, "1\n".repeat(100))).status, 200)
      const many = yield* append(port, ndjson, "1\n".repeat(101))
      assert.deepStrictEqual([many.status, json(many).error.code], [413, "batch_too_large"])
      assert.include(json(many).error.message, "3333 bytes of the stream's buffer, which has 3300 in all")
      const record = { payload: 1, key: "k".repeat(500), headers: { name: "v".repeat(400) } }
      const wide = yield* append(port, "application/json", JSON.stringify({ records: Array(4).fill(record) }))
      assert.deepStrictEqual([wide.status, json(wide).error.code], [413, "batch_too_large"])
      assert.strictEqual(log.records.length, 100)
    }))

  it.effect("refuses a call that could never fit into what all streams may hold together", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ log: smallBuffer, limits: { maxBufferedBytes: 2_000 } })
      yield* log.hold
      yield* append(port, ndjson, threeLines, "?ack=accepted")
      const answer = yield* append(port, ndjson, threeLines)
      assert.deepStrictEqual([answer.status, json(answer).error.details], [413, { limit_bytes: 2_000 }])
    }))

  it.effect("unpacks gzip, and refuses what is not whole gzip", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const packed = gzipSync("1\n2\n")
      const post = (encoding: string, body: Uint8Array) =>
        call(port, "/v1/streams/orders/records", {
          method: "POST",
          headers: { "content-type": ndjson, "content-encoding": encoding },
          body
        })
      assert.strictEqual((yield* post("gzip", packed)).status, 200)
      assert.deepStrictEqual(payloads(log), ["1", "2"])
      assert.strictEqual(
        json(yield* post("gzip", packed.subarray(0, packed.length - 4))).error.code,
        "invalid_encoding"
      )
      assert.strictEqual(json(yield* post("gzip", Buffer.from("1\n"))).error.code, "invalid_encoding")
      assert.strictEqual((yield* post("br", packed)).status, 415)
      assert.strictEqual(log.records.length, 2)
    }))

  it.effect("refuses ack levels and content types that it has not, by name", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      assert.strictEqual(json(yield* append(port, ndjson, "1", "?ack=spooled")).error.code, "ack_level_unavailable")
      assert.strictEqual(json(yield* append(port, ndjson, "1", "?ack=maybe")).error.code, "invalid_request")
      assert.strictEqual((yield* append(port, "text/plain", "1")).status, 415)
      assert.strictEqual((yield* append(port, ndjson, "1", "", "nowhere")).status, 404)
      assert.deepStrictEqual(log.records, [])
    }))
})
