/** Twins of the damage cases: whole and valid objects, of another log. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { manifestKey } from "../../src/format/ObjectKey.ts"
import {
  dense,
  drive,
  killedWriter,
  makeWorld,
  prefix,
  readAll,
  records,
  store,
  type World
} from "../scenarios/World.ts"

const logOf = Effect.fnUntraced(function*(count: number) {
  const world = yield* makeWorld()
  yield* killedWriter(world, count)
  return world
})

const copy = (from: World, to: World, key: string): void => {
  const object = from.memory.objects.get(key)
  if (object === undefined) throw new Error(`there is no ${key}`)
  to.memory.put(key, object.body)
}

const segments = (world: World) => world.bucket.filter(([key]) => key.endsWith(".seg"))

describe("an object of another log", () => {
  it.effect("[kind H] its manifest over ours: refused by what the segments say, none is touched, and ours back opens", () =>
    Effect.gen(function*() {
      const ours = yield* logOf(12)
      const theirs = yield* logOf(30)
      const kept = ours.memory.objects.get(manifestKey(prefix))?.body.slice() ?? new Uint8Array(0)
      const before = segments(ours)
      copy(theirs, ours, manifestKey(prefix))
      const error = yield* Effect.flip(drive(ours.process("b").open()))
      assert.strictEqual(error._tag, "SegmentCorrupt")
      if (error._tag === "SegmentCorrupt") assert.include(error.reason, "not the segment of this slot")
      assert.deepStrictEqual(segments(ours), before)
      ours.memory.put(manifestKey(prefix), kept)
      assert.deepStrictEqual(yield* readAll(yield* drive(ours.process("c").open())), dense(12))
    }))

  it.effect("[kind H] the manifest of a log that was never written, over ours: no segment is overwritten", () =>
    Effect.gen(function*() {
      const ours = yield* logOf(12)
      const fresh = yield* makeWorld()
      const process = fresh.process("x")
      // Only the manifest of a log that nobody has claimed: the claim is never sent.
      process.faults.rule((request) => request.operation === "replace" ? { _tag: "Silence" } : undefined)
      yield* Effect.exit(Effect.timeoutOption(drive(Effect.timeoutOption(process.open(), "1 second")), "1 minute"))
      const before = segments(ours)
      copy(fresh, ours, manifestKey(prefix))
      const wal = yield* drive(ours.process("b").open())
      const { durable } = yield* wal.append(records(5))
      const error = yield* Effect.flip(drive(durable))
      assert.strictEqual(error._tag, "SegmentConflict")
      assert.strictEqual((yield* wal.status).state, "failed")
      assert.deepStrictEqual(segments(ours), before)
    }))

  it.effect("[kind H] its segment under our key: damage by its name where it is read, a conflict where we would write", () =>
    Effect.gen(function*() {
      const ours = yield* makeWorld()
      const theirs = yield* logOf(30)
      const wal = yield* drive(ours.process("a").open())
      yield* store(wal, records(10))
      copy(theirs, ours, ours.key(1, 2))
      const { durable } = yield* wal.append(records(5, 11))
      assert.strictEqual((yield* Effect.flip(drive(durable)))._tag, "SegmentConflict")
      // The next opener does not take it for the end of the epoch either.
      const refused = yield* Effect.flip(drive(ours.process("b").open()))
      assert.strictEqual(refused._tag, "SegmentCorrupt")
      ours.memory.objects.delete(ours.key(1, 2))
      copy(theirs, ours, ours.key(1, 0))
      const opened = yield* drive(ours.process("c").open())
      const error = yield* Effect.flip(readAll(opened))
      assert.strictEqual(error._tag, "SegmentCorrupt")
      if (error._tag === "SegmentCorrupt") assert.strictEqual(error.key, ours.key(1, 0))
    }))

  it.effect("[kind H] its end marker inside our epoch ends nothing", () =>
    Effect.gen(function*() {
      const ours = yield* logOf(10)
      const theirs = yield* logOf(10)
      yield* drive(theirs.process("b").open())
      copy(theirs, ours, ours.key(1, 2))
      const refused = yield* Effect.flip(drive(ours.process("b").open()))
      assert.strictEqual(refused._tag, "SegmentCorrupt")
      ours.memory.objects.delete(ours.key(1, 2))
      assert.deepStrictEqual(yield* readAll(yield* drive(ours.process("c").open())), dense(10))
    }))
})
