/** A trimmed log whose manifest is lost: where it starts, and what it costs to find out. */
import * as WalRepair from "@effect-wal/core/WalRepair"
import * as WalVerify from "@effect-wal/core/WalVerify"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { boundaryAfter } from "../../src/format/ChainHash.ts"
import { encodeTrim } from "../../src/format/Extensions.ts"
import { encodeEndMarker, encodeSegment } from "../../src/format/SegmentCodec.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { expected, readSkipping, repaired } from "../repair/Repaired.ts"
import { advanceUntil, drive, encode, makeWorld, prefix, records, store, type World } from "../scenarios/World.ts"
import { bytesAt, check, found, identity, makeEpochs, onStore } from "./Checked.ts"

const manifest = `${prefix}manifest.json`

const perSegment = 5

/** An epoch of one segment that is trimmed, then one of so many whose first `trimmed` are; nobody knows it but the manifest. */
const trimmedLog = Effect.fnUntraced(function*(segments: number, trimmed: number) {
  const world = yield* makeWorld({ retention: { policy: "committed" }, manifest: { maxSegments: 1 } })
  const first = yield* drive(world.process("a").open())
  yield* store(first, records(perSegment))
  yield* drive(first.close)
  const process = world.process("b")
  const wal = yield* drive(process.open())
  yield* store(wal, records(segments * perSegment, perSegment + 1))
  const seq = (trimmed + 1) * perSegment
  yield* wal.commit(seq)
  yield* drive(wal.trim(seq))
  yield* advanceUntil(() => !world.memory.objects.has(world.key(2, trimmed - 1)))
  return { world, process, wal, seq, last: (segments + 1) * perSegment }
})

/** The same, and one more segment, whose header knows the trim point. */
const toldLog = Effect.fnUntraced(function*(segments: number, trimmed: number) {
  const log = yield* trimmedLog(segments, trimmed)
  yield* store(log.wal, records(perSegment, log.last + 1))
  log.process.crash()
  log.world.memory.objects.delete(manifest)
  return { ...log, last: log.last + perSegment }
})

/** What planning asks of the store, and how long it pauses, in milliseconds. */
const costOfPlan = Effect.fnUntraced(function*(world: World, decisions: WalRepair.RepairDecisions = {}) {
  const seen = FaultyObjectStore.make(world.memory.store)
  const from = yield* Clock.currentTimeMillis
  yield* drive(onStore(WalRepair.plan({ ...identity, decisions }), seen.store))
  return { requests: seen.requests.length, pauses: (yield* Clock.currentTimeMillis) - from }
})

const putMarker = Effect.fnUntraced(function*(world: World, logId: string, epoch: number, slot: number) {
  const marker = { logId, epoch, slot, nonce: "0".repeat(32), owner: { epoch: epoch + 1, host: "x" } }
  yield* Effect.sync(() => world.memory.put(world.key(epoch, slot), encodeEndMarker(marker, nodeDigest)))
})

describe("without a manifest", () => {
  it.effect("a log starts where its newest header knows it: what was trimmed is not lost, and costs nothing", () =>
    Effect.gen(function*() {
      const costs = []
      for (const trimmed of [10, 60]) {
        const { last, seq, world } = yield* toldLog(trimmed + 4, trimmed)
        const { findings, report } = yield* check(world)
        assert.deepStrictEqual(findings.map((one) => one.kind), ["manifest-missing"])
        assert.deepInclude(report, { trimmedTo: seq, durable: last, segments: 5, records: 5 * perSegment })
        costs.push(yield* costOfPlan(world))
        const { damaged, findings: planned } = yield* repaired(world)
        assert.deepStrictEqual(damaged, [])
        assert.notInclude(planned.map((one) => one.kind), "segment-missing")
        assert.strictEqual((yield* world.manifest).trim.seq, seq)
        assert.deepStrictEqual(yield* readSkipping(world), expected(last + 5).slice(seq))
      }
      assert.strictEqual(costs[1]?.requests, costs[0]?.requests)
    }))

  it.effect("the newest header is found below barriers and damage, and one of another log is none", () =>
    Effect.gen(function*() {
      const base = yield* toldLog(14, 10)
      const { seq, world } = base
      const { logId } = yield* world.header(2, 14)
      for (const slot of [80, 200, 440]) yield* putMarker(world, logId, 2, slot)
      const barred = yield* check(world)
      assert.deepStrictEqual(barred.findings.map((one) => one.kind), ["manifest-missing"])
      assert.strictEqual(barred.report.trimmedTo, seq)
      const whole = yield* makeEpochs(1, {}, 60)
      whole.memory.put(whole.key(1, 12), bytesAt(world, world.key(2, 14)))
      whole.memory.objects.delete(manifest)
      assert.deepStrictEqual(yield* found(whole), ["manifest-missing", "segment-misplaced 1/12 61-61+"])
      assert.deepInclude((yield* check(whole)).report, { trimmedTo: 0, records: 60 })
    }))

  it.effect("a log starts where a header above its end knows it: that of a segment which was in flight", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(2)
      const trim = boundaryAfter(yield* world.header(1, 1), nodeDigest)
      const last = yield* world.header(2, 3)
      const orphan: SegmentHeader = {
        ...last,
        slot: 5,
        firstSeq: last.firstSeq + 2 * perSegment,
        storedBytes: 0,
        extensions: [encodeTrim(trim)]
      }
      world.memory.put(world.key(2, 5), encodeSegment(orphan, encode(""), nodeDigest))
      for (const slot of [0, 1]) world.memory.objects.delete(world.key(1, slot))
      world.memory.objects.delete(manifest)
      yield* repaired(world)
      assert.deepStrictEqual((yield* world.manifest).trim, trim)
      assert.deepStrictEqual(yield* readSkipping(world), expected(45).slice(trim.seq))
    }))

  it.effect("a log that was trimmed further than any header knows starts at its first segment; a repair asks, and soon", () =>
    Effect.gen(function*() {
      const segments = 104
      const trimmed = 100
      const { last, process, seq, world } = yield* trimmedLog(segments, trimmed)
      process.crash()
      world.memory.objects.delete(manifest)
      assert.deepStrictEqual(yield* found(world), ["manifest-missing"])
      // Each slot is looked at twice, and only the first one with pauses.
      const { pauses, requests } = yield* costOfPlan(world, { missing: "trimmed" })
      assert.isBelow(requests, 3 * trimmed + 100)
      assert.isBelow(pauses, 2_000)
      const lost = yield* world.copy
      yield* repaired(lost, { missing: "lost" })
      assert.deepStrictEqual(yield* readSkipping(lost), expected(last + 5, [1, seq]))
      yield* repaired(world, { missing: "trimmed" })
      assert.deepStrictEqual(yield* readSkipping(world), expected(last + 5).slice(seq))
    }))

  it.effect("the slots of an epoch that has ended are not asked for, as far away as its marker stands", () =>
    Effect.gen(function*() {
      const world = yield* makeEpochs(1)
      const { log_id: logId } = yield* world.manifest
      world.memory.objects.delete(manifest)
      yield* putMarker(world, logId, 1, 4)
      yield* putMarker(world, logId, 2, 3_000)
      const seen = FaultyObjectStore.make(world.memory.store)
      const { report } = yield* drive(onStore(WalVerify.report(identity), seen.store))
      assert.strictEqual(report.records, 20)
      assert.isBelow(seen.requests.length, 200)
    }))
})
