import { assert, describe, it } from "@effect/vitest"
import { Array, Deferred, Effect, Fiber, Stream } from "effect"
import * as DurableInput from "../../src/DurableInput.ts"
import { Room } from "../../src/input/Room.ts"
import { holdPuts, open, records, sized, start, still } from "../support/LogWorld.ts"
import { makeHandler, makeSource, names, quiet } from "./InputWorld.ts"

describe("the memory of an input", () => {
  it.effect("after durability: the source is not pulled beyond what may be on its way", () =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(still)
      const gate = yield* Deferred.make<void>()
      faults.rule(holdPuts(() => gate))
      const source = yield* makeSource
      const handler = makeHandler()
      const run = yield* start(DurableInput.make(wal, source.stream, { maxPending: 3 }).run(handler.handle))
      yield* source.give(10)
      yield* source.end
      yield* quiet
      assert.strictEqual(source.seen.taken, 3)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(run)
      assert.deepStrictEqual(handler.done, names(1, 10))
    }))

  it.effect("after durability: handlers that are behind take no memory, so the source goes on", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      const handler = makeHandler()
      const { finish } = handler.hold("r1")
      const run = yield* start(DurableInput.make(wal, source.stream, { maxPending: 3 }).run(handler.handle))
      yield* source.give(50)
      yield* source.end
      yield* quiet
      assert.deepStrictEqual([source.seen.taken, handler.started], [50, ["r1"]])
      yield* finish
      yield* Fiber.join(run)
      assert.deepStrictEqual(handler.done, names(1, 50))
    }))

  it.effect("after acceptance: it is pulled as elements are committed", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      const handler = makeHandler()
      const { finish } = handler.hold("r1")
      const run = yield* start(
        DurableInput.make(wal, source.stream, { handle: "after-accepted", maxPending: 3 }).run(handler.handle)
      )
      yield* source.give(50)
      yield* source.end
      yield* quiet
      assert.strictEqual(source.seen.taken, 3)
      yield* finish
      yield* Fiber.join(run)
      assert.deepStrictEqual(handler.done, names(1, 50))
    }))

  it.effect("is bounded in bytes too", () =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(still)
      const gate = yield* Deferred.make<void>()
      faults.rule(holdPuts(() => gate))
      let taken = 0
      const source = Stream.fromIterable(Array.makeBy(10, () => sized(100))).pipe(
        Stream.rechunk(1),
        Stream.tap(() => Effect.sync(() => taken++))
      )
      const run = yield* start(DurableInput.make(wal, source, { maxPendingBytes: 250 }).run(() => Effect.void))
      yield* quiet
      assert.strictEqual(taken, 3)
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(run)
      assert.strictEqual(taken, 10)
    }))

  it.effect.each(["after-durable", "after-accepted"] as const)(
    "%s: a chunk that is larger than the room goes through in pieces",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const handler = makeHandler()
        yield* DurableInput.make(wal, Stream.fromIterable(records(100)), { handle, maxPending: 7 }).run(handler.handle)
        assert.deepStrictEqual(handler.done, names(1, 100))
      })
  )

  it("an element of any size goes through, the others wait", () => {
    const room = new Room({ maxPending: 2, maxPendingBytes: 10 })
    assert.deepStrictEqual(room.fitting([20, 1], (size) => size), { count: 1, bytes: 20 })
    assert.deepStrictEqual(room.fitting([4, 4, 4], (size) => size), { count: 2, bytes: 8 })
    room.hold({ last: 1, count: 1, bytes: 4 })
    assert.deepStrictEqual(room.fitting([4, 4], (size) => size), { count: 1, bytes: 4 })
    room.releaseThrough(0)
    assert.strictEqual(room.pending, 1)
    room.releaseThrough(1)
    assert.strictEqual(room.pending, 0)
  })

  it.effect("options that make no sense are refused before anything is taken", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      yield* source.give(1)
      const input = DurableInput.make(wal, source.stream, { maxPending: 0, maxPendingBytes: 1.5 })
      const refused = yield* Effect.flip(input.run(() => Effect.void))
      assert.strictEqual(
        refused.message,
        "DurableInput: maxPending: must be a whole number from 1 to 9007199254740991 (found 0)\n" +
          "DurableInput: maxPendingBytes: must be a whole number from 1 to 9007199254740991 (found 1.5)"
      )
      const concurrency = yield* Effect.flip(
        DurableInput.make(wal, source.stream).run(() => Effect.void, { concurrency: 0 })
      )
      assert.include(concurrency.message, "concurrency")
      assert.strictEqual(source.seen.taken, 0)
    }))
})
