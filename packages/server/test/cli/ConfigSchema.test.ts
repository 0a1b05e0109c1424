import { listFields } from "@effect-wal/core/config/DecodeTree"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { parse } from "yaml"
import { configSchema, schemaAt } from "../../src/cli/ConfigSchema.ts"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { FileBlock } from "../../src/config/ServerSchema.ts"
import { names, textOf } from "../examples/Examples.ts"
import { checkSchema } from "./SchemaCheck.ts"

const schema = configSchema()

const problems = (text: string) => checkSchema(schema, parse(text))

const backend = (lines: string) =>
  `streams: [{ id: orders, durability: { backend: { type: object_store, node_id: n, stream_id: s, directory: { path: d }, ${lines} } } }]`

/** Files that both accept. */
const good: ReadonlyArray<readonly [name: string, text: string]> = [
  ["a local log", "streams: [{ id: a, durability: { path: ./data } }]"],
  [
    "a variable for a number",
    "server: { port: \"${PORT:-8180}\" }\nstreams: [{ id: a, durability: { path: ./data } }]"
  ],
  ["a variable for a word", backend("segment_tuning: { strategy: \"${PRESET:-balanced}\" }")],
  ["sizes in both forms", backend("max_buffered_bytes: 256MiB, max_record_bytes: 1048576")],
  ["durations", backend("segment_tuning: { flush_interval: 1.5s, linger: 0 }")],
  [
    "the older blocks",
    backend("segment: { max_entries: 10, max_bytes: 1MB, flush_interval: 1s }, cursor: { max_entries: 5 }")
  ],
  [
    "tokens",
    "server: { tokens: [{ id: t, sha256: " + "a".repeat(64) + ", scopes: [read, write] }] }\n" +
    "streams: [{ id: a, durability: { path: ./data } }]"
  ],
  ["a budget", backend("budget: { dollars_per_month: 12.5 }")]
]

/** Files that both refuse. */
const bad: ReadonlyArray<readonly [name: string, text: string]> = [
  ["no streams", "server: { port: 80 }"],
  ["an empty list of streams", "streams: []"],
  ["a stream without durability", "streams: [{ id: a }]"],
  ["an unknown key", backend("paralel_put: { workers: 2 }")],
  ["an unknown key at the top", "servr: {}\nstreams: [{ id: a, durability: { path: d } }]"],
  ["a key of the engine", "streams: [{ id: a, input: {}, durability: { path: d } }]"],
  ["a number out of range", backend("parallel_put: { workers: 9 }")],
  ["a number with decimals", backend("parallel_put: { workers: 1.5 }")],
  ["a word for a number", backend("parallel_put: { workers: two }")],
  ["a duration without a unit", backend("segment_tuning: { flush_interval: 1000 }")],
  ["a duration of 0 where it must be positive", backend("segment_tuning: { flush_interval: 0 }")],
  ["a size with a blank", backend("max_record_bytes: 1 MB")],
  ["an unknown preset", backend("segment_tuning: { strategy: fast }")],
  ["an unknown codec", backend("compression: { type: gzip }")],
  ["a port too high", "server: { port: 65536 }\nstreams: [{ id: a, durability: { path: d } }]"],
  ["a switch in quotes", "server: { behind_proxy: \"yes\" }\nstreams: [{ id: a, durability: { path: d } }]"],
  ["a number for an id", "streams: [{ id: 7, durability: { path: d } }]"],
  ["an id with a slash", "streams: [{ id: a/b, durability: { path: d } }]"],
  ["two stores", backend("s3: { bucket: my-bucket }")],
  [
    "a bucket block without a bucket",
    "streams: [{ id: a, durability: { backend: { type: object_store, node_id: n, stream_id: s, s3: {} } } }]"
  ],
  [
    "an unknown scope",
    "server: { tokens: [{ id: t, env: T, scopes: [root] }] }\nstreams: [{ id: a, durability: { path: d } }]"
  ],
  [
    "two secrets of a token",
    "server: { tokens: [{ id: t, env: T, file: f, scopes: [read] }] }\nstreams: [{ id: a, durability: { path: d } }]"
  ],
  ["half of tls", "server: { tls: { cert_file: c } }\nstreams: [{ id: a, durability: { path: d } }]"],
  ["both budgets", backend("budget: { dollars_per_month: 1, puts_per_second: 1 }")],
  ["a block that is text", backend("compression: zstd")]
]

const isRefused = (text: string) =>
  Effect.map(
    Effect.result(loadConfig({ text, env: { T: "token", PRESET: "balanced" }, hostname: "pod-1" })),
    Result.isFailure
  )

describe("the schema of the configuration", () => {
  for (const name of names) {
    it(`takes the example ${name}`, () => assert.deepStrictEqual(problems(textOf(name)), []))
  }

  for (const [name, text] of good) {
    it.effect(`takes ${name}, as the program does`, () =>
      Effect.gen(function*() {
        assert.isFalse(yield* isRefused(text))
        assert.deepStrictEqual(problems(text), [])
      }))
  }

  for (const [name, text] of bad) {
    it.effect(`refuses ${name}, as the program does`, () =>
      Effect.gen(function*() {
        assert.isTrue(yield* isRefused(text))
        assert.isNotEmpty(problems(text))
      }))
  }

  it("has a description for every field, and each field of the program", () => {
    for (const { doc, path } of listFields(FileBlock.ast)) {
      const found = schemaAt(schema, path)
      assert.isObject(found, path.join("."))
      assert.include(JSON.stringify(found), JSON.stringify(doc.note).slice(1, -1), path.join("."))
    }
  })

  it("has defaults in the spelling of the file", () => {
    const defaultAt = (...path: ReadonlyArray<string>) => JSON.parse(JSON.stringify(schemaAt(schema, path))).default
    const inBackend = ["streams", "*", "durability", "backend"]
    assert.strictEqual(defaultAt("server", "port"), 8_180)
    assert.strictEqual(defaultAt("server", "store_grace"), "30s")
    assert.strictEqual(defaultAt("server", "behind_proxy"), false)
    assert.strictEqual(defaultAt(...inBackend, "max_buffered_bytes"), "256MiB")
    assert.strictEqual(defaultAt(...inBackend, "segment_tuning", "strategy"), "balanced")
  })

  it("takes each of its own defaults", () => {
    for (const { path } of listFields(FileBlock.ast)) {
      const found = JSON.parse(JSON.stringify(schemaAt(schema, path)))
      if (found.default === undefined) continue
      assert.deepStrictEqual(
        checkSchema({ ...found, $defs: schema["$defs"] }, found.default),
        [],
        path.join(".")
      )
    }
  })

  it("says what each preset sets, and what is old", () => {
    const text = JSON.stringify(schema)
    for (const preset of ["aggressive", "balanced", "low_latency"]) assert.include(text, `{"const":"${preset}"`)
    assert.include(text, "1000 records or 1048576 bytes, at the latest after 1s; where somebody waits, after 100ms")
    const legacy = JSON.stringify(schemaAt(schema, ["streams", "*", "durability", "backend", "segment"]))
    assert.include(legacy, "\"deprecated\":true")
  })
})
