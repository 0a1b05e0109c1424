/** Hundreds of ended epochs: the manifest stays small, nothing is skipped, all of it opens and reads. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { manifestKey } from "../../src/format/ObjectKey.ts"
import { advanceUntil, dense, drive, killWhileOpening, makeWorld, prefix, readAll, records, store } from "./World.ts"

describe("many epochs", () => {
  it.effect("400 epochs with data: archived ends are read, the trim point does not jump, then all of it goes", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      for (let epoch = 1; epoch <= 400; epoch++) {
        const process = world.process(`w${epoch}`)
        const wal = yield* drive(process.open())
        yield* store(wal, records(1, epoch))
        process.crash()
      }
      const manifest = yield* world.manifest
      assert.isAtMost(manifest.ends.length, 256)
      assert.isNotNull(manifest.ends_archive)
      assert.deepStrictEqual([manifest.trim.epoch, manifest.trim.slot], [1, 0])
      assert.isAtMost(world.memory.objects.get(manifestKey(prefix))?.body.length ?? 0, 64_000)
      const process = world.process("last")
      const wal = yield* drive(process.open())
      assert.deepStrictEqual(yield* readAll(wal), dense(400))
      yield* wal.commit(100)
      assert.strictEqual(yield* drive(wal.trim(100)), 100)
      yield* advanceUntil(() => !world.memory.objects.has(world.key(100, 0)))
      assert.deepStrictEqual(yield* readAll(wal), dense(400).slice(100))
      process.crash()
      const next = yield* drive(world.process("next").open())
      assert.deepStrictEqual(yield* readAll(next), dense(400).slice(100))
      yield* next.commit(400)
      assert.strictEqual(yield* drive(next.trim(400)), 400)
      const trimmed = yield* world.manifest
      assert.deepStrictEqual([trimmed.ends, trimmed.ends_archive], [[], null])
      yield* store(next, records(1, 401))
      assert.deepStrictEqual(yield* readAll(next), dense(401).slice(400))
      assert.strictEqual((yield* world.header(400, 1)).kind, "end-marker")
    }))

  it.effect("an archive that is damaged or gone is refused, not skipped", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      for (let epoch = 1; epoch <= 258; epoch++) {
        const process = base.process(`w${epoch}`)
        const wal = yield* drive(process.open())
        yield* store(wal, records(1, epoch))
        process.crash()
      }
      const key = (yield* base.manifest).ends_archive?.key ?? ""
      assert.isTrue(base.memory.objects.has(key))
      const gone = yield* base.copy
      gone.memory.objects.delete(key)
      assert.strictEqual((yield* drive(Effect.flip(gone.process("next").open())))._tag, "ManifestCorrupt")
      const cut = yield* base.copy
      cut.memory.damage(key, (body) => body.slice(0, 50))
      assert.strictEqual((yield* drive(Effect.flip(cut.process("next").open())))._tag, "ManifestCorrupt")
    }))

  it.effect("epochs that end before their first segment leave nothing in the manifest", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* store(yield* drive(world.process("first").open()), records(3))
      for (let round = 0; round < 20; round++) {
        const process = world.process(`empty-${round}`)
        if (round % 2 === 0) yield* drive(process.open())
        else yield* killWhileOpening(process, 3, true)
        process.crash()
      }
      const wal = yield* drive(world.process("last").open())
      const manifest = yield* world.manifest
      assert.deepStrictEqual(manifest.ends.map((end) => [end.epoch, end.slot]), [[1, 1]])
      assert.deepStrictEqual(yield* readAll(wal), dense(3))
      yield* store(wal, records(2, 4))
      yield* wal.commit(5)
      assert.strictEqual(yield* drive(wal.trim(5)), 5)
      assert.deepStrictEqual((yield* world.manifest).trim.epoch, manifest.epoch)
    }))
})
