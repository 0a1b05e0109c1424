/** Twins of the outage cases: the store refuses one kind of request only. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  drive,
  isDone,
  isSegmentKey,
  manifest,
  open,
  type Options,
  range,
  readAll,
  records,
  reopen,
  seqs,
  settle,
  slotKeys,
  start,
  store
} from "../support/LogWorld.ts"

const options: Options = {
  segment: { maxEntries: 10 },
  manifest: { maxSegments: 2, maxDelay: "1s" },
  cursor: { interval: "1s" },
  retention: { policy: "committed" },
  parallelPut: { shutdownTimeout: "5s" }
}

describe("a store that throttles", () => {
  it.effect("[kind D] only the manifest: appends stay durable at full speed, trim waits, close says what it could not write", () =>
    Effect.gen(function*() {
      const log = yield* open(options)
      let throttled = true
      const times: Array<number> = []
      const clock = yield* Clock.Clock
      log.faults.rule((request) => {
        if (!throttled || request.operation !== "replace") return undefined
        times.push(clock.currentTimeMillisUnsafe())
        return { _tag: "Fail", reason: "Throttled", retryAfterMillis: 2_000 }
      })
      // Each is durable without the clock: nothing of the manifest is in its way.
      for (let count = 0; count < 20; count++) yield* store(log.wal, records(10, count * 10 + 1))
      yield* log.wal.commit(100)
      const trimming = yield* start(log.wal.trim(100))
      yield* TestClock.adjust("60 seconds")
      assert.isFalse(isDone(trimming))
      assert.strictEqual((yield* log.wal.status).durable, 200)
      assert.strictEqual(slotKeys(log.memory).length, 20)
      // Never sooner than it was asked to, however much waits.
      for (const [index, at] of times.entries()) if (index > 0) assert.isAtLeast(at - (times[index - 1] ?? 0), 2_000)
      const closing = yield* start(log.wal.close)
      yield* TestClock.adjust("6 seconds")
      const report = yield* Fiber.join(closing)
      assert.deepInclude(report, { durable: 200, lost: null, manifestWritten: false })
      throttled = false
      const again = yield* drive(reopen(log, options))
      assert.deepStrictEqual(seqs(yield* drive(readAll(again.wal))), range(1, 200))
    }))

  it.effect("[kind D] only the manifest, for a while: the batch that waited is written once the store lets it", () =>
    Effect.gen(function*() {
      const log = yield* open(options)
      let throttled = true
      log.faults.rule((request) =>
        throttled && request.operation === "replace" ? { _tag: "Fail", reason: "Throttled" } : undefined
      )
      yield* store(log.wal, records(50))
      yield* log.wal.commit(30)
      const trimming = yield* start(log.wal.trim(30))
      yield* TestClock.adjust("5 minutes")
      throttled = false
      assert.strictEqual(yield* drive(Fiber.join(trimming)), 30)
      yield* settle
      assert.strictEqual(slotKeys(log.memory).length, 2)
      const { requests } = log.faults
      // A try is a write and a look at what is there: not two of them a second.
      assert.isAtMost(requests.filter((one) => one.key === manifest).length, 2 * 300)
    }))

  it.effect("[kind D] only reads: what is appended stays durable, a reader goes on when it may", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...options, tailBufferBytes: 0 })
      yield* store(log.wal, records(30))
      let throttled = true
      log.faults.rule((request) =>
        throttled && request.operation === "get" && isSegmentKey(request.key)
          ? { _tag: "Fail", reason: "Throttled", retryAfterMillis: 500 }
          : undefined
      )
      const reading = yield* start(readAll(log.wal))
      yield* TestClock.adjust("1 second")
      yield* store(log.wal, records(10, 31))
      assert.isFalse(isDone(reading))
      throttled = false
      assert.deepStrictEqual(seqs(yield* drive(Fiber.join(reading))), range(1, 40))
    }))
})
