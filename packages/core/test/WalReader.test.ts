import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import { WalMap } from "@effect-wal/core/WalMap"
import { WalReader } from "@effect-wal/core/WalReader"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"

const texts = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ payload: new TextEncoder().encode(`record ${index}`) }))

const identity = { nodeId: "test", streamId: "test" }

const seqs = (records: ReadonlyArray<{ readonly seq: number }>) => records.map((record) => record.seq)

describe("WalReader", () => {
  it.effect("shows what is durable, changes no byte, and does not disturb the writer", () =>
    Effect.gen(function*() {
      const wal = yield* Wal
      const { memory } = yield* WalTest
      yield* Effect.flatMap(wal.append(texts(5)), (appended) => appended.durable)
      yield* wal.commit(2)
      yield* wal.trim(0)
      const before = [...memory.objects].map(([key, object]) => [key, object.tag])
      const reader = yield* WalReader.make(identity)
      assert.deepStrictEqual(seqs(yield* Stream.runCollect(reader.read())), [1, 2, 3, 4, 5])
      assert.deepStrictEqual(seqs(yield* Stream.runCollect(reader.replay({ until: "durable-end" }))), [3, 4, 5])
      const status = yield* reader.status
      assert.deepStrictEqual([status.durable, status.epoch, status.cursors["default"]], [5, 1, 2])
      assert.deepStrictEqual([...memory.objects].map(([key, object]) => [key, object.tag]), before)
      yield* Effect.flatMap(wal.append(texts(1)), (appended) => appended.durable)
      assert.strictEqual((yield* wal.status).state, "open")
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("sees new records when it looks again", () =>
    Effect.gen(function*() {
      const wal = yield* Wal
      yield* Effect.flatMap(wal.append(texts(2)), (appended) => appended.durable)
      const reader = yield* WalReader.make({ ...identity, pollInterval: "5 seconds" })
      const live = yield* reader.read({ until: "live" }).pipe(Stream.take(4), Stream.runCollect, Effect.forkChild)
      yield* TestClock.adjust("1 second")
      yield* Effect.flatMap(wal.append(texts(2)), (appended) => appended.durable)
      assert.isUndefined(live.pollUnsafe())
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(seqs(yield* Fiber.join(live)), [1, 2, 3, 4])
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("refuses to look for more without a pause", () =>
    Effect.gen(function*() {
      for (const pollInterval of ["0 millis", "-1 seconds", 0.5] as const) {
        const error = yield* Effect.flip(WalReader.make({ ...identity, pollInterval }))
        assert.strictEqual(error._tag, "ConfigError")
      }
    }).pipe(Effect.provide(MemoryObjectStore.layer())))

  it.effect("refuses where there is no log", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(WalReader.make(identity))
      assert.strictEqual(error._tag, "ManifestMissing")
    }).pipe(Effect.provide(MemoryObjectStore.layer())))
})

describe("WalMap", () => {
  it.effect("opens a stream again whose first opening failed", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const faults = FaultyObjectStore.make(memory.store)
      const mend = faults.rule((request) =>
        request.operation === "get" ? { _tag: "Fail", reason: "AccessDenied" } : undefined
      )
      yield* Effect.gen(function*() {
        const map = yield* WalMap
        const status = Effect.flatMap(Wal, (wal) => wal.status).pipe(Effect.provide(map.get("orders")))
        assert.strictEqual((yield* Effect.flip(status))._tag, "AccessDenied")
        mend()
        assert.strictEqual((yield* status).state, "open")
      }).pipe(
        Effect.provide(WalMap.layer((streamId) => ({ nodeId: "test", streamId }))),
        Effect.provideService(ObjectStore, faults.store)
      )
    }))

  it.effect("opens each stream once and shares it", () =>
    Effect.gen(function*() {
      const map = yield* WalMap
      const append = Effect.gen(function*() {
        const wal = yield* Wal
        const appended = yield* wal.append(texts(1))
        yield* appended.durable
        return [(yield* wal.status).streamId, appended.last]
      })
      const both = Effect.all([append, append]).pipe(Effect.provide(map.get("orders")))
      assert.deepStrictEqual(yield* both, [["orders", 1], ["orders", 2]])
      assert.deepStrictEqual(yield* Effect.provide(append, map.get("payments")), ["payments", 1])
    }).pipe(
      Effect.provide(WalMap.layer((streamId) => ({ nodeId: "test", streamId, segment: { linger: "0ms" } }))),
      Effect.provide(MemoryObjectStore.layer())
    ))
})
