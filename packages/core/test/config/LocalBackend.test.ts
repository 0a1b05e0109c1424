import { type BackendSettings, decodeBackend } from "@effect-wal/core/config/DecodeBackend"
import { type LocalOptionsInput, resolveLocalOptions, resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import type { ConfigProblem } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"

const local = { type: "local", local: { path: "./data" } }
const s3 = { bucket: "my-bucket", region: "us-east-1" }
const remote = { type: "object_store", node_id: "node-1", stream_id: "main", s3 }

const decoded = (tree: object): Effect.Effect<BackendSettings> => Effect.orDie(decodeBackend(tree))

const problemsOf = (tree: object): Effect.Effect<ReadonlyArray<ConfigProblem>> =>
  Effect.flip(decodeBackend(tree)).pipe(Effect.map((error) => error.problems), Effect.orDie)

const pathsOf = (tree: object): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(problemsOf(tree), (problems) => problems.map((problem) => problem.path))

describe("backend.type: local", () => {
  it.effect("needs a path only: ids, linger, manifest and worker have defaults of their own", () =>
    Effect.gen(function*() {
      const { notices, options, spool, store } = yield* decoded(local)
      assert.deepStrictEqual(store, { type: "local", path: "./data", maxFileBytes: 67_108_864 })
      assert.deepStrictEqual([options.nodeId, options.streamId], ["node-0", "main"])
      assert.deepStrictEqual(options.segment, {
        maxEntries: 1_000,
        maxBytes: 1_048_576,
        flushInterval: Duration.seconds(1),
        linger: Duration.zero
      })
      assert.strictEqual(options.manifest.maxSegments, 1_024)
      assert.deepStrictEqual([options.parallelPut.workers, options.parallelPut.pipelineDepth], [1, 1])
      assert.deepStrictEqual([options.sync, options.conditionalWrites], ["group_commit", "required"])
      assert.isUndefined(spool)
      assert.include(notices.join(), "does not survive the loss of this machine's disk")
      assert.strictEqual((yield* decoded(remote)).options.manifest.maxSegments, 8)
    }))

  it.effect("what is given wins over the defaults", () =>
    Effect.gen(function*() {
      const { options, store } = yield* decoded({
        ...local,
        local: { path: "d", max_file_bytes: "1MiB" },
        node_id: "n",
        stream_id: "s",
        segment: { max_entries: 5, flush_interval: "2s" },
        segment_tuning: { linger: "3ms" },
        cursor: { max_entries: 7, interval: "4s" },
        manifest: { max_segments: 9 },
        compression: { type: "zstd" }
      })
      assert.deepStrictEqual(store, { type: "local", path: "d", maxFileBytes: 1_048_576 })
      assert.deepStrictEqual([options.nodeId, options.streamId], ["n", "s"])
      assert.strictEqual(options.segment.maxEntries, 5)
      assert.deepStrictEqual(options.segment.linger, Duration.millis(3))
      assert.deepStrictEqual([options.cursor.maxEntries, options.manifest.maxSegments], [7, 9])
    }))

  it.effect("the type is implied by its block, and by nothing else", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* decoded({ local: { path: "d" } })).store.type, "local")
      assert.deepStrictEqual(yield* pathsOf({ node_id: "n", stream_id: "s" }), ["backend.type"])
      assert.deepStrictEqual(yield* pathsOf({ s3, node_id: "n", stream_id: "s" }), ["backend.type"])
      assert.deepStrictEqual(yield* pathsOf({ s3, local: { path: "d" }, node_id: "n", stream_id: "s" }), [
        "backend.type",
        "backend.local"
      ])
    }))

  it.effect("[case 22] the path is required, and files have a smallest size", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pathsOf({ type: "local" }), ["backend.local.path"])
      assert.deepStrictEqual(yield* pathsOf({ type: "local", local: { path: " " } }), ["backend.local.path"])
      assert.deepStrictEqual(yield* pathsOf({ ...local, local: { path: "d", max_file_bytes: 65_535 } }), [
        "backend.local.max_file_bytes"
      ])
      assert.deepStrictEqual(yield* pathsOf({ ...local, local: { path: "d", max_bytes: 1 } }), [
        "backend.local.max_bytes"
      ])
    }))

  it.effect.each([
    ["s3", { s3 }],
    ["directory", { directory: { path: "d" } }],
    ["spool", { spool: { path: "d" } }],
    ["parallel_put.workers", { parallel_put: { workers: 2 } }],
    ["parallel_put.pipeline_depth", { parallel_put: { pipeline_depth: 2 } }]
  ])("%s is refused, with the reason", ([path, extra]) =>
    Effect.gen(function*() {
      const problems = yield* problemsOf({ ...local, ...(typeof extra === "object" ? extra : {}) })
      assert.deepStrictEqual(problems.map((problem) => problem.path), [`backend.${path}`])
      assert.include(problems[0]?.rule, "with type: local")
    }))

  it.effect("[predecessor 28] per_entry gives each record a segment of its own", () =>
    Effect.gen(function*() {
      const { options } = yield* decoded({ ...local, sync: "per_entry" })
      assert.deepStrictEqual([options.segment.maxEntries, options.sync], [1, "group_commit"])
      const both = { ...local, sync: "per_entry" }
      assert.deepStrictEqual(yield* pathsOf({ ...both, segment_tuning: { max_entries: 1 } }), [
        "backend.segment_tuning.max_entries"
      ])
      assert.deepStrictEqual(yield* pathsOf({ ...both, segment: { max_entries: 5 } }), ["backend.segment.max_entries"])
    }))

  it.effect("[predecessor 28] per_entry is refused for an object store, also in a directory", () =>
    Effect.gen(function*() {
      const { s3: _, ...bare } = remote
      assert.deepStrictEqual(yield* pathsOf({ ...remote, sync: "per_entry" }), ["backend.sync"])
      assert.deepStrictEqual(yield* pathsOf({ ...bare, directory: { path: "d" }, sync: "per_entry" }), [
        "backend.sync"
      ])
    }))

  it.effect("[predecessor 35] periodic is taken as it is", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* decoded({ ...local, sync: "periodic" })).options.sync, "periodic")
    }))

  it.effect("the local block is refused for an object store", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pathsOf({ ...remote, local: { path: "d" } }), ["backend.local"])
    }))
})

describe("backend.spool", () => {
  it.effect("is resolved with its defaults, and in its ranges", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* decoded({ ...remote, spool: { path: "/var/spool" } })).spool, {
        path: "/var/spool",
        maxBytes: 10_000_000_000,
        after: Duration.seconds(2)
      })
      assert.deepStrictEqual(
        (yield* decoded({ ...remote, spool: { path: "d", max_bytes: "64MiB", after: 0 } })).spool,
        { path: "d", maxBytes: 67_108_864, after: Duration.zero }
      )
      assert.isUndefined((yield* decoded(remote)).spool)
      assert.deepStrictEqual(yield* pathsOf({ ...remote, spool: {} }), ["backend.spool.path"])
      assert.deepStrictEqual(yield* pathsOf({ ...remote, spool: { path: "d", max_bytes: "1MB", after: "2m" } }), [
        "backend.spool.max_bytes",
        "backend.spool.after"
      ])
    }))
})

describe("resolveLocalOptions", () => {
  const ids = { nodeId: "node-1", streamId: "main", path: "d" }
  const failing = (input: LocalOptionsInput) =>
    Effect.flip(resolveLocalOptions(input)).pipe(
      Effect.map((error) => error.problems.map((problem) => problem.path)),
      Effect.orDie
    )

  it.effect("has the defaults of the file", () =>
    Effect.gen(function*() {
      const fromFile = yield* decoded({ ...local, local: { path: "d" }, node_id: "node-1" })
      assert.deepStrictEqual(yield* resolveLocalOptions(ids), { options: fromFile.options, settings: fromFile.store })
      const { options, settings } = yield* resolveLocalOptions({ ...ids, maxFileBytes: "1MiB", sync: "per_entry" })
      assert.deepStrictEqual([settings.maxFileBytes, options.segment.maxEntries], [1_048_576, 1])
    }))

  it.effect("has its rules, in the library's names", () =>
    Effect.gen(function*() {
      assert.sameMembers([
        ...(yield* failing({
          ...ids,
          path: "",
          maxFileBytes: 1,
          nodeId: "a/b",
          sync: "per_entry",
          segment: { maxEntries: 1 },
          parallelPut: { workers: 2, pipelineDepth: 3 },
          conditionalWrites: "single_writer"
        }))
      ], [
        "path",
        "maxFileBytes",
        "nodeId",
        "segment.maxEntries",
        "parallelPut.workers",
        "parallelPut.pipelineDepth",
        "conditionalWrites"
      ])
    }))

  it.effect("[predecessor 28] a log whose store is a Layer refuses per_entry, also without types", () =>
    Effect.gen(function*() {
      const input = { nodeId: "node-1", streamId: "main" }
      Object.assign(input, { sync: "per_entry" })
      const error = yield* Effect.flip(resolveOptions(input))
      assert.deepStrictEqual(error.problems.map((problem) => problem.path), ["sync"])
    }))
})
