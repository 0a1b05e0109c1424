import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { manifest, open, type Options, puts, range, records, settle, slotKeys, store } from "../support/LogWorld.ts"

describe("requests", () => {
  it.effect("an idle log makes none in an hour, fresh or used [predecessor 26]", () =>
    Effect.gen(function*() {
      const log = yield* open()
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(log.memory.requests, [])
      yield* store(log.wal, records(10))
      yield* log.wal.commit(7)
      yield* TestClock.adjust("1 minute")
      log.memory.clearRequests()
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(log.memory.requests, [])
      // A live reader that waits asks nothing either.
      yield* Effect.forkChild(Stream.runDrain(log.wal.replay()), { startImmediately: true })
      yield* settle
      log.memory.clearRequests()
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(log.memory.requests, [])
    }))

  it.effect("one PUT a segment, at most 1.13 requests with everything: 600 segments at 10/s [predecessor 27]", () =>
    Effect.gen(function*() {
      const options: Options = { segment: { maxEntries: 10 }, retention: { policy: "keep" } }
      const log = yield* open(options)
      for (let n = 0; n < 600; n++) {
        yield* store(log.wal, records(10, n * 10 + 1))
        yield* log.wal.commit(n * 10 + 5)
        yield* TestClock.adjust("100 millis")
      }
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(slotKeys(log.memory).length, 600)
      assert.strictEqual(puts(log).length, 600)
      assert.deepStrictEqual(log.memory.count("get") + log.memory.count("list"), 0)
      assert.isAtMost(log.memory.requests.length / 600, 1.13)
    }))

  it.effect("a producer costs none: the same requests with and without, in a run with manifests and deletions", () =>
    Effect.gen(function*() {
      const run = Effect.fnUntraced(function*(named: boolean) {
        const log = yield* open({ segment: { maxEntries: 10 }, retention: { policy: "committed" } })
        for (const n of range(0, 59)) {
          const producer = { id: `p${n % 3}`, sequence: n }
          const call = log.wal.append(records(10, n * 10 + 1), named ? { producer } : {})
          yield* (yield* call).durable
          if (named) assert.isTrue((yield* call).isRepeat)
          yield* log.wal.commit(n * 10 + 5)
          yield* TestClock.adjust("100 millis")
        }
        yield* log.wal.close
        return log.memory.requests
      })
      const plain = yield* run(false)
      assert.isAbove(plain.length, 60)
      assert.deepStrictEqual(yield* run(true), plain)
    }))

  for (const perSecond of [0.8, 1, 4]) {
    it.effect(`at most 1.13 requests a segment at ${perSecond} segments a second [predecessor 27]`, () =>
      Effect.gen(function*() {
        const log = yield* open({ segment: { maxEntries: 10 }, retention: { policy: "keep" } })
        for (const n of range(0, 199)) {
          yield* store(log.wal, records(10, n * 10 + 1))
          yield* TestClock.adjust(1_000 / perSecond)
        }
        assert.strictEqual(puts(log).length, 200)
        assert.isAtMost(log.memory.requests.length / 200, 1.13)
      }))
  }

  it.effect("at most 1.13 requests a segment where each comes as one call and is committed at once [predecessor 27]", () =>
    Effect.gen(function*() {
      const log = yield* open({
        segment: { maxEntries: 10 },
        cursor: { maxEntries: 10 },
        retention: { policy: "keep" }
      })
      for (const n of range(0, 199)) {
        yield* store(log.wal, records(10, n * 10 + 1))
        yield* log.wal.commit(n * 10 + 10)
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(puts(log).length, 200)
      assert.isAtMost(log.memory.requests.length / 200, 1.13)
      // The next one does not come: then the manifest takes the cursor.
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual((yield* log.wal.status).cursors["default"]?.persisted, 2_000)
    }))

  it.effect("committed segments are deleted, in batches, and storage stays flat [predecessor 25]", () =>
    Effect.gen(function*() {
      const log = yield* open({ segment: { maxEntries: 10 }, retention: { policy: "committed" } })
      for (const n of range(0, 299)) {
        yield* store(log.wal, records(10, n * 10 + 1))
        yield* log.wal.commit(n * 10 + 10)
        yield* TestClock.adjust("100 millis")
        if (n > 20) assert.isAtMost(slotKeys(log.memory).length, 20)
      }
      yield* TestClock.adjust("1 minute")
      assert.isAtMost(slotKeys(log.memory).length, 1)
      assert.isAtMost(log.memory.count("remove"), 300 / 8 + 2)
      assert.strictEqual(
        log.memory.requests.filter((one) => one.operation === "replace").every((one) => one.keys[0] === manifest),
        true
      )
    }))

  it.effect("the manifest stays small however long the log [predecessor 20]", () =>
    Effect.gen(function*() {
      const log = yield* open({
        segment: { maxEntries: 1 },
        retention: { policy: "keep" },
        parallelPut: { workers: 8, pipelineDepth: 8 }
      })
      const sizeNow = () => log.memory.objects.get(manifest)?.body.length ?? 0
      const sizes: Array<number> = []
      for (const n of range(0, 7)) {
        yield* store(log.wal, records(500, n * 500 + 1))
        yield* TestClock.adjust("11 seconds")
        sizes.push(sizeNow())
      }
      assert.isAtMost(sizes.at(-1) ?? 0, 256 * 1_024)
      assert.isAtMost(sizes.at(-1) ?? 0, 2 * Math.max(...sizes.slice(1, 4)))
    }))
})
