/** What a start makes of a spool that an earlier process has left, whatever happened to the log meanwhile. */
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { manifestKey } from "../../src/format/ObjectKey.ts"
import {
  advanceUntil,
  dense,
  drive,
  makeWorld,
  prefix,
  readAll,
  records,
  store,
  type World
} from "../scenarios/World.ts"
import { killedSpooler, limit, named, payloads, spool } from "./SpoolWorld.ts"

describe("a spool that a killed process has left", () => {
  it.effect("is sent under its own numbers where nobody has taken the log over", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      const wal = yield* drive(world.process("first", {}, disk).open())
      assert.deepStrictEqual(yield* readAll(wal), dense(25))
      assert.deepStrictEqual(disk.held(), [])
      yield* store(wal, records(5, 26))
      assert.deepStrictEqual(yield* readAll(wal), dense(30))
    }))

  it.effect("is appended again, once, with new numbers, where another node has taken the log over", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      const second = world.process("second")
      const other = yield* drive(second.open())
      yield* store(other, [{ payload: new TextEncoder().encode("other") }])
      const wal = yield* drive(world.process("first", {}, disk).open())
      yield* drive(wal.flush)
      yield* store(wal, [{ payload: new TextEncoder().encode("after") }])
      const expected = [...named(5), "other", ...named(20, 6), "after"]
      assert.deepStrictEqual(yield* payloads(wal), expected)
      yield* advanceUntil(() => disk.held().length === 0)
      // Once more: nothing is left to append.
      const again = yield* drive(world.process("first", {}, disk).open())
      assert.deepStrictEqual(yield* payloads(again), expected)
    }))

  it.effect("is cut at the marker of a take-over that came in between its slots", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      const first = world.process("first", { parallelPut: { workers: 1 } }, disk)
      const wal = yield* drive(first.open())
      // Slot 0 lands, and its answer is lost: it is in the spool as well.
      let landed = false
      first.faults.rule(({ key, operation }) => {
        const applied = operation === "create" && key.endsWith("00.seg") && !landed
        landed ||= applied
        return { _tag: "Fail", reason: "TimedOut", applied }
      })
      yield* spool(wal, records(15))
      first.crash()
      yield* drive(world.process("second").open())
      const again = yield* drive(world.process("first", {}, disk).open())
      yield* drive(again.flush)
      assert.deepStrictEqual(yield* payloads(again), named(15))
      assert.deepInclude((yield* readAll(again)).slice(0, 5), "1:r1")
    }))

  for (const applied of [0, 1, 2, 3]) {
    it.effect(`a second crash after ${applied} copies appends nothing twice`, () =>
      Effect.gen(function*() {
        const world = yield* makeWorld()
        const disk = MemorySpool.make()
        yield* killedSpooler(world, disk, 5, 20)
        yield* drive(world.process("second").open())
        const first = world.process("first", {}, disk)
        const puts = limit(first, 3, applied)
        const wal = yield* drive(first.open())
        yield* advanceUntil(() => puts() > applied)
        assert.strictEqual((yield* wal.status).durable, 5 + 5 * applied)
        first.crash()
        const last = yield* drive(world.process("first", {}, disk).open())
        yield* drive(last.flush)
        assert.deepStrictEqual(yield* payloads(last), named(25))
        yield* advanceUntil(() => disk.held().length === 0)
      }))

    it.effect(`nor where a third node has taken over after ${applied} copies, and what was spooled again is left too`, () =>
      Effect.gen(function*() {
        const world = yield* makeWorld()
        const disk = MemorySpool.make()
        yield* killedSpooler(world, disk, 5, 20)
        yield* drive(world.process("second").open())
        const first = world.process("first", {}, disk)
        limit(first, 3, applied)
        const wal = yield* drive(first.open())
        yield* spool(wal, records(10, 26))
        first.crash()
        yield* drive(world.process("third").open())
        const last = yield* drive(world.process("first", {}, disk).open())
        yield* drive(last.flush)
        assert.deepStrictEqual(yield* payloads(last), named(35))
        yield* advanceUntil(() => disk.held().length === 0)
      }))
  }

  it.effect("is found by the manifest though the configuration does not name it any more", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      disk.isLeft = true
      const wal = yield* drive(world.process("first", {}, disk).open())
      assert.deepStrictEqual(yield* readAll(wal), dense(25))
      assert.deepStrictEqual(disk.held(), [])
      assert.notProperty(yield* wal.status, "spool")
    }))

  it.effect("ended by its marker alone, when the manifest has forgotten the epoch", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      const second = world.process("second")
      const other = yield* drive(second.open())
      yield* store(other, records(5, 101))
      yield* other.commit(10)
      yield* drive(other.trim(10))
      assert.deepStrictEqual((yield* world.manifest).ends, [])
      yield* drive(other.close)
      const wal = yield* drive(world.process("first", {}, disk).open())
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* payloads(wal), named(20, 6))
    }))
})

describe("a spool that nothing in the store explains is refused, and nothing is changed", () => {
  const refused = Effect.fnUntraced(function*(world: World, disk: MemorySpool.MemorySpool) {
    const bucket = world.bucket
    const held = disk.held()
    const error = yield* Effect.flip(drive(world.process("first", {}, disk).open()))
    assert.strictEqual(error._tag, "SpoolUndecided")
    assert.deepStrictEqual(world.bucket, bucket)
    assert.deepStrictEqual(disk.held(), held)
    return error.message
  })

  it.effect("when the store has no manifest of the log", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      const empty = yield* makeWorld()
      assert.include(yield* refused(empty, disk), "no manifest")
    }))

  it.effect("when the store has another log", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      const other = yield* makeWorld()
      yield* drive(other.process("second").open())
      assert.include(yield* refused(other, disk), "they belong to log")
    }))

  it.effect("when the store was put back to an older state", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* drive(world.process("zero").open())
      const old = world.memory.objects.get(manifestKey(prefix))?.body ?? new Uint8Array(0)
      yield* killedSpooler(world, disk, 5, 20)
      world.memory.put(manifestKey(prefix), old)
      assert.include(yield* refused(world, disk), "older")
    }))

  it.effect("when the end of the epoch and its marker are gone", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      yield* drive(world.process("second").open())
      yield* world.editManifest((manifest) => ({ ...manifest, ends: [] }))
      world.memory.objects.delete(world.key(1, 1))
      assert.include(yield* refused(world, disk), "nothing in the store says how epoch 1 ended")
    }))

  it.effect("when a spooled segment does not read back", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      disk.harm(1, 1, new Uint8Array(100))
      assert.include(yield* refused(world, disk), "not a segment")
    }))

  for (const slot of [1, 2, 3]) {
    it.effect(`when slot ${slot} of the live epoch is in neither the spool nor the store, and later ones are spooled`, () =>
      Effect.gen(function*() {
        const world = yield* makeWorld()
        const disk = MemorySpool.make()
        yield* killedSpooler(world, disk, 5, 20)
        disk.harm(1, slot, undefined)
        assert.include(yield* refused(world, disk), "neither the spool nor the store has this slot")
      }))
  }

  it.effect("when a slot that an ended epoch could not store is gone, and later ones are spooled", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      yield* drive(world.process("second").open())
      disk.harm(1, 2, undefined)
      const held = disk.held()
      const error = yield* Effect.flip(drive(world.process("first", {}, disk).open()))
      assert.deepInclude(error, { _tag: "SpoolUndecided", epoch: 1, slot: 2 })
      assert.deepStrictEqual(disk.held(), held)
    }))
})

describe("the directory of a spool", () => {
  it.effect("may move: it is the same spool under another path", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      const moved = MemorySpool.make({ path: "/elsewhere" })
      const { source } = disk.attach()
      const opened: Array<string> = []
      const attach: MemorySpool.MemorySpool["attach"] = () => ({
        source: {
          path: "/elsewhere",
          open: (name) => Effect.map(source.open(name), (service) => ({ ...service, path: "/elsewhere" })),
          openLeft: (path) => {
            opened.push(path)
            return source.openLeft(path)
          }
        },
        crash: () => undefined
      })
      const wal = yield* drive(world.process("first", {}, { ...moved, attach }).open())
      assert.deepStrictEqual(opened, [])
      assert.deepStrictEqual(yield* readAll(wal), dense(25))
    }))
})
