/** Cursors that come into being while the log is being trimmed: never below what is deleted. */
import type { AckError } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import {
  isDone,
  isSegmentKey,
  open,
  range,
  records,
  reopen,
  seqs,
  settle,
  start,
  still,
  store,
  storeSegments,
  type TestLog
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

describe("a cursor whose first call was given up", () => {
  /** The log, with manifests that are not written until they are freed, and such a call. */
  const givenUp = Effect.fnUntraced(function*(call: (log: TestLog) => Effect.Effect<void, AckError>) {
    const log = yield* open({ ...still, segment: { maxEntries: 10 } })
    yield* storeSegments(log.wal, 3, 10)
    yield* log.wal.commit(5, { cursor: "old" })
    const gate = Deferred.makeUnsafe<void>()
    const free = log.faults.rule((request) =>
      request.operation === "replace" ? { _tag: "HoldBefore", gate } : undefined
    )
    const first = yield* start(call(log))
    yield* settle
    yield* Fiber.interrupt(first)
    const again = yield* start(call(log))
    yield* settle
    assert.isFalse(isDone(again))
    free()
    yield* Deferred.done(gate, Exit.void)
    yield* Fiber.join(again)
    return Object.keys((yield* (yield* reopen(log)).wal.status).cursors)
  })

  it.effect("is in the store once the call that repeats it is done", () =>
    Effect.gen(function*() {
      const cursors = yield* givenUp(({ wal }) => wal.commit(7, { cursor: "late" }))
      assert.sameMembers(cursors, ["default", "old", "late"])
    }))

  it.effect("is in the store once another call on it is done", () =>
    Effect.gen(function*() {
      const cursors = yield* givenUp(({ wal }) => wal.ack(1, { cursor: "late" }))
      assert.sameMembers(cursors, ["default", "old", "late"])
    }))

  it.effect("is out of the store once the removal that repeats it is done", () =>
    Effect.gen(function*() {
      const cursors = yield* givenUp(({ wal }) => wal.removeCursor("old"))
      assert.sameMembers(cursors, ["default"])
    }))

  it.effect("made anew after a removal that was given up: it is in the store once the call is done", () =>
    Effect.gen(function*() {
      const cursors = yield* givenUp(({ wal }) =>
        Effect.andThen(Effect.timeoutOption(wal.removeCursor("old"), 0), wal.commit(9, { cursor: "old" }))
      )
      assert.sameMembers(cursors, ["default", "old"])
    }))
})
