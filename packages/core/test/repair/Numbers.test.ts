/** Numbers that were durable are never given out again, however little is left of the records that had them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Manifest } from "../../src/format/ManifestCodec.ts"
import { maxRecordsOf } from "../../src/repair/Reserve.ts"
import { advanceUntil, drive, makeWorld, prefix, records, store, type World } from "../scenarios/World.ts"
import { bytesAt, makeEpochs } from "../verify/Checked.ts"
import { expected, planOf, readSkipping, repaired } from "./Repaired.ts"

const manifest = `${prefix}manifest.json`

/** What the default of `max_segment_bytes` can hold of the smallest records. */
const most = maxRecordsOf(64 * 1_048_576)

const flipped = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 0xff)

/** As a program of a later version writes it. */
const newer = (bytes: Uint8Array) => bytes.map((byte, index) => index === 8 ? 2 : index === 40 ? byte ^ 0xff : byte)

/** The choices of a plan that needs a decision. */
const asked = (world: World) =>
  Effect.map(Effect.flip(planOf(world)), (error) => "choices" in error ? error.choices.map((one) => one.option) : error)

describe("below the checkpoint of an old manifest", () => {
  const loseArchive = (one: Manifest): Manifest => ({
    ...one,
    ends: [],
    ends_archive: { key: `${prefix}epochs/0000000001-${"a".repeat(32)}.json`, through: 1 }
  })
  const contradict = (one: Manifest): Manifest => ({ ...one, live: 9 })

  for (const [name, harm] of [["has lost its archive", loseArchive], ["contradicts itself", contradict]] as const) {
    it.effect(`that ${name} everything was durable: the loss is exact`, () =>
      Effect.gen(function*() {
        const world = yield* makeEpochs(1)
        const wal = yield* drive(world.process("b").open())
        yield* store(wal, records(30, 21))
        yield* drive(wal.close)
        yield* world.editManifest(harm)
        for (const slot of [3, 4, 5]) world.memory.objects.delete(world.key(2, slot))
        const asks = name === "contradicts itself"
        const { damaged, kept } = yield* repaired(world, asks ? { missing: "lost" } : {})
        assert.deepStrictEqual(damaged.map((one) => [one.epoch, one.slot, one.through, one.lost]), [
          [2, 3, 5, { from: 36, to: 50, exact: true }]
        ])
        assert.strictEqual(kept.lastSeq, 50)
        assert.deepStrictEqual(yield* readSkipping(world), expected(55, [36, 50]))
      }))
  }

  it.effect("and up to its cursors too: one slot stands for what nothing else is left of", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(1)
      yield* world.editManifest((one) => ({
        ...contradict(one),
        cursors: { revision: { epoch: 1, n: 5 }, marks: { default: 0, other: 18 } }
      }))
      world.memory.objects.delete(world.key(1, 3))
      const { kept } = yield* repaired(world)
      // Nobody knows how many records the lost segment had behind the cursor.
      assert.strictEqual(kept.lastSeq, 18 + most)
      assert.deepStrictEqual((yield* readSkipping(world)).slice(0, 16), [...expected(15), `lost 16-${18 + most}`])
    }))
})

describe("what a newer program wrote", () => {
  it.effect("is refused, however much is damaged before it", () =>
    Effect.gen(function*() {
      const damaged = 1_001
      const world = yield* makeWorld({ segment: { maxEntries: 1, linger: "0ms" } })
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(damaged + 2))
      process.crash()
      for (let slot = 0; slot < damaged; slot++) world.memory.damage(world.key(1, slot), flipped)
      world.memory.damage(world.key(1, damaged + 1), newer)
      const error = yield* Effect.flip(planOf(world))
      assert.deepInclude(error, { _tag: "SegmentTooNew", key: world.key(1, damaged + 1) })
    }), 60_000)

  it.effect("is refused in an epoch that the manifest does not know", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(1)
      const old = bytesAt(world, manifest)
      const wal = yield* drive(world.process("b").open())
      yield* store(wal, records(20, 21))
      yield* drive(wal.close)
      world.memory.put(manifest, old)
      for (const slot of [2, 3]) world.memory.damage(world.key(2, slot), newer)
      const error = yield* Effect.flip(planOf(world))
      assert.deepInclude(error, { _tag: "SegmentTooNew", key: world.key(2, 2) })
    }))
})

/**
 * Epochs of 20 records each after record `before`, all trimmed: only end markers are left, the last one of an epoch that
 * held nothing. Answers the first segment of each as it was.
 */
const trimmedEpochs = Effect.fnUntraced(function*(world: World, count: number, before = 0) {
  const segments: Array<readonly [key: string, bytes: Uint8Array]> = []
  for (let last = before + 20; last <= before + 20 * count; last += 20) {
    const wal = yield* drive(world.process(`w${last}`).open())
    yield* store(wal, records(20, last - 19))
    const { live } = yield* world.manifest
    segments.push([world.key(live, 0), bytesAt(world, world.key(live, 0)).slice()])
    yield* wal.commit(last)
    yield* drive(wal.trim(last))
    yield* advanceUntil(() => !world.memory.objects.has(world.key(live, 3)))
    yield* drive(wal.close)
  }
  yield* drive(Effect.flatMap(world.process("end").open(), (wal) => wal.close))
  return segments
})

describe("end markers of epochs whose segments are gone", () => {
  for (const ghost of [0, 1]) {
    it.effect(`are told of although a segment of epoch ${ghost + 1} came back: asked for the last number`, () =>
      Effect.gen(function*() {
        const world = yield* makeWorld({ retention: { policy: "committed" } })
        const [key, bytes] = (yield* trimmedEpochs(world, 3))[ghost] ?? ["", new Uint8Array()]
        world.memory.put(key, bytes)
        world.memory.objects.delete(manifest)
        assert.deepStrictEqual(yield* asked(world), ["lastSeq"])
        const { kept, notes } = yield* repaired(world, { lastSeq: 60 })
        assert.strictEqual(kept.lastSeq, 60)
        assert.include(notes.join("; "), `${world.key(4, 0)} stands for lost records`)
        const first = 20 * ghost + 1
        assert.deepStrictEqual(yield* readSkipping(world), expected(65, [first + 5, 60]).slice(first - 1))
      }))
  }

  it.effect("are told of although an older manifest was put back", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      yield* trimmedEpochs(world, 1)
      const old = bytesAt(world, manifest)
      yield* trimmedEpochs(world, 2, 20)
      world.memory.put(manifest, old)
      assert.deepStrictEqual(yield* asked(world), ["lastSeq"])
      const { kept } = yield* repaired(world, { lastSeq: 60, missing: "trimmed" })
      assert.deepInclude(kept, { lastSeq: 60, trimmedTo: 60 })
      assert.deepStrictEqual(yield* readSkipping(world), expected(65).slice(60))
    }))

  it.effect("ask nothing where segments say the numbers, or where the epoch held nothing", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      for (const host of ["b", "c"]) yield* drive(Effect.flatMap(world.process(host).open(), (wal) => wal.close))
      world.memory.objects.delete(manifest)
      const { kept } = yield* repaired(world)
      assert.strictEqual(kept.lastSeq, 40)
    }))

  it.effect("are told of where the last segments below one are missing", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      yield* drive(Effect.flatMap(world.process("b").open(), (wal) => wal.close))
      for (const slot of [2, 3]) world.memory.objects.delete(world.key(2, slot))
      world.memory.objects.delete(manifest)
      assert.deepStrictEqual(yield* asked(world), ["lastSeq"])
      const { kept } = yield* repaired(world, { lastSeq: 40 })
      assert.strictEqual(kept.lastSeq, 40)
      assert.deepStrictEqual(yield* readSkipping(world), expected(45, [31, 40]))
    }))
})

describe("damage that goes on from one epoch into the next", () => {
  it.effect("reserves the numbers of all its slots, and says that they are the most", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(3)
      world.memory.objects.delete(manifest)
      for (const [epoch, slot] of [[2, 3], [3, 0], [3, 1], [3, 2], [3, 3]] as const) {
        world.memory.damage(world.key(epoch, slot), flipped)
      }
      const { damaged, kept } = yield* repaired(world)
      assert.deepStrictEqual(damaged.map((one) => [one.epoch, one.slot, one.through, one.lost]), [
        [2, 3, 3, { from: 36, to: 35 + most, exact: false }],
        [3, 0, 3, { from: 36 + most, to: 35 + 5 * most, exact: false }]
      ])
      assert.strictEqual(kept.lastSeq, 35 + 5 * most)
    }))
})
