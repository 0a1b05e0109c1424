/**
 * A log on this machine's disk, in WAL_PATH or `./data/local`: no store, no credentials. Each run goes on where the one
 * before has ended, however that was. A second run at the same time is refused with `DirectoryLocked`.
 */
import { Wal } from "@effect-wal/core/Wal"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer, Stream } from "effect"

const LogLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("WAL_PATH").pipe(Config.withDefault("./data/local")),
  (path) => Wal.layerLocal({ path, nodeId: "node-0", streamId: "runs" })
))

const program = Effect.gen(function*() {
  const wal = yield* Wal
  const { epoch } = yield* wal.status
  const { durable } = yield* wal.append([{ payload: new TextEncoder().encode(`run ${epoch}`) }])
  yield* durable // synced to the disk
  yield* wal.read().pipe(
    Stream.runForEach(({ payload, seq }) => Console.log(`${seq}: ${new TextDecoder().decode(payload)}`))
  )
})

program.pipe(Effect.provide(LogLive), NodeRuntime.runMain)
