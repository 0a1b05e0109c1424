import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { printConfig } from "../../src/config/ConfigPrint.ts"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { inBackend, problemsOf, withIds } from "./load.ts"

const text = withIds(
  "sync: periodic",
  "prefix: \"${PREFIX}\"",
  "segment: { max_bytes: 5MB }",
  "segment_tuning:",
  "  strategy: aggressive",
  "  linger: 0",
  "compression: { type: lz4, level: 9 }",
  "parallel_put: { workers: \"${WORKERS}\" }"
) + "\nserver: { tokens: [{ id: t, sha256: " + "ab".repeat(32) + ", scopes: [read] }] }"

describe("printConfig", () => {
  it.effect("shows each value with its origin, sizes in bytes, durations in milliseconds", () =>
    Effect.gen(function*() {
      const config = yield* loadConfig({ path: "wal.yaml", text, env: { PREFIX: "prod", WORKERS: "4" } })
      const printed = printConfig(config)
      const line = (path: string) => printed.split("\n").find((each) => each.startsWith(`${path} = `))
      assert.strictEqual(line("server.port"), "server.port = 8180  # default")
      assert.strictEqual(line("server.shutdown_timeout"), "server.shutdown_timeout = 25000 ms  # default")
      assert.strictEqual(line("streams[0].id"), "streams[0].id = \"main\"  # wal.yaml:7")
      const expected: ReadonlyArray<readonly [string, string]> = [
        ["prefix", "\"prod\"  # variable PREFIX (wal.yaml:9)"],
        ["sync", "\"periodic\"  # wal.yaml:8"],
        ["segment_tuning.strategy", "\"aggressive\"  # wal.yaml:12"],
        ["segment_tuning.max_entries", "10000  # preset aggressive"],
        ["segment_tuning.max_bytes", "5000000 bytes  # wal.yaml:10"],
        ["segment_tuning.flush_interval", "10000 ms  # preset aggressive"],
        ["segment_tuning.linger", "0 ms  # wal.yaml:13"],
        ["parallel_put.workers", "4  # variable WORKERS (wal.yaml:15)"],
        ["compression.level", "9  # wal.yaml:14"],
        ["max_buffered_bytes", "268435456 bytes  # default"],
        ["retention.policy", "\"committed\"  # default"],
        ["s3.path_style", "false  # default"]
      ]
      for (const [path, value] of expected) assert.strictEqual(line(inBackend(path)), `${inBackend(path)} = ${value}`)
      assert.include(printed, "# notice: stream main: compression.level 9 changes nothing")
      assert.notInclude(printed, "segment.max_bytes")
    }))

  it.effect("shows the PUTs a second that a budget in dollars comes to, and says where the interval alone makes more", () =>
    Effect.gen(function*() {
      const budget = withIds("budget: { dollars_per_month: \"${DOLLARS}\" }")
      const printed = printConfig(yield* loadConfig({ path: "wal.yaml", text: budget, env: { DOLLARS: "6.48" } }))
      const origin = "variable DOLLARS (wal.yaml:8)"
      assert.include(printed, `${inBackend("budget.puts_per_second")} = 0.5  # ${origin}\n`)
      assert.include(printed, `${inBackend("budget.dollars_per_month")} = 6.48  # ${origin}\n`)
      assert.include(printed, "# notice: stream main: budget: 0.5 PUTs a second are fewer than flush_interval 1s makes")
    }))

  it.effect("never shows a secret", () =>
    Effect.gen(function*() {
      const secrets = "streams: [{ durability: { backend: { type: object_store, node_id: n, stream_id: s, s3: " +
        "{ bucket: b-1, access_key_id: AKIA777, secret_access_key: \"${SECRET}\", session_token: token777 } } } }]"
      const config = yield* loadConfig({ path: "wal.yaml", text: secrets, env: { SECRET: "hunter2" } })
      const printed = printConfig(config)
      for (const secret of ["AKIA777", "hunter2", "token777"]) {
        assert.notInclude(printed + JSON.stringify(config), secret)
      }
      assert.include(printed, "s3.secret_access_key = <redacted>  # variable SECRET (wal.yaml:1)")
      assert.notInclude(printConfig(yield* loadConfig({ text, env: { PREFIX: "p", WORKERS: "1" } })), "abab")
    }))

  it.effect("[case 22] shows the name of a variable that holds a secret, wherever it was put", () =>
    Effect.gen(function*() {
      const env = { AWS_SECRET_ACCESS_KEY: "hunter2", STREAM_TOKEN: "t0p-s3cret", NODE: "n" }
      const text = "server: { tokens: [{ id: t, env: NODE, scopes: [read], streams: [\"${STREAM_TOKEN}\"] }] }\n" +
        "streams: [{ durability: { backend: { type: object_store, node_id: \"${NODE}\", stream_id: \"${STREAM_TOKEN}\", " +
        "compression: { type: lz4, level: 9 }, s3: { bucket: \"${AWS_SECRET_ACCESS_KEY}\", region: r } } } }]"
      const config = yield* loadConfig({ path: "wal.yaml", text, env })
      assert.strictEqual(config.streams[0]?.id, "t0p-s3cret")
      const printed = printConfig(config)
      for (const secret of ["hunter2", "t0p-s3cret"]) assert.notInclude(printed, secret)
      const origin = (name: string, line: number) => `variable ${name} (wal.yaml:${line})`
      for (
        const line of [
          `${inBackend("s3.bucket")} = "\${AWS_SECRET_ACCESS_KEY}"  # ${origin("AWS_SECRET_ACCESS_KEY", 2)}`,
          `${inBackend("stream_id")} = "\${STREAM_TOKEN}"  # ${origin("STREAM_TOKEN", 2)}`,
          `${inBackend("node_id")} = "n"  # ${origin("NODE", 2)}`,
          `streams[0].id = "\${STREAM_TOKEN}"  # ${origin("STREAM_TOKEN", 2)}`,
          "server.tokens[0].streams = [\"${STREAM_TOKEN}\"]  # wal.yaml:1"
        ]
      ) assert.include(printed.split("\n"), line)
      assert.include(printed, "# notice: stream ${STREAM_TOKEN}: compression.level 9 changes nothing")
    }))

  it.effect("[case 22] a report shows the name of such a variable too, in the value and in the rule", () =>
    Effect.gen(function*() {
      const env = { AWS_SECRET_ACCESS_KEY: "hunter2/+", STREAM_TOKEN: "t0p-s3cret", REGION: "" }
      const lines = [
        "s3: { bucket: \"${AWS_SECRET_ACCESS_KEY}\", region: r }",
        "node_id: n",
        "stream_id: s",
        "type: object_store"
      ]
      const text =
        `server: { tokens: [{ id: t, env: STREAM_TOKEN, scopes: [read], streams: ["\${STREAM_TOKEN}"] }] }\n` +
        `streams: [{ durability: { backend: { ${lines.join(", ")} } } }]`
      assert.deepStrictEqual(
        (yield* problemsOf(text, { env })).map(({ path, rule, value }) => ({ path, value, rule: rule.slice(0, 24) })),
        [
          { path: "server.tokens[0].streams", value: "a list", rule: "names ${STREAM_TOKEN}, w" },
          {
            path: inBackend("s3.bucket"),
            value: "\"${AWS_SECRET_ACCESS_KEY}\"",
            rule: "2 to 255 characters of A"
          }
        ]
      )
      assert.notInclude(JSON.stringify(yield* problemsOf(text, { env })), "hunter2")
    }))

  it.effect("the default configuration is all defaults", () =>
    Effect.gen(function*() {
      const { entries } = yield* loadConfig({ env: {} })
      assert.sameMembers([...new Set(entries.map((entry) => entry.origin))], ["default", "preset balanced"])
      assert.include(
        entries.map((entry) => `${entry.path} ${entry.value}`),
        "streams[0].durability.backend.local.path \"./data\""
      )
    }))
})
