/** The short way of an append: which requests take it, and that nobody can tell. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Duration, Effect, type Scope, Tracer } from "effect"
import { TestClock } from "effect/testing"
import * as Http from "node:http"
import { gzipSync } from "node:zlib"
import { makeAckDeadlines } from "../src/handlers/AckDeadlines.ts"
import { Connections } from "../src/Listener.ts"
import { type Answer, append, call, connect, json } from "./support/Client.ts"
import { startServer, type TestServer } from "./support/TestServer.ts"
import { until } from "./support/Wait.ts"

const path = "/v1/streams/orders/records"
const ndjson = { "content-type": "application/x-ndjson" }
const octets = { "content-type": "application/octet-stream" }

interface Sent {
  readonly query?: string
  readonly stream?: string
  readonly headers?: Http.OutgoingHttpHeaders
  readonly body: string | Uint8Array
}

/** What takes the short way: answers of all kinds, in an order that matters. */
const plain: Readonly<Record<string, Sent>> = {
  "lines": { headers: ndjson, body: "1\n2\n" },
  "one record of any bytes": { headers: octets, body: Uint8Array.of(0xff, 0) },
  "JSON": {
    headers: { "content-type": "Application/JSON; charset=utf-8" },
    body: "{\"records\":[{\"payload\":1,\"key\":\"k\"}]}"
  },
  "no record": { headers: ndjson, body: "" },
  "when accepted": { query: "?ack=accepted", headers: ndjson, body: "3\n" },
  "when durable": { query: "?ack=durable", headers: ndjson, body: "4\n" },
  "a key": { headers: { ...ndjson, "idempotency-key": "k" }, body: "5\n" },
  "a repeat": { headers: { ...ndjson, "idempotency-key": "k" }, body: "5\n" },
  "a key that is used for another call": { headers: { ...ndjson, "idempotency-key": "k" }, body: "6\n" },
  "a line that is no JSON": { headers: ndjson, body: "7\n{\n" },
  "JSON with a field too many": { headers: { "content-type": "application/json" }, body: "{\"records\":[{\"x\":1}]}" },
  "a record that is too large": { headers: octets, body: "x".repeat(2_000) },
  "more records than allowed": { headers: ndjson, body: "1\n".repeat(9) },
  "a token": { headers: { ...ndjson, authorization: "Bearer secret" }, body: "8\n" }
}

/** What is left to the router, and what that answers. */
const others: Readonly<Record<string, Sent & { readonly status: number }>> = {
  "another level": { query: "?ack=spooled", headers: ndjson, body: "1", status: 400 },
  "another parameter": { query: "?acks=accepted", headers: ndjson, body: "1", status: 400 },
  "a parameter twice": { query: "?ack=accepted&ack=durable", headers: ndjson, body: "1", status: 400 },
  "another type": { headers: { "content-type": "text/plain" }, body: "1", status: 415 },
  "another stream": { stream: "nowhere", headers: ndjson, body: "1", status: 404 },
  "an id in other letters": { stream: "%6frders", headers: ndjson, body: "1", status: 200 },
  "a key that is none": { headers: { ...ndjson, "idempotency-key": "" }, body: "1", status: 400 },
  "gzip": { headers: { ...ndjson, "content-encoding": "gzip" }, body: gzipSync("1\n"), status: 200 },
  "a long body": { headers: octets, body: new Uint8Array(300_000), status: 413 }
}

const options = {
  limits: { maxBatchRecords: 8, maxBodyBytes: 300_000 },
  log: { segment: { maxBytes: 1_024 }, maxRecordBytes: 1_024 }
}

/** Sends it whole with its length, or in pieces without: then the router has it. */
const send = (port: number, { body, headers = {}, query = "", stream = "orders" }: Sent, inPieces = false) =>
  call(port, `/v1/streams/${stream}/records${query}`, {
    method: "POST",
    headers,
    ...(inPieces ? { pieces: [Buffer.from(body), Buffer.alloc(0)] } : { body })
  })

const told = ({ body, headers: { date: _, ...headers }, status }: Answer) => ({
  status,
  headers,
  text: body.toString()
})

/** A server that only has the direct routes of another one, and answers 299 what they leave. */
const onlyDirect = ({ direct }: TestServer): Effect.Effect<number, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<Http.Server>((resume) => {
        const server = Http.createServer((request, response) => {
          if (direct.offer(request, response)) return
          request.resume()
          response.writeHead(299).end()
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    ),
    (server) => {
      const address = server.address()
      return typeof address === "object" ? address?.port ?? 0 : 0
    }
  )

describe("the short way of an append", () => {
  it.effect("is taken by plain requests, and its answers are those of the router", () =>
    Effect.gen(function*() {
      const short = yield* startServer(options)
      const routed = yield* startServer(options)
      const direct = yield* onlyDirect(yield* startServer(options))
      for (const [name, sent] of Object.entries(plain)) {
        const answer = told(yield* send(short.port, sent))
        assert.deepStrictEqual(answer, told(yield* send(routed.port, sent, true)), name)
        const { status, text } = told(yield* send(direct, sent))
        assert.deepStrictEqual({ status, text }, { status: answer.status, text: answer.text }, name)
      }
      assert.deepStrictEqual(
        short.log.records.map(({ payload }) => Buffer.from(payload).toString("latin1")),
        routed.log.records.map(({ payload }) => Buffer.from(payload).toString("latin1"))
      )
    }))

  it.effect("leaves everything else to the router", () =>
    Effect.gen(function*() {
      const server = yield* startServer(options)
      const direct = yield* onlyDirect(server)
      for (const [name, sent] of Object.entries(others)) {
        assert.strictEqual((yield* send(direct, sent)).status, 299, name)
        assert.strictEqual((yield* send(server.port, sent)).status, sent.status, name)
      }
      assert.strictEqual((yield* send(direct, { headers: ndjson, body: "1\n" }, true)).status, 299)
      assert.strictEqual((yield* call(direct, path)).status, 299)
    }))

  it.effect("is not there while tokens are asked for and none is sent, and not while the server drains", () =>
    Effect.gen(function*() {
      const guarded = yield* startServer({
        tokens: [{ id: "t", secret: { sha256: "0".repeat(64) }, scopes: ["write"] }]
      })
      assert.strictEqual((yield* send(yield* onlyDirect(guarded), { headers: ndjson, body: "1\n" })).status, 299)
      const draining = yield* startServer()
      yield* draining.lifecycle.drain
      assert.strictEqual((yield* send(yield* onlyDirect(draining), { headers: ndjson, body: "1\n" })).status, 299)
    }))

  it.effect("is not there where requests are traced: each has a span of the platform then", () =>
    Effect.gen(function*() {
      const server = yield* startServer()
      assert.strictEqual((yield* send(yield* onlyDirect(server), { headers: ndjson, body: "1\n" })).status, 299)
      assert.strictEqual((yield* append(server.port, "application/x-ndjson", "1\n")).status, 200)
    }).pipe(Effect.provideService(Tracer.Tracer, Tracer.nativeTracer)))

  it.effect("answers 408 a body that does not come to its end", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({
        limits: { headerTimeout: Duration.seconds(1), requestTimeout: Duration.seconds(1) }
      })
      const raw = yield* connect(port)
      raw.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\ncontent-length: 9\r\n\r\n1\n`
      )
      const text = yield* raw.closed
      assert.match(text, /^HTTP\/1\.1 408 [^]*"code":"request_timeout"/)
      assert.strictEqual(text.split("HTTP/1.1").length, 2)
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("keeps the connection of a request that was refused in its middle", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { maxInFlightBodyBytes: 1_000 } })
      const head = (bytes: number) =>
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\ncontent-length: ${bytes}\r\n\r\n`
      const other = yield* connect(port)
      other.write(`${head(900)}${"a".repeat(800)}`)
      yield* untilAnswered(port, 503)
      const raw = yield* connect(port)
      raw.write(`${head(400)}${"b".repeat(300)}`)
      assert.include(yield* raw.until("overloaded"), "HTTP/1.1 503 ")
      other.socket.destroy()
      yield* untilAnswered(port, 200)
      log.records.length = 0
      raw.write(`${"b".repeat(100)}${head(1)}c`)
      yield* raw.until("\"ack\":\"durable\"")
      assert.deepStrictEqual(log.records.map(({ payload }) => Buffer.from(payload).toString()), ["c"])
    }))

  it.effect("does not wait for a client that has gone", () =>
    Effect.gen(function*() {
      const server = yield* startServer()
      yield* server.log.hold
      const raw = yield* connect(server.port)
      raw.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\ncontent-length: 2\r\n\r\n1\n`
      )
      yield* until(() => server.log.records.length === 1)
      raw.socket.destroy()
      // Done with it while its record is not stored: nobody is waited for.
      yield* Context.get(server.context, Connections).answered
      yield* server.log.release
      assert.deepInclude(json(yield* append(server.port, "application/x-ndjson", "2\n")), { first_seq: 2 })
    }))
})

describe("deadlines of one length", () => {
  it.effect("are told in order, but those that were ended, and again after a time without any", () =>
    Effect.gen(function*() {
      const late: Array<string> = []
      const deadlines = yield* makeAckDeadlines(Duration.seconds(30))
      const begin = (name: string) => deadlines.begin(() => late.push(name))
      begin("first")
      yield* TestClock.adjust("10 seconds")
      const second = begin("second")
      begin("third")
      yield* TestClock.adjust("10 seconds")
      begin("fourth")
      yield* TestClock.adjust("9999 millis")
      assert.deepStrictEqual(late, [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(late, ["first"])
      deadlines.end(second)
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(late, ["first", "third", "fourth"])
      yield* TestClock.adjust("1 hour")
      begin("much later")
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(late, ["first", "third", "fourth", "much later"])
    }))

  it.effect("are not moved by a wall clock that is set back", () =>
    Effect.gen(function*() {
      const clock = yield* Clock.Clock
      let backMillis = 0
      const wallMillis = () => clock.currentTimeMillisUnsafe() - backMillis
      const setBack: Clock.Clock = {
        currentTimeMillisUnsafe: wallMillis,
        currentTimeMillis: Effect.sync(wallMillis),
        currentTimeNanosUnsafe: () => BigInt(wallMillis()) * 1_000_000n,
        currentTimeNanos: Effect.sync(() => BigInt(wallMillis()) * 1_000_000n),
        monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: clock.monotonicTimeNanos,
        sleep: (duration) => clock.sleep(duration)
      }
      let isLate = false
      const deadlines = yield* Effect.provideService(makeAckDeadlines(Duration.seconds(30)), Clock.Clock, setBack)
      deadlines.begin(() => {
        isLate = true
      })
      backMillis = 3_600_000
      yield* TestClock.adjust("30 seconds")
      assert.isTrue(isLate)
    }))
})

/** Asks again until the server has noticed what another client did. */
const untilAnswered = (port: number, status: number): Effect.Effect<void> =>
  Effect.flatMap(
    append(port, "application/octet-stream", Buffer.alloc(300)),
    (answer) => answer.status === status ? Effect.void : untilAnswered(port, status)
  )
