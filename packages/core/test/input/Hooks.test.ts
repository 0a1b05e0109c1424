/** When an input calls what it was given, and what becomes of one that throws. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Metric, Stream } from "effect"
import * as DurableInput from "../../src/DurableInput.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import { holdPuts, isDone, open, records, start, still } from "../support/LogWorld.ts"
import { markOf, names, quiet, textOf } from "./InputWorld.ts"

const modes = ["after-durable", "after-accepted"] as const

/** Two devices: `r1` is of one, the others of the other. */
const producer = (record: AppendRecord) => ({
  id: textOf(record) === "r1" ? "first" : "second",
  sequence: Number(textOf(record).slice(1))
})

/** The gauge of an input with this cursor; `undefined` where there is none. */
const pendingOf = (cursor: string) =>
  Effect.map(Metric.snapshot, (all) => {
    const one = all.find(({ attributes, id }) => id === "wal_input_pending" && attributes?.["cursor"] === cursor)
    return one?.type === "Gauge" ? Number(one.state.value) : undefined
  })

describe("an acknowledgement", () => {
  it.effect.each([...modes])(
    "%s: waits for what is new in a chunk, also where a repeat follows that is durable long since",
    (handle) =>
      Effect.gen(function*() {
        const { faults, wal } = yield* open(still)
        yield* DurableInput.make(wal, Stream.fromIterable(records(1)), { producer }).run(() => Effect.void)
        const gate = yield* Deferred.make<void>()
        faults.rule(holdPuts(() => gate))
        const acked: Array<string> = []
        const run = yield* start(
          DurableInput.make(wal, Stream.fromIterable([...records(1, 2), ...records(1)]), {
            producer,
            handle,
            onDurable: (elements) => Effect.sync(() => acked.push(...elements.map(textOf)))
          }).run(() => Effect.void)
        )
        yield* quiet
        assert.deepStrictEqual([acked, isDone(run)], [[], false])
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(run)
        assert.deepStrictEqual(acked, ["r2", "r1"])
        assert.strictEqual(yield* markOf(wal), 2)
      })
  )

  it.effect("is not even called before its elements are durable", () =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(still)
      const gate = yield* Deferred.make<void>()
      faults.rule(holdPuts(() => gate))
      const called: Array<string> = []
      const run = yield* start(
        DurableInput.make(wal, Stream.fromIterable(records(2)), {
          onDurable: (elements) => {
            called.push(...elements.map(textOf))
            return Effect.void
          }
        }).run(() => Effect.void)
      )
      yield* quiet
      assert.deepStrictEqual(called, [])
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(run)
      assert.deepStrictEqual(called, names(1, 2))
    }))
})

describe("what throws instead of giving an effect", () => {
  const throws = (record: AppendRecord) => {
    if (textOf(record) === "r2") throw new Error("no effect")
    return Effect.void
  }

  it.effect("a handler: its element is a dead letter, and the others go on", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const letters: Array<number> = []
      const report = yield* DurableInput.make(wal, Stream.fromIterable(records(3))).run(throws, {
        deadLetter: ({ seq }, cause) => Effect.sync(() => letters.push(Cause.hasDies(cause) ? seq : -1))
      })
      assert.deepStrictEqual([report, letters], [{ handled: 2, deadLettered: 1 }, [2]])
      assert.strictEqual(yield* markOf(wal), 3)
    }))

  it.effect("a handler or a place for dead letters: the run stops in order", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const input = DurableInput.make(wal, Stream.fromIterable(records(3)))
      const exit = yield* Effect.exit(input.run(throws))
      assert.include(Exit.isFailure(exit) ? String(exit.cause) : "", "no effect")
      const again = yield* Effect.exit(
        DurableInput.make(wal, Stream.empty).run(throws, { deadLetter: ({ value }) => throws(value) })
      )
      assert.include(Exit.isFailure(again) ? String(again.cause) : "", "no effect")
      assert.strictEqual(yield* markOf(wal), 1)
    }))

  it.effect("`stopWhen`: the run ends with that, as nothing could stop it any more", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const run = yield* start(
        DurableInput.make(wal, Stream.never).run(() => Effect.void, { stopWhen: Effect.die("no signal") })
      )
      yield* quiet
      assert.isTrue(isDone(run))
      const exit = yield* Fiber.await(run)
      assert.include(Exit.isFailure(exit) ? String(exit.cause) : "", "no signal")
    }))
})

describe("the gauge of elements in memory", () => {
  it.effect("rises while the store does not answer, and is gone with the input", () =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(still)
      const gate = yield* Deferred.make<void>()
      faults.rule(holdPuts(() => gate))
      const source = Stream.concat(Stream.fromIterable(records(5)), Stream.never)
      const stopWhen = yield* Deferred.make<void>()
      const run = yield* start(
        DurableInput.make(wal, source, { cursor: "gauge" }).run(() => Effect.void, {
          stopWhen: Deferred.await(stopWhen)
        })
      )
      yield* quiet
      assert.strictEqual(yield* pendingOf("gauge"), 5)
      yield* Deferred.succeed(gate, undefined)
      yield* quiet
      assert.strictEqual(yield* pendingOf("gauge"), 0)
      yield* Deferred.succeed(stopWhen, undefined)
      yield* Fiber.join(run)
      assert.isUndefined(yield* pendingOf("gauge"))
    }))

  it.effect("does not come back where an element is committed later", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const input = DurableInput.make(wal, Stream.fromIterable(records(2)), {
        handle: "after-accepted",
        cursor: "late"
      })
      const deliveries = yield* Stream.runCollect(input.deliveries)
      yield* Effect.forEach(deliveries, ({ commit }) => commit)
      assert.strictEqual(yield* markOf(wal, "late"), 2)
      assert.isUndefined(yield* pendingOf("late"))
    }))
})
