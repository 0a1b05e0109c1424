/** Who asks for a manifest and goes away again. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { open, settle, start, still, storeSegments } from "../support/LogWorld.ts"

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
})
