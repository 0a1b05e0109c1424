/** Broken variants of the examples: what is said of each, where, all at once, and that nothing else happens. */
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { startProgram } from "../support/Process.ts"
import { environmentOf, local, names, nowhere, temporary, textOf } from "./Examples.ts"

/** Text of the example, what stands in its place, and what is said of it: path, rule, and a piece of the line. */
type Edit = readonly [from: string, to: string, path: string, rule: string, line?: string]

const backend = "streams[0].durability.backend"

const edits: Readonly<Record<string, ReadonlyArray<Edit>>> = {
  durability_batch_job: [
    [
      "    durability:",
      "    input: { type: kafka }\n    durability:",
      "streams[0].input",
      "no input, records",
      "input:"
    ],
    ["enabled: true", "enabled: false", "streams[0].durability.enabled", "a stream that keeps nothing is not served"],
    ["stream_id: main", "stream_id: main\n        sync: per_entry", `${backend}.sync`, "cannot be had from", "sync:"],
    ["workers: 4", "workers: 0", `${backend}.parallel_put.workers`, "must be a whole number, 1 to 8"]
  ],
  durability_cold_storage: [
    ["\"${NODE_ID}\"", "\"${NODE}\"", `${backend}.node_id`, "needs the variable NODE, which is not set"],
    [
      "flush_interval: 60s",
      "flush_interval: 60",
      `${backend}.segment_tuning.flush_interval`,
      "has no unit: write 60ms"
    ],
    ["level: 9", "level: nine", `${backend}.compression.level`, "must be a whole number, 0 to 22"]
  ],
  durability_example: [
    ["sync: group_commit", "sync: sometimes", "streams[0].durability.sync", "must be one of group_commit, periodic"],
    [
      "type: local",
      "type: local\n        spool: { path: d }",
      `${backend}.spool`,
      "does not go with type: local",
      "spool:"
    ],
    [
      "local:\n",
      "parallel_put: { workers: 2 }\n        local:\n",
      `${backend}.parallel_put.workers`,
      "must be 1 with",
      "put:"
    ],
    ["\"${WAL_PATH:-./data/wal}\"", "\"\" # none", `${backend}.local.path`, "must not be empty"]
  ],
  durability_example_aggressive: [
    ["endpoint: \"${S3_ENDPOINT}\"", "endpoint: ftp://store", `${backend}.s3.endpoint`, "must be an http or https URL"],
    ["segment_tuning:\n", "segment_tunning:\n", `${backend}.segment_tunning`, "did you mean segment_tuning?"]
  ],
  durability_example_compressed: [
    ["enabled: true", "enabled: \"yes\"", "streams[0].durability.enabled", "must be true or false"],
    ["strategy: aggressive", "strategy: agressive", `${backend}.segment_tuning.strategy`, "must be one of aggressive"],
    ["type: zstd", "type: gzip", `${backend}.compression.type`, "must be one of none, zstd, lz4"],
    ["level: 3", "level: 23", `${backend}.compression.level`, "must be a whole number, 0 to 22"]
  ],
  durability_example_parallel: [
    ["workers: 4", "workers: 9", `${backend}.parallel_put.workers`, "must be a whole number, 1 to 8"],
    ["shutdown_timeout: 30s", "shutdown_timeout: 30", `${backend}.parallel_put.shutdown_timeout`, "has no unit", "30"],
    [
      "server:\n",
      "server:\n  drain_delay: 40s\n",
      "server.drain_delay",
      "must be shorter than shutdown_timeout",
      "delay"
    ]
  ],
  durability_example_s3: [
    ["\"${S3_BUCKET}\"", "\"${S3_BUKET}\"", `${backend}.s3.bucket`, "needs the variable S3_BUKET, which is not set"],
    ["max_entries: 1000", "max_entries: 0", `${backend}.segment.max_entries`, "must be a whole number, 1 to 1000000"],
    ["max_bytes: 1MiB", "max_bytes: 1 megabyte", `${backend}.segment.max_bytes`, "with a unit without a blank"],
    ["          interval: 1s", "          interval: 0s", `${backend}.cursor.interval`, "must be 1ms to 365d"]
  ],
  durability_real_time: [
    [
      "access_key_id: \"${AWS_ACCESS_KEY_ID}\"",
      "# none",
      `${backend}.s3.access_key_id`,
      "is missing; access key",
      "s3:"
    ],
    ["type: lz4", "type: lz4\n          level: 17", `${backend}.compression.level`, "1 to 16 for lz4", "level: 17"]
  ],
  durability_smoke_test: [
    ["- id: smoke", "- id: smo ke", "streams[0].id", "must be 1 to 128 characters"],
    ["node_id: smoke-node", "node_id: 1", `${backend}.node_id`, "must be text: write it in quotes"],
    [
      "workers: 2",
      "workers: 2\n          workers: 3",
      `${backend}.parallel_put.workers`,
      "is given twice",
      "workers: 3"
    ]
  ]
}

const change = (text: string, [from, to]: Edit): string => {
  assert.include(text, from)
  return text.replace(from, () => to)
}

/** The number of the only line that holds what the edit put in. */
const lineOf = (text: string, [, to, , , piece]: Edit): number => {
  const found = text.split("\n").flatMap((line, index) =>
    !line.startsWith("#") && line.includes(piece ?? to.trim()) ? [index + 1] : []
  )
  assert.strictEqual(found.length, 1, `${piece ?? to} in lines ${found.join(", ")}`)
  return found[0] ?? 0
}

const environment = (name: string) => name === local ? {} : environmentOf(nowhere)

const problemsOf = (name: string, text: string) =>
  Effect.map(Effect.flip(loadConfig({ text, env: environment(name) })), (error) => error.problems)

describe("a broken example", () => {
  it("all examples are broken in some way", () => {
    assert.deepStrictEqual(Object.keys(edits), names)
  })

  it.effect.each(Object.entries(edits).flatMap(([name, each]) => each.map((edit) => ({ name, path: edit[2], edit }))))(
    "$name: $path is reported with its rule and line",
    ({ edit, name }) =>
      Effect.gen(function*() {
        const text = change(textOf(name), edit)
        const problems = yield* problemsOf(name, text)
        assert.deepStrictEqual(problems.map(({ line, path }) => [path, line]), [[edit[2], lineOf(text, edit)]])
        assert.include(problems[0]?.rule, edit[3])
      })
  )

  it.effect("what is no YAML is said with its line, and then of nothing else", () =>
    Effect.gen(function*() {
      const text = textOf(local).replace("    durability:", "\tdurability:")
      const [first, ...others] = yield* problemsOf(local, text)
      const line = text.split("\n").indexOf("\tdurability:") + 1
      assert.deepInclude(first, { line, rule: "is not valid YAML: a tab cannot indent; use blanks" })
      assert.isTrue(others.every(({ rule }) => rule.startsWith("is not valid YAML")))
    }))

  it.live.each(Object.entries(edits))(
    "%s with all of that at once: one report in the order of lines, code 2, no request, no secret",
    ([name, each]) =>
      Effect.gen(function*() {
        const double = yield* makeDouble()
        const cwd = yield* temporary
        const env = name === local ? {} : environmentOf(double.s3Options)
        const text = each.reduce(change, textOf(name)).replace("${AWS_SECRET_ACCESS_KEY}", "a-secret-in-the-file")
        yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.writeFileString(`${cwd}/wal.yaml`, text))
        const program = yield* startProgram({ args: ["serve", "--config", "wal.yaml", "--port", "0"], cwd, env })
        assert.strictEqual(yield* program.ended, 2)
        const output = program.output()
        const expected = each.map((edit) => [lineOf(text, edit), edit] as const).toSorted(([a], [b]) => a - b)
        const lines = output.trimEnd().split("\n")
        assert.match(lines.pop() ?? "", /^ {2}what to do: /)
        assert.strictEqual(lines.length, expected.length, output)
        for (const [index, [line, [, , path, rule]]] of expected.entries()) {
          assert.include(lines[index], `/wal.yaml:${line}: ${path}: `)
          assert.include(lines[index], rule)
        }
        assert.notMatch(output, /double-secret|a-secret-in-the-file|listens on|^\s+at /m)
        assert.deepStrictEqual(double.requests, [])
        const left = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(cwd))
        assert.deepStrictEqual(left, ["wal.yaml"])
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
