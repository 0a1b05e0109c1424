/**
 * Our server with everything that a request passes through, and a log in front of a store that takes no time: what is left
 * is what HTTP and the log cost.
 *
 * Says where it listens, and ends with a signal.
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import { LogOpener, Server, Settings } from "@effect-wal/server"
import { Console, Duration, Effect, FileSystem, Layer, References } from "effect"
import { HttpServer } from "effect/http"
import * as NullStore from "../support/NullStore.ts"

const settings: Settings.ServerSettings = {
  host: "127.0.0.1",
  port: 0,
  tokens: [],
  insecure: false,
  limits: Settings.defaultLimits,
  storeGrace: Duration.seconds(30),
  drainDelay: Duration.zero,
  drainTimeout: Duration.seconds(25),
  streams: ["main"]
}

const opener = Layer.effect(
  LogOpener.LogOpener,
  Effect.map(NullStore.make, ({ store }) =>
    LogOpener.LogOpener.of({
      open: (streamId) =>
        Effect.provideService(
          Wal.make({ nodeId: "node", streamId, segment: { linger: "0ms" } }),
          ObjectStore,
          store
        )
    }))
)

const program = Effect.gen(function*() {
  const { address } = yield* HttpServer.HttpServer
  yield* Console.log(`listens on http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`)
  return yield* Effect.never
})

Effect.runFork(
  Effect.provide(
    program,
    Server.layer.pipe(
      Layer.provide(opener),
      Layer.provide(Layer.succeed(Settings.Settings, settings)),
      // For files of tokens and certificates, of which there are none.
      Layer.provide(FileSystem.layerNoop({})),
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
    )
  )
)
