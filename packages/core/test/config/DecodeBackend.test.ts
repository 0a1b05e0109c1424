import { type BackendSettings, decodeBackend } from "@effect-wal/core/config/DecodeBackend"
import type { ConfigProblem } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Redacted } from "effect"

const base = {
  type: "object_store",
  node_id: "node-1",
  stream_id: "main",
  s3: { bucket: "my-bucket", region: "us-east-1" }
}

const problemsOf = (tree: unknown): Effect.Effect<ReadonlyArray<ConfigProblem>> =>
  Effect.flip(decodeBackend(tree)).pipe(Effect.map((error) => error.problems), Effect.orDie)

const pathsOf = (tree: unknown): Effect.Effect<ReadonlyArray<string>> =>
  problemsOf(tree).pipe(Effect.map((problems) => problems.map((problem) => problem.path)))

const decoded = (extra: object): Effect.Effect<BackendSettings> => Effect.orDie(decodeBackend({ ...base, ...extra }))

describe("decodeBackend", () => {
  it.effect("the five set-ups of the source's examples decode", () =>
    Effect.gen(function*() {
      const baseline = yield* decoded({
        segment: { max_entries: 1_000, max_bytes: 1_048_576, flush_interval: "1s" },
        cursor: { max_entries: 1_000, interval: "1s" }
      })
      assert.strictEqual(baseline.options.segment.maxBytes, 1_048_576)
      const aggressive = yield* decoded({
        segment_tuning: { strategy: "aggressive", max_entries: 20_000, flush_interval: "30s" }
      })
      assert.deepStrictEqual(aggressive.options.segment, {
        maxEntries: 20_000,
        maxBytes: 10_485_760,
        flushInterval: Duration.seconds(30),
        linger: Duration.seconds(1)
      })
      const parallel = yield* decoded({ parallel_put: { workers: 4, shutdown_timeout: "30s" } })
      assert.strictEqual(parallel.options.parallelPut.workers, 4)
      const compressed = yield* decoded({
        compression: { type: "zstd", level: 3 },
        segment_tuning: { strategy: "aggressive" }
      })
      assert.deepStrictEqual(compressed.options.compression, { type: "zstd", level: 3, thresholdBytes: 10_240 })
      const smoke = yield* decoded({
        segment_tuning: { strategy: "aggressive" },
        parallel_put: { workers: 2 },
        compression: { type: "zstd", level: 3 }
      })
      assert.strictEqual(smoke.options.parallelPut.workers, 2)
    }))

  it.effect("the three set-ups put together decode", () =>
    Effect.gen(function*() {
      const batch = yield* decoded({
        segment_tuning: { strategy: "aggressive" },
        parallel_put: { workers: 4 },
        compression: { type: "zstd", level: 3 }
      })
      assert.strictEqual(batch.options.segment.maxEntries, 10_000)
      const realTime = yield* decoded({
        segment_tuning: { strategy: "low_latency" },
        parallel_put: { workers: 2 },
        compression: { type: "lz4" }
      })
      assert.deepStrictEqual(realTime.options.compression, { type: "lz4", level: 4, thresholdBytes: 10_240 })
      const cold = yield* decoded({
        segment_tuning: { strategy: "aggressive", flush_interval: "60s" },
        compression: { type: "zstd", level: 9 }
      })
      assert.deepStrictEqual(cold.options.segment.flushInterval, Duration.minutes(1))
    }))

  for (const type of ["zstd", "lz4"] as const) {
    const levels = type === "zstd"
      ? { good: [0, 1, 22], bad: [23, 100, -1, 3.5, "3", null] }
      : { good: [1, 12, 16], bad: [0, 17] }
    it.effect.each(levels.good)(`[case 16] ${type} level %j is taken as it is`, (level) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* decoded({ compression: { type, level } })).options.compression.level, level)
      }))
    it.effect.each(levels.bad)(`[case 16] ${type} level %j is refused, not clamped`, (level) =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* pathsOf({ ...base, compression: { type, level } }), ["backend.compression.level"])
      }))
  }

  it.effect.each(["gzip", "ZSTD", ""])("[case 16] type %j is refused", (type) =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pathsOf({ ...base, compression: { type } }), ["backend.compression.type"])
    }))

  it.effect("[case 16] a level with none is refused, also where none is the default", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pathsOf({ ...base, compression: { type: "none", level: 3 } }), [
        "backend.compression.level"
      ])
      assert.deepStrictEqual(yield* pathsOf({ ...base, compression: { level: 3 } }), ["backend.compression.level"])
    }))

  it.effect("that the lz4 level changes nothing is said", () =>
    Effect.gen(function*() {
      const told = yield* decoded({ compression: { type: "lz4", level: 9 } })
      assert.deepStrictEqual(told.notices, ["compression.level 9 changes nothing: the lz4 library has one level"])
      assert.deepStrictEqual((yield* decoded({ compression: { type: "lz4" } })).notices, [])
    }))

  it.effect.each([500, "500", 0, "0s", "-1s", 1e3, Number.POSITIVE_INFINITY, "", null, "1S", "1 s", "1sec", "1s500ms"])(
    "[case 21] flush_interval %j is a ConfigError with its path",
    (value) =>
      Effect.gen(function*() {
        const problems = yield* problemsOf({ ...base, segment_tuning: { flush_interval: value } })
        assert.deepStrictEqual(problems.map((problem) => problem.path), ["backend.segment_tuning.flush_interval"])
      })
  )

  it.effect("[case 21] 30d is taken", () =>
    Effect.gen(function*() {
      const { options } = yield* decoded({ segment_tuning: { flush_interval: "30d" } })
      assert.strictEqual(Duration.toMillis(options.segment.flushInterval), 2_592_000_000)
    }))

  it.effect("[case 22] [predecessor 32] unknown keys are errors, with what was meant and without the value", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf({
        ...base,
        paralel_put: { workers: 4 },
        s3: { bucket: "my-bucket", secret_acces_key: "hunter2" },
        cursor: { intervall: "1s", max_entries: 0 }
      })
      assert.sameMembers(problems.map((problem) => problem.path), [
        "backend.paralel_put",
        "backend.s3.secret_acces_key",
        "backend.cursor.intervall",
        "backend.cursor.max_entries"
      ])
      assert.include(problems.find((each) => each.path === "backend.paralel_put")?.rule, "did you mean parallel_put?")
      assert.notInclude(JSON.stringify(problems), "hunter2")
    }))

  it.effect.each([0, 9, "4", 4.5, null])("[case 22] workers %j is refused", (workers) =>
    Effect.gen(function*() {
      const problems = yield* problemsOf({ ...base, parallel_put: { workers } })
      assert.deepStrictEqual(problems.map((problem) => problem.path), ["backend.parallel_put.workers"])
      assert.include(problems[0]?.rule, "1 to 8")
    }))

  it.effect("[case 22] [predecessor 28] per_entry is refused, and says why", () =>
    Effect.gen(function*() {
      const [problem] = yield* problemsOf({ ...base, sync: "per_entry" })
      assert.strictEqual(problem?.path, "backend.sync")
      assert.include(problem?.rule, "one PUT for each record")
    }))

  it.effect("[predecessor 29] segment and segment_tuning both count; the same field in both is an error", () =>
    Effect.gen(function*() {
      const { options } = yield* decoded({
        segment: { max_entries: 500 },
        segment_tuning: { strategy: "aggressive", max_bytes: "5MB" }
      })
      assert.strictEqual(options.segment.maxEntries, 500)
      assert.strictEqual(options.segment.maxBytes, 5_000_000)
      assert.deepStrictEqual(options.segment.flushInterval, Duration.seconds(10))
      const both = { segment: { max_entries: 500, max_bytes: 1_000 }, segment_tuning: { max_entries: 500 } }
      assert.deepStrictEqual(yield* pathsOf({ ...base, ...both }), ["backend.segment.max_entries"])
    }))

  it.effect("[predecessor 30] a bad duration in segment_tuning is an error", () =>
    Effect.gen(function*() {
      const [problem] = yield* problemsOf({
        ...base,
        segment_tuning: { strategy: "aggressive", flush_interval: "30 sec" }
      })
      assert.strictEqual(problem?.path, "backend.segment_tuning.flush_interval")
      assert.strictEqual(problem?.value, "\"30 sec\"")
    }))

  it.effect("[predecessor 31] 10MB parses", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        (yield* decoded({ segment_tuning: { max_bytes: "10MB" } })).options.segment.maxBytes,
        10_000_000
      )
    }))

  it.effect("[predecessor 33] session token, files, path style and the default chain", () =>
    Effect.gen(function*() {
      const inline = yield* decoded({
        s3: {
          bucket: "b-1",
          endpoint: "http://127.0.0.1:9000",
          path_style: true,
          access_key_id: "AKIA1",
          secret_access_key: "hunter2",
          session_token: "token-3"
        }
      })
      assert.isTrue(inline.store.type === "s3" && inline.store.forcePathStyle)
      const credentials = inline.store.type === "s3" ? inline.store.credentials : undefined
      const secret = credentials?.secretAccessKey
      assert.strictEqual(secret !== undefined && "value" in secret ? Redacted.value(secret.value) : "", "hunter2")
      assert.notInclude(JSON.stringify(inline), "hunter2")
      const token = credentials?.sessionToken
      assert.strictEqual(token !== undefined && "value" in token ? Redacted.value(token.value) : "", "token-3")
      const files = yield* decoded({
        s3: { bucket: "b-1", access_key_id_file: "/run/id", secret_access_key_file: "/run/key" }
      })
      assert.deepStrictEqual(files.store.type === "s3" ? files.store.credentials : undefined, {
        accessKeyId: { file: "/run/id" },
        secretAccessKey: { file: "/run/key" }
      })
      const chain = yield* decoded({ s3: { bucket: "b-1" } })
      assert.isTrue(chain.store.type === "s3" && chain.store.credentials === undefined)
    }))

  it.effect("credentials that do not go together are refused without showing them", () =>
    Effect.gen(function*() {
      const s3 = (extra: object) => ({ ...base, s3: { bucket: "b-1", ...extra } })
      assert.deepStrictEqual(yield* pathsOf(s3({ access_key_id: "AKIA1" })), ["backend.s3.secret_access_key"])
      assert.deepStrictEqual(yield* pathsOf(s3({ session_token: "t" })), ["backend.s3.access_key_id"])
      const both = yield* problemsOf(
        s3({ access_key_id: "A", secret_access_key: "hunter2", secret_access_key_file: "/k" })
      )
      assert.deepStrictEqual(both.map((problem) => problem.path), ["backend.s3.secret_access_key_file"])
      const number = yield* problemsOf(s3({ access_key_id: "A", secret_access_key: 123_456 }))
      assert.deepStrictEqual(number.map((problem) => problem.value), ["<redacted>"])
      assert.deepStrictEqual(yield* pathsOf(s3({ kms_key_id: "k" })), ["backend.s3.kms_key_id"])
      const url = yield* problemsOf(s3({ endpoint: "http://user:p/hunter2@127.0.0.1:9000" }))
      assert.deepStrictEqual(url.map((problem) => problem.path), ["backend.s3.endpoint"])
      assert.notInclude(JSON.stringify([both, url]), "hunter2")
      const shown = yield* problemsOf(s3({ endpoint: "127.0.0.1:9000" }))
      assert.deepStrictEqual(shown.map((problem) => problem.value), ["\"127.0.0.1:9000\""])
    }))

  it.effect("[predecessor 34] ids with a slash, of another type, or empty are refused", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pathsOf({ ...base, node_id: "a/b" }), ["backend.node_id"])
      assert.deepStrictEqual(yield* pathsOf({ ...base, stream_id: "b/c" }), ["backend.stream_id"])
      assert.deepStrictEqual(yield* pathsOf({ ...base, prefix: "/a" }), ["backend.prefix"])
      const [problem] = yield* problemsOf({ ...base, node_id: 1 })
      assert.include(problem?.rule, "quotes")
      assert.deepStrictEqual(yield* pathsOf({ type: "object_store", s3: { bucket: "b-1" } }), [
        "backend.node_id",
        "backend.stream_id"
      ])
    }))

  it.effect("[predecessor 35] periodic parses as documented", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* decoded({ sync: "periodic" })).options.sync, "periodic")
      assert.strictEqual((yield* decoded({ sync: "group_commit" })).options.sync, "group_commit")
      assert.strictEqual((yield* decoded({})).options.sync, "group_commit")
    }))

  it.effect("one store, not none and not two", () =>
    Effect.gen(function*() {
      const { s3: _, ...none } = base
      assert.deepStrictEqual(yield* pathsOf(none), ["backend.s3"])
      assert.deepStrictEqual(yield* pathsOf({ ...base, directory: { path: "d" } }), ["backend.directory"])
      assert.deepStrictEqual(yield* pathsOf({ ...none, directory: {} }), ["backend.directory.path"])
      assert.deepStrictEqual(yield* pathsOf({ ...base, s3: {} }), ["backend.s3.bucket"])
      const directory = yield* Effect.orDie(
        decodeBackend({ ...none, directory: { path: "./data" } }, { host: "pod-7" })
      )
      assert.deepStrictEqual(directory.store, { type: "directory", path: "./data", allowNetworkFileSystem: false })
      assert.strictEqual(directory.options.host, "pod-7")
    }))

  it.effect("single_writer: one worker, keep, nothing sent twice, and a notice", () =>
    Effect.gen(function*() {
      const s3 = { bucket: "b-1", conditional_writes: "single_writer" }
      const settings = yield* decoded({ s3 })
      assert.strictEqual(settings.options.retention.policy, "keep")
      assert.strictEqual(settings.options.conditionalWrites, "single_writer")
      assert.include(settings.notices.join(), "no protection against a second writer")
      assert.sameMembers([
        ...(yield* pathsOf({
          ...base,
          s3,
          parallel_put: { workers: 2, hedge: "p95" },
          retention: { policy: "committed" }
        }))
      ], [
        "backend.parallel_put.workers",
        "backend.parallel_put.hedge",
        "backend.retention.policy"
      ])
    }))

  it.effect("blocks that are no blocks are reported, the rest is still checked", () =>
    Effect.gen(function*() {
      assert.sameMembers(
        [...(yield* pathsOf({ ...base, cursor: null, manifest: [], retention: "keep", prefetch: 0 }))],
        [
          "backend.cursor",
          "backend.manifest",
          "backend.retention",
          "backend.prefetch"
        ]
      )
      assert.deepStrictEqual(yield* pathsOf(null), ["backend"])
      assert.deepStrictEqual(yield* pathsOf(undefined), ["backend"])
    }))

  it.effect("a rule between fields is left out where one of them is itself broken", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* pathsOf({ ...base, compression: { type: "gzip", level: 9 } }), [
        "backend.compression.type"
      ])
      assert.deepStrictEqual(yield* pathsOf({ ...base, s3: "my-bucket" }), ["backend.s3"])
      assert.deepStrictEqual(
        yield* pathsOf({ ...base, max_record_bytes: "huge", max_buffered_bytes: "3MB" }),
        ["backend.max_record_bytes"]
      )
    }))
})
