import { findAbandonedLogs } from "@effect-wal/core/AbandonedLogs"
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { Wal } from "@effect-wal/core/Wal"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import { decode, encode } from "./support/LogWorld.ts"

/** A node that appends five records, commits `committed` of them and goes. */
const node = (nodeId: string, streamId: string, committed: number) =>
  Effect.gen(function*() {
    const wal = yield* Wal.make({ nodeId, streamId, prefix: "logs", segment: { linger: "0ms" } })
    const appended = yield* wal.append(Array.from({ length: 5 }, () => ({ payload: new Uint8Array(1) })))
    yield* appended.durable
    yield* wal.commit(committed)
    yield* wal.close
  }).pipe(Effect.scoped, Effect.provideService(ProcessRegistry, new ProcessRegistryState()))

describe("findAbandonedLogs", () => {
  it.effect("counts the logs of other nodes that hold uncommitted records", () =>
    Effect.gen(function*() {
      yield* node("here", "orders", 0)
      yield* node("gone", "orders", 2)
      yield* node("gone", "payments", 5)
      const memory = yield* MemoryObjectStore
      memory.put("logs/readme.txt", new Uint8Array(1))
      memory.put("logs/gone/empty/note", new Uint8Array(1))
      memory.clearRequests()
      assert.deepStrictEqual(yield* findAbandonedLogs({ prefix: "logs", nodeId: "here" }), [
        { nodeId: "gone", streamId: "orders", uncommitted: 3 }
      ])
      assert.strictEqual(memory.count("create") + memory.count("replace") + memory.count("remove"), 0)
    }).pipe(Effect.provide(MemoryObjectStore.layer())))

  it.effect("does not count what age has deleted, though no cursor has passed it", () =>
    Effect.gen(function*() {
      yield* node("gone", "orders", 2)
      const memory = yield* MemoryObjectStore
      const manifest = "logs/gone/orders/manifest.json"
      const body: unknown = JSON.parse(decode(memory.objects.get(manifest)?.body ?? encode("")))
      assert.isTrue(Predicate.hasProperty(body, "checkpoint"))
      const checkpoint = Predicate.hasProperty(body, "checkpoint") ? body.checkpoint : undefined
      memory.put(manifest, encode(JSON.stringify(Object.assign({}, body, { trim: checkpoint }))))
      assert.deepStrictEqual(yield* findAbandonedLogs({ prefix: "logs", nodeId: "here" }), [])
    }).pipe(Effect.provide(MemoryObjectStore.layer())))
})
