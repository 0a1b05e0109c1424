import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { expectTypeOf } from "vitest"
import * as DurableInput from "../../src/DurableInput.ts"
import * as TypedWal from "../../src/TypedWal.ts"
import { Wal } from "../../src/Wal.ts"
import type { AppendRecord } from "../../src/WalRecord.ts"
import type { WalService } from "../../src/WalService.ts"
import { holdPuts, isDone, open, records, start, still, store } from "../support/LogWorld.ts"
import { makeHandler, makeSource, markOf, names, quiet, replays, textOf } from "./InputWorld.ts"

const modes = ["after-durable", "after-accepted"] as const

/** A log whose PUTs wait for a gate. */
const openHeld = Effect.gen(function*() {
  const log = yield* open(still)
  const gate = yield* Deferred.make<void>()
  log.faults.rule(holdPuts(() => gate))
  return { ...log, store: Effect.andThen(Deferred.succeed(gate, undefined), quiet) }
})

describe("an input", () => {
  it.effect("after durability: stores, acknowledges, handles, commits, in this order", () =>
    Effect.gen(function*() {
      const { store, wal } = yield* openHeld
      const source = yield* makeSource
      const handler = makeHandler()
      const { finish } = handler.hold("r2")
      const run = yield* start(
        DurableInput.make(wal, source.stream, { onDurable: source.onDurable }).run(handler.handle)
      )
      yield* source.give(3)
      yield* quiet
      assert.deepStrictEqual([source.seen.taken, source.acked, handler.started], [3, [], []])
      yield* store
      assert.deepStrictEqual([source.acked, handler.started], [names(1, 3), ["r1", "r2"]])
      assert.strictEqual(yield* markOf(wal), 1)
      yield* finish
      yield* quiet
      assert.deepStrictEqual(handler.done, names(1, 3))
      assert.strictEqual(yield* markOf(wal), 3)
      assert.isFalse(isDone(run))
      yield* source.end
      assert.deepStrictEqual(yield* Fiber.join(run), { handled: 3, deadLettered: 0 })
    }))

  it.effect("after acceptance: handles while it is being stored, acknowledges and commits once it is", () =>
    Effect.gen(function*() {
      const { store, wal } = yield* openHeld
      const source = yield* makeSource
      const handler = makeHandler()
      const run = yield* start(
        DurableInput.make(wal, source.stream, { handle: "after-accepted", onDurable: source.onDurable })
          .run(handler.handle)
      )
      yield* source.give(3)
      yield* source.end
      yield* quiet
      assert.deepStrictEqual([source.acked, handler.done], [[], names(1, 3)])
      assert.strictEqual(yield* markOf(wal), 0)
      assert.isFalse(isDone(run))
      yield* store
      assert.deepStrictEqual(source.acked, names(1, 3))
      assert.strictEqual(yield* markOf(wal), 3)
      assert.deepStrictEqual(yield* Fiber.join(run), { handled: 3, deadLettered: 0 })
    }))

  it.effect.each([...modes])(
    "%s: what is not committed comes first, then what comes, with no hole",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        yield* store(wal, records(4))
        yield* wal.commit(1)
        const source = yield* makeSource
        const seen: Array<DurableInput.Delivery<unknown>> = []
        const run = yield* start(
          DurableInput.make(wal, source.stream, { handle }).run((_, delivery) => Effect.sync(() => seen.push(delivery)))
        )
        yield* source.give(2, 5)
        yield* quiet
        assert.deepStrictEqual(replays(seen), ["2 again", "3 again", "4 again", "5", "6"])
        yield* source.give(1, 7)
        yield* source.end
        yield* Fiber.join(run)
        assert.deepStrictEqual(replays(seen).slice(5), ["7"])
        assert.strictEqual(yield* markOf(wal), 7)
      })
  )

  it.effect.each([...modes])(
    "%s: parallel handlers end in any order, the cursor never passes one that runs",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const source = yield* makeSource
        const handler = makeHandler()
        const { finish: finishFirst } = handler.hold("r1")
        const run = yield* start(
          DurableInput.make(wal, source.stream, { handle }).run(handler.handle, { concurrency: 3 })
        )
        yield* source.give(20)
        yield* quiet
        assert.deepStrictEqual(handler.done, names(2, 20))
        assert.strictEqual(yield* markOf(wal), 0)
        yield* finishFirst
        yield* quiet
        assert.strictEqual(yield* markOf(wal), 20)
        yield* source.end
        yield* Fiber.join(run)
      })
  )

  it.effect("runs so many handlers at a time and no more", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      const handler = makeHandler()
      const finish = names(1, 3).map((name) => handler.hold(name).finish)
      const run = yield* start(DurableInput.make(wal, source.stream).run(handler.handle, { concurrency: 2 }))
      yield* source.give(3)
      yield* source.end
      yield* quiet
      assert.deepStrictEqual(handler.started, names(1, 2))
      yield* Effect.all(finish)
      yield* Fiber.join(run)
      assert.sameMembers(handler.done, [...names(1, 3)])
    }))

  it.effect("a cursor of its own is made, and starts at the oldest record of the log", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      yield* store(wal, records(2))
      yield* wal.commit(2)
      const handler = makeHandler()
      yield* DurableInput.make(wal, Stream.fromIterable(records(1, 3)), { cursor: "relay" }).run(handler.handle)
      assert.deepStrictEqual(handler.done, names(1, 3))
      assert.deepStrictEqual([yield* markOf(wal), yield* markOf(wal, "relay")], [2, 3])
    }))

  it.effect("after durability it delivers what others append too", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const source = yield* makeSource
      const handler = makeHandler()
      const run = yield* start(DurableInput.make(wal, source.stream).run(handler.handle))
      yield* quiet
      yield* store(wal, records(1))
      yield* source.give(1, 2)
      yield* quiet
      assert.deepStrictEqual(handler.done, names(1, 2))
      yield* source.end
      yield* Fiber.join(run)
    }))

  it.effect.each([...modes])(
    "%s: is a stream too, of deliveries that its reader commits",
    (handle) =>
      Effect.gen(function*() {
        const { wal } = yield* open(still)
        const source = yield* makeSource
        yield* source.give(3)
        yield* source.end
        const deliveries = yield* Stream.runCollect(DurableInput.make(wal, source.stream, { handle }).deliveries)
        assert.deepStrictEqual(deliveries.map(({ value }) => textOf(value)), names(1, 3))
        yield* Effect.forEach(deliveries.slice(1), ({ commit }) => commit)
        assert.strictEqual(yield* markOf(wal), 0)
        yield* Effect.forEach(deliveries.slice(0, 1), ({ commit }) => commit)
        assert.strictEqual(yield* markOf(wal), 3)
      })
  )
})

const Order = Schema.Struct({ id: Schema.String, cents: Schema.Int })

describe("an input of values", () => {
  it.effect.each([...modes])("%s: handles values of the schema", (handle) =>
    Effect.gen(function*() {
      const orders = yield* TypedWal.make({ schema: Order })
      const given = [{ id: "a", cents: 1 }, { id: "b", cents: 2 }]
      const seen: Array<typeof Order.Type> = []
      yield* DurableInput.typed(orders, Stream.fromIterable(given), { handle })
        .run((order) => Effect.sync(() => seen.push(order)))
      assert.deepStrictEqual(seen, given)
      assert.strictEqual(yield* Effect.flatMap(Wal, (wal) => markOf(wal)), 2)
    }).pipe(Effect.provide(WalTest.layer())))
})

class Refused extends Schema.TaggedError<Refused>()("Refused", {}) {}
class Full extends Schema.TaggedError<Full>()("Full", {}) {}
class Gone extends Schema.TaggedError<Gone>()("Gone", {}) {}

describe("types", () => {
  it("name what a run fails with: the handler's error only where nothing takes it", () => {
    const inputs = (
      wal: WalService,
      orders: TypedWal.TypedWalService<string>,
      source: Stream.Stream<AppendRecord, Gone>
    ) => {
      const input = DurableInput.make(wal, source)
      const refuse = () => Effect.fail(new Refused())
      return {
        plain: input.run(refuse),
        deadLetter: input.run(refuse, { deadLetter: () => Effect.fail(new Full()) }),
        // A source may carry more than the log keeps, for its hooks.
        handles: DurableInput.make(wal, Stream.make({ payload: new Uint8Array(1), handle: 7 }), {
          onDurable: ([{ handle }]) => Effect.sync(() => handle.toFixed())
        }).run(() => Effect.void),
        typed: DurableInput.typed(orders, Stream.make("a")).run((value) => Effect.sync(() => value.length)),
        deliveries: input.deliveries
      }
    }
    type Inputs = ReturnType<typeof inputs>
    expectTypeOf<Effect.Error<Inputs["plain"]>>().toEqualTypeOf<Gone | Refused | DurableInput.DurableInputError>()
    expectTypeOf<Effect.Error<Inputs["deadLetter"]>>().toEqualTypeOf<Gone | Full | DurableInput.DurableInputError>()
    expectTypeOf<Effect.Error<Inputs["handles"]>>().toEqualTypeOf<DurableInput.DurableInputError>()
    expectTypeOf<Effect.Error<Inputs["typed"]>>()
      .toEqualTypeOf<DurableInput.DurableInputError | TypedWal.RecordDecodeError>()
    expectTypeOf<Effect.Services<Inputs["typed"]>>().toEqualTypeOf<never>()
    expectTypeOf<Inputs["deliveries"]>().toEqualTypeOf<
      Stream.Stream<DurableInput.OpenDelivery<AppendRecord>, Gone | DurableInput.DurableInputError>
    >()
  })
})
