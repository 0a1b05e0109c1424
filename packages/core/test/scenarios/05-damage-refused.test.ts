/** What was durable and is gone is not an end: the opening refuses, and writes nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import {
  advanceUntil,
  dense,
  drive,
  encode,
  gate,
  holdCreates,
  killedWriter,
  killWhileOpening,
  makeWorld,
  openGate,
  readAll,
  records,
  store,
  type World,
  writerWithOrphans
} from "./World.ts"

/** What the opening fails with; asserts that nothing but the claim of the manifest was written. */
const refusal = Effect.fnUntraced(function*(world: World) {
  const before = world.bucket.filter(([key]) => !key.endsWith("manifest.json"))
  const error = yield* drive(Effect.flip(world.process("next").open()))
  assert.deepStrictEqual(world.bucket.filter(([key]) => !key.endsWith("manifest.json")), before)
  return error
})

const missing = (error: { readonly _tag: string }) =>
  "from" in error && "to" in error && "key" in error ? [error._tag, error.key, error.from, error.to] : [error._tag]

describe("an opening that finds a loss", () => {
  it.effect("[case 18] a removed slot that later headers know to be durable is refused", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      yield* killedWriter(base, 40)
      for (let slot = 0; slot < 7; slot++) {
        const world = yield* base.copy
        world.memory.objects.delete(world.key(1, slot))
        const error = missing(yield* refusal(world))
        assert.deepStrictEqual(error.slice(0, 3), ["SegmentMissing", world.key(1, slot), slot * 5 + 1])
      }
    }))

  it.effect("a loss of more slots than the window holds is refused too", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld({ parallelPut: { workers: 2 } })
      yield* killedWriter(base, 40)
      for (let last = 0; last < 7; last++) {
        const world = yield* base.copy
        for (let slot = 0; slot <= last; slot++) world.memory.objects.delete(world.key(1, slot))
        const error = missing(yield* refusal(world))
        assert.deepStrictEqual(error.slice(0, 3), ["SegmentMissing", world.key(1, 0), 1], `0 to ${last} removed`)
      }
    }))

  it.effect("what was above the watermark is no loss: a hole below orphans is the end", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      const process = yield* writerWithOrphans(world)
      process.crash()
      const next = yield* drive(world.process("next").open())
      assert.deepStrictEqual(yield* readAll(next), dense(5))
      yield* store(next, records(5, 6))
      assert.deepStrictEqual(yield* readAll(next), dense(10))
    }))

  it.effect("an end marker that cannot be read is not taken for a segment, and what lies above it not for the log", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const writer = yield* writerWithOrphans(world)
      writer.crash()
      // The opener is killed between the end marker and the manifest.
      for (let nth = 0; world.slots.length < 4; nth++) yield* killWhileOpening(world.process("b"), nth, true)
      world.memory.damage(world.key(1, 1), () => encode("<html>503 upstream</html>"))
      assert.deepStrictEqual(missing(yield* refusal(world)), ["SegmentCorrupt"])
    }))

  it.effect("what lies above the end and cannot be read could know of a loss: refused", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 2 } })
      yield* killedWriter(world, 15)
      world.memory.objects.delete(world.key(1, 1))
      world.memory.damage(world.key(1, 2), () => encode("<html>503 upstream</html>"))
      assert.deepStrictEqual(missing(yield* refusal(world)), ["SegmentCorrupt"])
    }))

  it.effect("no slot is sent one window above the first that is not confirmed, so no orphan lies further up", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 2, pipelineDepth: 2 } })
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(5))
      yield* holdCreates(process, "1.seg")
      yield* wal.append(records(100, 6))
      yield* advanceUntil(() => world.slots.length === 4)
      yield* drive(Effect.sleep("10 seconds"))
      assert.deepStrictEqual(world.slots.map((slot) => slot.slice(-5)), ["0.seg", "2.seg", "3.seg", "4.seg"])
    }))

  it.effect("[case 8] parallel PUTs finish out of order, the first never: nothing is delivered, three starts agree", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 }, segment: { maxEntries: 10, linger: "0ms" } })
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* holdCreates(process, "000.seg")
      yield* wal.append(records(40))
      const flush = yield* Effect.forkChild(wal.flush, { startImmediately: true })
      yield* advanceUntil(() => world.slots.length === 3)
      assert.strictEqual((yield* wal.status).durable, 0)
      assert.isUndefined(flush.pollUnsafe())
      process.crash()
      const second = world.process("b")
      assert.deepStrictEqual(yield* readAll(yield* drive(second.open())), [])
      second.crash()
      const third = yield* drive(world.process("c").open())
      assert.deepStrictEqual(yield* readAll(third), [])
      yield* store(third, records(10))
      assert.deepStrictEqual(yield* readAll(third), dense(10))
    }))

  it.effect("a cursor that is above what is left is a loss", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      yield* world.editManifest((manifest) => ({
        ...manifest,
        cursors: { revision: { epoch: 1, n: 5 }, marks: { default: 0, other: 18 } }
      }))
      world.memory.objects.delete(world.key(1, 3))
      assert.deepStrictEqual(missing(yield* refusal(world)), ["SegmentMissing", world.key(1, 3), 16, 18])
    }))

  it.effect("[case 18] the last segment below the checkpoint: refused above the lowest cursor, a warning below it", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      const process = base.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(20))
      yield* wal.commit(12)
      yield* drive(wal.close)
      const refused = yield* base.copy
      refused.memory.objects.delete(refused.key(1, 3))
      assert.deepStrictEqual(missing(yield* refusal(refused)), ["SegmentMissing", refused.key(1, 3), 13, 20])
      const passed = yield* base.copy
      passed.memory.objects.delete(passed.key(1, 3))
      yield* passed.editManifest((manifest) => ({
        ...manifest,
        cursors: { revision: { epoch: 1, n: 99 }, marks: { default: 20 } }
      }))
      const next = yield* drive(passed.process("next").open())
      yield* store(next, records(5, 21))
      assert.strictEqual((yield* next.status).durable, 25)
    }))

  it.effect("the last segment before the end is damaged: refused, named, nothing written", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      world.memory.damage(world.key(1, 1), (body) => body.fill(7, 60, 64))
      const error = yield* refusal(world)
      assert.strictEqual(error._tag, "SegmentCorrupt")
      assert.strictEqual("key" in error ? error.key : "", world.key(1, 1))
    }))

  it.effect("[case 12] a correctly named object that is empty or something else is refused by its name", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      yield* killedWriter(base, 10)
      for (
        const [bytes, reason] of [
          [encode(""), "the object is empty"],
          [Uint8Array.of(0x50, 0x4b, 3, 4), "not a segment: it starts with 504b0304"]
        ] as const
      ) {
        const world = yield* base.copy
        world.memory.put(world.key(1, 2), bytes)
        const error = yield* refusal(world)
        assert.deepStrictEqual(
          error._tag === "SegmentCorrupt" ? [error.key, error.offset, error.reason] : [error._tag],
          [world.key(1, 2), 0, reason]
        )
      }
    }))

  it.effect("what was trimmed and deleted is no loss, wherever the writer was killed", () =>
    Effect.gen(function*() {
      for (const last of [20, 33]) {
        const world = yield* makeWorld({ retention: { policy: "committed" } })
        const process = world.process("a")
        const wal = yield* drive(process.open())
        yield* store(wal, records(20))
        yield* wal.commit(20)
        assert.strictEqual(yield* drive(wal.trim(20)), 20)
        yield* advanceUntil(() => world.slots.length === 0)
        if (last > 20) yield* store(wal, records(last - 20, 21))
        process.crash()
        const next = yield* drive(world.process("next").open())
        assert.deepStrictEqual(yield* readAll(next), dense(last).slice(20))
        const { first } = yield* next.append(records(1))
        assert.strictEqual(first, last + 1)
      }
    }))

  it.effect("something else stands where the end is: refused, not written over", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      const header = yield* world.header(1, 1)
      const foreign = encodeSegment(
        { ...header, slot: 2, logId: "f".repeat(32), storedBytes: 0 },
        encode(""),
        nodeDigest
      )
      world.memory.put(world.key(1, 2), foreign)
      assert.strictEqual((yield* refusal(world))._tag, "SegmentCorrupt")
    }))
})

describe("an end marker at a recorded end", () => {
  it.effect("that is missing is put back", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      yield* drive(Effect.flatMap(world.process("b").open(), (wal) => wal.close))
      world.memory.objects.delete(world.key(1, 2))
      const next = yield* drive(world.process("c").open())
      assert.strictEqual((yield* world.header(1, 2)).kind, "end-marker")
      assert.deepStrictEqual(yield* readAll(next), dense(10))
    }))

  it.effect("whose place holds data is EndMarkerLost", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      yield* drive(Effect.flatMap(world.process("b").open(), (wal) => wal.close))
      const header = yield* world.header(1, 1)
      world.memory.put(world.key(1, 2), encodeSegment({ ...header, slot: 2, storedBytes: 0 }, encode(""), nodeDigest))
      const error = yield* drive(Effect.flip(world.process("c").open()))
      assert.deepStrictEqual([error._tag, "key" in error ? error.key : ""], ["EndMarkerLost", world.key(1, 2)])
    }))

  it.effect("is missing, and a late segment of the old writer lands before it is put back: EndMarkerLost", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      yield* drive(Effect.flatMap(world.process("b").open(), (wal) => wal.close))
      const header = yield* world.header(1, 1)
      world.memory.objects.delete(world.key(1, 2))
      const process = world.process("c")
      process.faults.rule((request) => {
        if (request.operation !== "create" || request.key !== world.key(1, 2)) return undefined
        world.memory.put(world.key(1, 2), encodeSegment({ ...header, slot: 2, storedBytes: 0 }, encode(""), nodeDigest))
        return undefined
      })
      assert.strictEqual((yield* drive(Effect.flip(process.open())))._tag, "EndMarkerLost")
    }))

  it.effect("outranks what lies elsewhere: a marker or a segment beyond the recorded end changes nothing", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 10)
      yield* drive(Effect.flatMap(world.process("b").open(), (wal) => wal.close))
      const header = yield* world.header(1, 1)
      world.memory.put(world.key(1, 3), encodeSegment({ ...header, slot: 3, storedBytes: 0 }, encode(""), nodeDigest))
      world.memory.put(world.key(1, 4), world.memory.objects.get(world.key(1, 2))?.body ?? encode(""))
      const next = yield* drive(world.process("c").open())
      yield* store(next, records(5, 11))
      assert.deepStrictEqual(yield* readAll(next), dense(15))
    }))
})

describe("an opener that is overtaken while it looks", () => {
  it.effect("is told that it is fenced, not that data is missing", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 20)
      const slow = world.process("slow")
      const hold = yield* gate
      let held = false
      slow.faults.rule((request) => {
        if (request.operation !== "list") return undefined
        held = true
        return { _tag: "HoldBefore", gate: hold }
      })
      const opening = yield* Effect.forkChild(Effect.flip(slow.open()), { startImmediately: true })
      yield* advanceUntil(() => held)
      const b = yield* drive(world.process("b").open())
      yield* b.commit(20)
      yield* drive(b.trim(20))
      yield* advanceUntil(() => !world.slots.includes("0000000001/000000000002.seg"))
      yield* openGate(hold)
      const error = yield* drive(Fiber.join(opening))
      assert.strictEqual(error._tag, "WriterFenced")
    }))
})
