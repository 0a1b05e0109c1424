/** What every answer says to browsers and caches, and what a page of another site can do: nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { type Answer, append, call, connect, json } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { routeTable } from "./RouteTable.ts"

const assertSafe = ({ headers }: Pick<Answer, "headers">, what: string) => {
  assert.strictEqual(headers["x-content-type-options"], "nosniff", what)
  assert.strictEqual(headers["cross-origin-resource-policy"], "same-origin", what)
  assert.strictEqual(headers["referrer-policy"], "no-referrer", what)
  assert.match(headers["cache-control"] ?? "", /^no-(store|cache)$/, what)
  for (const name of Object.keys(headers)) {
    assert.notMatch(name, /^(access-control-|x-powered-by$|server$|set-cookie$)/, what)
  }
}

/** The first head of what came over a raw connection. */
const headOf = (text: string): Pick<Answer, "headers"> => ({
  headers: Object.fromEntries(
    (text.split("\r\n\r\n", 1)[0] ?? "").split("\r\n").slice(1).map((line) => line.split(": ", 2))
  )
})

const pages = ["/", "/docs"]

describe("every answer", () => {
  it.effect("is kept by nobody, taken for nothing else, and for no other site", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const ordinary = { authorization: "Bearer x", origin: "https://elsewhere.example" }
      for (const { body, method, path, type } of routeTable) {
        const answer = yield* call(port, path, {
          method,
          headers: { ...ordinary, ...type === undefined ? {} : { "content-type": type } },
          ...body === undefined ? {} : { body }
        })
        assertSafe(answer, `${method} ${path}`)
        if (!pages.includes(path)) assert.strictEqual(answer.headers["cache-control"], "no-store", path)
      }
      const none = yield* call(port, "/no/such/route", { headers: ordinary })
      assert.strictEqual(none.status, 404)
      assertSafe(none, "404")
    }))

  it.effect("also where it is a refusal, and where no request was made of what came", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({
        tokens: [{ id: "a", secret: { sha256: "1".repeat(64) }, scopes: ["read"] }],
        limits: { headerTimeout: Duration.seconds(1), requestTimeout: Duration.seconds(1) }
      })
      for (const { method, path } of routeTable) assertSafe(yield* call(port, path, { method }), `${method} ${path}`)
      for (
        const [status, sent] of [
          [400, "nonsense\r\n\r\n"],
          [408, "GET / HTTP/1.1\r\nhos"],
          [431, `GET / HTTP/1.1\r\nhost: x\r\nx: ${"a".repeat(20_000)}\r\n\r\n`]
        ] as const
      ) {
        const raw = yield* connect(port)
        raw.write(sent)
        const text = yield* raw.closed
        assert.include(text, `HTTP/1.1 ${status} `)
        assertSafe(headOf(text), String(status))
      }
    }))

  it.effect("of a page says what the page may load and run, and that it stands in no frame", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      for (const path of pages) {
        const { headers } = yield* call(port, path)
        const policy = headers["content-security-policy"]
        assert.isString(policy, path)
        const directives = new Map(
          String(policy).split("; ").map((directive): [string, string] => {
            const [name = "", ...values] = directive.split(" ")
            return [name, values.join(" ")]
          })
        )
        assert.strictEqual(directives.get("default-src"), "'none'", path)
        assert.match(directives.get("script-src") ?? "", /^('sha256-[A-Za-z0-9+/]+=*' ?)+$/, path)
        assert.strictEqual(directives.get("connect-src"), "'self'", path)
        for (const name of ["frame-ancestors", "base-uri", "form-action"]) {
          assert.strictEqual(directives.get(name), "'none'", path)
        }
      }
    }))
})

/** What changes the stream with a body in JSON. */
const changes = [["POST", "trim"], ["PUT", "cursors/default"]] as const

describe("a page of another site", () => {
  it.effect("cannot append with what a browser sends without asking", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a"]) {
        const answer = yield* append(port, type, "1\n")
        assert.deepStrictEqual([answer.status, json(answer).error.code], [415, "unsupported_media_type"], type)
        for (const [method, path] of changes) {
          const refused = yield* call(port, `/v1/streams/orders/${path}`, {
            method,
            headers: { "content-type": type },
            body: "{\"seq\":1}"
          })
          assert.strictEqual(refused.status, 415, `${type} ${path}`)
        }
      }
      const bare = yield* call(port, "/v1/streams/orders/records", { method: "POST", body: "1\n" })
      assert.strictEqual(bare.status, 415)
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("cannot trim or commit with a body of no type, which a browser sends without asking too", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ log: { segment: { maxEntries: 1 }, retention: { policy: "keep" } } })
      yield* append(port, "application/x-ndjson", "1\n2\n3\n")
      const body = "{\"seq\":2}"
      for (const sent of [{ body }, { pieces: [Buffer.from(body), Buffer.alloc(0)] }]) {
        for (const [method, path] of changes) {
          const refused = yield* call(port, `/v1/streams/orders/${path}`, { method, ...sent })
          assert.deepStrictEqual([refused.status, json(refused).error.code], [415, "unsupported_media_type"], path)
        }
      }
      const { cursors, trimmed_to } = json(yield* call(port, "/v1/streams/orders"))
      assert.deepStrictEqual([cursors.default?.seq ?? 0, trimmed_to], [0, 0])
      // The same with its type is what would have been done.
      for (const [method, path] of [["PUT", "cursors/default"], ["POST", "trim"]] as const) {
        const headers = { "content-type": "application/json" }
        const done = yield* call(port, `/v1/streams/orders/${path}`, { method, headers, body })
        assert.strictEqual(done.status, 200, path)
      }
      assert.strictEqual(json(yield* call(port, "/v1/streams/orders")).trimmed_to, 2)
      // What takes no body needs no type.
      assert.strictEqual((yield* call(port, "/v1/streams/orders/flush", { method: "POST" })).status, 200)
    }))

  it.effect("is allowed nothing when its browser asks", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      for (const { method, path } of routeTable) {
        const answer = yield* call(port, path, {
          method: "OPTIONS",
          headers: {
            origin: "https://elsewhere.example",
            "access-control-request-method": method,
            "access-control-request-headers": "content-type,authorization"
          }
        })
        assert.strictEqual(answer.status, 404, path)
        assertSafe(answer, path)
      }
    }))

  it.effect("that has given its own name this address is refused, and no other name is", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      const path = "/v1/streams/orders/records"
      for (
        const host of [
          "evil.example",
          "evil.example:8180",
          "127.0.0.1.evil.example",
          "localhost.evil.example",
          "xlocalhost.example",
          "a.xinternal"
        ]
      ) {
        const read = yield* call(port, path, { headers: { host } })
        assert.deepStrictEqual([read.status, json(read).error.code], [421, "host_refused"], host)
        assertSafe(read, host)
        const headers = { host, "content-type": "application/x-ndjson" }
        const written = yield* call(port, path, { method: "POST", headers, body: "1\n" })
        assert.strictEqual(written.status, 421, host)
        const asked = yield* connect(port)
        asked.write(`POST ${path} HTTP/1.1\r\nhost: ${host}\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n`)
        assert.notInclude(yield* asked.until("host_refused"), "100 Continue")
        asked.socket.destroy()
        const upgrade = yield* connect(port)
        upgrade.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`)
        assert.include(yield* upgrade.until("host_refused"), "HTTP/1.1 421 ")
        upgrade.socket.destroy()
      }
      assert.deepStrictEqual(log.records, [])
      for (
        const host of [
          "localhost",
          "LOCALHOST:1",
          "localhost.",
          "wal.localhost",
          "host.docker.internal:8180",
          "127.0.0.1:8180",
          "[::1]:8180",
          "[::ffff:127.0.0.1]:8180",
          "wal",
          "10.0.0.1"
        ]
      ) {
        assert.strictEqual((yield* call(port, path, { headers: { host } })).status, 200, host)
      }
    }))

  it.effect("has no token, and behind a proxy the names are the proxy's: no name is refused there", () =>
    Effect.gen(function*() {
      const secured = yield* startServer({
        tokens: [{ id: "a", secret: { sha256: "1".repeat(64) }, scopes: ["read"] }]
      })
      assert.strictEqual((yield* call(secured.port, "/healthz", { headers: { host: "a.example" } })).status, 200)
      const proxied = yield* startServer({ behindProxy: true })
      assert.strictEqual((yield* call(proxied.port, "/healthz", { headers: { host: "a.example" } })).status, 200)
    }))
})
