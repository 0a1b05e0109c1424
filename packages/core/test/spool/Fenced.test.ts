/** A log with a spool that another writer has taken over. */
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { drive, makeWorld, records, store } from "../scenarios/World.ts"

describe("a writer with a spool that lost its log", () => {
  it.effect("is told so at once, also while its disk does not give back what is spooled", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      yield* store(wal, records(5))
      const state = { down: true }
      process.faults.rule(({ operation }) =>
        state.down && operation === "create" ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      const appended = yield* drive(wal.append(records(20, 6)))
      yield* drive(appended.spooled)
      disk.failingReads = "Failed"
      state.down = false
      yield* TestClock.adjust("1 minute")
      yield* drive(world.process("second").open())
      const trimming = yield* Effect.forkChild(Effect.exit(wal.trim(5)), { startImmediately: true })
      const error = yield* drive(Effect.flip(appended.durable))
      assert.strictEqual(error._tag, "WriterFenced")
      assert.strictEqual((yield* drive(wal.ended))._tag, "WriterFenced")
      assert.isDefined(trimming.pollUnsafe())
    }))
})
