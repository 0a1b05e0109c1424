import { assert, describe, it } from "@effect/vitest"
import { liveCosts } from "../../src/cli/LiveCost.ts"
import { parseMetrics, sumOf, valuesOf } from "../../src/cli/MetricsText.ts"

const text = (puts: number, records: number) =>
  `# HELP wal_store_requests_total Requests to the store
# TYPE wal_store_requests_total counter
wal_store_requests_total{stream="orders",node="n",operation="create"} ${puts}
wal_store_requests_total{stream="orders",node="n",operation="replace"} 0
wal_store_requests_total{stream="quiet",node="n",operation="create"} 5
wal_records_durable_total{stream="orders",node="n"} ${records}
wal_segment_raw_bytes_total{stream="orders",node="n"} ${records * 1_000}
wal_segment_stored_bytes_total{stream="orders",node="n"} ${records * 250}
wal_estimated_request_cost_dollars_total{stream="orders",node="n"} 0.5
other{text="a \\"quoted\\" \\\\ one\\n"} +Inf
not a sample
`

describe("MetricsText", () => {
  it("reads names, labels and values", () => {
    const samples = parseMetrics(text(10, 100))
    assert.strictEqual(sumOf(samples, "wal_store_requests_total", { operation: "create" }), 15)
    assert.strictEqual(sumOf(samples, "wal_store_requests_total", { stream: "orders", operation: "create" }), 10)
    assert.strictEqual(sumOf(samples, "absent_total", {}), undefined)
    assert.strictEqual(sumOf(samples, "other", { text: "a \"quoted\" \\ one\n" }), Number.POSITIVE_INFINITY)
    assert.deepStrictEqual(valuesOf(samples, "stream"), ["orders", "quiet"])
  })
})

describe("LiveCost", () => {
  const look = { before: parseMetrics(text(10, 100)), millis: 10_000, storedForMillis: 86_400_000 }

  it("is what a month at the rate between two looks costs", () => {
    const [orders, quiet] = liveCosts({ ...look, after: parseMetrics(text(110, 10_100)) })
    assert.strictEqual(orders?.putsPerSecond, 10)
    assert.strictEqual(orders?.recordsPerSecond, 1_000)
    assert.strictEqual(orders?.storedBytesPerSecond, 250_000)
    assert.strictEqual(orders?.compressionRatio, 4)
    // 10 a second × 2,592,000 s × $0.005 for 1,000
    assert.closeTo(orders?.requestDollarsPerMonth ?? 0, 129.6, 1e-6)
    // 250,000 B/s for a day: 21.6 GB at $0.023
    assert.closeTo(orders?.storageDollarsPerMonth ?? 0, 0.4968, 1e-6)
    assert.strictEqual(orders?.dollarsSoFar, 0.5)
    assert.strictEqual(quiet?.dollarsPerMonth, 0)
    assert.isUndefined(quiet?.compressionRatio)
  })

  it("counts from 0 where a log was opened again in between", () => {
    const [orders] = liveCosts({ ...look, after: parseMetrics(text(4, 40)) })
    assert.closeTo(orders?.putsPerSecond ?? 0, 0.4, 1e-9)
  })
})
