/** A start whose records wait in more than one spool, as its configuration was changed, and changed back. */
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { advanceUntil, drive, makeWorld, records, type World } from "../scenarios/World.ts"
import { killedSpooler, leftBehind, limit, named, payloads, spool } from "./SpoolWorld.ts"

/** Another node takes the log over and gives it back. */
const takenOver = (world: World) =>
  Effect.gen(function*() {
    const other = yield* drive(world.process("second").open())
    yield* drive(other.close)
  })

const twoSpools = () => ({
  one: MemorySpool.make(),
  other: MemorySpool.make({ id: "6c".repeat(16), path: "/other" })
})

const placesIn = (disk: MemorySpool.MemorySpool) => disk.held().map(({ epoch, slot }) => `${epoch}/${slot}`)

describe("a start with several spools", () => {
  it.effect("opens though the store fails meanwhile, so that copies of a left spool wait in its own", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const { one, other } = twoSpools()
      // More than the queue takes: the first PUT has failed before the last of them is appended again.
      yield* killedSpooler(world, one, 5, 150)
      yield* takenOver(world)
      const process = world.process("first", {}, leftBehind(one, other))
      limit(process, 3, 1)
      const wal = yield* drive(process.open())
      assert.include(placesIn(other), "3/1")
      // Only the slot whose copy is durable is gone.
      assert.strictEqual((yield* wal.status).durable, 10)
      assert.deepStrictEqual(placesIn(one), Array.from({ length: 29 }, (_, index) => `1/${index + 2}`))
      process.crash()
      const again = yield* drive(world.process("first", {}, leftBehind(one, other)).open())
      yield* drive(again.flush)
      assert.deepStrictEqual(yield* payloads(again), named(155))
      yield* advanceUntil(() => one.held().length === 0 && other.held().length === 0)
    }))

  for (const stored of [0, 1, 2, 3, 4]) {
    it.effect(`appends again in the order of their epochs, also after a crash with ${stored} copies stored`, () =>
      Effect.gen(function*() {
        const world = yield* makeWorld()
        const { one, other } = twoSpools()
        yield* killedSpooler(world, one, 5, 10)
        yield* takenOver(world)
        // The other path is configured: copies of the first spool go there, and what is appended then.
        const changed = world.process("first", {}, leftBehind(one, other))
        limit(changed, 3, 0)
        yield* spool(yield* drive(changed.open()), records(10, 16))
        changed.crash()
        assert.deepStrictEqual([placesIn(one), placesIn(other)], [["1/1", "1/2"], ["3/0", "3/1", "3/2", "3/3"]])
        yield* takenOver(world)
        // The first one again: it holds an epoch before that of the other, and one behind it.
        const back = world.process("first", {}, leftBehind(other, one))
        const puts = limit(back, 5, stored)
        const wal = yield* drive(back.open())
        yield* spool(wal, records(10, 26))
        yield* advanceUntil(() => puts() > stored)
        assert.strictEqual((yield* wal.status).durable, 5 + 5 * stored)
        back.crash()
        yield* takenOver(world)
        const last = yield* drive(world.process("first", {}, leftBehind(one, other)).open())
        yield* drive(last.flush)
        assert.deepStrictEqual(yield* payloads(last), named(35))
        yield* advanceUntil(() => one.held().length === 0 && other.held().length === 0)
      }))
  }
})
