import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { lossWindow, sourceWindow, usualLossWindow } from "@effect-wal/core/model/LossWindow"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { drive, holdPuts, isDone, open, range, settle, sized, start, still } from "../support/LogWorld.ts"
import { presetOf, settingsOf, sourceLoad } from "./Settings.ts"

describe("the tables of the source documents", () => {
  // Claimed of 10,000 messages a second of 1 kB; their own min() of entries, bytes and interval; what is at risk at most.
  const presets = [
    { preset: "aggressive", claimed: 100_000, formula: 10_000, most: 180_000 },
    { preset: "balanced", claimed: 10_000, formula: 1_000, most: 18_000 },
    { preset: "low_latency", claimed: 1_000, formula: 100, most: 1_800 }
  ] as const
  for (const { claimed, formula, most, preset } of presets) {
    it.effect(`${preset}: they say ${claimed}, their formula ${formula}, and ${most} can be at risk`, () =>
      Effect.gen(function*() {
        const settings = yield* presetOf(preset)
        assert.strictEqual(sourceWindow(settings, sourceLoad), formula)
        assert.notStrictEqual(claimed, formula)
        const window = lossWindow(settings, sourceLoad)
        assert.deepInclude(window, { records: most, limitedBy: "segments" })
        // One open segment, 16 queued and one in flight, with one worker.
        assert.strictEqual(window.records, (1 + (16 + 1) * 1) * formula)
        assert.deepInclude(window, { open: formula, queued: 16 * formula, inFlight: formula })
      }))
  }

  // flush_interval × rate, as if entries and bytes did not seal; `formula` is their own min() with the defaults of entries and bytes.
  const intervals = [
    { flushInterval: "100ms", recordsPerSecond: 1_000, claimed: 100, formula: 100 },
    { flushInterval: "100ms", recordsPerSecond: 10_000, claimed: 1_000, formula: 1_000 },
    { flushInterval: "100ms", recordsPerSecond: 100_000, claimed: 10_000, formula: 1_000 },
    { flushInterval: "1s", recordsPerSecond: 1_000, claimed: 1_000, formula: 1_000 },
    { flushInterval: "1s", recordsPerSecond: 10_000, claimed: 10_000, formula: 1_000 },
    { flushInterval: "1s", recordsPerSecond: 100_000, claimed: 100_000, formula: 1_000 },
    { flushInterval: "5s", recordsPerSecond: 1_000, claimed: 5_000, formula: 1_000 },
    { flushInterval: "5s", recordsPerSecond: 10_000, claimed: 50_000, formula: 1_000 },
    { flushInterval: "5s", recordsPerSecond: 100_000, claimed: 500_000, formula: 1_000 }
  ] as const
  for (const { claimed, flushInterval, formula, recordsPerSecond } of intervals) {
    it.effect(`${flushInterval} at ${recordsPerSecond}/s: they say ${claimed}, their formula ${formula}`, () =>
      Effect.gen(function*() {
        const load = { recordsPerSecond, recordBytes: 1_000 }
        const settings = yield* settingsOf({ segment: { flushInterval } })
        assert.strictEqual(sourceWindow(settings, load), formula)
        const segment = { ...settings.segment, maxEntries: 1_000_000, maxBytes: 1e9 }
        const unbounded = { segment, maxSegmentBytes: 4e9 }
        assert.strictEqual(sourceWindow(unbounded, load), claimed)
      }))
  }

  it.effect("the example with 4 workers multiplies the window: 16 a worker are queued", () =>
    Effect.gen(function*() {
      const one = yield* presetOf("aggressive")
      const four = yield* presetOf("aggressive", { parallelPut: { workers: 4 }, maxBufferedBytes: "4GiB" })
      assert.strictEqual(lossWindow(one, sourceLoad).records, 18 * 10_000)
      assert.strictEqual(lossWindow(four, sourceLoad).records, (1 + 17 * 4) * 10_000)
      const deep = yield* presetOf("aggressive", {
        parallelPut: { workers: 4, pipelineDepth: 8 },
        maxBufferedBytes: "4GiB"
      })
      assert.strictEqual(lossWindow(deep, sourceLoad).records, (1 + (16 + 8) * 4) * 10_000)
    }))

  it.effect("the buffer caps it: with 4 workers and the default buffer not 690,000 but what 256 MiB hold", () =>
    Effect.gen(function*() {
      const window = lossWindow(yield* presetOf("aggressive", { parallelPut: { workers: 4 } }), sourceLoad)
      assert.strictEqual(window.records, Math.floor(256 * 1_048_576 / 1_032))
      assert.strictEqual(window.limitedBy, "max_buffered_bytes")
      assert.isAtMost(window.bytes, 256 * 1_048_576)
      assert.strictEqual(window.open + window.queued + window.inFlight, window.records)
    }))
})

describe("the window", () => {
  it.effect("is nothing where nothing flows", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf()
      const load = { recordsPerSecond: 0, recordBytes: 100 }
      assert.strictEqual(lossWindow(settings, load).records, 0)
      assert.strictEqual(usualLossWindow(settings, load, { putLatencyMillis: 60, waiting: true }).records, 0)
    }))

  it.effect("while the store answers is what comes during filling and upload", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf()
      const load = { recordsPerSecond: 100, recordBytes: 1_000 }
      const usual = (waiting: boolean) => usualLossWindow(settings, load, { putLatencyMillis: 60, waiting }).records
      // The interval of 1 s and 60 ms; with callers that wait, linger of 100 ms and 60 ms.
      assert.deepStrictEqual([usual(false), usual(true)], [106, 16])
      const flood = { recordsPerSecond: 1_000_000, recordBytes: 1_000 }
      const flooded = usualLossWindow(settings, flood, { putLatencyMillis: 60, waiting: true })
      assert.strictEqual(flooded.records, lossWindow(settings, flood).records)
    }))
})

describe("a real log on a store that never answers", () => {
  interface World {
    readonly name: string
    readonly options: Partial<WalOptionsInput>
    readonly recordBytes: number
    /** Milliseconds between records; 0: as fast as they are taken. */
    readonly every: number
    readonly limitedBy: "segments" | "max_buffered_bytes"
  }
  const worlds: ReadonlyArray<World> = [
    {
      name: "entries seal",
      options: { segment: { maxEntries: 7 }, parallelPut: { workers: 2, pipelineDepth: 3 } },
      recordBytes: 10,
      every: 0,
      limitedBy: "segments"
    },
    {
      name: "bytes seal",
      options: { segment: { maxBytes: 1_000 }, parallelPut: { workers: 1 } },
      recordBytes: 300,
      every: 0,
      limitedBy: "segments"
    },
    {
      name: "the interval seals, and the open segment then gathers until it is full",
      options: { segment: { maxEntries: 25, flushInterval: "100ms" }, parallelPut: { workers: 2 } },
      recordBytes: 10,
      every: 10,
      limitedBy: "segments"
    },
    {
      name: "the buffer is full first",
      options: { segment: { maxBytes: 1_000 }, maxRecordBytes: 1_000, maxBufferedBytes: 9_999 },
      recordBytes: 100,
      every: 0,
      limitedBy: "max_buffered_bytes"
    }
  ]
  for (const { every, limitedBy, name, options, recordBytes } of worlds) {
    it.effect(`${name}: the status says at the limit what the function says`, () =>
      Effect.gen(function*() {
        const silence = Deferred.makeUnsafe<void>()
        const log = yield* open({ ...still, ...options }, { rules: [holdPuts(() => silence)] })
        const load = { recordsPerSecond: every === 0 ? Number.MAX_SAFE_INTEGER : 1_000 / every, recordBytes }
        const window = lossWindow(yield* settingsOf({ ...still, ...options }), load)
        const appending = yield* start(
          Effect.forEach(range(1, window.records + 1), () =>
            Effect.andThen(log.wal.append([sized(recordBytes)]), every === 0 ? Effect.void : Effect.sleep(every)))
        )
        if (every === 0) {
          yield* settle
        } else yield* drive(Effect.sleep(every * (window.records + 10)), every)
        assert.isFalse(isDone(appending))
        yield* TestClock.adjust("1 hour")
        const { atRisk, buffered, segments } = yield* log.wal.status
        assert.strictEqual(atRisk.records, window.records)
        assert.strictEqual(atRisk.bytes, window.bytes)
        assert.strictEqual(window.limitedBy, limitedBy)
        if (limitedBy === "segments") {
          const settings = yield* settingsOf(options)
          assert.strictEqual(buffered.queuedSegments, 16 * settings.parallelPut.workers)
          assert.strictEqual(segments.inFlight, settings.parallelPut.workers * settings.parallelPut.pipelineDepth)
        }
      }))
  }

  it.effect("and while the store answers, never more is at risk than the function says, and nearly as much", () =>
    Effect.gen(function*() {
      const options = { ...still, segment: { flushInterval: "200ms" } } as const
      const log = yield* open(options, { latencyMillis: 60 })
      const load = { recordsPerSecond: 100, recordBytes: 10 }
      const usual = usualLossWindow(yield* settingsOf(options), load, { putLatencyMillis: 60, waiting: false }).records
      let worst = 0
      for (const _ of range(1, 300)) {
        yield* log.wal.append([sized(10)])
        worst = Math.max(worst, (yield* log.wal.status).atRisk.records)
        yield* TestClock.adjust("10 millis")
      }
      assert.isAtMost(worst, usual)
      assert.isAtLeast(worst, usual - 1)
    }))

  const busy: ReadonlyArray<
    { readonly name: string; readonly options: Partial<WalOptionsInput>; readonly putLatencyMillis: number }
  > = [
    {
      name: "workers that get free all at once",
      options: { parallelPut: { workers: 4 }, segment: { flushInterval: "100ms", maxEntries: 100, linger: "5ms" } },
      putLatencyMillis: 200
    },
    {
      name: "segments that grow while they wait",
      options: { segment: { flushInterval: "50ms", maxEntries: 100, linger: "5ms" } },
      putLatencyMillis: 80
    }
  ]
  for (const { name, options, putLatencyMillis } of busy) {
    it.effect(`nor with ${name}`, () =>
      Effect.gen(function*() {
        const log = yield* open({ ...still, ...options }, { latencyMillis: putLatencyMillis })
        const load = { recordsPerSecond: 200, recordBytes: 10 }
        const settings = yield* settingsOf({ ...still, ...options })
        const usual = usualLossWindow(settings, load, { putLatencyMillis, waiting: true }).records
        let worst = 0
        for (const _ of range(1, 3_000)) {
          yield* start(Effect.flatMap(log.wal.append([sized(10)]), (appended) => appended.durable))
          worst = Math.max(worst, (yield* log.wal.status).atRisk.records)
          yield* TestClock.adjust("5 millis")
        }
        assert.isAtMost(worst, usual)
        assert.isAtLeast(worst, usual / 2)
      }))
  }
})
