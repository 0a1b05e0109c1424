import { presetNames } from "@effect-wal/core/config/Presets"
import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { medianAckMillis } from "@effect-wal/core/model/AckLatency"
import { segmentRhythm } from "@effect-wal/core/model/SegmentRhythm"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { TestClock } from "effect/testing"
import { open, range, sized, start } from "../support/LogWorld.ts"
import { presetOf, settingsOf } from "./Settings.ts"

const conditions = { putLatencyMillis: 60, waiting: true }

describe("linger", () => {
  // A steady 10,000 records a second of 100 bytes, lanes enough: nobody waits longer than linger, and 1 / linger PUTs a second.
  const most = { aggressive: 1, balanced: 10, low_latency: 200 }
  for (const preset of presetNames) {
    it.effect(`${preset}: up to ${most[preset]} PUT/s while somebody waits`, () =>
      Effect.gen(function*() {
        const settings = yield* presetOf(preset, {
          segment: { maxEntries: 1_000_000, maxBytes: "64MB" },
          maxSegmentBytes: "128MB",
          maxBufferedBytes: "1GB",
          parallelPut: { workers: 8, pipelineDepth: 8 }
        })
        const rhythm = segmentRhythm(settings, { recordsPerSecond: 10_000, recordBytes: 100 }, conditions)
        assert.strictEqual(rhythm.segmentsPerSecond, most[preset])
        assert.strictEqual(rhythm.sealedBy, "linger")
      }))
  }

  it.effect("equal to flush_interval gives the source's rates", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf({ segment: { linger: "1s" } })
      const load = { recordsPerSecond: 500, recordBytes: 1_000 }
      assert.strictEqual(segmentRhythm(settings, load, conditions).segmentsPerSecond, 1)
      assert.strictEqual(segmentRhythm(yield* settingsOf(), load, conditions).segmentsPerSecond, 10)
    }))

  it.effect("means nothing where nobody waits, and under periodic", () =>
    Effect.gen(function*() {
      const load = { recordsPerSecond: 500, recordBytes: 1_000 }
      const quiet = segmentRhythm(yield* settingsOf(), load, { ...conditions, waiting: false })
      const periodic = segmentRhythm(yield* settingsOf({ sync: "periodic" }), load, conditions)
      assert.deepStrictEqual([quiet.sealedBy, quiet.segmentsPerSecond], ["flush_interval", 1])
      assert.deepStrictEqual(periodic, quiet)
    }))
})

describe("the median wait for durability", () => {
  it.effect("is linger and a PUT for one record alone, half of linger less in a crowd", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf()
      const at = (recordsPerSecond: number) =>
        medianAckMillis(settings, { recordsPerSecond, recordBytes: 100 }, conditions)
      assert.strictEqual(at(1), 160)
      assert.closeTo(at(5_000), 110, 1)
    }))

  it.effect("is the time of a full buffer where the settings do not carry the load", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf()
      const millis = medianAckMillis(settings, { recordsPerSecond: 100_000, recordBytes: 1_000 }, conditions)
      // 18 segments of 1,000, of which one is stored in 60 ms.
      assert.closeTo(millis, 18 * 60, 0.001)
    }))

  interface World {
    readonly name: string
    readonly options: Partial<WalOptionsInput>
    readonly recordsPerSecond: number
  }
  const worlds: ReadonlyArray<World> = [
    { name: "balanced", options: {}, recordsPerSecond: 100 },
    { name: "rare records", options: { preset: "low_latency" }, recordsPerSecond: 4 },
    { name: "one busy lane", options: { preset: "low_latency" }, recordsPerSecond: 100 },
    {
      name: "a budget stretches linger",
      options: { budget: { putsPerSecond: 4 }, manifest: { maxSegments: 1_000, maxDelay: "1h" } },
      recordsPerSecond: 100
    },
    { name: "segments full by entries", options: { segment: { maxEntries: 5 } }, recordsPerSecond: 50 }
  ]
  for (const { name, options, recordsPerSecond } of worlds) {
    it.effect(`${name}: it is that of a real log`, () =>
      Effect.gen(function*() {
        const settings = yield* settingsOf(options)
        const log = yield* open({ ...options, segment: settings.segment, retention: { policy: "keep" } }, {
          latencyMillis: 60
        })
        const waits: Array<number> = []
        for (const _ of range(1, 10 * recordsPerSecond)) {
          const from = yield* Clock.currentTimeMillis
          const { durable } = yield* log.wal.append([sized(100)])
          yield* start(Effect.andThen(
            durable,
            Effect.map(Clock.currentTimeMillis, (now) => {
              waits.push(now - from)
            })
          ))
          yield* TestClock.adjust(1_000 / recordsPerSecond)
        }
        const median = waits.sort((left, right) => left - right)[waits.length >> 1] ?? 0
        const expected = medianAckMillis(settings, { recordsPerSecond, recordBytes: 100 }, conditions)
        assert.closeTo(median, expected, 1_000 / recordsPerSecond)
      }))
  }
})
