/** A collector that takes what it gets and never answers. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Metric, Redacted, type Scope } from "effect"
import * as Http from "node:http"
import { layer } from "../../src/observe/Tracing.ts"
import { until } from "../support/Wait.ts"

/** Answers its address and how many requests have come. */
const startHanging: Effect.Effect<{ readonly url: string; readonly requests: () => number }, never, Scope.Scope> =
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly server: Http.Server; readonly url: string; readonly requests: () => number }>(
        (resume) => {
          let requests = 0
          const server = Http.createServer((request) => {
            requests++
            request.resume()
          })
          server.listen(0, "127.0.0.1", () => {
            const address = server.address()
            const port = typeof address === "object" ? address?.port : undefined
            resume(Effect.succeed({ server, url: `http://127.0.0.1:${port}/v1/traces`, requests: () => requests }))
          })
        }
      ),
      ({ server }) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    ),
    ({ requests, url }) => ({ url, requests })
  )

describe("a collector that hangs", () => {
  it.live("holds a bounded number of batches, and the others are counted as lost", () =>
    Effect.gen(function*() {
      const { requests, url } = yield* startHanging
      const registry: Metric.MetricRegistry = new Map()
      const headers: Readonly<Record<string, string>> = {}
      const tracer = yield* Layer.build(
        layer({ url, headers: Redacted.make(headers), protocol: "http/json", serviceName: "test", sampleRatio: 1 })
      ).pipe(Effect.provideService(Metric.MetricRegistry, registry))
      // A batch is a thousand spans.
      yield* Effect.forEach(
        Array.from({ length: 24_000 }),
        () => Effect.withSpan(Effect.void, "one", { captureStackTrace: false }),
        { discard: true }
      ).pipe(Effect.provideContext(tracer))
      const failures = () => {
        const context = Context.make(Metric.MetricRegistry, registry)
        const found = Metric.snapshotUnsafe(context).find(({ id }) => id === "wal_trace_export_failures_total")
        return found?.type === "Counter" ? Number(found.state.count) : 0
      }
      yield* until(() => requests() >= 16 && failures() >= 8)
      assert.strictEqual(requests(), 16)
    }))
})
