/** Damage that keeps a log from being opened: in the live epoch, where it has to be ended. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import * as WalRepair from "@effect-wal/core/WalRepair"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { epochPrefix } from "../../src/format/ObjectKey.ts"
import { maxRecordsOf } from "../../src/repair/Reserve.ts"
import {
  advanceUntil,
  drive,
  encode,
  killedWriter,
  makeWorld,
  prefix,
  records,
  store,
  type World
} from "../scenarios/World.ts"
import { identity, makeEpochs, onStore, rewrite } from "../verify/Checked.ts"
import { expected, planOf, readSkipping, repaired } from "./Repaired.ts"

const refused = (world: World) => Effect.map(drive(Effect.flip(world.process("refused").open())), (error) => error._tag)

/** What the default of `max_segment_bytes` can hold of the smallest records. */
const most = maxRecordsOf(64 * 1_048_576)

describe("a live epoch that does not open", () => {
  it.effect("a hole below what a header knows to be durable: ended above everything that is there [case 18]", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      yield* killedWriter(base, 40)
      for (const slot of [0, 3, 6]) {
        const world = yield* base.copy
        world.memory.objects.delete(world.key(1, slot))
        assert.strictEqual(yield* refused(world), "SegmentMissing")
        const { actions, damaged } = yield* repaired(world)
        assert.deepStrictEqual(actions.map((one) => one._tag), ["PutEndMarker", "Copy", "PutManifest"])
        const lost = [slot * 5 + 1, slot * 5 + 5] as const
        assert.deepStrictEqual(damaged.map((one) => one.lost), [{ from: lost[0], to: lost[1], exact: true }])
        assert.deepStrictEqual(yield* readSkipping(world), expected(45, lost))
      }
    }))

  it.effect("what a running writer trims meanwhile keeps nobody from opening it: nothing is planned", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(40))
      yield* drive(wal.trim(0))
      const trimAll = Effect.gen(function*() {
        yield* wal.commit(40)
        yield* wal.trim(40)
        for (let turn = 0; turn < 100 && world.slots.length > 0; turn++) yield* Effect.yieldNow
        assert.deepStrictEqual(world.slots, [])
      }).pipe(Effect.orDie)
      let isTrimmed = false
      const given: ObjectStore["Service"] = {
        ...world.memory.store,
        list: (request) =>
          Effect.suspend(() => {
            // By then the manifest is read, and every segment was there.
            const isLook = request.prefix === epochPrefix(prefix, 1) && !isTrimmed
            isTrimmed ||= isLook
            return Effect.andThen(isLook ? trimAll : Effect.void, world.memory.store.list(request))
          })
      }
      const { actions, notes } = yield* drive(onStore(WalRepair.plan(identity), given))
      assert.isTrue(isTrimmed)
      assert.deepStrictEqual([actions, notes], [[], []])
    }))

  it.effect("many slots below the checkpoint, up to it: the checkpoint knows the last number", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(20))
      yield* drive(wal.close)
      for (const slot of [2, 3]) world.memory.objects.delete(world.key(1, slot))
      assert.strictEqual(yield* refused(world), "SegmentMissing")
      yield* world.editManifest((one) => ({ ...one, index: [] }))
      const { damaged, kept } = yield* repaired(world)
      assert.deepStrictEqual(damaged.map((one) => [one.slot, one.through, one.lost?.from, one.lost?.to]), [[
        2,
        3,
        11,
        20
      ]])
      assert.strictEqual(kept.lastSeq, 20)
      assert.deepStrictEqual(yield* readSkipping(world), expected(25, [11, 20]))
    }))

  it.effect("a cursor above what is left: its records are lost, their numbers are not given out again", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      yield* world.editManifest((one) => ({
        ...one,
        cursors: { revision: { epoch: 1, n: 5 }, marks: { default: 0, other: 18 } }
      }))
      world.memory.objects.delete(world.key(1, 3))
      assert.strictEqual(yield* refused(world), "SegmentMissing")
      const { kept } = yield* repaired(world)
      // Nobody knows how many records the lost segment had behind the cursor.
      assert.strictEqual(kept.lastSeq, 18 + most)
      const read = yield* readSkipping(world)
      assert.deepStrictEqual(read.slice(0, 16), [...expected(15), `lost 16-${18 + most}`])
      assert.strictEqual(read.length, 21)
    }))

  it.effect("a last segment whose header does not read: as many numbers are left out as it can have had", () =>
    Effect.gen(function*() {
      const base = yield* makeEpochs(2)
      for (const damage of [() => encode(""), () => encode("hello"), (bytes: Uint8Array) => bytes.fill(7, 60, 64)]) {
        const world = yield* base.copy
        world.memory.damage(world.key(2, 3), damage)
        assert.strictEqual(yield* refused(world), "SegmentCorrupt")
        const { damaged, kept } = yield* repaired(world)
        assert.deepStrictEqual(damaged.map((one) => one.lost), [{ from: 36, to: 35 + most, exact: false }])
        assert.strictEqual(kept.lastSeq, 35 + most)
        const read = yield* readSkipping(world)
        assert.deepStrictEqual(read.slice(0, 36), [...expected(35), `lost 36-${35 + most}`])
      }
    }))

  it.effect("a last segment whose body does not read: its header knows the numbers, and the log opens as it is", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      world.memory.damage(world.key(2, 3), (bytes) => bytes.fill(9, bytes.length - 4))
      const { actions } = yield* repaired(world)
      assert.deepStrictEqual(actions.map((one) => one._tag), ["Copy", "Copy", "PutManifest"])
      assert.strictEqual((yield* world.manifest).damage?.[0]?.from, 36)
      assert.deepStrictEqual(yield* readSkipping(world), expected(45, [36, 40]))
    }))

  it.effect("something of another log where the next slot would be", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const bytes = world.memory.objects.get(world.key(2, 3))?.body ?? encode("")
      world.memory.put(world.key(2, 4), bytes)
      yield* rewrite(world, { epoch: 2, slot: 4 }, (header) => ({ ...header, logId: "f".repeat(32) }))
      assert.strictEqual(yield* refused(world), "SegmentCorrupt")
      yield* repaired(world)
      const read = yield* readSkipping(world)
      assert.deepStrictEqual(read.slice(0, 41), [...expected(40), `lost 41-${40 + most}`])
    }))

  it.effect("what producers have appended to it is remembered", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(10))
      const call = yield* wal.append(records(3), { producer: { id: "loader", sequence: 7 } })
      yield* drive(call.durable)
      process.crash()
      world.memory.objects.delete(world.key(1, 0))
      yield* repaired(world)
      const again = yield* drive(world.process("again").open())
      const repeat = yield* again.append(records(3), { producer: { id: "loader", sequence: 7 } })
      assert.deepStrictEqual([repeat.first, repeat.last], [11, 13])
    }))

  it.effect("a hole that a repair has recorded goes with the rest when it is trimmed", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      yield* killedWriter(world, 40)
      world.memory.objects.delete(world.key(1, 3))
      yield* repaired(world)
      const wal = yield* drive(world.process("b").open())
      yield* wal.commit(45)
      assert.strictEqual(yield* drive(wal.trim(45)), 45)
      yield* advanceUntil(() => !world.memory.objects.has(world.key(1, 7)))
      assert.isUndefined((yield* world.manifest).damage)
      assert.deepStrictEqual((yield* planOf(world)).actions, [])
    }))
})
