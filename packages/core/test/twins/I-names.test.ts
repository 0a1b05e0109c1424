/** Twins of the naming cases: keys that are almost ours. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { parseSlotKey, segmentsPrefix, slotKey } from "../../src/format/ObjectKey.ts"
import {
  advanceUntil,
  dense,
  drive,
  killedWriter,
  makeWorld,
  prefix,
  readAll,
  records,
  store
} from "../scenarios/World.ts"

const segments = segmentsPrefix(prefix)

/** Each could be taken for slot 3 of epoch 1 by somebody who is generous with names. */
const almost = [
  `${segments}0000000001/000000000003.SEG`,
  `${segments}0000000001/000000000003.seg `,
  `${segments}0000000001/000000000003.seg\n`,
  `${segments}0000000001/000000000003.seg/`,
  `${segments}0000000001/0000000000003.seg`,
  `${segments}0000000001/00000000003.seg`,
  `${segments}00000000001/000000000003.seg`,
  `${segments}000000001/000000000003.seg`,
  `${segments}0000000001/00000000000３.seg`,
  `${segments}0000000001/00000000000x.seg`,
  `${segments}0000000001/-00000000003.seg`,
  `${segments}0000000001/0000000003e0.seg`,
  `${segments}0000000001//000000000003.seg`,
  `${segments}0000000001%2F000000000003.seg`,
  `${segments}0000000001%252F000000000003.seg`,
  `${segments}0000000001/%30%30%30000000003.seg`,
  `${prefix}Segments/0000000001/000000000003.seg`,
  `${prefix}segments0000000001/000000000003.seg`
]

describe("keys that are almost ours", () => {
  it.each(almost)("[kind I] %j names no slot", (key) => {
    assert.isUndefined(parseSlotKey(prefix, key))
  })

  it("[kind I] the largest names are slots, and come back as they were written", () => {
    for (const place of [{ epoch: 1, slot: 0 }, { epoch: 9_999_999_999, slot: 999_999_999_999 }]) {
      assert.deepStrictEqual(parseSlotKey(prefix, slotKey(prefix, place.epoch, place.slot)), place)
    }
  })

  it.effect("[kind I] beside a log are neither read nor the end of it nor deleted, and slot 3 is still free", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      yield* killedWriter(world, 15)
      const genuine = world.memory.objects.get(world.key(1, 1))?.body ?? new Uint8Array(0)
      for (const key of almost) world.memory.put(key, genuine)
      const wal = yield* drive(world.process("b").open())
      assert.deepStrictEqual(yield* readAll(wal), dense(15))
      yield* store(wal, records(5, 16))
      yield* wal.commit(20)
      assert.strictEqual(yield* drive(wal.trim(20)), 20)
      yield* advanceUntil(() => !world.memory.objects.has(world.key(2, 0)))
      for (const key of almost) assert.isTrue(world.memory.objects.has(key), key)
      assert.strictEqual((yield* world.header(1, 3)).kind, "end-marker")
    }))

  it.effect("[kind I] two logs whose names differ in case only are two logs", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const lower = yield* drive(world.process("a", { streamId: "orders" }).open())
      const upper = yield* drive(world.process("a", { streamId: "Orders" }).open())
      yield* store(lower, records(2))
      yield* store(upper, records(4))
      assert.deepStrictEqual(yield* readAll(lower), dense(2))
      assert.deepStrictEqual(yield* readAll(upper), dense(4))
    }))
})
