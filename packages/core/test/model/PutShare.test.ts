import { costOf } from "@effect-wal/core/model/CostModel"
import { segmentsPerManifest, segmentsWithin } from "@effect-wal/core/model/PutShare"
import { putsPerSecondFor, s3StandardUsEast1 } from "@effect-wal/core/StorePrices"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { settingsOf } from "./Settings.ts"

const asPosted = { putLatencyMillis: 1, storedFor: Duration.seconds(0) }

describe("segments within a budget of PUTs", () => {
  const manifests = [[8, 10], [8, 0.1], [1, 10], [64, 3_600], [1_024, 1]].map(([maxSegments = 1, seconds = 1]) => ({
    maxSegments,
    maxDelay: Duration.seconds(seconds)
  }))

  it("are as many as can be, and at no lower rate do they take more PUTs together with the manifest", () => {
    for (const manifest of manifests) {
      const putsOf = (segments: number) => segments * (1 + 1 / segmentsPerManifest(manifest, segments))
      for (const budget of [0.01, 0.1, 0.2, 0.21, 0.5, 0.9, 1, 1.5, 4, 12.3, 200]) {
        const most = segmentsWithin(budget, manifest)
        assert.closeTo(putsOf(most), budget, budget * 1e-9)
        for (let part = 1; part <= 1_000; part++) assert.isAtMost(putsOf(most * part / 1_000), budget * (1 + 1e-9))
      }
    }
  })
})

describe("dollars a month", () => {
  it("buy PUTs at the price of the table", () => {
    assert.closeTo(putsPerSecondFor(12.96), 1, 1e-12)
    assert.closeTo(putsPerSecondFor(12.96, { ...s3StandardUsEast1, per1000Puts: 0.0025 }), 2, 1e-12)
  })

  // More callers than any of these budgets lets pass at linger; the interval is long enough for the smallest.
  for (const dollars of [0.5, 1, 5, 20, 100, 1_000]) {
    it.effect(`${dollars}: what the cost function says of a log with that budget, and not much less`, () =>
      Effect.gen(function*() {
        const settings = yield* settingsOf({
          budget: { dollarsPerMonth: dollars },
          preset: "low_latency",
          segment: { flushInterval: "1m", maxEntries: 1_000_000, maxBytes: "64MB" },
          maxSegmentBytes: "128MB",
          parallelPut: { workers: 8, pipelineDepth: 8 }
        })
        const load = { recordsPerSecond: 1_000, recordBytes: 100 }
        const { dollarsPerMonth } = costOf(settings, load, { ...asPosted, waiting: true })
        assert.isAtMost(dollarsPerMonth.total, dollars)
        assert.isAtLeast(dollarsPerMonth.total, dollars * 0.95)
        const unlimited = yield* settingsOf({
          preset: "low_latency",
          parallelPut: { workers: 8, pipelineDepth: 8 }
        })
        assert.isAbove(costOf(unlimited, load, { ...asPosted, waiting: true }).dollarsPerMonth.total, 1_000)
      }))
  }
})
