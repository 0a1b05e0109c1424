/**
 * A test to copy: a program that ships orders, its log in memory, and a carrier and a store that are away on command.
 * Time goes by only when the test says so, so an outage of hours takes milliseconds, and every run is the same.
 */
import * as DurableInput from "@effect-wal/core/DurableInput"
import * as TypedWal from "@effect-wal/core/TypedWal"
import { Wal } from "@effect-wal/core/Wal"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Queue, Schedule, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"

// The program. It knows nothing of the test.

const Order = Schema.Struct({ id: Schema.String, cents: Schema.Int })
type Order = typeof Order.Type

class Orders extends TypedWal.Tag("orders", { schema: Order })<Orders>() {}

class CarrierAway extends Schema.TaggedError<CarrierAway>()("CarrierAway", {}) {}

class Carrier extends Context.Service<Carrier, {
  readonly ship: (order: Order) => Effect.Effect<void, CarrierAway>
}>()("@effect-wal/examples/test/Carrier") {}

/** Ships what comes, each order once the log has it, and tries again every minute. */
const shipAll = Effect.fnUntraced(function*(incoming: Stream.Stream<Order>) {
  const orders = yield* Orders
  const carrier = yield* Carrier
  const input = DurableInput.typed(orders, incoming)
  return yield* input.run((order) => carrier.ship(order), { retry: Schedule.spaced("1 minute") })
})

// What the test holds in its hands: the carrier here, the store by `WalTest`. What happens goes into queues: to wait for
// it, the test takes it from there, and needs no time and no luck.

class TestCarrier extends Context.Service<TestCarrier, {
  readonly asked: Queue.Queue<string>
  readonly shipped: Queue.Queue<string>
  isAway: boolean
}>()("@effect-wal/examples/test/TestCarrier") {
  static readonly layer = Layer.effect(
    TestCarrier,
    Effect.map(
      Effect.all([Queue.unbounded<string>(), Queue.unbounded<string>()]),
      ([asked, shipped]) => ({ asked, shipped, isAway: false })
    )
  )
}

const CarrierTest = Layer.effect(
  Carrier,
  Effect.map(TestCarrier, (carrier) =>
    Carrier.of({
      ship: Effect.fnUntraced(function*({ id }) {
        yield* Queue.offer(carrier.asked, id)
        if (carrier.isAway) return yield* new CarrierAway()
        yield* Queue.offer(carrier.shipped, id)
      })
    }))
).pipe(Layer.provideMerge(TestCarrier.layer))

// `WalTest.layer()` is a whole log in memory.
const TestLive = Layer.merge(CarrierTest, Orders.layerOver(Wal).pipe(Layer.provideMerge(WalTest.layer())))

/** A source that the test feeds, and the program that runs on it. */
const start = Effect.gen(function*() {
  const queue = yield* Queue.unbounded<Order>()
  const run = yield* Effect.forkChild(shipAll(Stream.fromQueue(queue)))
  return { run, place: (id: string) => Queue.offer(queue, { id, cents: 450 }) }
})

describe("shipAll", () => {
  it.effect("tries again every minute while the carrier is away, and ships in the order in which orders came", () =>
    Effect.gen(function*() {
      const carrier = yield* TestCarrier
      const { place } = yield* start
      carrier.isAway = true
      yield* place("a")
      yield* place("b")
      assert.strictEqual(yield* Queue.take(carrier.asked), "a")
      for (let minute = 0; minute < 60; minute++) {
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* Queue.take(carrier.asked), "a")
      }

      carrier.isAway = false
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* Queue.takeN(carrier.shipped, 2), ["a", "b"])
    }).pipe(Effect.provide(TestLive)))

  it.effect("ships nothing that is not durable", () =>
    Effect.gen(function*() {
      const { faults } = yield* WalTest
      const { shipped } = yield* TestCarrier
      const puts = yield* Queue.unbounded<string>()
      const storeIsBack = faults.rule(({ key, operation }) => {
        if (operation !== "create") return undefined
        Queue.offerUnsafe(puts, key)
        return { _tag: "Fail", reason: "Unavailable" }
      })
      const { place } = yield* start
      yield* place("a")
      yield* Queue.take(puts)
      yield* TestClock.adjust("1 minute")
      const { atRisk } = yield* Effect.flatMap(Orders, (orders) => orders.status)
      assert.deepStrictEqual([atRisk.records, yield* Queue.size(shipped)], [1, 0])

      storeIsBack()
      yield* TestClock.adjust("10 seconds") // no wait between two tries of the store is longer than 5 s
      assert.strictEqual(yield* Queue.take(shipped), "a")
    }).pipe(Effect.provide(TestLive)))

  it.effect("when it is stopped, what it did not ship comes with the next run", () =>
    Effect.gen(function*() {
      const carrier = yield* TestCarrier
      const first = yield* start
      yield* first.place("a")
      assert.strictEqual(yield* Queue.take(carrier.shipped), "a")
      carrier.isAway = true
      yield* first.place("b")
      assert.deepStrictEqual(yield* Queue.takeN(carrier.asked, 2), ["a", "b"])
      yield* Fiber.interrupt(first.run)

      carrier.isAway = false
      yield* start
      assert.strictEqual(yield* Queue.take(carrier.shipped), "b")
    }).pipe(Effect.provide(TestLive)))
})
