/** Closing a log whose spool holds something. */
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { advanceUntil, drive, gate, makeWorld, records } from "../scenarios/World.ts"

describe("a log with a spool", () => {
  it.effect("closing once the store is back waits until what was spooled is durable", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      const state = { down: true }
      process.faults.rule(() => state.down ? { _tag: "Fail", reason: "Unavailable" } : undefined)
      const { spooled } = yield* wal.append(records(20))
      yield* drive(spooled)
      const held = yield* gate
      process.faults.rule(({ key, operation }) =>
        !state.down && operation === "create" && key.endsWith("1.seg") ? { _tag: "HoldBefore", gate: held } : undefined
      )
      state.down = false
      yield* advanceUntil(() => world.slots.length === 1)
      const closing = yield* Effect.forkChild(wal.close, { startImmediately: true })
      yield* TestClock.adjust("1 second")
      assert.isFalse(closing.pollUnsafe() !== undefined)
      yield* Deferred.succeed(held, undefined)
      assert.deepInclude(yield* drive(Fiber.join(closing)), { durable: 20, spooled: null, lost: null })
    }))
})
