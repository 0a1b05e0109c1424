import { assert, describe, it } from "@effect/vitest"
import type { Histogram } from "../../src/dashboard/Counters.ts"
import { countedSince, mean, quantile } from "../../src/dashboard/Quantiles.ts"

const histogram = (counts: ReadonlyArray<readonly [number, number]>, above = 0, sum = 0): Histogram => {
  let cumulated = 0
  const buckets = counts.map(([bound, count]): readonly [number, number] => [bound, cumulated += count])
  return { buckets, count: cumulated + above, sum }
}

describe("quantile", () => {
  it("is spread evenly within its bucket", () => {
    const counted = histogram([[0.1, 10], [0.2, 80], [0.5, 10]])
    assert.closeTo(quantile(counted, 0.5), 0.15, 1e-9)
    assert.closeTo(quantile(counted, 0.05), 0.05, 1e-9)
    assert.closeTo(quantile(counted, 0.95), 0.35, 1e-9)
    assert.closeTo(quantile(counted, 1), 0.5, 1e-9)
  })

  it("skips empty buckets, and what is above all bounds counts as the last one", () => {
    assert.closeTo(quantile(histogram([[0.1, 0], [0.2, 0], [0.5, 4]]), 0.5), 0.35, 1e-9)
    assert.strictEqual(quantile(histogram([[0.1, 0], [30, 1]], 99), 0.99), 30)
    assert.strictEqual(quantile(histogram([]), 0.99), 0)
  })
})

describe("countedSince", () => {
  it("is the difference, and the whole where the histogram began anew", () => {
    const before = histogram([[0.1, 5], [0.2, 5]], 0, 1)
    const now = histogram([[0.1, 7], [0.2, 9]], 1, 3)
    assert.deepStrictEqual(countedSince(before, now), { buckets: [[0.1, 2], [0.2, 6]], count: 7, sum: 2 })
    assert.deepStrictEqual(countedSince(now, before), before)
    assert.deepStrictEqual(countedSince(undefined, now), now)
    assert.strictEqual(mean(countedSince(before, now)), 2 / 7)
    assert.strictEqual(mean(histogram([])), 0)
  })
})
