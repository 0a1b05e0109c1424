/** Twins of the crash cases: killed in the first moments of a new epoch, with parts of a batch stored. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  advanceUntil,
  dense,
  drive,
  holdCreates,
  killedWriter,
  killWhileOpening,
  makeWorld,
  readAll,
  records,
  requestsOfOpening,
  store,
  type World
} from "../scenarios/World.ts"

/** Takes over, appends three segments at once of which the second is never stored, and is killed. */
const killedInBatch = Effect.fnUntraced(function*(world: World, from: number) {
  const process = world.process("second")
  const wal = yield* drive(process.open())
  yield* holdCreates(process, "/000000000001.seg")
  yield* wal.append(records(15, from))
  const stored = () => world.slots.filter((slot) => slot.startsWith("0000000002/")).length
  yield* advanceUntil(() => stored() === 2)
  process.crash()
})

describe("a crash within the first batch after a take-over", () => {
  it.effect("[kind F] the stored prefix is delivered once, what lies behind the hole never, start after start", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      yield* killedWriter(world, 7)
      yield* killedInBatch(world, 8)
      for (const host of ["third", "fourth"]) {
        const wal = yield* drive(world.process(host).open())
        assert.deepStrictEqual(yield* readAll(wal), dense(12), host)
      }
      const fifth = yield* drive(world.process("fifth").open())
      yield* store(fifth, records(8, 13))
      assert.deepStrictEqual(yield* readAll(fifth), dense(20))
      // The piece behind the hole is still there, and belongs to nobody.
      assert.include(world.slots, "0000000002/000000000002.seg")
      const { ends } = yield* world.manifest
      assert.deepStrictEqual(ends.map((end) => [end.epoch, end.slot, end.seq]), [[1, 2, 7], [2, 1, 12]])
    }))

  it.effect("[kind F] where the first segment is the hole, the epoch holds nothing and its numbers are given anew", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      yield* killedWriter(world, 7)
      const process = world.process("second")
      const wal = yield* drive(process.open())
      yield* holdCreates(process, "0000000002/000000000000.seg")
      yield* wal.append(records(15, 100))
      yield* advanceUntil(() => world.slots.length === 5)
      process.crash()
      const third = yield* drive(world.process("third").open())
      yield* store(third, records(3, 8))
      assert.deepStrictEqual(yield* readAll(third), dense(10))
      assert.strictEqual((yield* world.header(3, 0)).firstSeq, 8)
    }))

  it.effect("[kind F] killed again at each request of the next opening: no start differs from the others", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      yield* killedWriter(world, 7)
      yield* killedInBatch(world, 8)
      const requests = yield* requestsOfOpening(world)
      for (let nth = 0; nth < requests.length; nth++) {
        yield* killWhileOpening(world.process(`killed-${nth}`), nth, nth % 2 === 0)
      }
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("last").open())), dense(12))
    }))
})
