/**
 * Records that are values of a Schema: encoded when they are appended, decoded when they are read. A record that the
 * schema no longer takes is an element of the stream, not the end of it.
 */
import * as TypedWal from "@effect-wal/core/TypedWal"
import { Wal } from "@effect-wal/core/Wal"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer, Schema, Stream } from "effect"

const Order = Schema.Struct({
  id: Schema.String,
  cents: Schema.Int.check(Schema.isGreaterThan(0)),
  placedAt: Schema.DateTimeUtcFromString
})

class Orders extends TypedWal.Tag("orders", { schema: Order, key: (order) => order.id })<Orders>() {}

const LogLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("WAL_PATH").pipe(Config.withDefault("./data/typed")),
  (path) => Wal.layerLocal({ path, nodeId: "node-0", streamId: "orders" })
))

const decodeOrder = Schema.decodeEffect(Order)

const program = Effect.gen(function*() {
  const wal = yield* Wal
  const orders = yield* Orders
  // As an earlier version of the program wrote it: without a time.
  yield* wal.append([{ payload: new TextEncoder().encode(JSON.stringify({ id: "o-1", cents: 450 })) }])
  yield* orders.append([yield* decodeOrder({ id: "o-2", cents: 1_200, placedAt: "2026-07-28T12:00:00Z" })])
  yield* orders.flush
  yield* orders.replay({ until: "durable-end", onDecodeError: "skip" }).pipe(
    Stream.runForEach((element) =>
      (TypedWal.isUndecodable(element)
        ? Console.log(`record ${element.seq} is left out: ${element.reason}`)
        : Console.log(`order ${element.key} of ${element.value.cents} cents`)).pipe(
          Effect.andThen(orders.ack(element.seq))
        )
    )
  )
})

program.pipe(Effect.provide(Orders.layerOver(Wal).pipe(Layer.provideMerge(LogLive))), NodeRuntime.runMain)
