import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { defaultLimits } from "../../src/Settings.ts"
import { inBackend, load, problemsOf, withBackend, withIds } from "./load.ts"

describe("loadConfig", () => {
  it.effect("without a file: one stream on this machine's disk, on loopback", () =>
    Effect.gen(function*() {
      const config = yield* loadConfig({ env: {}, hostname: "pod-1" })
      assert.strictEqual(config.source, "default configuration")
      assert.deepStrictEqual(config.settings, {
        host: "127.0.0.1",
        port: 8_180,
        tokens: [],
        insecure: false,
        limits: defaultLimits,
        storeGrace: Duration.seconds(30),
        drainDelay: Duration.zero,
        drainTimeout: Duration.seconds(25),
        streams: ["main"]
      })
      assert.deepStrictEqual(config.streams.map((stream) => stream.store), [
        { type: "local", path: "./data", maxFileBytes: 67_108_864 }
      ])
      assert.strictEqual(config.streams[0]?.options.host, "pod-1")
    }))

  it.effect("the quick start of the source decodes, with the node's variable put in", () =>
    Effect.gen(function*() {
      const text = [
        "streams:",
        "  - durability:",
        "      enabled: true",
        "      backend:",
        "        type: object_store",
        "        node_id: \"${ARKFLOW_NODE_ID}\"",
        "        stream_id: main",
        "        s3:",
        "          bucket: my-bucket",
        "          region: us-east-1"
      ].join("\n")
      const config = yield* load(text, { env: { ARKFLOW_NODE_ID: "pod-7" } })
      assert.strictEqual(config.streams[0]?.options.nodeId, "pod-7")
      assert.strictEqual(config.streams[0]?.id, "main")
      // [predecessor 11] Taken literally, every pod would have the same id.
      const [problem] = yield* problemsOf(text)
      assert.deepStrictEqual(problem, {
        path: inBackend("node_id"),
        rule: "needs the variable ARKFLOW_NODE_ID, which is not set",
        line: 6
      })
    }))

  it.effect("[predecessor 11] an unset node id is refused, not taken literally", () =>
    Effect.gen(function*() {
      for (const env of [{}, { WAL_NODE_ID: "" }, { WAL_NODE_ID: "  " }]) {
        const problems = yield* problemsOf(withBackend("stream_id: main", "node_id: \"${WAL_NODE_ID}\""), { env })
        assert.deepStrictEqual(problems.map((problem) => problem.path), [inBackend("node_id")])
        assert.include(problems[0]?.rule, "WAL_NODE_ID")
      }
    }))

  it.effect("[case 22] a variable of `a: b` or of two lines is that text, and no id", () =>
    Effect.gen(function*() {
      const text = withBackend("stream_id: main", "node_id: ${WAL_NODE_ID}")
      for (const value of ["a: b", "one\ntwo"]) {
        const [problem] = yield* problemsOf(text, { env: { WAL_NODE_ID: value } })
        assert.strictEqual(problem?.path, inBackend("node_id"))
        assert.strictEqual(problem?.value, JSON.stringify(value))
      }
    }))

  it.effect("[case 22] numbers and switches can come from variables, in their ranges", () =>
    Effect.gen(function*() {
      const text = withIds("parallel_put: { workers: \"${WORKERS}\" }", "max_record_bytes: ${SIZE:-1MB}") +
        "\nserver: { behind_proxy: \"${PROXY}\" }"
      const config = yield* load(text, { env: { WORKERS: "4", PROXY: "true" } })
      assert.strictEqual(config.streams[0]?.options.parallelPut.workers, 4)
      assert.strictEqual(config.streams[0]?.options.maxRecordBytes, 1_000_000)
      for (const workers of ["0", "9", "4.5", "four", "0x4"]) {
        const problems = yield* problemsOf(text, { env: { WORKERS: workers, PROXY: "false" } })
        assert.deepStrictEqual(problems.map((problem) => problem.path), [inBackend("parallel_put.workers")], workers)
      }
    }))

  it.effect.each([
    ["500ms", 500],
    ["\"30s\"", 30_000],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["1.5s", 1_500],
    ["1d", 86_400_000],
    ["30d", 2_592_000_000]
  ])("[case 21] flush_interval: %s is %d ms", ([text, millis]) =>
    Effect.gen(function*() {
      const config = yield* load(withIds(`segment_tuning: { flush_interval: ${text} }`))
      assert.strictEqual(Duration.toMillis(config.streams[0]?.options.segment.flushInterval ?? 0), millis)
    }))

  it.effect.each([
    "500",
    "\"500\"",
    "0",
    "0s",
    "-1s",
    "1e3",
    ".inf",
    ".nan",
    "\"\"",
    "null",
    "",
    "1S",
    "1 s",
    "1sec",
    "1s500ms"
  ])(
    "[case 21] flush_interval: %s is refused with path and line",
    (text) =>
      Effect.gen(function*() {
        const problems = yield* problemsOf(withIds("segment_tuning:", `  flush_interval: ${text}`))
        assert.deepStrictEqual(problems.map((problem) => [problem.path, problem.line]), [[
          inBackend("segment_tuning.flush_interval"),
          9
        ]])
      })
  )

  it.effect("[case 21] a bare number is told that its unit is missing", () =>
    Effect.gen(function*() {
      const [problem] = yield* problemsOf(withIds("cursor: { interval: 500 }"))
      assert.include(problem?.rule, "has no unit")
      assert.strictEqual(problem?.value, "500")
    }))

  it.effect("[case 22] unknown, misspelt and doubled keys are errors with their lines", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf(
        withIds("paralel_put: { workers: 4 }", "parallel_put:", "  workers: 4", "  workers: 4")
      )
      assert.deepStrictEqual(problems, [
        { path: inBackend("paralel_put"), rule: "is not a known key; did you mean parallel_put?", line: 8 },
        { path: inBackend("parallel_put.workers"), rule: "is given twice; first in line 10", line: 11 }
      ])
    }))

  it.effect.each([["0", "0"], ["9", "9"], ["\"4\"", "\"4\""], ["4.5", "4.5"]])(
    "[case 22] workers: %s is refused",
    ([text, shown]) =>
      Effect.gen(function*() {
        const [problem] = yield* problemsOf(withIds(`parallel_put: { workers: ${text} }`))
        assert.strictEqual(problem?.path, inBackend("parallel_put.workers"))
        assert.strictEqual(problem?.value, shown)
      })
  )

  it.effect("[case 22] an empty file, `durability:` without a value, a tab", () =>
    Effect.gen(function*() {
      assert.include((yield* problemsOf(""))[0]?.rule, "is empty")
      assert.deepStrictEqual(yield* problemsOf("streams:\n  - durability:\n"), [
        { path: "streams[0].durability", rule: "must be a block of keys", line: 2 }
      ])
      assert.include((yield* problemsOf("streams:\n\t- id: x\n"))[0]?.rule, "a tab cannot indent")
      for (const text of ["server: {}", "streams: []", "streams: null", "streams: 5", "[]", "5"]) {
        assert.isAbove((yield* problemsOf(text)).length, 0, text)
      }
    }))

  it.effect("[case 22] [predecessor 28] per_entry is refused wherever it stands", () =>
    Effect.gen(function*() {
      const inner = yield* problemsOf(withIds("sync: per_entry"))
      assert.deepStrictEqual(inner.map((problem) => problem.path), [inBackend("sync")])
      const outer = yield* problemsOf(`${withIds()}\n      sync: per_entry`)
      assert.deepStrictEqual(outer.map((problem) => problem.path), ["streams[0].durability.sync"])
      const both = yield* problemsOf(`${withIds("sync: periodic")}\n      sync: periodic`)
      assert.deepStrictEqual(both.map((problem) => problem.path), ["streams[0].durability.sync"])
    }))

  it.effect("[predecessor 28] [predecessor 35] the top-level sync counts, also periodic", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* load(`${withIds()}\n      sync: periodic`)).streams[0]?.options.sync, "periodic")
      assert.strictEqual((yield* load(withIds("sync: periodic"))).streams[0]?.options.sync, "periodic")
    }))

  it.effect("[predecessor 29] the same field in segment and segment_tuning is an error with its line", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf(withIds("segment: { max_entries: 5 }", "segment_tuning: { max_entries: 5 }"))
      assert.deepStrictEqual(problems.map((problem) => [problem.path, problem.line]), [[
        inBackend("segment.max_entries"),
        8
      ]])
    }))

  it.effect("[case 16] levels out of range or of another type are refused by path", () =>
    Effect.gen(function*() {
      for (
        const [type, level] of [["zstd", "23"], ["zstd", "\"3\""], ["zstd", "null"], ["lz4", "0"], ["lz4", "17"], [
          "none",
          "3"
        ]]
      ) {
        const problems = yield* problemsOf(withIds(`compression: { type: ${type}, level: ${level} }`))
        assert.deepStrictEqual(
          problems.map((problem) => problem.path),
          [inBackend("compression.level")],
          `${type} ${level}`
        )
      }
    }))

  it.effect("[case 22] one report names everything, in order of lines, without a secret", () =>
    Effect.gen(function*() {
      const text = [
        "server:",
        "  port: 99999",
        "  host: 0.0.0.0",
        "streams:",
        "  - id: a/b",
        "    durability:",
        "      enabled: false",
        "      backend:",
        "        type: kafka",
        "        node_id: 1",
        "        stream_id: \"${STREAM}\"",
        "        s3:",
        "          bucket: x",
        "          secret_access_key: 123456789",
        "          secret_acces_key: hunter2",
        "        segment_tuning: { flush_interval: 10, max_bytes: 10mb }",
        "        compression: { level: 3 }",
        "        max_buffered_bytes: 1",
        "    input: { type: kafka }",
        "    pipeline: {}",
        "    output: {}"
      ].join("\n")
      const problems = yield* problemsOf(text)
      assert.deepStrictEqual(
        problems.map((problem) => [problem.line, problem.path.replace("streams[0].durability.", "…")]),
        [
          [2, "server.port"],
          [3, "server.host"],
          [5, "streams[0].id"],
          [7, "…enabled"],
          [9, "…backend.type"],
          [10, "…backend.node_id"],
          [11, "…backend.stream_id"],
          [13, "…backend.s3.bucket"],
          [14, "…backend.s3.secret_access_key"],
          [15, "…backend.s3.secret_acces_key"],
          [16, "…backend.segment_tuning.max_bytes"],
          [16, "…backend.segment_tuning.flush_interval"],
          [17, "…backend.compression.level"],
          [19, "streams[0].input"],
          [20, "streams[0].pipeline"],
          [21, "streams[0].output"]
        ]
      )
      const shown = JSON.stringify(problems)
      for (const secret of ["hunter2", "123456789"]) assert.notInclude(shown, secret)
      assert.include(problems.find((problem) => problem.path.endsWith("node_id"))?.rule, "write it in quotes")
    }))

  it.effect("the message has source, line, path, rule and value", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(loadConfig({ path: "wal.yaml", text: withIds("prefetch: 0"), env: {} }))
      assert.strictEqual(
        error.message,
        `wal.yaml:8: ${inBackend("prefetch")}: must be a whole number, 1 to 256 (found 0)`
      )
    }))
})
