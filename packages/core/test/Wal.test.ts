import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"

const bytes = (text: string) => new TextEncoder().encode(text)
const texts = (count: number, from = 1) =>
  Array.from({ length: count }, (_, index) => ({ payload: bytes(`r${from + index}`) }))

describe("Wal", () => {
  it.effect("appends, makes durable, replays, commits", () =>
    Effect.gen(function*() {
      const wal = yield* Wal
      const { durable, first, last } = yield* wal.append(texts(10))
      assert.deepStrictEqual([first, last], [1, 10])
      yield* durable
      const read = yield* Stream.runCollect(wal.replay({ until: "durable-end" }))
      assert.deepStrictEqual(read.map((record) => record.seq), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      assert.deepStrictEqual(
        read.map((record) => new TextDecoder().decode(record.payload)),
        texts(10).map((_, i) => `r${i + 1}`)
      )
      yield* wal.commit(7)
      const rest = yield* Stream.runCollect(wal.replay({ until: "durable-end" }))
      assert.deepStrictEqual(rest.map((record) => record.seq), [8, 9, 10])
      const status = yield* wal.status
      assert.strictEqual(status.durable, 10)
      const report = yield* wal.close
      assert.deepStrictEqual(report.lost, null)
      assert.isTrue(report.manifestWritten)
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("is live after the end", () =>
    Effect.gen(function*() {
      const wal = yield* Wal
      yield* Effect.flatMap(wal.append(texts(3)), (appended) => appended.durable)
      const live = yield* wal.replay({ until: "live" }).pipe(Stream.take(5), Stream.runCollect, Effect.forkChild)
      yield* TestClock.adjust("1 second")
      yield* Effect.flatMap(wal.append(texts(2, 4)), (appended) => appended.durable)
      const read = yield* Fiber.join(live)
      assert.deepStrictEqual(read.map((record) => record.seq), [1, 2, 3, 4, 5])
    }).pipe(Effect.provide(WalTest.layer())))

  it.effect("opening says at once that the store refuses its manifest", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const faults = FaultyObjectStore.make(memory.store)
      faults.rule((request) => request.operation === "replace" ? { _tag: "Fail", reason: "AccessDenied" } : undefined)
      const registry = new ProcessRegistryState()
      registry.probed.add(memory.store.id)
      const error = yield* Effect.flip(Wal.make({ nodeId: "node", streamId: "log" })).pipe(
        Effect.scoped,
        Effect.provideService(ObjectStore, faults.store),
        Effect.provideService(ProcessRegistry, registry)
      )
      assert.strictEqual(error._tag, "AccessDenied")
    }))
})
