/** A manifest that is lost, damaged, of another log, older than the objects, or in doubt: made anew from the objects. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import {
  advanceUntil,
  drive,
  encode,
  makeWorld,
  prefix,
  records,
  store,
  type World,
  writerWithOrphans
} from "../scenarios/World.ts"
import { bytesAt, found, makeEpochs } from "../verify/Checked.ts"
import { applyTo, expected, planOf, readSkipping, repaired, undecided } from "./Repaired.ts"

const manifest = `${prefix}manifest.json`

const losses: ReadonlyArray<readonly [string, (world: World) => Effect.Effect<void>]> = [
  ["is gone", (world) => Effect.sync(() => world.memory.objects.delete(manifest))],
  ["is empty", (world) => Effect.sync(() => world.memory.put(manifest, encode("")))],
  ["is cut", (world) => Effect.sync(() => world.memory.damage(manifest, (bytes) => bytes.subarray(0, 100)))],
  [
    "is of another log",
    (world) => Effect.orDie(Effect.map(makeEpochs(5), (other) => world.memory.put(manifest, bytesAt(other, manifest))))
  ],
  ["contradicts itself", (world) => world.editManifest((one) => ({ ...one, live: 9 }))],
  ["has lost its ends", (world) => world.editManifest((one) => ({ ...one, ends: one.ends.slice(1) }))]
]

/** Every end, trim point and cursor of a manifest, without what is of no account. */
const gist = (world: World) =>
  Effect.map(world.manifest, ({ cursors, ends, log_id, trim }) => ({ log_id, trim, ends, marks: cursors.marks }))

describe("a manifest that", () => {
  for (const [name, harm] of losses) {
    it.effect(`${name} is rebuilt: ends to the byte, everything is read [case 14]`, () =>
      Effect.gen(function*() {
        const world = yield* makeEpochs(3)
        const before = yield* gist(world)
        const last = yield* world.header(3, 3)
        yield* harm(world)
        const old = world.memory.objects.get(manifest)?.body
        const { id, kept } = yield* repaired(world)
        const after = yield* gist(world)
        assert.deepStrictEqual(after.log_id, before.log_id)
        assert.deepStrictEqual(after.ends.slice(0, 2), before.ends)
        assert.deepStrictEqual(after.trim, before.trim)
        assert.deepStrictEqual([after.ends[2]?.epoch, after.ends[2]?.slot, after.ends[2]?.seq], [3, 4, 60])
        assert.strictEqual(after.ends[2]?.at, last.lastAt)
        assert.deepInclude(kept, { records: 60, segments: 12, lastSeq: 60 })
        assert.deepStrictEqual(yield* readSkipping(world), expected(65))
        // What was there is kept.
        assert.deepStrictEqual(world.memory.objects.get(`${prefix}repair/${id}/manifest.json`)?.body, old)
      }))
  }

  it.effect("was put back from an older copy is brought forward, with an epoch above all that were seen", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const old = bytesAt(world, manifest).slice()
      for (const [host, from] of [["c", 41], ["d", 46]] as const) {
        const wal = yield* drive(world.process(host).open())
        yield* store(wal, records(5, from))
        yield* wal.commit(from)
        yield* drive(wal.close)
      }
      world.memory.put(manifest, old)
      yield* repaired(world)
      assert.deepStrictEqual(yield* readSkipping(world), expected(55))
      assert.isAbove((yield* world.manifest).epoch, 5)
    }))

  it.effect("is lost together with segments and end markers: what is missing is exact once somebody says that it is lost", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(4)
      for (const [epoch, slot] of [[1, 4], [2, 1], [2, 4], [3, 3], [3, 4]] as const) {
        world.memory.objects.delete(world.key(epoch, slot))
      }
      world.memory.objects.delete(manifest)
      const error = yield* undecided(world)
      assert.strictEqual(error._tag, "RepairUndecided")
      assert.include(error.message, "epoch 2, slot 1 to 1 (records 26 to 30)")
      const { damaged } = yield* repaired(world, { missing: "lost" })
      assert.deepStrictEqual(damaged.map((one) => [one.epoch, one.slot, one.lost?.from, one.lost?.to]), [
        [2, 1, 26, 30],
        [3, 3, 56, 60]
      ])
      const read = yield* readSkipping(world)
      assert.deepStrictEqual(read.filter((one) => one.startsWith("lost")), ["lost 26-30", "lost 56-60"])
      assert.strictEqual(read.length, 85 - 10 + 2)
      // The end markers are back.
      for (const epoch of [1, 2, 3]) assert.strictEqual((yield* world.header(epoch, 4)).kind, "end-marker")
    }))

  it.effect("is lost in a log whose start was trimmed: taken for trimmed where every cursor had passed it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(40))
      yield* wal.commit(20)
      yield* store(wal, records(5, 41))
      yield* drive(wal.trim(20))
      yield* advanceUntil(() => !world.memory.objects.has(world.key(1, 3)))
      world.memory.objects.delete(manifest)
      yield* repaired(world)
      assert.deepStrictEqual((yield* world.manifest).trim.seq, 20)
      assert.deepStrictEqual(yield* readSkipping(world), expected(50).slice(20))
    }))

  it.effect("is lost in a log that was trimmed further than any header knows: asked, and both answers hold", () =>
    Effect.gen(function*() {
      const base = yield* makeEpochs(2)
      for (const slot of [0, 1]) base.memory.objects.delete(base.key(1, slot))
      base.memory.objects.delete(manifest)
      const error = yield* undecided(base)
      assert.deepInclude(error, { _tag: "RepairUndecided" })
      assert.deepStrictEqual("choices" in error ? error.choices.map((one) => `${one.option} ${one.value}`) : [], [
        "missing lost",
        "missing trimmed"
      ])
      const lost = yield* base.copy
      yield* repaired(lost, { missing: "lost" })
      assert.deepStrictEqual(yield* readSkipping(lost), expected(45, [1, 10]))
      const trimmed = yield* base.copy
      yield* repaired(trimmed, { missing: "trimmed" })
      assert.deepStrictEqual(yield* readSkipping(trimmed), expected(45).slice(10))
      assert.deepStrictEqual((yield* trimmed.manifest).damage, undefined)
    }))

  it.effect("is lost in a log that was trimmed as a whole: asked which numbers it has had, and none of them comes again", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(20))
      yield* wal.commit(20)
      yield* drive(wal.trim(20))
      yield* advanceUntil(() => world.slots.length === 0)
      yield* drive(wal.close)
      // One more that ends where it begins.
      for (const host of ["b", "c"]) yield* drive((yield* drive(world.process(host).open())).close)
      world.memory.objects.delete(manifest)
      const error = yield* undecided(world)
      assert.deepStrictEqual("choices" in error ? error.choices.map((one) => one.option) : [], ["lastSeq"])
      const refused = yield* drive(Effect.flip(planOf(world, { lastSeq: 1.5 })))
      assert.include(refused.message, "decisions.lastSeq")
      yield* repaired(world, { lastSeq: 20 })
      assert.deepStrictEqual(yield* readSkipping(world), expected(25).slice(20))
    }))

  it.effect("is lost in a log with orphans: they stay out of it, and what a late request brings back too", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      const process = yield* writerWithOrphans(world)
      process.crash()
      const open = yield* world.copy
      open.memory.objects.delete(manifest)
      yield* repaired(open)
      assert.deepStrictEqual(yield* readSkipping(open), expected(10))
      const next = yield* drive(world.process("b").open())
      yield* store(next, records(5, 6))
      yield* drive(next.close)
      world.memory.objects.delete(manifest)
      yield* repaired(world)
      assert.deepStrictEqual(yield* readSkipping(world), expected(15))
    }))

  it.effect("is lost where segments of two logs lie: asked whose log it is", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const other = yield* makeEpochs(1)
      const { log_id: logId } = yield* world.manifest
      world.memory.put(world.key(1, 2), bytesAt(other, other.key(1, 2)))
      world.memory.objects.delete(manifest)
      const error = yield* undecided(world)
      assert.deepInclude(error, { _tag: "RepairUndecided" })
      assert.include("choices" in error ? error.choices.map((one) => one.value) : [], logId)
      yield* repaired(world, { logId })
      assert.deepStrictEqual(yield* readSkipping(world), expected(45, [11, 15]))
    }))

  it.effect("is lost remembers what producers have appended", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      for (const [epoch, sequence] of [[1, 7], [2, 8]] as const) {
        const wal = yield* drive(world.process(`w${epoch}`).open())
        const call = yield* wal.append(records(3, epoch), { producer: { id: "loader", sequence } })
        yield* drive(call.durable)
        yield* drive(wal.close)
      }
      world.memory.objects.delete(manifest)
      yield* repaired(world)
      const wal = yield* drive(world.process("again").open())
      const repeat = yield* wal.append(records(3, 1), { producer: { id: "loader", sequence: 7 } })
      assert.deepStrictEqual([repeat.first, repeat.last], [1, 3])
      const second = yield* wal.append(records(3, 2), { producer: { id: "loader", sequence: 8 } })
      assert.deepStrictEqual([second.first, second.last], [4, 6])
    }))

  it.effect("leads to a lost archive, or is lost itself, in a log of more epochs than it has room for", () =>
    Effect.gen(function*() {
      const base = yield* makeEpochs(258, {}, 1)
      const archive = (yield* base.manifest).ends_archive?.key ?? ""
      base.memory.objects.delete(archive)
      const lost = yield* base.copy
      lost.memory.objects.delete(manifest)
      for (const world of [base, lost]) {
        const { actions } = yield* repaired(world)
        assert.deepStrictEqual(actions.map((one) => one._tag).filter((tag) => tag !== "Copy"), [
          "PutEndMarker",
          "PutArchive",
          "PutManifest"
        ])
        assert.deepStrictEqual(yield* readSkipping(world), [
          ...Array.from({ length: 258 }, (_, index) => `${index + 1}:r${index + 1}`),
          ...expected(263).slice(258)
        ])
      }
    }))

  it.effect("has points that the segments contradict gets them from the segments", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const wal = yield* drive(world.process("c").open())
      yield* store(wal, records(20, 41))
      yield* drive(wal.close)
      const right = yield* world.manifest
      yield* world.editManifest((one) => ({
        ...one,
        index: one.index.map((entry) => entry.epoch === 3 && entry.slot === 2 ? { ...entry, seq: 51 } : entry)
      }))
      const planned = yield* planOf(world)
      yield* applyTo(planned, world.memory.store)
      assert.deepStrictEqual((yield* world.manifest).index, right.index)
      assert.deepStrictEqual(yield* found(world), [])
    }))
})

describe("where an epoch ends", () => {
  it.effect("a missing end marker is put back, and nothing else is written", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(5)
      for (const epoch of [1, 4]) world.memory.objects.delete(world.key(epoch, 4))
      const { actions } = yield* repaired(world)
      assert.deepStrictEqual(actions.map((one) => [one._tag, "key" in one ? one.key : ""]), [
        ["PutEndMarker", world.key(1, 4)],
        ["PutEndMarker", world.key(4, 4)]
      ])
      assert.strictEqual((yield* world.header(1, 4)).kind, "end-marker")
    }))

  it.effect("data in the place of a marker keeps the log from opening; a repair keeps a copy and lets it open", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const header = yield* world.header(1, 3)
      const data = encodeSegment({ ...header, slot: 4, storedBytes: 0 }, encode(""), nodeDigest)
      world.memory.put(world.key(1, 4), data)
      assert.strictEqual((yield* drive(Effect.flip(world.process("x").open())))._tag, "EndMarkerLost")
      const { id } = yield* repaired(world)
      assert.deepStrictEqual(bytesAt(world, `${prefix}repair/${id}/segments/0000000001/000000000004.seg`), data)
      assert.deepStrictEqual(yield* readSkipping(world), expected(45))
    }))
})
