import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { type CostConditions, costOf, requestDollars, requestsOfOpening } from "@effect-wal/core/model/CostModel"
import { s3StandardUsEast1 } from "@effect-wal/core/StorePrices"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { open, range, records, reopen, sized, start, store } from "../support/LogWorld.ts"
import { presetOf, settingsOf, sourceLoad } from "./Settings.ts"

const days = (count: number) => Duration.days(count)

/** As the source documents compute: nobody waits, and what a month brings is stored for a month. */
const asSource: CostConditions = { putLatencyMillis: 60, waiting: false, storedFor: days(30) }

/** Settings that carry 10,000 records a second of 1 kB at 60 ms. */
const quick: Partial<WalOptionsInput> = { parallelPut: { workers: 4 } }

const cents = (dollars: number): number => Math.round(dollars * 100) / 100

describe("the cost example of the source document: 10,000 messages a second of 1 kB", () => {
  const month = Effect.map(settingsOf(quick), (settings) => costOf(settings, sourceLoad, asSource))

  it.effect("segments: they say 36 PUTs an hour and $0.13; it is 36,000 and $129.60", () =>
    Effect.gen(function*() {
      const cost = yield* month
      assert.strictEqual(cost.perHour.segmentPuts, 36_000)
      assert.strictEqual(cost.perMonth.segmentPuts, 25_920_000)
      assert.strictEqual(cents(cost.dollarsPerMonth.segmentPuts), 129.6)
    }))

  it.effect("manifest: they say 324,000 PUTs and $1.62; batches of 8 are 3,240,000 and $16.20", () =>
    Effect.gen(function*() {
      const cost = yield* month
      assert.strictEqual(cost.perMonth.manifestPuts, 3_240_000)
      assert.strictEqual(cents(cost.dollarsPerMonth.manifestPuts), 16.2)
    }))

  it.effect("manifest at 8 segments or 100 ms: the 100 ms come first, and nothing of the 58 % is saved", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf({ ...quick, manifest: { maxDelay: "100ms" } })
      const cost = costOf(settings, sourceLoad, asSource)
      assert.strictEqual(cents(cost.dollarsPerMonth.manifestPuts), 129.6)
      assert.strictEqual(cost.requestsPerSegment, 2)
    }))

  it.effect("manifest before: they say $12.96, one write a second; with one a segment it was $129.60", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf({ ...quick, manifest: { maxSegments: 1 } })
      assert.strictEqual(cents(costOf(settings, sourceLoad, asSource).dollarsPerMonth.manifestPuts), 129.6)
      const onePerSecond = costOf(settings, { ...sourceLoad, recordsPerSecond: 1_000 }, asSource)
      assert.strictEqual(cents(onePerSecond.dollarsPerMonth.manifestPuts), 12.96)
    }))

  it.effect("storage: they say 259 GB and $5.96; it is 25.9 TB and $596", () =>
    Effect.gen(function*() {
      const cost = yield* month
      assert.strictEqual(cost.storedBytes, 25.92e12)
      assert.strictEqual(cents(cost.dollarsPerMonth.storage), 596.16)
    }))

  it.effect("total: they say $7.71, before that $19; it is about $742", () =>
    Effect.gen(function*() {
      const { dollarsPerMonth } = yield* month
      assert.strictEqual(cents(dollarsPerMonth.total), 741.96)
      const { gets, lists, manifestPuts, segmentPuts, storage, total } = dollarsPerMonth
      assert.strictEqual(total, segmentPuts + manifestPuts + gets + lists + storage)
    }))

  it.effect("aggressive: they say PUTs ten times cheaper than balanced, and so it is", () =>
    Effect.gen(function*() {
      const aggressive = costOf(yield* presetOf("aggressive", quick), sourceLoad, asSource)
      assert.strictEqual(cents(aggressive.dollarsPerMonth.segmentPuts), 12.96)
    }))

  it.effect("deletion makes storage a constant, and compression divides it", () =>
    Effect.gen(function*() {
      const settings = yield* settingsOf(quick)
      const kept = costOf(settings, sourceLoad, { ...asSource, storedFor: Duration.minutes(10) })
      assert.strictEqual(kept.storedBytes, 6e9)
      assert.strictEqual(cents(kept.dollarsPerMonth.storage), 0.14)
      const packed = costOf(settings, sourceLoad, { ...asSource, compressionRatio: 4 })
      assert.strictEqual(packed.storedBytes, 25.92e12 / 4)
    }))

  it.effect("one worker at 200 ms does not carry it, and pays for what it carries", () =>
    Effect.gen(function*() {
      const slow = { ...asSource, putLatencyMillis: 200 }
      const cost = costOf(yield* settingsOf(), sourceLoad, slow)
      assert.strictEqual(cost.perHour.segmentPuts, 5 * 3_600)
      assert.strictEqual(cost.storedBytes, 25.92e12 / 2)
    }))
})

describe("the prices", () => {
  it("are those that the source document states", () => {
    assert.deepInclude(s3StandardUsEast1, {
      per1000Puts: 0.005,
      per1000Gets: 0.0004,
      per1000Lists: 0.005,
      perGigabyteMonth: 0.023
    })
    assert.match(s3StandardUsEast1.asOf, /^\d{4}-\d{2}$/)
    assert.match(s3StandardUsEast1.url, /^https:\/\/aws\.amazon\.com\//)
  })

  it("are those of counted requests too, whatever they were counted on", () => {
    const counted = { segmentPuts: 1_000_000, manifestPuts: 100_000, gets: 1_250_000, lists: 100_000 }
    const cost = requestDollars(counted)
    assert.deepStrictEqual(cost, { segmentPuts: 5, manifestPuts: 0.5, gets: 0.5, lists: 0.5, total: 6.5 })
    assert.strictEqual(requestDollars(counted, { ...s3StandardUsEast1, per1000Puts: 0.01 }).segmentPuts, 10)
  })

  it.effect("can be others", () =>
    Effect.gen(function*() {
      const prices = { ...s3StandardUsEast1, per1000Puts: 0.01, perGigabyteMonth: 0 }
      const { dollarsPerMonth } = costOf(yield* settingsOf(quick), sourceLoad, { ...asSource, prices })
      assert.strictEqual(cents(dollarsPerMonth.total), 291.6)
    }))
})

describe("requests", () => {
  // Nobody waits and every segment is sealed by its entries, so that segments a second are records a second ÷ 10.
  const atSegments = (perSecond: number) =>
    Effect.map(
      settingsOf({ segment: { maxEntries: 10, flushInterval: "1h" } }),
      (settings) => costOf(settings, { recordsPerSecond: perSecond * 10, recordBytes: 100 }, asSource)
    )

  for (const perSecond of [0.8, 1, 2, 4, 10, 16]) {
    it.effect(`at most 1.13 a segment at ${perSecond} segments a second`, () =>
      Effect.gen(function*() {
        assert.isAtMost((yield* atSegments(perSecond)).requestsPerSegment, 1.13)
      }))
  }

  it.effect("more than that below 0.8, and two where segments are rare", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* atSegments(0.5)).requestsPerSegment, 1.2)
      assert.strictEqual((yield* atSegments(0.01)).requestsPerSegment, 2)
    }))

  it.effect("none while nothing flows", () =>
    Effect.gen(function*() {
      const cost = costOf(yield* settingsOf(), { recordsPerSecond: 0, recordBytes: 100 }, asSource)
      assert.deepStrictEqual(cost.perMonth, { segmentPuts: 0, manifestPuts: 0, gets: 0, lists: 0 })
      assert.strictEqual(cost.dollarsPerMonth.total, 0)
      assert.strictEqual(cost.requestsPerSegment, 0)
    }))

  it.effect("a reader that fetches from the store costs a GET a segment", () =>
    Effect.gen(function*() {
      const cost = costOf(yield* settingsOf(quick), sourceLoad, { ...asSource, storeReaders: 2 })
      assert.strictEqual(cost.perHour.gets, 72_000)
      assert.strictEqual(cents(cost.dollarsPerMonth.gets), 20.74)
    }))

  it.effect("openings cost a handful each, and a GET for each segment that is replayed", () =>
    Effect.gen(function*() {
      const openings = { perMonth: 100, replayedSegments: 36 }
      const settings = yield* settingsOf()
      const idle = { recordsPerSecond: 0, recordBytes: 100 }
      assert.deepStrictEqual(costOf(settings, idle, { ...asSource, openings }).perMonth, {
        segmentPuts: 0,
        manifestPuts: 300,
        gets: 4_000,
        lists: 100
      })
    }))

  it.effect("of an opening are those of a real one, at most, after a crash and after a close", () =>
    Effect.gen(function*() {
      const counts = (
        log: { readonly faults: { readonly requests: ReadonlyArray<{ readonly operation: string }> } }
      ) => {
        const of = (...operations: ReadonlyArray<string>) =>
          log.faults.requests.filter((one) => operations.includes(one.operation)).length
        return { puts: of("create", "replace"), gets: of("get"), lists: of("list") }
      }
      const log = yield* open({ segment: { maxEntries: 10 } })
      yield* store(log.wal, records(100))
      const killed = yield* reopen(log)
      assert.deepStrictEqual(counts(killed), requestsOfOpening)
      yield* store(killed.wal, records(10))
      yield* killed.wal.close
      const { gets, lists, puts } = counts(yield* reopen(killed))
      assert.isAtMost(puts, requestsOfOpening.puts)
      assert.isAtMost(gets, requestsOfOpening.gets)
      assert.isAtMost(lists, requestsOfOpening.lists)
    }))
})

describe("a real log", () => {
  interface World {
    readonly name: string
    readonly options: Partial<WalOptionsInput>
    readonly recordsPerSecond: number
    readonly waiting: boolean
  }
  const worlds: ReadonlyArray<World> = [
    { name: "the interval seals", options: {}, recordsPerSecond: 100, waiting: false },
    { name: "entries seal", options: { segment: { maxEntries: 20 } }, recordsPerSecond: 100, waiting: false },
    { name: "linger seals for who waits", options: {}, recordsPerSecond: 100, waiting: true },
    { name: "one lane is busy", options: { preset: "low_latency" }, recordsPerSecond: 100, waiting: true },
    {
      name: "records come hardly faster than PUTs",
      options: { preset: "low_latency" },
      recordsPerSecond: 20,
      waiting: true
    },
    {
      name: "a budget stretches linger",
      options: { budget: { putsPerSecond: 3 } },
      recordsPerSecond: 100,
      waiting: true
    },
    {
      name: "a budget that is not reached",
      options: { budget: { putsPerSecond: 10 }, preset: "low_latency" },
      recordsPerSecond: 4,
      waiting: true
    },
    {
      name: "a budget below what the interval makes",
      options: { budget: { putsPerSecond: 0.1 } },
      recordsPerSecond: 100,
      waiting: true
    },
    { name: "records are rare", options: { preset: "low_latency" }, recordsPerSecond: 4, waiting: true }
  ]
  for (const { name, options, recordsPerSecond, waiting } of worlds) {
    it.effect(`${name}: it makes the PUTs in 30 s that the function says`, () =>
      Effect.gen(function*() {
        const settings = yield* settingsOf({ retention: { policy: "keep" }, ...options })
        const { linger, ...segment } = settings.segment
        const log = yield* open({
          retention: { policy: "keep" },
          ...options,
          segment: { ...segment, linger }
        }, { latencyMillis: 60 })
        const seconds = 30
        for (const _ of range(1, seconds * recordsPerSecond)) {
          const appended = yield* log.wal.append([sized(100)])
          if (waiting) yield* start(appended.durable)
          yield* TestClock.adjust(1_000 / recordsPerSecond)
        }
        const load = { recordsPerSecond, recordBytes: 100 }
        const { perHour } = costOf(settings, load, { ...asSource, waiting })
        const segments = (yield* log.wal.status).segments.durable
        const expected = perHour.segmentPuts * seconds / 3_600
        assert.isAtMost(Math.abs(segments - expected), Math.max(2, expected * 0.05), `${segments} for ${expected}`)
        const manifests = log.memory.requests.filter((one) => one.operation === "replace").length
        assert.isAtMost(Math.abs(manifests - perHour.manifestPuts * seconds / 3_600), 2)
      }))
  }
})
