/** No false alarm: whole logs of all kinds, and what is garbage in them. */
import * as WalVerify from "@effect-wal/core/WalVerify"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import {
  advanceUntil,
  drive,
  encode,
  killedWriter,
  makeWorld,
  records,
  store,
  writerWithOrphans
} from "../scenarios/World.ts"
import { bytesAt, check, found, identity, makeEpochs, onStore } from "./Checked.ts"

describe("verify finds nothing in", () => {
  it.effect("a log that was just made, and one that was opened and closed without records", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      for (const host of ["a", "b"]) {
        const wal = yield* drive(world.process(host).open())
        const { report } = yield* check(world)
        assert.deepStrictEqual([report.intact, report.segments, report.durable], [true, 0, 0])
        yield* drive(wal.close)
      }
      assert.isTrue((yield* check(world)).report.intact)
    }))

  it.effect("a log of many epochs: it reads each segment once and counts all", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(5)
      world.memory.clearRequests()
      const { findings, report } = yield* check(world)
      assert.deepStrictEqual(findings, [])
      assert.deepInclude(report, {
        intact: true,
        epochs: 5,
        segments: 20,
        segmentsTotal: 20,
        records: 100,
        durable: 100,
        trimmedTo: 0,
        foreign: 0
      })
      assert.isAbove(report.bytes, 20 * 152)
      assert.strictEqual(report.logId, (yield* world.manifest).log_id)
    }))

  it.effect("258 epochs, most of whose ends are in an archive", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(258, {}, 1)
      assert.isNotNull((yield* world.manifest).ends_archive)
      const { report } = yield* check(world)
      assert.deepInclude(report, { intact: true, epochs: 258, records: 258 })
    }))

  for (const type of ["zstd", "lz4"] as const) {
    it.effect(`a log that is packed with ${type}`, () =>
      Effect.gen(function*() {
        const world = yield* makeWorld({ compression: { type, thresholdBytes: 1 } })
        const wal = yield* drive(world.process("a").open())
        yield* store(wal, records(20).map((one) => ({ ...one, key: "k".repeat(100), headers: { a: "b" } })))
        assert.deepInclude((yield* check(world)).report, { intact: true, records: 20 })
      }))
  }

  it.effect("a log of producers, cursors and trimmed parts, in each state of its life", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" }, manifest: { maxSegments: 2 } })
      for (let epoch = 1; epoch <= 4; epoch++) {
        const wal = yield* drive(world.process(`w${epoch}`).open())
        for (let batch = 0; batch < 4; batch++) {
          const appended = yield* wal.append(records(4), { producer: { id: "p", sequence: epoch * 10 + batch } })
          yield* drive(appended.durable)
          assert.deepStrictEqual(yield* found(world), [])
        }
        const { durable } = yield* wal.status
        yield* wal.commit(durable - 5)
        yield* drive(wal.trim(durable - 5))
        assert.isTrue((yield* check(world)).report.intact)
        if (epoch % 2 === 0) yield* drive(wal.close)
        const { report } = yield* check(world)
        assert.isTrue(report.intact)
        assert.isAbove(report.trimmedTo, 0)
        assert.strictEqual(report.durable, durable)
      }
    }))

  it.effect("a log whose last records were in flight: orphans above the first gap are the writer's, not a loss", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      const process = yield* writerWithOrphans(world)
      assert.deepInclude((yield* check(world)).report, { intact: true, durable: 5, records: 5 })
      process.crash()
      yield* drive(world.process("b").open())
      const { report } = yield* check(world)
      assert.deepInclude(report, { intact: true, durable: 5, records: 5 })
      assert.deepStrictEqual(report.garbage, { belowTrim: 0, beyondEnds: 2 })
    }))

  it.effect("a log with orphans, barriers, ghosts below the trim point and foreign objects: all are counted", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ retention: { policy: "committed" } })
      yield* killedWriter(world, 20)
      const ghost = bytesAt(world, world.key(1, 0)).slice()
      const header = yield* world.header(1, 3)
      const wal = yield* drive(world.process("b").open())
      yield* store(wal, records(20, 21))
      yield* wal.commit(30)
      yield* drive(wal.trim(30))
      yield* advanceUntil(() => !world.memory.objects.has(world.key(1, 3)))
      world.memory.put(world.key(1, 0), ghost)
      world.memory.put(world.key(1, 9), encodeSegment({ ...header, slot: 9, storedBytes: 0 }, encode(""), nodeDigest))
      world.memory.put(world.key(1, 12), bytesAt(world, world.key(1, 4)))
      world.memory.put(`${"node/log/"}segments/0000000001/x.tmp`, encode("x"))
      world.memory.put("node/log/README.txt", encode("x"))
      world.memory.put("node/log2/segments/0000000001/000000000000.seg", encode("theirs"))
      const { report } = yield* check(world)
      assert.deepInclude(report, { intact: true, foreign: 2, trimmedTo: 30, durable: 40 })
      assert.isAtLeast(report.garbage.belowTrim, 1)
    }))

  it.effect("nothing but a log: where there is none it says so, and bad options are refused before any request", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const run = (options: Partial<WalVerify.ReportOptions>) =>
        Effect.flip(onStore(WalVerify.report({ ...identity, ...options }), world.memory.store))
      assert.strictEqual((yield* run({}))._tag, "ManifestMissing")
      world.memory.clearRequests()
      assert.strictEqual((yield* run({ nodeId: "a/b" }))._tag, "ConfigError")
      assert.strictEqual((yield* run({ prefetch: 0 }))._tag, "ConfigError")
      assert.strictEqual(world.memory.requests.length, 0)
    }))
})
