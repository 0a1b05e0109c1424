import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { printConfig } from "../../src/config/ConfigPrint.ts"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { inBackend, load, problemsOf, withIds } from "./load.ts"

/** A file with streams of one line each, which stands in their `durability`. */
const durable = (...blocks: ReadonlyArray<string>): string =>
  ["streams:", ...blocks.map((block) => `  - { durability: { ${block} } }`)].join("\n")

describe("streams on this machine's disk", () => {
  it.effect("[predecessor 28] the local example of the source decodes under its own keys", () =>
    Effect.gen(function*() {
      const text = [
        "streams:",
        "  - durability:",
        "      enabled: true",
        "      path: \"./data/wal\"",
        "      sync: \"group_commit\""
      ].join("\n")
      const { notices, streams } = yield* load(text)
      const [stream] = streams
      assert.deepStrictEqual(stream?.store, { type: "local", path: "./data/wal", maxFileBytes: 67_108_864 })
      assert.deepStrictEqual([stream?.id, stream?.options.streamId, stream?.options.nodeId], ["main", "main", "node-0"])
      assert.strictEqual(stream?.options.sync, "group_commit")
      assert.include(notices.join(), "does not survive the loss of this machine's disk")
    }))

  it.effect("[predecessor 28] [predecessor 35] the top-level sync counts for a local log, all three kinds", () =>
    Effect.gen(function*() {
      const optionsOf = (sync: string) =>
        Effect.map(load(durable(`path: d, sync: ${sync}`)), ({ streams }) => streams[0]?.options)
      assert.deepInclude(yield* optionsOf("periodic"), { sync: "periodic" })
      assert.strictEqual((yield* optionsOf("group_commit"))?.segment.maxEntries, 1_000)
      assert.strictEqual((yield* optionsOf("per_entry"))?.segment.maxEntries, 1)
      assert.strictEqual((yield* optionsOf("per_entry, backend: { type: local }"))?.segment.maxEntries, 1)
      const both = yield* problemsOf(durable("path: d, sync: per_entry, backend: { sync: per_entry }"))
      assert.deepStrictEqual(both.map((problem) => problem.path), ["streams[0].durability.sync"])
      const given = yield* problemsOf(durable("path: d, sync: per_entry, backend: { segment: { max_entries: 5 } }"))
      assert.deepStrictEqual(given.map((problem) => problem.path), [inBackend("segment.max_entries")])
    }))

  it.effect("[predecessor 29] the older spelling of the path beside the newer one, or with another type, is an error", () =>
    Effect.gen(function*() {
      const both = yield* problemsOf(durable("path: d, backend: { local: { path: e } }"))
      assert.deepStrictEqual(both.map((problem) => problem.path), ["streams[0].durability.path"])
      const other = yield* problemsOf(`${withIds()}\n      path: d`)
      assert.deepStrictEqual(other.map((problem) => problem.path), ["streams[0].durability.path"])
      assert.include(other[0]?.rule, "type: local")
    }))

  it.effect("the stream's id is the log's, where the backend does not name it", () =>
    Effect.gen(function*() {
      const text = "streams: [{ id: a, durability: { path: d } }, { id: b, durability: { path: d } }, " +
        "{ id: c, durability: { path: d, backend: { stream_id: other, node_id: n } } }]"
      const { streams } = yield* load(text)
      assert.deepStrictEqual(streams.map(({ id, options }) => [id, options.nodeId, options.streamId]), [
        ["a", "node-0", "a"],
        ["b", "node-0", "b"],
        ["c", "n", "other"]
      ])
    }))

  it.effect("[case 10] two streams cannot be one local log, however that is written", () =>
    Effect.gen(function*() {
      const text = "streams: [{ id: a, durability: { path: d, backend: { stream_id: x } } }, " +
        "{ id: b, durability: { backend: { type: local, local: { path: d }, node_id: node-0, stream_id: x } } }]"
      assert.deepStrictEqual((yield* problemsOf(text)).map((problem) => problem.path), [
        "streams[1].durability.backend.stream_id"
      ])
      yield* load(text.replace("node_id: node-0", "node_id: node-1"))
    }))

  it.effect("a stream without any backend is told what there is", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf("streams: [{ id: a, durability: { enabled: true } }]")
      assert.deepInclude(problems.find((problem) => problem.path === inBackend("type")), {
        rule: "is missing; write type: local or type: object_store"
      })
    }))
})

describe("config print of a local log", () => {
  const printed = Effect.fnUntraced(function*(text: string) {
    const lines = printConfig(yield* loadConfig({ path: "wal.yaml", text, env: {} })).split("\n")
    return (path: string) => lines.find((line) => line.startsWith(`${inBackend(path)} = `))?.split(" = ")[1]
  })

  it.effect("has its own defaults as defaults, and the older spelling at its line", () =>
    Effect.gen(function*() {
      const value = yield* printed("streams:\n  - durability:\n      path: ./data/wal\n      sync: per_entry\n")
      const expected: ReadonlyArray<readonly [string, string]> = [
        ["type", "\"local\"  # default"],
        ["node_id", "\"node-0\"  # default"],
        ["stream_id", "\"main\"  # default"],
        ["local.path", "\"./data/wal\"  # wal.yaml:3"],
        ["local.max_file_bytes", "67108864 bytes  # default"],
        ["sync", "\"per_entry\"  # wal.yaml:4"],
        ["segment_tuning.max_entries", "1  # sync per_entry"],
        ["segment_tuning.max_bytes", "1048576 bytes  # preset balanced"],
        ["segment_tuning.linger", "0 ms  # default"],
        ["manifest.max_segments", "1024  # default"]
      ]
      for (const [path, text] of expected) assert.strictEqual(value(path), text, path)
      assert.isUndefined(value("s3.bucket"))
    }))

  it.effect("what is given stands at its line, and the stream's id names the log", () =>
    Effect.gen(function*() {
      const value = yield* printed(
        "streams:\n  - id: orders\n    durability:\n      backend:\n        type: local\n        local: { path: d }\n" +
          "        manifest: { max_segments: 9 }\n"
      )
      assert.strictEqual(value("local.path"), "\"d\"  # wal.yaml:6")
      assert.strictEqual(value("manifest.max_segments"), "9  # wal.yaml:7")
      assert.strictEqual(value("stream_id"), "\"orders\"  # wal.yaml:2")
      assert.strictEqual(value("type"), "\"local\"  # wal.yaml:5")
    }))

  it.effect("an object store keeps its defaults, and shows its spool", () =>
    Effect.gen(function*() {
      const value = yield* printed(withIds("spool: { path: s }"))
      assert.strictEqual(value("manifest.max_segments"), "8  # default")
      assert.strictEqual(value("segment_tuning.linger"), "100 ms  # preset balanced")
      assert.strictEqual(value("spool.max_bytes"), "10000000000 bytes  # default")
      assert.strictEqual(value("spool.after"), "2000 ms  # default")
      assert.isUndefined(value("local.max_file_bytes"))
    }))
})
