/** The collector by itself: what it holds in memory when the store refuses. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, References } from "effect"
import { TestClock } from "effect/testing"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { encodeSegment } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { LogStats } from "../../src/observe/LogStats.ts"
import { GarbageCollector } from "../../src/retain/GarbageCollector.ts"
import { boundary, segmentHeader } from "../format/Samples.ts"

const prefix = "node/log/"
const slots = 50_000
const logId = "0".repeat(32)

/** One that runs until the test ends, on a log whose first epoch is live. */
const startOn = Effect.fnUntraced(function*(store: ObjectStore["Service"], stats: LogStats, trimmedTo = 0) {
  const collector = new GarbageCollector({
    prefix,
    logId,
    digest: nodeDigest,
    backoff: { base: Duration.millis(100), cap: Duration.seconds(5) },
    trim: boundary(1, trimmedTo, trimmedTo),
    endOf: () => undefined,
    epochs: () => [1]
  }, stats)
  yield* Effect.forkChild(Effect.provideService(collector.run, ObjectStore, store), { startImmediately: true })
  return collector
})

const segmentOf = (slot: number) =>
  encodeSegment(segmentHeader({ logId, epoch: 1, slot, count: 1, firstSeq: slot + 1 }), new Uint8Array(0), nodeDigest)

describe("the garbage collector", () => {
  it.effect("holds a bounded number of keys while every delete is refused, and takes the rest later", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      for (let slot = 0; slot < slots; slot++) memory.put(slotKey(prefix, 1, slot), Uint8Array.of(1))
      const asked = new Set<string>()
      let refuses = true
      const remove: ObjectStore["Service"]["remove"] = (keys) => {
        for (const key of keys) asked.add(key)
        return refuses ? Effect.succeed(keys.map((key) => ({ key, code: "AccessDenied" }))) : memory.store.remove(keys)
      }
      const stats = new LogStats()
      const collector = yield* startOn({ ...memory.store, remove }, stats)
      collector.trimmed(boundary(1, slots, slots))
      yield* TestClock.adjust("5 minutes")
      assert.isAtMost(asked.size, 12_000)
      assert.isAbove(stats.deleteFailures, 10_000)
      refuses = false
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(memory.objects.size, 0)
      assert.strictEqual(stats.segmentsDeleted, slots)
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None")))

  it.effect("does not look for garbage in what the live epoch still holds", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make({ pageSize: 10 })
      for (let slot = 0; slot < 200; slot++) memory.put(slotKey(prefix, 1, slot), Uint8Array.of(1))
      const collector = yield* startOn(memory.store, new LogStats())
      collector.trimmed(boundary(1, 5, 5))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(memory.objects.size, 195)
      assert.strictEqual(memory.count("list"), 1)
    }))

  it.effect("finds what is left below the trim point also where a store lists in no order", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      for (let slot = 0; slot < 200; slot++) memory.put(slotKey(prefix, 1, slot), segmentOf(slot))
      // The highest ones first.
      const list: ObjectStore["Service"]["list"] = (request) =>
        Effect.map(memory.store.list({ prefix: request.prefix, limit: 1_000 }), ({ objects }) => {
          const left = objects.toReversed().filter(({ key }) => request.page === undefined || key < request.page)
          const page = left.slice(0, 10)
          const last = page.at(-1)
          return left.length > 10 && last !== undefined ? { objects: page, next: last.key } : { objects: page }
        })
      const collector = yield* startOn({ ...memory.store, list }, new LogStats(), 50)
      collector.trimmed(boundary(1, 60, 60))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(memory.objects.size, 140)
    }))
})
