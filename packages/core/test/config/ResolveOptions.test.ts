import { presets } from "@effect-wal/core/config/Presets"
import { resolveOptions, type WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import type { ConfigProblem } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"

const ids = { nodeId: "node-1", streamId: "main" }

const problemsOf = (input: WalOptionsInput): Effect.Effect<ReadonlyArray<ConfigProblem>> =>
  Effect.flip(resolveOptions(input)).pipe(Effect.map((error) => error.problems), Effect.orDie)

describe("resolveOptions", () => {
  it.effect("fills in every default", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* resolveOptions(ids), {
        ...ids,
        prefix: "",
        segment: presets.balanced,
        parallelPut: { workers: 1, pipelineDepth: 1, shutdownTimeout: Duration.seconds(30), hedge: "off" },
        compression: { type: "none", thresholdBytes: 10_240 },
        cursor: { maxEntries: 1_000, interval: Duration.seconds(1), maxAhead: 10_000 },
        manifest: { maxSegments: 8, maxDelay: Duration.seconds(10) },
        retention: { policy: "committed", minAge: Duration.zero },
        producers: { max: 1_000, ttl: Duration.minutes(10) },
        retry: { base: Duration.millis(100), cap: Duration.seconds(5) },
        sync: "group_commit",
        conditionalWrites: "required",
        maxBufferedBytes: 268_435_456,
        maxRecordBytes: 16_777_216,
        maxSegmentBytes: 67_108_864,
        tailBufferBytes: 16_777_216,
        prefetch: 16,
        openTimeout: Duration.seconds(60),
        host: "node-1"
      })
    }))

  it.effect("limits what is remembered of producers", () =>
    Effect.gen(function*() {
      const resolved = yield* resolveOptions({ ...ids, producers: { max: 10_000, ttl: "1h" } })
      assert.deepStrictEqual(resolved.producers, { max: 10_000, ttl: Duration.hours(1) })
      for (
        const [producers, path] of [[{ max: 0 }, "max"], [{ max: 10_001 }, "max"], [{ ttl: "0ms" }, "ttl"]] as const
      ) {
        const problems = yield* problemsOf({ ...ids, producers })
        assert.deepStrictEqual(problems.map((problem) => problem.path), [`producers.${path}`])
      }
    }))

  it.effect("has the presets of the source documents, and overrides single fields", () =>
    Effect.gen(function*() {
      const aggressive = yield* resolveOptions({ ...ids, preset: "aggressive" })
      assert.deepStrictEqual(aggressive.segment, {
        maxEntries: 10_000,
        maxBytes: 10_485_760,
        flushInterval: Duration.seconds(10),
        linger: Duration.seconds(1)
      })
      const quick = yield* resolveOptions({ ...ids, preset: "low_latency", segment: { maxBytes: "10MB", linger: 0 } })
      assert.deepStrictEqual(quick.segment, {
        maxEntries: 100,
        maxBytes: 10_000_000,
        flushInterval: Duration.millis(100),
        linger: Duration.zero
      })
    }))

  it.effect("takes Effect durations and text with a unit", () =>
    Effect.gen(function*() {
      const options = yield* resolveOptions({
        ...ids,
        segment: { flushInterval: Duration.minutes(2) },
        cursor: { interval: "1.5s" },
        manifest: { maxDelay: "3 seconds" },
        retry: { base: 50, cap: "1m" }
      })
      assert.deepStrictEqual(options.segment.flushInterval, Duration.minutes(2))
      assert.deepStrictEqual(options.cursor.interval, Duration.millis(1_500))
      assert.deepStrictEqual(options.manifest.maxDelay, Duration.seconds(3))
      assert.deepStrictEqual(options.retry, { base: Duration.millis(50), cap: Duration.minutes(1) })
    }))

  it.effect("[case 21] a duration that Effect would turn into something else is refused", () =>
    Effect.gen(function*() {
      for (
        const interval of [
          Number.NaN,
          Number.POSITIVE_INFINITY,
          0,
          Duration.zero,
          Duration.infinity,
          "-1 second"
        ] as const
      ) {
        const problems = yield* problemsOf({ ...ids, cursor: { interval } })
        assert.deepStrictEqual(problems.map((problem) => problem.path), ["cursor.interval"], String(interval))
      }
    }))

  it.effect("reports everything at once, in the library's names", () =>
    Effect.gen(function*() {
      const problems = yield* problemsOf({
        nodeId: "a/b",
        streamId: "",
        preset: "balanced",
        segment: { maxEntries: 0, linger: "2h" },
        parallelPut: { workers: 9, pipelineDepth: 0 },
        compression: { type: "lz4", level: 17 },
        maxBufferedBytes: 1_000,
        retention: { policy: "committed", maxAge: "1d" }
      })
      assert.sameMembers(problems.map((problem) => problem.path), [
        "nodeId",
        "streamId",
        "segment.maxEntries",
        "segment.linger",
        "parallelPut.workers",
        "parallelPut.pipelineDepth",
        "compression.level",
        "maxBufferedBytes",
        "retention.maxAge"
      ])
      assert.strictEqual(problems.find((problem) => problem.path === "parallelPut.workers")?.value, "9")
    }))

  it.effect("a misspelt key is an error also for those without types", () =>
    Effect.gen(function*() {
      const input = Object.assign({}, ids, { paralelPut: { workers: 4 } })
      const problems = yield* problemsOf(input)
      assert.deepStrictEqual(problems.map((problem) => problem.path), ["paralelPut"])
      assert.include(problems[0]?.rule, "did you mean parallel_put?")
    }))

  it.effect("[predecessor 34] no slash in an id, so a/b + c and a + b/c cannot share a prefix", () =>
    Effect.gen(function*() {
      const left = yield* problemsOf({ nodeId: "a/b", streamId: "c" })
      const right = yield* problemsOf({ nodeId: "a", streamId: "b/c" })
      assert.deepStrictEqual(left.map((problem) => problem.path), ["nodeId"])
      assert.deepStrictEqual(right.map((problem) => problem.path), ["streamId"])
      for (const nodeId of [".", "..", "a b", "ä", "a\n", "x".repeat(129)]) {
        assert.deepStrictEqual((yield* problemsOf({ nodeId, streamId: "c" })).map((problem) => problem.path), [
          "nodeId"
        ])
      }
    }))

  it.effect("single_writer needs one worker, one PUT at a time and keeps everything", () =>
    Effect.gen(function*() {
      const options = yield* resolveOptions({ ...ids, conditionalWrites: "single_writer" })
      assert.strictEqual(options.retention.policy, "keep")
      const problems = yield* problemsOf({
        ...ids,
        conditionalWrites: "single_writer",
        parallelPut: { workers: 2, pipelineDepth: 2 },
        retention: { policy: "committed" }
      })
      assert.sameMembers(problems.map((problem) => problem.path), [
        "parallelPut.workers",
        "parallelPut.pipelineDepth",
        "retention.policy"
      ])
      const aged = { ...ids, conditionalWrites: "single_writer", retention: { minAge: "1h" } } as const
      assert.deepStrictEqual((yield* problemsOf(aged)).map((problem) => problem.path), ["retention.minAge"])
    }))

  it.effect("sizes must fit together", () =>
    Effect.gen(function*() {
      const buffer = yield* problemsOf({
        ...ids,
        preset: "aggressive",
        maxBufferedBytes: 2 * 10_485_760 + 16_777_216 - 1
      })
      assert.deepStrictEqual(buffer.map((problem) => problem.path), ["maxBufferedBytes"])
      yield* resolveOptions({ ...ids, preset: "aggressive", maxBufferedBytes: 2 * 10_485_760 + 16_777_216 })
      const segment = yield* problemsOf({ ...ids, maxSegmentBytes: "16MiB" })
      assert.deepStrictEqual(segment.map((problem) => problem.path), ["maxSegmentBytes"])
    }))

  it.effect("retention by age needs a bound, and retries a cap above their base", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual((yield* problemsOf({ ...ids, retention: { policy: "age" } })).map((each) => each.path), [
        "retention.maxAge"
      ])
      const aged = yield* resolveOptions({ ...ids, retention: { policy: "age", maxBytes: "1GB" } })
      assert.strictEqual(aged.retention.maxBytes, 1e9)
      const retry = yield* problemsOf({ ...ids, retry: { base: "10s", cap: "1s" } })
      assert.deepStrictEqual(retry.map((each) => each.path), ["retry.cap"])
      const keep = yield* problemsOf({ ...ids, retention: { policy: "keep", minAge: "1d" } })
      assert.deepStrictEqual(keep.map((each) => each.path), ["retention.minAge"])
      const order = yield* problemsOf({ ...ids, retention: { policy: "age", minAge: "2d", maxAge: "1d" } })
      assert.deepStrictEqual(order.map((each) => each.path), ["retention.maxAge"])
    }))
})
