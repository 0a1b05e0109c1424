/**
 * Input that goes on while the store is away: segments wait on this machine's disk, in SPOOL_PATH or `./data/spool`, until
 * they can be sent. `spooled` says that a record survives the process, `durable` that it survives the node.
 *
 * The store of this example is a directory, STORE_PATH or `./data/spool-store`, and away on command, so that the outage can
 * be seen.
 */
import { DirectoryObjectStore, SpoolDirectory } from "@effect-wal/core/node"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Context, Effect, Layer } from "effect"

/** Takes the store away; the result brings it back. */
class Outage extends Context.Service<Outage, { readonly begin: () => () => void }>()(
  "@effect-wal/examples/spool/Outage"
) {}

const StoreLive = Layer.effectContext(Effect.gen(function*() {
  const path = yield* Config.NonEmptyString("STORE_PATH").pipe(Config.withDefault("./data/spool-store"))
  const { store, rule } = FaultyObjectStore.make(yield* DirectoryObjectStore.make({ path }))
  return Context.make(ObjectStore, store).pipe(
    Context.add(Outage, Outage.of({ begin: () => rule(() => ({ _tag: "Fail", reason: "Unavailable" })) }))
  )
}))

const SpoolLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("SPOOL_PATH").pipe(Config.withDefault("./data/spool")),
  (path) => SpoolDirectory.layer({ path, maxBytes: 1_000_000_000, after: "100 millis" })
))

const LogLive = Wal.layer({ nodeId: "node-0", streamId: "orders" }).pipe(
  Layer.provideMerge(StoreLive),
  Layer.provide(SpoolLive)
)

const program = Effect.gen(function*() {
  const wal = yield* Wal
  const storeIsBack = (yield* Outage).begin()
  const { durable, spooled } = yield* wal.append([{ payload: new Uint8Array(1_000) }])
  yield* spooled
  const { atRisk, durable: before, spooled: onDisk } = yield* wal.status
  yield* Console.log(`store away: spooled to ${onDisk}, durable to ${before}, at risk ${atRisk.records}`)
  storeIsBack()
  yield* durable
  yield* Console.log(`store back: durable to ${(yield* wal.status).durable}`)
})

program.pipe(Effect.provide(LogLive), NodeRuntime.runMain)
