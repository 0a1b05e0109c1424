/** An end marker that lands late, below the trim point, and a spool whose epoch has its end only by its markers. */
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { advanceUntil, drive, gate, makeWorld, openGate, readAll, records, store } from "../scenarios/World.ts"
import { spool } from "./SpoolWorld.ts"

describe("a spool that a killed process has left", () => {
  it.effect("is not appended again where a late end marker has come below the trim point", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const disk = MemorySpool.make()
      const first = world.process("first", {}, disk)
      const wal = yield* drive(first.open())
      const segment = yield* gate
      let puts = 0
      // The PUT of slot 0 is under way when the process dies; the slot is in the spool.
      first.faults.rule(({ key, operation }) =>
        operation === "create" && key === world.key(1, 0) && puts++ === 0
          ? { _tag: "Ghost", reason: "TimedOut", gate: segment }
          : { _tag: "Fail", reason: "Unavailable" }
      )
      yield* spool(wal, records(5))
      first.crash()
      // Another node finds slot 0 free, its marker for it times out, and then the slot lands: the epoch ends at slot 1.
      const second = world.process("second")
      const marker = yield* gate
      let markers = 0
      second.faults.rule(({ key, operation }) =>
        operation === "create" && key === world.key(1, 0) && markers++ === 0
          ? { _tag: "Ghost", reason: "TimedOut", gate: marker }
          : undefined
      )
      const opening = yield* Effect.forkChild(second.open(), { startImmediately: true })
      yield* advanceUntil(() => markers > 0)
      yield* openGate(segment)
      const other = yield* drive(Fiber.join(opening))
      assert.deepStrictEqual(yield* readAll(other), ["1:r1", "2:r2", "3:r3", "4:r4", "5:r5"])
      yield* other.commit(5)
      yield* drive(other.trim(5))
      yield* advanceUntil(() => !world.memory.objects.has(world.key(1, 0)))
      yield* openGate(marker)
      yield* advanceUntil(() => world.memory.objects.has(world.key(1, 0)))
      second.crash()
      // All that the spool holds was durable, delivered and committed.
      const again = yield* drive(world.process("first", {}, disk).open())
      yield* drive(again.flush)
      assert.strictEqual((yield* again.status).durable, 5)
    }))

  it.effect("is known to be stored by a writer that trims its own segments, for whom no header says so", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const disk = MemorySpool.make()
      const wal = yield* drive(world.process("first", {}, disk).open())
      yield* store(wal, records(5))
      yield* wal.commit(5)
      yield* drive(wal.trim(5))
      const { origins } = yield* world.manifest
      assert.deepStrictEqual(Object.values(origins ?? {}), [{ epoch: 1, slot: 0 }])
    }))
})
