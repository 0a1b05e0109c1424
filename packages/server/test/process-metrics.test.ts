import { assert, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { closeSync, openSync } from "node:fs"
import * as ProcessMetrics from "../src/ProcessMetrics.ts"
import { call } from "./support/Client.ts"
import { parseExposition } from "./support/Exposition.ts"
import { startServer } from "./support/TestServer.ts"

const valueOf = (text: string, name: string): number => {
  const family = parseExposition(text).get(name)
  assert.strictEqual(family?.samples.length, 1, name)
  return family?.samples[0]?.value ?? Number.NaN
}

const read = (name: string) => Effect.map(PrometheusMetrics.format(), (text) => valueOf(text, name))

const withMetrics = Effect.provide(
  ProcessMetrics.layer.pipe(Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map())))
)

describe("the metrics of the process", () => {
  it.effect("are on /metrics: memory, descriptors, handles, CPU time, fibers", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer()
      const text = (yield* call(port, "/metrics")).body.toString()
      const resident = valueOf(text, "process_resident_memory_bytes")
      const heap = valueOf(text, "nodejs_heap_size_used_bytes")
      assert.isAbove(resident, heap)
      assert.isAbove(heap, 1_000_000)
      assert.isAtLeast(valueOf(text, "nodejs_heap_size_total_bytes"), heap)
      assert.isAbove(valueOf(text, "nodejs_external_memory_bytes"), 0)
      assert.isAbove(valueOf(text, "nodejs_active_resources"), 0)
      assert.isAbove(valueOf(text, "process_cpu_seconds_total"), 0)
      // The stream's own fibers at least: segmenter, workers, manifest.
      assert.isAbove(valueOf(text, "effect_fibers_active"), 3)
      assert.isAtLeast(valueOf(text, "effect_fibers_started_total"), valueOf(text, "effect_fibers_active"))
    }))

  it.effect("a fiber counts from its start to its end, however it ends", () =>
    Effect.gen(function*() {
      const active = read("effect_fibers_active")
      const before = yield* active
      const startedBefore = yield* read("effect_fibers_started_total")
      const gate = yield* Deferred.make<void>()
      const options = { startImmediately: true } as const
      const done = yield* Effect.forkChild(Deferred.await(gate), options)
      const failed = yield* Effect.forkChild(Effect.andThen(Deferred.await(gate), Effect.fail("no")), options)
      const interrupted = yield* Effect.forkChild(Effect.never, options)
      assert.strictEqual(yield* active, before + 3)
      yield* Fiber.interrupt(interrupted)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.await(done)
      yield* Fiber.await(failed)
      assert.strictEqual(yield* active, before)
      assert.isAtLeast(yield* read("effect_fibers_started_total"), startedBefore + 3)
    }).pipe(withMetrics))

  it.effect.runIf(process.platform === "linux")("an open file counts as a descriptor", () =>
    Effect.gen(function*() {
      const before = yield* read("process_open_fds")
      const files = [1, 2, 3].map(() => openSync("/dev/null", "r"))
      assert.strictEqual(yield* read("process_open_fds"), before + 3)
      for (const file of files) closeSync(file)
    }).pipe(withMetrics))

  it.effect("one that the system does not tell, as without a free descriptor, is no number, and the others are told", () =>
    Effect.gen(function*() {
      yield* Effect.acquireRelease(
        Effect.sync(() =>
          vi.spyOn(process.memoryUsage, "rss").mockImplementation(() => {
            throw new Error("EMFILE: too many open files")
          })
        ),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      const text = yield* PrometheusMetrics.format()
      assert.isNaN(valueOf(text, "process_resident_memory_bytes"))
      assert.isAbove(valueOf(text, "nodejs_active_resources"), 0)
    }).pipe(withMetrics))

  it.effect("are gone with the server", () =>
    Effect.gen(function*() {
      const registry = yield* Metric.MetricRegistry
      yield* Effect.scoped(Effect.gen(function*() {
        yield* Layer.build(ProcessMetrics.layer)
        assert.isAbove(registry.size, 0)
      }))
      assert.strictEqual(registry.size, 0)
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())))
})
