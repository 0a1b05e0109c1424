/** Twins of the HTTP cases: requests that are odd in their framing rather than in their size. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { append, call, connect, json } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { until } from "../support/Wait.ts"

const path = "/v1/streams/orders/records"
const ndjson = "application/x-ndjson"

const post = (body: string, headers: ReadonlyArray<string> = [`content-length: ${Buffer.byteLength(body)}`]) =>
  [`POST ${path} HTTP/1.1`, "host: x", `content-type: ${ndjson}`, ...headers, "", body].join("\r\n")

const countOf = (text: string, part: string): number => text.split(part).length - 1

describe("requests on one connection", () => {
  it.effect("[kind P] that are sent without waiting for answers are appended and answered in their order", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(Array.from({ length: 20 }, (_, index) => post(`${index}\n`)).join(""))
      const text = yield* raw.until("\"first_seq\":20")
      assert.strictEqual(countOf(text, "HTTP/1.1 200"), 20)
      const firsts = [...text.matchAll(/"first_seq":(\d+)/g)].map((match) => Number(match[1]))
      assert.deepStrictEqual(firsts, Array.from({ length: 20 }, (_, index) => index + 1))
      assert.deepStrictEqual(
        log.records.map((record) => Buffer.from(record.payload).toString()),
        Array.from({ length: 20 }, (_, index) => String(index))
      )
    }))

  it.effect("[kind P] of which one is no HTTP: those before it are answered, nothing behind it is appended", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(post("1\n"))
      yield* raw.until("\"first_seq\":1")
      raw.write(`${"\u0000".repeat(20)}\r\n\r\n${post("2\n")}`)
      const text = yield* raw.closed
      assert.include(text, "HTTP/1.1 400")
      assert.strictEqual(log.records.length, 1)
    }))
})

describe("a length that cannot be trusted", () => {
  it.effect.each<readonly [string, ReadonlyArray<string>]>([
    ["two lengths that differ", ["content-length: 2", "content-length: 30"]],
    ["a list of lengths", ["content-length: 2, 30"]],
    ["a length and chunks", ["content-length: 30", "transfer-encoding: chunked"]],
    ["a negative length", ["content-length: -1"]],
    ["a length with a sign", ["content-length: +2"]],
    ["a length in hex", ["content-length: 0x2"]],
    ["a length beyond all numbers", ["content-length: 99999999999999999999999"]],
    ["chunks twice", ["transfer-encoding: chunked, chunked"]],
    ["chunks that are not last", ["transfer-encoding: chunked, gzip"]],
    ["a name with a blank", ["content-length : 2"]]
  ])("[kind P] %s: refused, the connection ends, nothing is appended", ([, headers]) =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(post("1\n", headers))
      const text = yield* raw.closed
      assert.match(text, /^HTTP\/1\.1 (400|413) /)
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[kind P] a chunk with a bad size, in the middle of a good body: refused, and none of it is appended", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(post("4\r\n1\n2\n\r\nzz\r\n", ["transfer-encoding: chunked"]))
      assert.match(yield* raw.closed, /^HTTP\/1\.1 400 /)
      assert.deepStrictEqual(log.records, [])
    }))
})

describe("a client that asks before it sends", () => {
  it.effect("[kind P] Expect: 100-continue: told to go on once, and answered once", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(post("", ["content-length: 2", "expect: 100-continue"]))
      yield* raw.until("100 Continue")
      raw.write("1\n")
      const text = yield* raw.until("\"first_seq\":1")
      assert.strictEqual(countOf(text, "100 Continue"), 1)
      assert.strictEqual(countOf(text, "HTTP/1.1 200"), 1)
    }))

  it.effect("[kind P] Expect with a body that is too large: refused before a byte of it", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ limits: { maxBodyBytes: 100 } })
      const raw = yield* connect(port)
      raw.write(post("", ["content-length: 101", "expect: 100-continue"]))
      const text = yield* raw.until("body_too_large")
      assert.include(text, "HTTP/1.1 413")
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[kind P] Expect something else: 417, and nothing is appended", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const raw = yield* connect(port)
      raw.write(post("1\n", ["content-length: 2", "expect: a-miracle", "connection: close"]))
      assert.include(yield* raw.closed, "HTTP/1.1 417")
      assert.deepStrictEqual(log.records, [])
    }))
})

describe("methods and types", () => {
  it.effect("[kind P] HEAD is answered as GET without its body, and the connection goes on", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      yield* append(port, ndjson, "1\n")
      const raw = yield* connect(port)
      raw.write(`HEAD ${path} HTTP/1.1\r\nhost: x\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n`)
      const text = yield* raw.until("ok")
      assert.match(text, /^HTTP\/1\.1 (200|404|405) /)
      assert.notInclude(text, "\"records\"")
      assert.strictEqual(countOf(text, "HTTP/1.1 "), 2)
    }))

  it.effect("[kind P] a body in another character set than UTF-8 is refused, not guessed at", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const umlaut = "{\"a\":\"ä\"}\n"
      for (
        const [type, body] of [
          [`${ndjson}; charset=iso-8859-1`, Buffer.from(umlaut, "latin1")],
          ["application/json; charset=utf-16le", Buffer.from("{\"records\":[]}", "utf16le")],
          [`${ndjson};charset="utf-16"`, Buffer.from("\uFEFF1\n", "utf16le")],
          [ndjson, Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
          [ndjson, Buffer.from([0x22, 0xc0, 0xaf, 0x22])]
        ] as const
      ) {
        const answer = yield* append(port, type, body)
        assert.deepStrictEqual([answer.status, json(answer).error.code], [400, "invalid_json"], type)
      }
      assert.deepStrictEqual(log.records, [])
      assert.strictEqual((yield* append(port, `${ndjson}; charset=UTF-8`, umlaut)).status, 200)
    }))

  it.effect("[kind P] names that every object has are neither types nor formats nor streams nor parameters", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
        assert.strictEqual((yield* append(port, name, "1\n")).status, 415, name)
        assert.strictEqual((yield* call(port, path, { headers: { accept: name } })).status, 406, name)
        assert.strictEqual((yield* append(port, ndjson, "1\n", "", name)).status, 404, name)
        assert.strictEqual((yield* call(port, `/v1/streams/orders/cursors/${name}`)).status, 404, name)
        assert.strictEqual((yield* call(port, `${path}?${name}=1`)).status, 400, name)
        const encoded = yield* call(port, path, {
          method: "POST",
          headers: { "content-type": ndjson, "content-encoding": name },
          body: "1\n"
        })
        assert.strictEqual(encoded.status, 415, name)
      }
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("[kind P] a client that goes away while its records are stored: they are stored once, nobody else waits", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      const gone = yield* connect(port)
      gone.write(post("1\n"))
      yield* until(() => log.records.length === 1)
      gone.socket.destroy()
      yield* log.release
      assert.strictEqual(json(yield* append(port, ndjson, "2\n")).first_seq, 2)
      assert.strictEqual(json(yield* call(port, path)).records.length, 2)
    }))
})
