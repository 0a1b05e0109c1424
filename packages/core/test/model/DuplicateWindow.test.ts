import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { duplicateWindow } from "@effect-wal/core/model/DuplicateWindow"
import { segmentRhythm } from "@effect-wal/core/model/SegmentRhythm"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { open, range, records, reopen, store } from "../support/LogWorld.ts"
import { settingsOf } from "./Settings.ts"

describe("the table of the source document", () => {
  // Of 1,000 messages a second; `found` is what its own max_entries of 1,000, which stands beside it, makes of the claim.
  const rows = [
    { interval: "100ms", claimed: 100, found: 100, storedBy: "interval" },
    { interval: "1s", claimed: 1_000, found: 1_000, storedBy: "interval" },
    { interval: "10s", claimed: 10_000, found: 1_000, storedBy: "max_entries" }
  ] as const
  for (const { claimed, found, interval, storedBy } of rows) {
    it.effect(`${interval}: they say ${claimed}; with their max_entries it is ${found}, and what a PUT of 60 ms adds`, () =>
      Effect.gen(function*() {
        const settings = yield* settingsOf({ cursor: { interval } })
        const load = { recordsPerSecond: 1_000, putLatencyMillis: 0 }
        assert.deepStrictEqual(duplicateWindow(settings, load), { records: found, storedBy })
        assert.strictEqual(duplicateWindow(settings, { ...load, putLatencyMillis: 60 }).records, found + 60)
        const many = yield* settingsOf({ cursor: { interval, maxEntries: 1_000_000 } })
        assert.strictEqual(duplicateWindow(many, load).records, claimed)
      }))
  }
})

describe("the window", () => {
  it.effect("is nothing where nothing is committed", () =>
    Effect.gen(function*() {
      const load = { recordsPerSecond: 0, putLatencyMillis: 60 }
      assert.strictEqual(duplicateWindow(yield* settingsOf(), load).records, 0)
    }))

  it.effect("segments that flow carry the cursor, the sooner the more there are", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf()
      const windowAt = (segmentEveryMillis: number) =>
        duplicateWindow(settings, { recordsPerSecond: 1_000, putLatencyMillis: 60, segmentEveryMillis })
      assert.deepStrictEqual(windowAt(100), { records: 160, storedBy: "segment" })
      assert.deepStrictEqual(windowAt(1_000), { records: 1_060, storedBy: "segment" })
      // One that comes too late is not waited for.
      assert.deepStrictEqual(windowAt(60_000), { records: 2_060, storedBy: "interval" })
      const waiting = segmentRhythm(settings, { recordsPerSecond: 1_000, recordBytes: 1_000 }, {
        putLatencyMillis: 60,
        waiting: true
      })
      assert.strictEqual(windowAt(1_000 / waiting.segmentsPerSecond).records, 160)
    }))
})

describe("a real log", () => {
  interface World {
    readonly name: string
    readonly options: Partial<WalOptionsInput>
    /** A segment is stored every so many milliseconds. */
    readonly segmentEveryMillis?: number
  }
  const worlds: ReadonlyArray<World> = [
    { name: "the interval stores the cursor", options: { cursor: { interval: "200ms" } } },
    { name: "entries store the cursor", options: { cursor: { interval: "1h", maxEntries: 150 } } },
    {
      name: "segments carry the cursor",
      options: { cursor: { interval: "1s" }, segment: { flushInterval: "100ms" } },
      segmentEveryMillis: 100
    }
  ]
  for (const { name, options, segmentEveryMillis } of worlds) {
    it.effect(`${name}: killed at any moment it delivers again what the function says at most, and nearly as much`, () =>
      Effect.gen(function*() {
        const all = {
          ...options,
          manifest: { maxSegments: 10_000, maxDelay: "1h" },
          retention: { policy: "keep" }
        } as const
        const log = yield* open(all)
        yield* store(log.wal, records(2_000))
        const window = duplicateWindow(yield* settingsOf(all), {
          recordsPerSecond: 1_000,
          putLatencyMillis: 0,
          ...(segmentEveryMillis === undefined ? {} : { segmentEveryMillis })
        }).records
        let worst = 0
        let last = 0
        for (const n of range(1, 1_500)) {
          yield* log.wal.commit(n)
          if (segmentEveryMillis !== undefined) yield* log.wal.append(records(1))
          const cursor = (yield* log.wal.status).cursors["default"]
          const again = n - (cursor?.persisted ?? 0)
          worst = Math.max(worst, again)
          last = n
          // The worst moment after some have passed: just before the cursor is stored.
          if (n > 700 && again >= worst) break
          yield* TestClock.adjust("1 millis")
        }
        assert.isAtMost(worst, window)
        assert.isAtLeast(worst, window - 2)
        const restarted = yield* reopen(log, all)
        const [first] = yield* Stream.runCollect(restarted.wal.replay({ until: "durable-end" }).pipe(Stream.take(1)))
        assert.strictEqual(last + 1 - (first?.seq ?? 0), worst)
      }))
  }
})
