import { rateWarning, throughputCeiling } from "@effect-wal/core/model/ThroughputCeiling"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { open, range, sized, start, still } from "../support/LogWorld.ts"
import { presetOf, settingsOf, sourceLoad } from "./Settings.ts"

const mebibyte = 1_048_576
const gigabit = 125e6
const megabytes = (bytesPerSecond: number) => Math.round(bytesPerSecond / 1e5) / 10

describe("the throughput of the source documents", () => {
  // Workers, what they say in MB/s, and W × 1 MiB ÷ 60 ms on any link.
  const rows = [
    { workers: 1, claimed: 150, found: 17.5 },
    { workers: 4, claimed: 300, found: 69.9 },
    { workers: 8, claimed: 400, found: 139.8 }
  ] as const
  for (const { claimed, found, workers } of rows) {
    it.effect(`${workers} workers: they say ${claimed} MB/s on 1 Gbit/s; it is ${found} MB/s at 60 ms, and never above 125`, () =>
      Effect.gen(function*() {
        const settings = yield* settingsOf({ parallelPut: { workers } })
        const free = throughputCeiling(settings, mebibyte, { putLatencyMillis: 60 })
        assert.strictEqual(megabytes(free.bytesPerSecond), found)
        const wired = throughputCeiling(settings, mebibyte, { putLatencyMillis: 60, linkBytesPerSecond: gigabit })
        assert.strictEqual(wired.bytesPerSecond, Math.min(free.bytesPerSecond, gigabit))
        assert.isBelow(wired.bytesPerSecond, claimed * 1e6)
        assert.strictEqual(wired.limitedBy, workers === 8 ? "link" : "latency")
      }))
  }

  // "100–200 MB/s with one worker", whose PUTs take 10 to 200 ms.
  const latencies = [[10, 104.9], [60, 17.5], [200, 5.2]] as const
  for (const [putLatencyMillis, found] of latencies) {
    it.effect(`one worker at ${putLatencyMillis} ms: they say 100 to 200 MB/s; it is ${found}`, () =>
      Effect.gen(function*() {
        const { bytesPerSecond } = throughputCeiling(yield* settingsOf(), mebibyte, { putLatencyMillis })
        assert.strictEqual(megabytes(bytesPerSecond), found)
      }))
  }
})

describe("the ceiling", () => {
  it.effect("counts the segment as entries and bytes let it grow", () =>
    Effect.gen(function*() {
      const of = (recordBytes: number) => (settings: Parameters<typeof throughputCeiling>[0]) =>
        throughputCeiling(settings, recordBytes, { putLatencyMillis: 100 })
      const balanced = yield* settingsOf()
      assert.deepInclude(of(100)(balanced), { segmentBytes: 100_000, recordsPerSecond: 10_000 })
      assert.deepInclude(of(10_000)(balanced), { segmentBytes: 1_040_000, recordsPerSecond: 1_040 })
      assert.strictEqual(of(100)(yield* presetOf("low_latency")).recordsPerSecond, 1_000)
      assert.strictEqual(
        of(100)(yield* settingsOf({ parallelPut: { workers: 2, pipelineDepth: 3 } })).recordsPerSecond,
        60_000
      )
    }))

  it.effect("counts no more segments than the buffer holds", () =>
    Effect.gen(function*() {
      const settings = yield* presetOf("aggressive", { parallelPut: { workers: 8, pipelineDepth: 8 } })
      const ceiling = throughputCeiling(settings, 1_000, { putLatencyMillis: 100 })
      assert.deepInclude(ceiling, { concurrentPuts: 26, limitedBy: "max_buffered_bytes" })
    }))

  it.effect("is that of a real log under a flood", () =>
    Effect.gen(function*() {
      const options = { ...still, segment: { maxEntries: 10 }, parallelPut: { workers: 2, pipelineDepth: 2 } } as const
      const log = yield* open(options, { latencyMillis: 100 })
      yield* start(Effect.forEach(range(1, 100_000), () => log.wal.append([sized(50)]), { discard: true }))
      yield* TestClock.adjust("10 seconds")
      const ceiling = throughputCeiling(yield* settingsOf(options), 50, { putLatencyMillis: 100 })
      assert.closeTo((yield* log.wal.status).durable / 10, ceiling.recordsPerSecond, 5)
    }))
})

describe("the warning at start", () => {
  it.effect("says what is wanted, what is carried, why, and what would do", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf()
      assert.strictEqual(
        rateWarning(settings, { recordsPerSecond: 100_000, recordBytes: 1_000 }, { putLatencyMillis: 60 }),
        "100000 records/s of 1000 bytes are 100.0 MB/s, and these settings carry 16.7 MB/s: 1 × 1000000 bytes ÷ 60 ms; " +
          "workers × pipeline_depth of 6 would do, and so would larger segments"
      )
      const enough = yield* settingsOf({ parallelPut: { workers: 6 } })
      assert.isUndefined(
        rateWarning(enough, { recordsPerSecond: 100_000, recordBytes: 1_000 }, { putLatencyMillis: 60 })
      )
    }))

  it.effect("is not given where the rate is carried", () =>
    Effect.gen(function*() {
      assert.isUndefined(rateWarning(yield* settingsOf(), sourceLoad, { putLatencyMillis: 60 }))
    }))

  it.effect("names the network and the buffer where they are the bound", () =>
    Effect.gen(function*() {
      const load = { recordsPerSecond: 1_000_000, recordBytes: 1_000 }
      const wide = yield* settingsOf({ parallelPut: { workers: 8, pipelineDepth: 8 } })
      const wired = rateWarning(wide, load, { putLatencyMillis: 60, linkBytesPerSecond: gigabit })
      assert.include(wired ?? "", "carry 125.0 MB/s")
      assert.include(wired ?? "", "the network carries no more")
      const small = yield* presetOf("aggressive", { parallelPut: { workers: 8, pipelineDepth: 8 } })
      assert.include(rateWarning(small, load, { putLatencyMillis: 400 }) ?? "", "raise max_buffered_bytes")
    }))
})
