import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { load, problemsOf, withIds } from "./load.ts"

const token = "{ id: t, sha256: " + "a".repeat(64) + ", scopes: [read] }"

describe("loadConfig, the server's own rules", () => {
  it.effect("ids and logs are unique", () =>
    Effect.gen(function*() {
      const stream = (id: string, node: string) =>
        `  - { id: ${id}, durability: { backend: { type: object_store, node_id: ${node}, stream_id: s, directory: { path: d } } } }`
      assert.strictEqual((yield* load(["streams:", stream("a", "n1"), stream("b", "n2")].join("\n"))).streams.length, 2)
      const ids = yield* problemsOf(["streams:", stream("a", "n1"), stream("a", "n2")].join("\n"))
      assert.deepStrictEqual(ids.map((problem) => [problem.path, problem.line]), [["streams[1].id", 3]])
      const logs = yield* problemsOf(["streams:", stream("a", "n1"), stream("b", "n1")].join("\n"))
      assert.deepStrictEqual(logs.map((problem) => problem.path), ["streams[1].durability.backend.stream_id"])
    }))

  it.effect("two logs of one node_id and stream_id, which have the same metrics, are refused wherever they are", () =>
    Effect.gen(function*() {
      const stream = (id: string, more: string) =>
        `  - { id: ${id}, durability: { backend: { node_id: n, stream_id: s, ${more} } } }`
      const [first, ...others] = [
        "type: object_store, directory: { path: d }",
        "type: object_store, directory: { path: d }, prefix: p",
        "type: object_store, directory: { path: e }",
        "type: object_store, s3: { bucket: my-bucket }",
        "type: local, local: { path: d }"
      ]
      for (const other of others) {
        const problems = yield* problemsOf(["streams:", stream("a", first ?? ""), stream("b", other)].join("\n"))
        assert.deepStrictEqual(problems.map(({ path }) => path), ["streams[1].durability.backend.stream_id"], other)
        assert.include(problems[0]?.rule, "metrics could not be told apart")
      }
    }))

  it.effect("the notice of an address in the clear is about the one that a flag names", () =>
    Effect.gen(function*() {
      const file = (host: string) => `${withIds()}\nserver:\n  host: ${host}\n  tokens: [${token}]`
      const opened = yield* load(file("127.0.0.1"), { host: "0.0.0.0" })
      assert.include(opened.notices.join(), "--host 0.0.0.0 speaks HTTP without TLS")
      const closed = yield* load(file("0.0.0.0"), { host: "127.0.0.1" })
      assert.notInclude(closed.notices.join(), "speaks HTTP without TLS")
    }))

  it.effect("tokens: one secret each, known streams, set variables; and they open other addresses", () =>
    Effect.gen(function*() {
      const file = (tokens: string) => `${withIds()}\nserver:\n  host: 0.0.0.0\n  tokens: [${tokens}]`
      const config = yield* load(
        file(
          `${token}, { id: e, env: TOKEN, scopes: [write, admin], streams: [main] }, { id: f, file: /run/t, scopes: [read] }`
        ),
        { env: { TOKEN: "x" } }
      )
      assert.deepStrictEqual(config.settings.tokens, [
        { id: "t", secret: { sha256: "a".repeat(64) }, scopes: ["read"] },
        { id: "e", secret: { env: "TOKEN" }, scopes: ["write", "admin"], streams: ["main"] },
        { id: "f", secret: { file: "/run/t" }, scopes: ["read"] }
      ])
      assert.include(config.notices.join(), "travel in the clear")
      const bad = yield* problemsOf(file(
        "{ id: a, scopes: [read] }, { id: b, env: NOPE, file: x, scopes: [] }, { id: b, sha256: hunter2, scopes: [read], streams: [other] }"
      ))
      const unset = yield* problemsOf(file("{ id: a, env: NOPE, scopes: [read] }"))
      assert.deepStrictEqual(unset.map((problem) => problem.rule), ["needs the variable NOPE, which is not set"])
      assert.sameMembers(bad.map((problem) => problem.path), [
        "server.tokens[0].sha256",
        "server.tokens[1].env",
        "server.tokens[1].scopes",
        "server.tokens[2].id",
        "server.tokens[2].sha256",
        "server.tokens[2].streams"
      ])
      assert.notInclude(JSON.stringify(bad), "hunter2")
    }))

  it.effect("an address that is not loopback needs tokens, or --insecure", () =>
    Effect.gen(function*() {
      const text = `${withIds()}\nserver: { host: 0.0.0.0 }`
      assert.deepStrictEqual((yield* problemsOf(text)).map((problem) => problem.path), ["server.host"])
      assert.isTrue((yield* load(text, { insecure: true })).settings.insecure)
      for (const host of ["127.0.0.1", "127.9.9.9", "\"::1\"", "localhost"]) {
        yield* load(`${withIds()}\nserver: { host: ${host} }`)
      }
    }))

  it.effect("the server's own bounds must fit", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf(
        `${withIds()}\nserver:\n  tls: { cert_file: c }\n  drain_delay: 25s\n  limits: { max_buffered_bytes: 1MB, max_in_flight_body_bytes: 1MB }`
      )
      assert.sameMembers(problems.map((problem) => problem.path), [
        "server.tls.key_file",
        "server.drain_delay",
        "server.limits.max_buffered_bytes",
        "server.limits.max_in_flight_body_bytes"
      ])
      const config = yield* load(
        `${withIds()}\nserver: { tls: { cert_file: c, key_file: k }, limits: { ack_timeout: 5s, max_batch_records: 7 } }`
      )
      assert.deepStrictEqual(config.settings.tls, { certFile: "c", keyFile: "k" })
      assert.deepStrictEqual(config.settings.limits.ackTimeout, Duration.seconds(5))
      assert.strictEqual(config.settings.limits.maxBatchRecords, 7)
    }))

  it.effect("notices name the stream", () =>
    Effect.gen(function*() {
      const config = yield* load(withIds("compression: { type: lz4, level: 9 }"))
      assert.deepStrictEqual(config.notices, [
        "stream main: compression.level 9 changes nothing: the lz4 library has one level"
      ])
    }))

  it.effect("reads a file, also the one that EFFECT_WAL_CONFIG names; refuses what cannot be read", () =>
    Effect.gen(function*() {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "wal-config-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      )
      const path = join(directory, "wal.json")
      writeFileSync(
        path,
        JSON.stringify({
          streams: [{
            durability: { backend: { type: "object_store", node_id: "n", stream_id: "s", directory: { path: "d" } } }
          }]
        })
      )
      assert.strictEqual((yield* loadConfig({ path, env: {} })).streams[0]?.id, "s")
      assert.strictEqual((yield* loadConfig({ env: { EFFECT_WAL_CONFIG: path } })).source, path)
      writeFileSync(path, Uint8Array.of(0x61, 0xff, 0xfe))
      assert.include((yield* Effect.flip(loadConfig({ path, env: {} }))).message, "is not UTF-8 text")
      const missing = yield* Effect.flip(loadConfig({ path: join(directory, "nope.yaml"), env: {} }))
      assert.include(missing.message, "cannot be read")
    }))
})
