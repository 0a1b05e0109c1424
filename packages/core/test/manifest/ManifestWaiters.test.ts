/** Who asks for a manifest and goes away again. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { isDone, open, settle, start, still, storeSegments } from "../support/LogWorld.ts"

describe("a manifest that is asked for", () => {
  it.effect("is not written for who has gone away, and nothing is kept of them", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 2, 10)
      yield* log.wal.commit(20)
      const hold = Deferred.makeUnsafe<void>()
      log.faults.rule((request) => request.operation === "replace" ? { _tag: "HoldBefore", gate: hold } : undefined)
      const replaces = () => log.faults.requests.filter((one) => one.operation === "replace").length
      const before = replaces()
      const first = yield* start(log.wal.trim(10))
      yield* settle
      for (let count = 0; count < 3; count++) yield* Fiber.interrupt(yield* start(log.wal.trim(10)))
      yield* Deferred.done(hold, Exit.void)
      assert.strictEqual(yield* Fiber.join(first), 10)
      yield* settle
      assert.strictEqual(replaces() - before, 1)
    }))

  it.effect("is written once more for who asked after its body was made", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 2, 10)
      yield* log.wal.commit(20)
      const hold = Deferred.makeUnsafe<void>()
      log.faults.rule((request) => request.operation === "replace" ? { _tag: "HoldBefore", gate: hold } : undefined)
      const first = yield* start(log.wal.trim(10))
      yield* settle
      const second = yield* start(log.wal.trim(20))
      yield* Deferred.done(hold, Exit.void)
      assert.deepStrictEqual([yield* Fiber.join(first), yield* Fiber.join(second)], [10, 20])
    }))

  it.effect("is tried as soon as somebody asks, however long the pause is by then; what goes on by itself does not end it", () =>
    Effect.gen(function*() {
      const log = yield* open({
        ...still,
        manifest: { maxSegments: 1, maxDelay: "1s" },
        cursor: { interval: "1s", maxEntries: 1 },
        retry: { base: "100ms", cap: "1h" },
        segment: { maxEntries: 1 }
      })
      const replaces = () => log.faults.requests.filter((one) => one.operation === "replace").length
      const before = replaces()
      const heal = log.faults.rule((request) =>
        request.operation === "replace" ? { _tag: "Fail", reason: "AccessDenied" } : undefined
      )
      for (let count = 1; count <= 200; count++) {
        yield* storeSegments(log.wal, 1, 1)
        yield* log.wal.commit(count)
        yield* TestClock.adjust("30 seconds")
      }
      assert.isAtMost(replaces() - before, 20)
      heal()
      const closing = yield* start(log.wal.close)
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(isDone(closing))
      assert.isTrue((yield* log.wal.close).manifestWritten)
    }))
})
