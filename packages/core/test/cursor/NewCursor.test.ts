/** Cursors that come into being while the log is being trimmed: never below what is deleted. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import {
  isSegmentKey,
  open,
  range,
  records,
  seqs,
  settle,
  start,
  still,
  store,
  storeSegments
} from "../support/LogWorld.ts"

describe("a trim", () => {
  it.effect("above everything there is takes what there is, not what comes later", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 2, 10)
      yield* log.wal.commit(20)
      assert.strictEqual(yield* log.wal.trim(1_000_000), 20)
      yield* store(log.wal, records(10, 21))
      yield* log.wal.commit(30)
      assert.strictEqual(yield* log.wal.trim(0), 20)
    }))
})

describe("a cursor created while a trim is under way", () => {
  it.effect("starts at the new trim point, not below what is being deleted", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 3, 10)
      yield* log.wal.commit(25)
      const hold = Deferred.makeUnsafe<void>()
      const free = log.faults.rule((request) =>
        request.operation === "replace" ? { _tag: "HoldBefore", gate: hold } : undefined
      )
      const trimming = yield* start(log.wal.trim(20))
      yield* settle
      const committing = yield* start(log.wal.commit(5, { cursor: "late" }))
      yield* settle
      free()
      yield* Deferred.done(hold, Exit.void)
      assert.strictEqual(yield* Fiber.join(trimming), 20)
      yield* Fiber.join(committing)
      yield* settle
      assert.strictEqual([...log.memory.objects.keys()].filter(isSegmentKey).length, 1)
      assert.strictEqual((yield* log.wal.status).cursors["late"]?.mark, 20)
      const read = yield* Stream.runCollect(log.wal.replay({ cursor: "late", until: "durable-end" }))
      assert.deepStrictEqual(seqs(read), range(21, 30))
      yield* store(log.wal, records(1, 31))
    }))
})
