import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"

const body = new Uint8Array(1)

/** Waits for a gate before each create. */
const slow = (inner: ObjectStore["Service"], gate: Deferred.Deferred<void>): ObjectStore["Service"] => ({
  ...inner,
  create: (key, bytes, options) => Effect.andThen(Deferred.await(gate), inner.create(key, bytes, options))
})

describe("crash", () => {
  it.effect("nothing answers a killed process: not what was held, and not what fails later", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      memory.put("taken", body)
      const gate = Deferred.makeUnsafe<void>()
      const held = FaultyObjectStore.make(memory.store)
      held.rule(() => ({ _tag: "HoldAfter", gate }))
      const waiting = FaultyObjectStore.make(slow(memory.store, gate))
      const fibers = yield* Effect.forEach([
        held.store.create("new", body),
        held.store.create("taken", body),
        waiting.store.create("taken", body)
      ], (request) => Effect.forkChild(request, { startImmediately: true }))
      held.crash()
      waiting.crash()
      yield* Deferred.done(gate, Exit.void)
      for (let turn = 0; turn < 50; turn++) yield* Effect.yieldNow
      assert.deepStrictEqual(fibers.map((fiber) => fiber.pollUnsafe()), [undefined, undefined, undefined])
      assert.isTrue(memory.objects.has("new"))
    }))
})
