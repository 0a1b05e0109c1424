/** What the server believes of what a proxy says: nothing, with `behind_proxy` or without. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { TokenSettings } from "../../src/Settings.ts"
import { problemsOf } from "../config/load.ts"
import { append, call, json } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"

const token: TokenSettings = {
  id: "orders",
  secret: { sha256: createHash("sha256").update("known").digest("hex") },
  scopes: ["read", "write"],
  streams: ["orders"]
}

/** Each says who asks, or what is asked for, other than the request itself does. */
const told: ReadonlyArray<Record<string, string>> = [
  { "x-forwarded-for": "127.0.0.1" },
  { "x-forwarded-for": "127.0.0.1, ::1", "x-forwarded-proto": "https", "x-forwarded-host": "localhost" },
  { forwarded: "for=127.0.0.1;proto=https;host=localhost" },
  { "x-real-ip": "127.0.0.1" },
  { "x-client-ip": "127.0.0.1", "true-client-ip": "127.0.0.1", "cf-connecting-ip": "127.0.0.1" },
  { "x-forwarded-user": "admin", "x-remote-user": "admin", "remote-user": "admin" },
  { "x-forwarded-authorization": "Bearer known", "x-original-authorization": "Bearer known" },
  {
    "x-original-url": "/healthz",
    "x-rewrite-url": "/healthz",
    "x-forwarded-prefix": "/healthz",
    "x-original-uri": "/"
  },
  { "x-http-method-override": "GET", "x-http-method": "GET", "x-method-override": "GET" }
]

describe("headers of a proxy", () => {
  it.effect("open nothing, change no address and no method", () =>
    Effect.gen(function*() {
      for (const behindProxy of [false, true]) {
        const { log, port } = yield* startServer({ tokens: [token], streams: ["orders", "payments"], behindProxy })
        for (const headers of told) {
          const what = `${behindProxy} ${JSON.stringify(headers)}`
          assert.strictEqual((yield* call(port, "/v1/streams/orders", { headers })).status, 401, what)
          assert.strictEqual((yield* call(port, "/metrics", { headers })).status, 401, what)
          const known = { ...headers, authorization: "Bearer known" }
          assert.strictEqual((yield* call(port, "/v1/streams/payments", { headers: known })).status, 403, what)
          assert.strictEqual(json(yield* call(port, "/v1/streams/orders", { headers: known })).id, "orders", what)
          const flushed = yield* call(port, "/v1/streams/orders/flush", { method: "POST", headers: known })
          assert.property(json(flushed), "durable", what)
        }
        assert.deepStrictEqual(log.records, [])
      }
    }))

  it.effect("do not make a server without tokens answer to another name", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      for (const headers of told) {
        const answer = yield* call(port, "/v1/streams", { headers: { ...headers, host: "evil.example" } })
        assert.strictEqual(answer.status, 421, JSON.stringify(headers))
      }
    }))

  it.effect("are not answered, and make no label of a metric", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ behindProxy: true })
      const headers = {
        "x-forwarded-for": "203.0.113.77",
        "x-forwarded-host": "seen.example",
        "x-request-id": "seen-request",
        "x-forwarded-prefix": "/seen"
      }
      for (const path of ["/v1/streams", "/no/route", "/docs", "/openapi.json"]) {
        const answer = yield* call(port, path, { headers })
        const text = `${JSON.stringify(answer.headers)}${answer.body.toString()}`
        for (const value of Object.values(headers)) assert.notInclude(text, value, path)
      }
      const metrics = (yield* call(port, "/metrics")).body.toString()
      assert.notInclude(metrics, "seen")
      assert.notInclude(metrics, "203.0.113.77")
    }))
})

describe("behind_proxy", () => {
  it.effect("does not take the place of tokens on an address that others can reach", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf(
        "server: { host: 0.0.0.0, behind_proxy: true }\n" +
          "streams: [{ durability: { backend: { type: local, stream_id: a, local: { path: d } } } }]\n"
      )
      assert.deepStrictEqual(problems.map(({ path }) => path), ["server.host"])
    }))

  it.effect("leaves every limit where it was", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ behindProxy: true, limits: { maxBodyBytes: 10 } })
      assert.strictEqual((yield* append(port, "application/octet-stream", "12345678901")).status, 413)
    }))
})
