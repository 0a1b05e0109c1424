/** Where tokens come from, and what a server shows to whom. What each may do: `security/scopes.test.ts`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Fiber, FileSystem, Layer } from "effect"
import { createHash } from "node:crypto"
import { Tokens } from "../src/auth/Tokens.ts"
import { refuseOpenServer } from "../src/Exposure.ts"
import { Settings, type TokenScope, type TokenSettings } from "../src/Settings.ts"
import { call, json } from "./support/Client.ts"
import { settingsOf, startServer } from "./support/TestServer.ts"
import { until } from "./support/Wait.ts"

const token = (id: string, scopes: ReadonlyArray<TokenScope>, streams?: ReadonlyArray<string>): TokenSettings => ({
  id,
  secret: { sha256: createHash("sha256").update(id).digest("hex") },
  scopes,
  ...streams === undefined ? {} : { streams }
})

/** The token of a name is the name. */
const tokens = [
  token("reader", ["read"]),
  token("orders-only", ["read", "write", "admin"], ["orders"])
]

describe("tokens", () => {
  it.effect("show only their own streams, and to probes no stream at all", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ tokens, streams: ["orders", "payments"] })
      const list = json(yield* call(port, "/v1/streams", { headers: { authorization: "Bearer orders-only" } }))
      assert.deepStrictEqual(list.streams.map((stream: { id: string }) => stream.id), ["orders"])
      assert.deepStrictEqual(json(yield* call(port, "/readyz")), { ready: true })
      assert.deepStrictEqual(
        json(yield* call(port, "/readyz", { headers: { authorization: "Bearer reader" } })),
        { ready: true, reasons: [] }
      )
    }))

  it.effect("come from files and variables too, and are read again; a broken file changes nothing", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      yield* fs.writeFileString(file, "first\n")
      const settings = settingsOf({
        tokens: [
          { id: "file", secret: { file }, scopes: ["read"] },
          { id: "env", secret: { env: "WAL_TOKEN" }, scopes: ["write"] }
        ]
      })
      const checks = Effect.gen(function*() {
        const service = yield* Tokens
        const may = (name: string, scope: TokenScope) =>
          service.refusal(`Bearer ${name}`, { scope, stream: "*" }) === undefined
        assert.deepStrictEqual([may("first", "read"), may("first", "write"), may("from-env", "write")], [
          true,
          false,
          true
        ])
        yield* fs.writeFileString(file, "second")
        assert.isTrue(may("first", "read"))
        yield* service.reload
        assert.deepStrictEqual([may("first", "read"), may("second", "read")], [false, true])
        // Whoever asks after the reload hears of it too: a tail may begin just then.
        yield* service.revoked("Bearer first", { scope: "read", stream: "*" })
        yield* fs.writeFileString(file, " ")
        const error = yield* Effect.flip(service.reload)
        assert.strictEqual(error.problems[0]?.path, "server.tokens[0].file")
        assert.isTrue(may("second", "read"))
      })
      yield* Effect.provide(
        checks,
        Tokens.layer.pipe(
          Layer.provide(Layer.succeed(Settings, settings)),
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ WAL_TOKEN: "from-env" })))
        )
      )
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("that are taken away while a reader waits get no page", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      yield* fs.writeFileString(file, "first")
      const server = yield* startServer({
        tokens: [{ id: "file", secret: { file }, scopes: ["read"] }, token("writer", ["write"])]
      })
      const path = "/v1/streams/orders/records"
      let isWaiting = false
      yield* server.log.onStatus(Effect.sync(() => {
        isWaiting = true
      }))
      const reading = yield* Effect.forkChild(
        call(server.port, `${path}?wait=55s`, { headers: { authorization: "Bearer first" } }),
        { startImmediately: true }
      )
      yield* until(() => isWaiting)
      yield* fs.writeFileString(file, "second")
      yield* server.tokens.reload
      yield* call(server.port, path, {
        method: "POST",
        headers: { authorization: "Bearer writer", "content-type": "application/x-ndjson" },
        body: "1\n"
      })
      assert.strictEqual((yield* Fiber.join(reading)).status, 401)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("are reported all at once when they cannot be read", () =>
    Effect.gen(function*() {
      const settings = settingsOf({
        tokens: [
          { id: "a", secret: { file: "/nonexistent/token" }, scopes: [] },
          { id: "b", secret: { env: "WAL_NO_SUCH_TOKEN" }, scopes: [] },
          { id: "c", secret: { sha256: "12" }, scopes: [] }
        ]
      })
      const error = yield* Effect.flip(Layer.build(Tokens.layer.pipe(Layer.provide(Layer.succeed(Settings, settings)))))
      assert.deepStrictEqual(
        error.problems.map(({ path }) => path),
        ["server.tokens[0].file", "server.tokens[1].env", "server.tokens[2].sha256"]
      )
    }).pipe(Effect.provide(NodeServices.layer)))

  it.effect("are needed on an address that others can reach, unless somebody said --insecure", () =>
    Effect.gen(function*() {
      for (const host of ["127.0.0.1", "127.9.9.9", "::1", "localhost"]) yield* refuseOpenServer(settingsOf({ host }))
      yield* refuseOpenServer(settingsOf({ host: "0.0.0.0", tokens }))
      yield* refuseOpenServer(settingsOf({ host: "0.0.0.0", insecure: true }))
      for (const host of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.com", "example.com"]) {
        const error = yield* Effect.flip(refuseOpenServer(settingsOf({ host })))
        assert.strictEqual(error.problems[0]?.path, "server.host", host)
      }
    }))
})
