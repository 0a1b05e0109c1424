/** Twins of the metrics case: numbers that are none, and a scrape at the worst moments. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { append, call } from "../support/Client.ts"
import { parseExposition } from "../support/Exposition.ts"
import { startServer } from "../support/TestServer.ts"
import { turn, until } from "../support/Wait.ts"

const ndjson = "application/x-ndjson"

const scrape = (port: number) =>
  Effect.map(call(port, "/metrics"), ({ body, status }) => {
    assert.strictEqual(status, 200)
    return parseExposition(body.toString())
  })

describe("a scrape", () => {
  it.effect("[kind S] of a log that has done nothing yet: every number is one", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      for (const [name, { samples }] of yield* scrape(port)) {
        for (const { labels, value } of samples) {
          const isBucket = labels["le"] === "+Inf"
          assert.isTrue(Number.isFinite(value) || isBucket, `${name} is ${value}`)
        }
      }
    }))

  it.effect("[kind S] with NaN and the infinities in it is still a scrape", () =>
    Effect.gen(function*() {
      const text = yield* Effect.gen(function*() {
        const values = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e21, 1e-7, -0]
        for (const [index, value] of values.entries()) {
          yield* Metric.update(Metric.gauge(`wal_test_${index}`), value)
        }
        yield* Metric.update(Metric.histogram("wal_test_seconds", { boundaries: [0.1, 1] }), Number.POSITIVE_INFINITY)
        return yield* PrometheusMetrics.format()
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
      const families = parseExposition(text)
      const valueOf = (index: number) => families.get(`wal_test_${index}`)?.samples[0]?.value
      assert.deepStrictEqual([valueOf(0), valueOf(1), valueOf(2)], [NaN, Infinity, -Infinity])
      assert.deepStrictEqual([valueOf(3), valueOf(4)], [1e21, 1e-7])
      assert.isDefined(families.get("wal_test_seconds"))
    }))

  it.effect("[kind S] while a log closes and cannot: answered at once, with what is at risk, and gone afterwards", () =>
    Effect.gen(function*() {
      const { log, port, streams } = yield* startServer()
      yield* append(port, ndjson, "1\n")
      yield* log.hold
      yield* append(port, ndjson, "2\n3\n", "?ack=accepted")
      const wal = yield* streams.log("orders")
      const closing = yield* Effect.forkChild(wal.close, { startImmediately: true })
      yield* turn
      const during = yield* scrape(port)
      assert.strictEqual(during.get("wal_open")?.samples[0]?.value, 0)
      assert.strictEqual(during.get("wal_at_risk_entries")?.samples[0]?.value, 2)
      yield* log.release
      yield* until(() => closing.pollUnsafe() !== undefined)
      const after = yield* scrape(port)
      assert.isUndefined(after.get("wal_at_risk_entries"))
      assert.isUndefined(after.get("wal_open"))
    }))

  it.effect("[kind S] a hundred at once while records come in: each is whole, and none waits for the store", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer()
      yield* log.hold
      yield* append(port, ndjson, "1\n", "?ack=accepted")
      const all = yield* Effect.forEach(Array.from({ length: 100 }), () => scrape(port), { concurrency: 20 })
      for (const families of all) assert.strictEqual(families.get("wal_at_risk_entries")?.samples[0]?.value, 1)
    }))
})
