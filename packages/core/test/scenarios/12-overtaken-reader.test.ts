/** Readers of a writer that was overtaken and does not know it yet. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { advanceUntil, drive, makeWorld, readAll, records, store } from "./World.ts"

describe("a reader of an overtaken writer", () => {
  it.effect("is told of the newer writer, not of damage that is none; nothing is acknowledged as lost", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ tailBufferBytes: 0 })
      const old = yield* drive(world.process("old").open())
      yield* store(old, records(20))
      const next = yield* drive(world.process("next").open())
      yield* next.commit(20)
      assert.strictEqual(yield* drive(next.trim(20)), 20)
      yield* advanceUntil(() => world.slots.length === 1)
      const read = yield* drive(Effect.flip(readAll(old)))
      assert.deepInclude(read, { _tag: "WriterFenced", byHost: "next" })
      const skipped = old.replay({ until: "durable-end", onDamage: "skip" })
      assert.strictEqual((yield* drive(Effect.flip(Stream.runDrain(skipped))))._tag, "WriterFenced")
      const { cursors, state } = yield* old.status
      assert.deepStrictEqual([cursors["default"]?.mark, state], [0, "fenced"])
    }))

  it.effect("is told of damage where the log is still its own", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ tailBufferBytes: 0 })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(20))
      world.memory.objects.delete(world.key(1, 1))
      assert.strictEqual((yield* Effect.flip(readAll(wal)))._tag, "SegmentMissing")
      assert.strictEqual((yield* wal.status).state, "open")
    }))
})
