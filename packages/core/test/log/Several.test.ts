import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BufferBudget, BufferBudgetState } from "../../src/BufferBudget.ts"
import { ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import {
  fills,
  holdPuts,
  isDone,
  key,
  makeGates,
  open,
  type Options,
  range,
  readAll,
  records,
  seqs,
  settle,
  sized,
  start,
  still,
  store
} from "../support/LogWorld.ts"

class Orders extends Wal.Tag("orders")<Orders>() {}
class Payments extends Wal.Tag("payments")<Payments>() {}

describe("several logs", () => {
  it.effect("in one program, each a service of its own, on one store", () =>
    Effect.gen(function*() {
      const orders = yield* Orders
      const payments = yield* Payments
      yield* store(orders, records(2))
      yield* store(payments, records(3))
      assert.strictEqual(yield* orders.flush, 2)
      assert.strictEqual(yield* payments.flush, 3)
      assert.deepStrictEqual((yield* readAll(orders)).length, 2)
      assert.deepStrictEqual([(yield* orders.status).streamId, (yield* payments.status).streamId], [
        "orders",
        "payments"
      ])
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          Orders.layer({ nodeId: "n", streamId: "orders", segment: { linger: "0ms" } }),
          Payments.layer({ nodeId: "n", streamId: "payments", segment: { linger: "0ms" } })
        ).pipe(Layer.provide(Layer.effect(ObjectStore, Effect.map(MemoryObjectStore.make(), ({ store }) => store))))
      )
    ))

  it.effect("the same identity twice in a process: AlreadyOpen, until the first is closed", () =>
    Effect.gen(function*() {
      const registry = new ProcessRegistryState()
      const first = yield* open(still, { registry })
      const { memory } = first
      const error = yield* Effect.flip(open(still, { memory, registry }))
      assert.strictEqual(error._tag, "AlreadyOpen")
      assert.deepStrictEqual(memory.requests, [])
      // Another stream, node or prefix is another log.
      for (const options of [{ streamId: "log2" }, { nodeId: "node2" }, { prefix: "other" }]) {
        yield* open({ ...still, ...options }, { memory, registry })
      }
      yield* store(first.wal, records(1))
      yield* first.end
      const again = yield* open(still, { memory, registry })
      assert.deepStrictEqual(seqs(yield* readAll(again.wal)), [1])
    }))

  it.effect("a failed opening leaves the identity free", () =>
    Effect.gen(function*() {
      const registry = new ProcessRegistryState()
      const { memory } = yield* open({ ...still, streamId: "other" })
      memory.put("node/log/manifest.json", new Uint8Array(0))
      assert.strictEqual((yield* Effect.flip(open(still, { memory, registry })))._tag, "ManifestCorrupt")
      memory.objects.delete("node/log/manifest.json")
      yield* open(still, { memory, registry })
    }))
})

describe("the shared buffer budget", () => {
  const small: Options = {
    ...still,
    maxRecordBytes: 1_000,
    maxBufferedBytes: 20_000,
    segment: { maxBytes: 1_000, flushInterval: "30d" }
  }

  const two = Effect.fnUntraced(function*(limitBytes: number) {
    const budget = new BufferBudgetState(limitBytes)
    const gates = makeGates()
    const opening = (streamId: string, held: boolean) =>
      open({ ...small, streamId, nodeId: held ? "node" : "other" }, held ? { rules: [holdPuts(gates.of)] } : {}).pipe(
        Effect.provideService(BufferBudget, budget)
      )
    const left = yield* opening("log", true)
    const right = yield* opening("right", false)
    return { budget, gates, left: left, right: right }
  })

  it.effect("bounds what all logs hold together; whoever waits goes on when another gives back", () =>
    Effect.gen(function*() {
      const { budget, gates, left, right } = yield* two(3_000)
      yield* left.wal.append([sized(900), sized(900), sized(900)])
      yield* settle
      const full = yield* Effect.flip(right.wal.appendNow([sized(900)]))
      assert.deepInclude(full, { _tag: "BufferFull", bufferedBytes: budget.usedBytes, limitBytes: 3_000 })
      const waiting = yield* start(right.wal.append([sized(900)]))
      yield* settle
      assert.isFalse(isDone(waiting))
      assert.isAtMost(budget.usedBytes, 3_000)
      yield* gates.open(key(0))
      yield* (yield* Fiber.join(waiting)).durable
      for (const slot of range(1, 2)) yield* gates.open(key(slot))
      yield* left.wal.flush
      assert.strictEqual(budget.usedBytes, 0)
    }))

  it.effect("who waits for room makes the others seal what they hold open", () =>
    Effect.gen(function*() {
      const { gates, left, right } = yield* two(1_800)
      // Nobody waits for these; their interval is 30 days away.
      yield* left.wal.append([sized(900)])
      const waiting = yield* start(right.wal.append([sized(900)]))
      yield* settle
      yield* gates.open(key(0))
      assert.strictEqual((yield* Fiber.join(waiting)).last, 1)
    }))

  it.effect("a log whose own buffer is full makes nobody else seal", () =>
    Effect.gen(function*() {
      const { gates, left, right } = yield* two(1_000_000)
      const waiting = yield* start(left.wal.append(range(1, 40).map(() => sized(900))))
      yield* right.wal.append([sized(900)])
      yield* TestClock.adjust("1 hour")
      assert.isFalse(isDone(waiting))
      assert.strictEqual((yield* right.wal.status).durable, 0)
      for (const slot of range(0, 45)) yield* gates.open(key(slot))
      assert.isTrue(isDone(waiting))
    }))

  it.effect("accepts a call larger than the budget whole, in pieces", () =>
    Effect.gen(function*() {
      const { budget, right } = yield* two(2_000)
      const appended = yield* right.wal.append(range(1, 10).map((fill) => sized(900, fill)))
      assert.deepStrictEqual([appended.first, appended.last], [1, 10])
      yield* appended.durable
      assert.deepStrictEqual(fills(yield* readAll(right.wal)), range(1, 10))
      assert.strictEqual(budget.usedBytes, 0)
    }))

  it.effect("a log that ends gives back what it held", () =>
    Effect.gen(function*() {
      const { budget, left, right } = yield* two(3_000)
      yield* left.wal.append([sized(900), sized(900), sized(900)])
      const waiting = yield* start(right.wal.append([sized(900)]))
      yield* settle
      const closing = yield* start(left.wal.close)
      yield* TestClock.adjust("31 seconds")
      yield* Fiber.join(closing)
      assert.isTrue(isDone(waiting))
      yield* right.wal.flush
      assert.strictEqual(budget.usedBytes, 0)
    }))
})
