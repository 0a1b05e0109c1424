/**
 * Several logs in one program: two that it knows by name, each a service of its own, and others by the id of a stream. All
 * of them lie in one directory, WAL_PATH or `./data/several-logs`; the store is what a Layer makes it.
 */
import { DirectoryObjectStore } from "@effect-wal/core/node"
import { Wal } from "@effect-wal/core/Wal"
import { WalMap } from "@effect-wal/core/WalMap"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer } from "effect"

class Orders extends Wal.Tag("orders")<Orders>() {}
class Payments extends Wal.Tag("payments")<Payments>() {}

const StoreLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("WAL_PATH").pipe(Config.withDefault("./data/several-logs")),
  (path) => DirectoryObjectStore.layer({ path })
))

const LogsLive = Layer.mergeAll(
  Orders.layer({ nodeId: "node-0", streamId: "orders" }),
  // Money waits for nobody: the quickest preset, and nothing is deleted.
  Payments.layer({ nodeId: "node-0", streamId: "payments", preset: "low_latency", retention: { policy: "keep" } }),
  // Opened when first asked for, closed when the last one lets go.
  WalMap.layer((streamId) => ({ nodeId: "node-0", streamId }))
).pipe(Layer.provide(StoreLive))

const text = (value: string) => [{ payload: new TextEncoder().encode(value) }]

/** Appends to whichever log it is given, and tells where that ends. */
const store = Effect.fnUntraced(function*(value: string) {
  const wal = yield* Wal
  yield* wal.append(text(value))
  const { streamId } = yield* wal.status
  yield* Console.log(`${streamId}: durable to ${yield* wal.flush}`)
})

const program = Effect.gen(function*() {
  const orders = yield* Orders
  const payments = yield* Payments
  yield* orders.append(text("a cup"))
  yield* payments.append(text("4.50"))
  const ends = yield* Effect.all([orders.flush, payments.flush], { concurrency: "unbounded" })
  yield* Console.log(`orders: durable to ${ends[0]}, payments: durable to ${ends[1]}`)
  const logs = yield* WalMap
  yield* Effect.forEach(["customer-1", "customer-2"], (id) => Effect.provide(store("hello"), logs.get(id)))
})

program.pipe(Effect.provide(LogsLive), NodeRuntime.runMain)
