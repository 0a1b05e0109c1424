import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { createGzip, gzipSync } from "node:zlib"
import { append, connect, json, type Raw } from "./support/Client.ts"
import { startServer } from "./support/TestServer.ts"
import { until } from "./support/Wait.ts"

const path = "/v1/streams/orders/records"
const head = (more: string) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/octet-stream\r\n${more}\r\n`

const chunk = (size: number) =>
  Buffer.concat([Buffer.from(`${size.toString(16)}\r\n`), Buffer.alloc(size, 0x61), Buffer.from("\r\n")])

/** Writes for ever, as fast as the other side takes it; answers how much it took before it answered. */
const flood = (raw: Raw, piece: Buffer) =>
  Effect.callback<number>((resume) => {
    let written = 0
    const go = () => {
      while (!raw.socket.destroyed && raw.write(piece)) written += piece.length
    }
    raw.socket.on("drain", go)
    raw.socket.on("data", () => resume(Effect.succeed(written)))
    go()
  })

const tight = { limits: { headerTimeout: Duration.seconds(1), requestTimeout: Duration.seconds(1) } }

describe("limits of a request", () => {
  it.effect("[case 23] (a) 200 bodies that never end are each answered 408, and a normal client is served meanwhile", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer(tight)
      const slow = yield* Effect.forEach(Array.from({ length: 200 }), () => connect(port), { concurrency: 50 })
      for (const raw of slow) raw.write(`${head("transfer-encoding: chunked\r\n")}1\r\na\r\n`)
      assert.strictEqual((yield* append(port, "application/octet-stream", "x")).status, 200)
      const answers = yield* Effect.forEach(slow, (raw) => raw.closed, { concurrency: "unbounded" })
      for (const answer of answers) {
        assert.match(answer, /^HTTP\/1\.1 408 /)
        assert.include(answer, "\"code\":\"request_timeout\"")
      }
      assert.strictEqual(log.records.length, 1)
    }))

  it.effect("[case 23] (b) a chunked body without end is answered 413 as soon as it passes the limit", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { maxBodyBytes: 1_000_000 } })
      const raw = yield* connect(port)
      raw.write(head("transfer-encoding: chunked\r\n"))
      const written = yield* flood(raw, chunk(65_536))
      assert.include(yield* raw.until("body_too_large"), "HTTP/1.1 413 ")
      // What the sockets hold on both sides comes on top of the limit; a gigabyte would not.
      assert.isBelow(written, 100_000_000)
      yield* raw.closed
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[case 23] (c) a length above the limit is answered 413 before a byte of the body", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(head("content-length: 2147483648\r\n"))
      assert.match(yield* raw.closed, /^HTTP\/1\.1 413 [^]*connection: close[^]*body_too_large/)
    }))

  it.effect("[case 23] (d) a head that drips is answered 408", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer(tight)
      const raw = yield* connect(port)
      raw.write(`POST ${path} HTTP/1.1\r\nho`)
      assert.match(yield* raw.closed, /^HTTP\/1\.1 408 [^]*"code":"request_timeout"/)
    }))

  it.effect("[case 23] (e) gzip that unpacks to a gigabyte is answered 413 while it is unpacked", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { maxBodyBytes: 2_000_000 } })
      const bomb = yield* gigabyteOfZeros
      const raw = yield* connect(port)
      raw.write(head(`content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n`))
      raw.write(bomb)
      const before = process.memoryUsage().rss
      assert.include(yield* raw.until("body_too_large"), "HTTP/1.1 413 ")
      assert.isBelow(process.memoryUsage().rss - before, 500_000_000)
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[case 23] (f) a head of 20 KB is answered 431", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(head(`x-large: ${"a".repeat(20_000)}\r\ncontent-length: 0\r\n`))
      assert.match(yield* raw.closed, /^HTTP\/1\.1 431 [^]*"code":"headers_too_large"/)
    }))

  it.effect("[case 23] (g) nothing of a body that breaks off is appended", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      for (const encoding of ["", "content-encoding: gzip\r\n"]) {
        const body = encoding === "" ? Buffer.from("1\n2\n3\n4\n") : gzipSync("1\n2\n3\n4\n")
        const raw = yield* connect(port)
        raw.write(head(`${encoding}content-length: ${body.length}\r\n`).replace("octet-stream", "x-ndjson"))
        raw.write(body.subarray(0, body.length / 2))
        yield* Effect.callback<void>((resume) => {
          raw.socket.end(() => resume(Effect.void))
        })
        raw.socket.destroy()
      }
      // A later request is served, so the broken ones are over.
      assert.strictEqual((yield* append(port, "application/octet-stream", "x")).status, 200)
      assert.strictEqual(log.records.length, 1)
    }))

  it.effect("bounds what all bodies in flight hold together, and gives it back", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { maxInFlightBodyBytes: 1_000 } })
      const raw = yield* connect(port)
      yield* log.hold
      raw.write(`${head("content-length: 900\r\n")}${"a".repeat(900)}`)
      yield* until(() => log.records.length === 1)
      yield* log.release
      yield* raw.until("\"ack\":\"durable\"")
      const half = yield* connect(port)
      half.write(`${head("content-length: 900\r\n")}${"a".repeat(800)}`)
      const refused = yield* untilRefused(port)
      assert.strictEqual(refused.error.code, "overloaded")
      half.socket.destroy()
      yield* untilServed(port)
    }))

  it.effect("takes no more connections than it may, and takes them again", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ limits: { maxConnections: 1 } })
      const first = yield* connect(port)
      first.write("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
      yield* first.until("ok\n")
      const second = yield* connect(port)
      assert.strictEqual(yield* second.closed, "")
      first.socket.destroy()
      const third = yield* untilConnected(port)
      assert.include(third, "200 OK")
    }))

  it.effect("answers what is not HTTP with 400, as JSON", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write("hello\r\n\r\n")
      assert.match(yield* raw.closed, /^HTTP\/1\.1 400 [^]*"code":"malformed_request"/)
    }))
})

/** Asks again until the half body of the other client has reached the server. */
const untilRefused = (port: number): Effect.Effect<{ readonly error: { readonly code: string } }> =>
  Effect.flatMap(
    append(port, "application/octet-stream", Buffer.alloc(300)),
    (answer) => answer.status === 503 ? Effect.succeed(json(answer)) : untilRefused(port)
  )

/** Connects again until the server has noticed that the other connection is gone. */
const untilConnected = (port: number): Effect.Effect<string> =>
  Effect.flatMap(connect(port), (raw) => {
    raw.write("GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    return Effect.flatMap(raw.closed, (text) => text === "" ? untilConnected(port) : Effect.succeed(text))
  })

const untilServed = (port: number): Effect.Effect<void> =>
  Effect.flatMap(
    append(port, "application/octet-stream", Buffer.alloc(300)),
    (answer) => answer.status === 200 ? Effect.void : untilServed(port)
  )

const gigabyteOfZeros = Effect.callback<Buffer>((resume) => {
  const gzip = createGzip({ level: 9 })
  const chunks: Array<Buffer> = []
  const piece = Buffer.alloc(16_777_216)
  let left = 64
  const go = () => {
    while (left > 0) {
      left--
      if (!gzip.write(piece)) {
        gzip.once("drain", go)
        return
      }
    }
    gzip.end()
  }
  gzip.on("data", (bytes: Buffer) => chunks.push(bytes))
  gzip.on("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
  go()
})
