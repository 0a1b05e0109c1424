/** What is deleted: only what lies below a stored trim point, and what late requests left; never anything else. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { decodeManifest } from "../../src/format/ManifestCodec.ts"
import { manifestKey, segmentsPrefix } from "../../src/format/ObjectKey.ts"
import {
  advanceUntil,
  decode,
  dense,
  drive,
  encode,
  gate,
  killedWriter,
  makeWorld,
  nthRequest,
  openGate,
  prefix,
  readAll,
  records,
  store,
  type World,
  writerWithOrphans
} from "./World.ts"

const key = manifestKey(prefix)

/** Every deletion, checked against the manifest as it is stored at that moment. */
const watchDeletes = (world: World) => {
  const deleted: Array<string> = []
  const remove = world.memory.store.remove
  const checked = (keys: ReadonlyArray<string>) =>
    Effect.gen(function*() {
      const manifest = yield* Effect.orDie(decodeManifest(key, world.memory.objects.get(key)?.body ?? encode("")))
      for (const one of keys) {
        const [epoch, slot] = one.slice(segmentsPrefix(prefix).length).split("/").map((part) =>
          Number.parseInt(part, 10)
        )
        const { cursors, trim } = manifest
        const below = (epoch ?? 0) < trim.epoch || epoch === trim.epoch && (slot ?? 0) < trim.slot
        const end = manifest.ends.find((candidate) => candidate.epoch === epoch)
        const orphan = end !== undefined && (slot ?? 0) > end.slot
        assert.isTrue(below || orphan, `${one} was deleted with the trim point at ${trim.epoch}/${trim.slot}`)
        assert.isAtLeast(Math.min(...Object.values(cursors.marks)), trim.seq)
        deleted.push(one.slice(segmentsPrefix(prefix).length))
      }
      return yield* remove(keys)
    })
  Object.assign(world.memory.store, { remove: checked })
  return deleted
}

describe("deletion", () => {
  it.effect("[case 17] [predecessor 25] takes whole segments at or below every cursor, after the manifest says so", () =>
    Effect.gen(function*() {
      for (const [cursor, gone] of [[35, 30], [39, 30], [40, 40]] as const) {
        const world = yield* makeWorld({
          retention: { policy: "committed" },
          segment: { maxEntries: 10, linger: "0ms" }
        })
        const deleted = watchDeletes(world)
        const wal = yield* drive(world.process("a").open())
        yield* store(wal, records(100))
        yield* wal.commit(100, { cursor: "fast" })
        yield* wal.commit(cursor)
        assert.strictEqual(yield* drive(wal.trim(100)), gone)
        yield* advanceUntil(() => deleted.length >= gone / 10)
        assert.strictEqual(deleted.length, gone / 10)
        assert.deepStrictEqual(yield* readAll(wal), dense(100).slice(gone))
        assert.strictEqual((yield* wal.status).heldBackBy, "default")
      }
    }))

  it.effect("is over when a log has closed, though it takes its time: short-lived writers leave nothing that piles up", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const remove = world.memory.store.remove
      Object.assign(world.memory.store, {
        remove: (keys: ReadonlyArray<string>) => Effect.delay(remove(keys), "300 millis")
      })
      const writers = 40
      for (let count = 1; count <= writers; count++) {
        const wal = yield* drive(world.process("a").open())
        yield* store(wal, records(5, count))
        yield* wal.commit((yield* wal.status).durable)
        assert.deepInclude(yield* drive(wal.close), { lost: null, manifestWritten: true })
      }
      assert.deepStrictEqual(world.slots.filter((slot) => slot.endsWith("000000000000.seg")), [])
    }))

  it.effect("that hangs does not keep a log from closing", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      Object.assign(world.memory.store, { remove: () => Effect.never })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(5))
      yield* wal.commit(5)
      const closing = yield* Effect.forkChild(wal.close, { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude(yield* Fiber.join(closing), { lost: null, manifestWritten: true })
    }))

  it.effect("waits for the confirmed manifest: nothing goes while the answer is unknown", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      watchDeletes(world)
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(20))
      yield* wal.commit(20)
      let refuse = true
      process.faults.rule((request) =>
        refuse && request.operation === "replace" ? { _tag: "Fail", reason: "TimedOut" } : undefined
      )
      const trimming = yield* Effect.forkChild(wal.trim(20), { startImmediately: true })
      yield* advanceUntil(() => process.faults.requests.filter((one) => one.operation === "replace").length > 12)
      assert.strictEqual(world.slots.length, 4)
      assert.strictEqual(world.memory.count("remove"), 0)
      refuse = false
      assert.strictEqual(yield* drive(Fiber.join(trimming)), 20)
      yield* advanceUntil(() => world.slots.length === 0)
    }))

  it.effect("[case 17] that fails, as a whole or for some keys, is counted and tried again", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const remove = world.memory.store.remove
      let denied = 2
      Object.assign(world.memory.store, {
        remove: (keys: ReadonlyArray<string>) =>
          Effect.suspend(() => {
            if (denied-- <= 0) return remove(keys)
            const [first, ...rest] = keys
            return Effect.as(remove(rest), [{ key: first ?? "", code: "AccessDenied" }])
          })
      })
      const wal = yield* drive(process.open())
      yield* store(wal, records(20))
      yield* wal.commit(20)
      nthRequest(process, 0, { _tag: "Fail", reason: "AccessDenied" }, (one) => one.operation === "remove")
      yield* drive(wal.trim(20))
      yield* advanceUntil(() => world.slots.length === 0)
      assert.strictEqual(process.faults.requests.filter((one) => one.operation === "remove").length, 4)
    }))

  it.effect("[case 12] never touches foreign objects, end markers, siblings, or what is not a segment of this log", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const segments = segmentsPrefix(prefix)
      const foreign = [
        prefix,
        `${prefix}.DS_Store`,
        `${prefix}README.txt`,
        `${prefix}manifest.json.bak`,
        `${segments}0000000001/`,
        `${segments}0000000001/000000000001.seg.tmp`,
        `${segments}1/1.seg`,
        `${segments}0000000000/000000000000.seg`,
        `${segments}0000000001/000000000700.seg`,
        `node/log2/segments/0000000001/000000000000.seg`,
        `node/log-old/segments/0000000001/000000000000.seg`
      ]
      yield* killedWriter(world, 15)
      for (const one of foreign) world.memory.put(one, one.endsWith("000.seg") ? encode("") : encode("PK\u0003\u0004"))
      world.memory.put(`${segments}0000000001/000000000700.seg`, encode("PK\u0003\u0004 zip"))
      const second = yield* drive(world.process("b").open())
      assert.deepStrictEqual(yield* readAll(second), dense(15))
      yield* store(second, records(5, 16))
      yield* second.commit(20)
      yield* drive(second.trim(20))
      yield* advanceUntil(() =>
        !world.memory.objects.has(world.key(2, 0)) && !world.memory.objects.has(world.key(1, 2))
      )
      yield* drive(Effect.sleep("1 minute"))
      for (const one of foreign) assert.isTrue(world.memory.objects.has(one), one)
      assert.strictEqual((yield* world.header(1, 3)).kind, "end-marker")
      for (const slot of [0, 1, 2]) assert.isFalse(world.memory.objects.has(world.key(1, slot)))
    }))

  it.effect("collects orphans, by the recorded end, once the trim point enters a new epoch", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 }, retention: { policy: "committed" } })
      const deleted = watchDeletes(world)
      const process = yield* writerWithOrphans(world)
      process.crash()
      const next = yield* drive(world.process("next").open())
      yield* store(next, records(5, 6))
      yield* next.commit(10)
      yield* drive(next.trim(10))
      yield* advanceUntil(() => deleted.length >= 4)
      assert.deepStrictEqual(deleted.slice().sort(), [
        "0000000001/000000000000.seg",
        "0000000001/000000000002.seg",
        "0000000001/000000000003.seg",
        "0000000002/000000000000.seg"
      ])
      assert.deepStrictEqual(world.slots, ["0000000001/000000000001.seg"])
    }))

  it.effect("goes on after a crash between the manifest and the deletes", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      process.faults.rule((request) => request.operation === "remove" ? { _tag: "Silence" } : undefined)
      const wal = yield* drive(process.open())
      yield* store(wal, records(20))
      yield* wal.commit(20)
      assert.strictEqual(yield* drive(wal.trim(20)), 20)
      process.crash()
      assert.strictEqual(world.slots.length, 4)
      const next = yield* drive(world.process("b").open())
      assert.deepStrictEqual(yield* readAll(next), [])
      yield* store(next, records(5, 21))
      yield* next.commit(25)
      yield* drive(next.trim(25))
      yield* advanceUntil(() => world.slots.filter((slot) => slot.startsWith("0000000001")).length <= 1)
      assert.deepStrictEqual(
        yield* Effect.map(drive(Stream.runCollect(next.read())), (read) => read.map((one) => decode(one.payload))),
        []
      )
    }))

  it.effect("of a writer that was overtaken stays below the trim point that is stored", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      watchDeletes(world)
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(20))
      yield* wal.commit(20)
      const hold = yield* gate
      nthRequest(process, 0, { _tag: "HoldBefore", gate: hold }, (one) => one.operation === "remove")
      yield* drive(wal.trim(10))
      const b = yield* drive(world.process("b").open())
      yield* openGate(hold)
      yield* advanceUntil(() => world.memory.count("remove") > 0)
      assert.deepStrictEqual(yield* readAll(b), dense(20).slice(10))
    }))
})
