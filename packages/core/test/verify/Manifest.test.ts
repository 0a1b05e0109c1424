/** What verify says of a manifest, its archives, and the ends of epochs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import {
  advanceUntil,
  drive,
  encode,
  holdCreates,
  makeWorld,
  prefix,
  records,
  store,
  type World
} from "../scenarios/World.ts"
import { bytesAt, check, found, makeEpochs, short } from "./Checked.ts"

const manifest = `${prefix}manifest.json`

const inconsistent = Effect.fnUntraced(function*(world: World, change: Parameters<World["editManifest"]>[0]) {
  const copy = yield* world.copy
  yield* copy.editManifest(change)
  return (yield* check(copy)).findings.map((one) => `${one.kind}: ${one.reason}`)
})

describe("verify", () => {
  it.effect("says that the manifest is missing, or does not decode, and checks the segments all the same [case 14]", () =>
    Effect.gen(function*() {
      const base = yield* makeEpochs(3)
      const lost = yield* base.copy
      lost.memory.objects.delete(manifest)
      assert.deepStrictEqual(yield* found(lost), ["manifest-missing"])
      assert.deepInclude((yield* check(lost)).report, { intact: false, records: 60, durable: 60 })
      lost.memory.objects.delete(lost.key(2, 1))
      assert.deepStrictEqual(yield* found(lost), ["manifest-missing", "segment-missing 2/1 26-30"])
      for (const text of ["", "{", "null", "[]", `{"format":"effect-wal manifest","version":1}`]) {
        const world = yield* base.copy
        world.memory.put(manifest, encode(text))
        assert.deepStrictEqual(yield* found(world), ["manifest-corrupt"], text)
      }
      const newer = yield* base.copy
      newer.memory.put(manifest, encode(`{"format":"effect-wal manifest","version":99}`))
      assert.strictEqual((yield* Effect.flip(check(newer)))._tag, "ManifestTooNew")
    }))

  it.effect("knows a manifest of another log", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const other = yield* makeEpochs(2)
      world.memory.put(manifest, bytesAt(other, manifest))
      const { findings, report } = yield* check(world)
      assert.deepStrictEqual(findings.map(short), ["manifest-foreign"])
      assert.strictEqual(report.records, 40)
    }))

  it.effect("knows a manifest that was put back from an older copy: of an epoch before, and of the same one", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const old = bytesAt(world, manifest).slice()
      for (const host of ["c", "d"]) {
        const wal = yield* drive(world.process(host).open())
        yield* store(wal, records(5))
        yield* drive(wal.close)
      }
      world.memory.put(manifest, old)
      const kinds = new Set((yield* check(world)).findings.map((one) => one.kind))
      assert.isTrue(kinds.has("manifest-rolled-back"))
      const trimming = yield* makeWorld({ retention: { policy: "committed" } })
      const wal = yield* drive(trimming.process("a").open())
      yield* store(wal, records(30))
      const before = bytesAt(trimming, manifest).slice()
      yield* wal.commit(20)
      yield* drive(wal.trim(20))
      yield* store(wal, records(10))
      assert.isTrue((yield* check(trimming)).report.intact)
      trimming.memory.put(manifest, before)
      assert.include((yield* check(trimming)).findings.map((one) => one.kind), "manifest-rolled-back")
    }))

  it.effect("knows a manifest from between claiming and activating an epoch that has records now", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      yield* world.editManifest((current) => ({
        ...current,
        live: 1,
        ends: [],
        checkpoint: { ...current.trim, epoch: 1, slot: 0 }
      }))
      assert.include(yield* found(world), "unrecorded-epoch 2/0")
    }))

  it.effect("knows such a manifest where the first slots of that epoch have been trimmed since", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      const first = yield* drive(world.process("a").open())
      yield* store(first, records(20))
      yield* first.commit(20)
      yield* drive(first.trim(20))
      yield* drive(first.close)
      const old = yield* world.manifest
      const wal = yield* drive(world.process("b").open())
      yield* store(wal, records(50, 21))
      yield* wal.commit(45)
      yield* drive(wal.trim(45))
      yield* advanceUntil(() => !world.memory.objects.has(world.key(2, 4)))
      yield* drive(wal.close)
      yield* world.editManifest(() => ({ ...old, epoch: old.epoch + 1 }))
      assert.deepStrictEqual(yield* found(world), ["unrecorded-epoch 2/5"])
    }))

  it.effect("does not take orphans for it: segments above an end at slot 0, which know of nothing durable before them", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(1, { parallelPut: { workers: 4 } })
      const stored = world.slots.length
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* holdCreates(process, "000000000000.seg")
      yield* wal.append(records(20, 21))
      // The end marker of the epoch before, and three of four slots.
      yield* advanceUntil(() => world.slots.length === stored + 4)
      process.crash()
      yield* drive(world.process("b").open())
      const { report } = yield* check(world)
      assert.deepInclude(report, { intact: true, garbage: { belowTrim: 0, beyondEnds: 3 } })
    }))

  it.effect("names each contradiction of a manifest with itself", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(3)
      const say = (change: Parameters<World["editManifest"]>[0]) => inconsistent(world, change)
      assert.include(
        yield* say((one) => ({ ...one, live: 9 })),
        "manifest-inconsistent: epoch 9 is live, 3 is the newest that was claimed"
      )
      assert.include(
        yield* say((one) => ({ ...one, ends: one.ends.map((end) => end.epoch === 2 ? { ...end, slot: 0 } : end) })),
        "manifest-inconsistent: epoch 2 is recorded to end at slot 0"
      )
      assert.include(
        yield* say((one) => ({ ...one, trim: { ...one.trim, chain: "0".repeat(32) } })),
        "manifest-inconsistent: the chain does not start as that of this log does"
      )
      assert.include(
        yield* say((one) => ({ ...one, checkpoint: { ...one.checkpoint, epoch: 2 } })),
        "manifest-inconsistent: the checkpoint is in epoch 2, epoch 3 is live"
      )
      assert.include(
        yield* say((one) => ({ ...one, ends: one.ends.map((end) => end.epoch === 2 ? { ...end, seq: 3 } : end) })),
        "manifest-inconsistent: trim point and ends 1/4 and 2/4 do not rise"
      )
      assert.include(
        yield* say((one) => ({ ...one, ends: one.ends.slice(1) })),
        "manifest-inconsistent: the trim point is in epoch 1, which neither is live nor has an end"
      )
    }))

  it.effect("compares each point of the manifest with the segments: index, checkpoint, end", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const wal = yield* drive(world.process("c").open())
      yield* store(wal, records(20, 41))
      yield* drive(wal.close)
      const wrong = Effect.fnUntraced(function*(change: Parameters<World["editManifest"]>[0]) {
        const copy = yield* world.copy
        yield* copy.editManifest(change)
        return yield* found(copy)
      })
      assert.deepStrictEqual(
        yield* wrong((one) => ({
          ...one,
          index: one.index.map((entry) => entry.epoch === 3 && entry.slot === 2 ? { ...entry, seq: 51 } : entry)
        })),
        ["boundary-wrong 3/2"]
      )
      assert.deepStrictEqual(
        yield* wrong((one) => ({ ...one, checkpoint: { ...one.checkpoint, chain: "0".repeat(32) }, index: [] })),
        ["boundary-wrong 3/4"]
      )
      assert.deepStrictEqual(
        yield* wrong((one) => ({
          ...one,
          index: [],
          ends: one.ends.map((end) => end.epoch === 1 ? { ...end, at: end.at + 1 } : end)
        })),
        ["boundary-wrong 1/4"]
      )
      assert.deepStrictEqual(
        yield* wrong((one) => ({ ...one, index: [{ epoch: 1, slot: 9, seq: 1, at: 0, chain: "0".repeat(32) }] })),
        ["manifest-inconsistent"]
      )
    }))

  it.effect("knows a cursor above everything that is stored", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      yield* world.editManifest((one) => ({
        ...one,
        cursors: { revision: { epoch: 2, n: 9 }, marks: { default: 3, far: 47 } }
      }))
      const { findings } = yield* check(world)
      assert.deepStrictEqual(findings.map(short), ["segment-missing 2/4 41-47+"])
      assert.strictEqual(findings[0]?.reason, "a cursor stands at 47")
    }))

  it.effect("knows an archive of ends that is lost or damaged, and reads the epochs that it held", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(258, {}, 1)
      const archive = (yield* world.manifest).ends_archive
      assert.isNotNull(archive)
      const key = archive?.key ?? ""
      world.memory.damage(key, (bytes) => bytes.subarray(0, 20))
      assert.deepStrictEqual((yield* check(world)).findings.map((one) => [one.kind, one.key]), [["archive-lost", key]])
      world.memory.objects.delete(key)
      const { findings, report } = yield* check(world)
      assert.deepStrictEqual(findings.map((one) => [one.kind, one.key]), [["archive-lost", key]])
      assert.strictEqual(report.records, 258)
    }))

  it.effect("knows what is wrong at a recorded end: no marker, data, damage", () =>
    Effect.gen(function*() {
      const base = yield* makeEpochs(3)
      const header = yield* base.header(1, 3)
      const lost = yield* base.copy
      lost.memory.objects.delete(lost.key(1, 4))
      assert.deepStrictEqual(yield* found(lost), ["end-marker-missing 1/4"])
      const data = yield* base.copy
      data.memory.put(
        data.key(2, 4),
        encodeSegment({ ...header, epoch: 2, slot: 4, storedBytes: 0 }, encode(""), nodeDigest)
      )
      assert.deepStrictEqual(yield* found(data), ["data-at-end 2/4"])
      const damaged = yield* base.copy
      damaged.memory.damage(damaged.key(1, 4), (bytes) => bytes.fill(1, 20, 30))
      assert.deepStrictEqual(yield* found(damaged), ["data-at-end 1/4"])
    }))

  it.effect("knows that records below the checkpoint, or known by a header above, are gone [case 18]", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const wal = yield* drive(world.process("a").open())
      yield* store(wal, records(20))
      yield* drive(wal.close)
      world.memory.objects.delete(world.key(1, 3))
      world.memory.objects.delete(world.key(1, 2))
      assert.deepStrictEqual(yield* found(world), ["segment-missing 1/2 11-15", "segment-missing 1/3 16-20"])
      const killed = yield* makeEpochs(1)
      killed.memory.objects.delete(killed.key(1, 1))
      const { findings } = yield* check(killed)
      assert.deepStrictEqual(findings.map(short), ["segment-missing 1/1 6-10"])
      assert.match(findings[0]?.reason ?? "", /the header of slot \d says that it was durable/)
    }))
})
