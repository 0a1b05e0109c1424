/** What a crash leaves is adopted the same way each time, and cursors never go back. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import {
  advanceUntil,
  decode,
  dense,
  drive,
  holdCreates,
  killedWriter,
  makeWorld,
  nthRequest,
  readAll,
  records,
  store
} from "./World.ts"

describe("adoption", () => {
  it.effect("[case 9] [predecessor 5] segments that no manifest names are adopted, once, by every start", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const first = world.process("a")
      const a = yield* drive(first.open())
      yield* store(a, records(10))
      first.crash()
      assert.strictEqual((yield* world.manifest).checkpoint.slot, 0)
      for (const host of ["b", "c"]) {
        const process = world.process(host)
        assert.deepStrictEqual(yield* readAll(yield* drive(process.open())), dense(10))
        process.crash()
      }
      const d = yield* drive(world.process("d").open())
      yield* store(d, records(10, 11))
      yield* d.flush
      const last = yield* drive(world.process("e").open())
      assert.deepStrictEqual(yield* readAll(last), dense(20))
      assert.deepStrictEqual(new Set(world.slots).size, world.slots.length)
    }))

  it.effect("[case 9] a segment that was stored but not acknowledged is delivered exactly once", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const wal = yield* drive(process.open())
      nthRequest(process, 0, { _tag: "Silence", applied: true }, (one) => one.operation === "create")
      const { durable } = yield* wal.append(records(5))
      const waiting = yield* Effect.forkChild(durable, { startImmediately: true })
      yield* advanceUntil(() => world.slots.length === 1)
      assert.isUndefined(waiting.pollUnsafe())
      process.crash()
      const next = yield* drive(world.process("b").open())
      assert.deepStrictEqual(yield* readAll(next), dense(5))
      yield* store(next, records(5, 6))
      assert.deepStrictEqual(yield* readAll(next), dense(10))
    }))

  it.effect("[predecessor 9] all segments gone below a cursor: numbers go on above it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(20))
      yield* wal.commit(20)
      yield* drive(wal.trim(20))
      yield* drive(wal.close)
      for (const key of world.memory.objects.keys()) if (key.endsWith(".seg")) world.memory.objects.delete(key)
      const next = yield* drive(world.process("b").open())
      const { first } = yield* next.append(records(1))
      assert.strictEqual(first, 21)
    }))

  it.effect("[predecessor 9] all segments gone above the cursor is loud", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(20))
      yield* wal.commit(5)
      yield* drive(wal.close)
      for (const key of world.memory.objects.keys()) if (key.endsWith(".seg")) world.memory.objects.delete(key)
      const error = yield* drive(Effect.flip(world.process("b").open()))
      assert.deepStrictEqual(
        error._tag === "SegmentMissing" ? [error.from, error.to, error.key] : [error._tag],
        [6, 20, world.key(1, 3)]
      )
    }))

  it.effect("[case 18] a segment removed behind the log's back: starts, and is loud where it is read", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ segment: { maxEntries: 10, linger: "0ms" } })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(100))
      yield* wal.commit(50)
      yield* wal.commit(35, { cursor: "slow" })
      yield* drive(wal.close)
      world.memory.objects.delete(world.key(1, 3))
      const next = yield* drive(world.process("b").open())
      const after = yield* drive(Stream.runCollect(next.replay({ until: "durable-end" })))
      assert.deepStrictEqual([after.length, after[0]?.seq], [50, 51])
      const error = yield* drive(Effect.flip(Stream.runCollect(next.replay({ cursor: "slow", until: "durable-end" }))))
      assert.deepStrictEqual(
        error._tag === "SegmentMissing" ? [error.key, error.from, error.to] : [error._tag],
        [world.key(1, 3), 31, 40]
      )
      const skipped = yield* drive(
        Stream.runCollect(next.replay({ cursor: "slow", until: "durable-end", onDamage: "skip" }))
      )
      assert.deepStrictEqual(
        skipped.flatMap((one) => "_tag" in one ? [[one._tag, one.from, one.to]] : []),
        [["LostRange", 36, 40]]
      )
      assert.strictEqual(skipped.length, 61)
    }))

  it.effect("[case 18] a segment that may not be read is AccessDenied, and one 404 after the listing is asked again", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      yield* killedWriter(base, 10)
      const denied = base.process("b")
      denied.faults.rule((request) =>
        request.operation === "get" && request.key === base.key(1, 1)
          ? { _tag: "Fail", reason: "AccessDenied" }
          : undefined
      )
      assert.strictEqual((yield* drive(Effect.flip(denied.open())))._tag, "AccessDenied")
      const late = base.process("c")
      nthRequest(
        late,
        0,
        { _tag: "Fail", reason: "NotFound" },
        (one) => one.operation === "get" && one.key === base.key(1, 1)
      )
      const wal = yield* drive(late.open())
      nthRequest(late, 0, { _tag: "Fail", reason: "NotFound" }, (one) => one.operation === "get")
      assert.deepStrictEqual(yield* readAll(wal), dense(10))
    }))
})

describe("cursors across writers", () => {
  it.effect("[case 19] the mark that headers carry is found after a crash; the highest revision wins", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(10))
      yield* wal.commit(7)
      yield* wal.commit(4)
      yield* store(wal, records(5, 11))
      process.crash()
      assert.strictEqual((yield* world.manifest).cursors.marks["default"], 0)
      const next = yield* drive(world.process("b").open())
      const read = yield* drive(Stream.runCollect(next.replay({ until: "durable-end" })))
      assert.deepStrictEqual(read.map((one) => decode(one.payload)), dense(15).slice(7).map((one) => one.split(":")[1]))
      assert.strictEqual((yield* world.manifest).cursors.marks["default"], 7)
    }))

  it.effect("[case 19] a header older than the manifest does not take a cursor back, nor bring a removed one", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(10))
      yield* wal.commit(3)
      yield* wal.commit(2, { cursor: "gone" })
      yield* store(wal, records(5, 11))
      yield* wal.commit(9)
      yield* wal.removeCursor("gone")
      yield* drive(wal.trim(0))
      process.crash()
      const next = yield* drive(world.process("b").open())
      assert.deepStrictEqual((yield* world.manifest).cursors.marks, { default: 9 })
      assert.deepStrictEqual(Object.keys((yield* next.status).cursors), ["default"])
    }))

  it.effect("[case 19] a removed cursor stays removed when the newer set is only in a header", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(10))
      yield* wal.commit(2, { cursor: "gone" })
      // The manifest cannot be written any more: who removes the cursor waits in vain.
      process.faults.rule(({ operation }) => operation === "replace" ? { _tag: "Silence" } : undefined)
      yield* Effect.forkChild(wal.removeCursor("gone"), { startImmediately: true })
      yield* wal.commit(5)
      yield* store(wal, records(5, 11))
      process.crash()
      assert.deepStrictEqual((yield* world.manifest).cursors.marks, { default: 0, gone: 2 })
      yield* drive(world.process("b").open())
      assert.deepStrictEqual((yield* world.manifest).cursors.marks, { default: 5 })
    }))

  it.effect("[case 19] what orphans carry does not count", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 2 } })
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(5))
      yield* holdCreates(process, "1.seg")
      yield* wal.append(records(5, 6))
      yield* wal.commit(4)
      yield* wal.append(records(5, 11))
      yield* advanceUntil(() => world.slots.length === 2)
      process.crash()
      yield* drive(world.process("b").open())
      assert.strictEqual((yield* world.manifest).cursors.marks["default"], 0)
    }))

  it.effect("[case 19] commit, then close: exactly that value; concurrent commits: the highest", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ cursor: { interval: "1s" } })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(100))
      yield* Effect.forEach([50, 10, 80, 30, 20, 70, 60, 40], (seq) => wal.commit(seq), { concurrency: "unbounded" })
      yield* drive(wal.close)
      assert.strictEqual((yield* world.manifest).cursors.marks["default"], 80)
      const next = yield* drive(world.process("b").open())
      assert.strictEqual((yield* next.status).cursors["default"]?.mark, 80)
    }))

  it.effect("a cursor with any name of the alphabet survives a restart and holds back deletion", () =>
    Effect.gen(function*() {
      for (const cursor of ["__proto__", "constructor", "1", "a.b-c_D"]) {
        const world = yield* makeWorld({ retention: { policy: "committed" } })
        const wal = yield* drive(world.process("a").open())
        yield* store(wal, records(10))
        yield* wal.commit(3, { cursor })
        yield* drive(wal.close)
        const next = yield* drive(world.process("b").open())
        yield* next.commit(10)
        assert.strictEqual(yield* drive(next.trim(10)), 0, cursor)
        assert.deepStrictEqual(Object.keys((yield* next.status).cursors).sort(), [cursor, "default"].sort())
      }
    }))
})
