/** `effect-wal serve`: loads the configuration, serves, and drains when told to stop. */
import type { ConfigError } from "@effect-wal/core/WalError"
import { NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { HttpServer } from "effect/http"
import { Tokens } from "../auth/Tokens.ts"
import { loadConfig } from "../config/ServerConfig.ts"
import { refuseOpenServer } from "../Exposure.ts"
import * as Server from "../Server.ts"
import { type ServerSettings, Settings } from "../Settings.ts"
import { exitCodes, serveUntil } from "../Shutdown.ts"
import { onHangUp, stopSignal } from "../Signals.ts"
import * as StoreLayer from "../StoreLayer.ts"
import { banner } from "./Banner.ts"
import { ExitCode } from "./ExitCode.ts"

/** The flags of `serve`; those that are given win over the configuration. */
export const serveFlags = {
  config: Flag.File("config", { mustExist: false }).pipe(
    Flag.withDescription("YAML or JSON file; default: the variable EFFECT_WAL_CONFIG, else one stream in ./data"),
    Flag.optional
  ),
  host: Flag.String("host").pipe(Flag.withDescription("Address to listen on"), Flag.optional),
  port: Flag.Int("port").pipe(Flag.withDescription("Port to listen on; 0 takes any free one"), Flag.optional),
  insecure: Flag.Boolean("insecure").pipe(
    Flag.withDescription("Allow an address that others can reach without tokens"),
    Flag.withDefault(false)
  )
}

interface ServeInput {
  readonly config: Option.Option<string>
  readonly host: Option.Option<string>
  readonly port: Option.Option<number>
  readonly insecure: boolean
}

const reloadTokens = Effect.gen(function*() {
  const tokens = yield* Tokens
  yield* Effect.matchEffect(tokens.reload, {
    onFailure: (error) => Effect.logError(`the tokens stay as they were: ${error.message}`),
    onSuccess: () => Effect.logInfo("the tokens were read again")
  })
})

const running = Effect.fnUntraced(function*(settings: ServerSettings, stop: Effect.Effect<string>) {
  const { address } = yield* HttpServer.HttpServer
  yield* Console.log(banner(settings, address._tag === "UnixPathAddress" ? settings.port : address.port))
  yield* Effect.forkScoped(onHangUp(reloadTokens))
  return yield* serveUntil(stop)
})

const reported = (error: ConfigError) =>
  Effect.andThen(Console.error(error.message), Effect.fail(new ExitCode({ code: exitCodes.config })))

/** Serves until a signal or the death of a log, and ends with the exit code that says how that went. */
export const serve = Effect.fnUntraced(
  function*(input: ServeInput) {
    const env = yield* environment
    const path = Option.getOrUndefined(input.config)
    const loaded = yield* loadConfig({
      env,
      insecure: input.insecure || Option.isSome(input.host),
      ...path === undefined ? {} : { path }
    })
    const settings: ServerSettings = {
      ...loaded.settings,
      insecure: input.insecure,
      host: Option.getOrElse(input.host, () => loaded.settings.host),
      port: Option.getOrElse(input.port, () => loaded.settings.port)
    }
    yield* refuseOpenServer(settings)
    yield* Effect.forEach(loaded.notices, (notice) => Effect.logWarning(notice), { discard: true })
    // Listening for signals begins before there is anything to lose.
    const stop = yield* Effect.cached(stopSignal)
    yield* Effect.forkScoped(stop, { startImmediately: true })
    const code = yield* running(settings, stop).pipe(
      Effect.provide(Server.layer.pipe(
        Layer.provide(StoreLayer.layer(loaded.streams)),
        Layer.provideMerge(Layer.succeed(Settings, settings)),
        Layer.provideMerge(NodeServices.layer)
      ))
    )
    if (code !== exitCodes.drained) return yield* new ExitCode({ code })
  },
  Effect.scoped,
  Effect.catchTags({
    ConfigError: reported,
    ServeError: (error) =>
      Effect.andThen(
        Console.error(`cannot listen: ${error.cause instanceof Error ? error.cause.message : String(error.cause)}`),
        Effect.fail(new ExitCode({ code: 1 }))
      )
  })
)

/** The variables of the process. */
const environment = Effect.sync(() => process.env)

/** The command. */
export const serveCommand = Command.make("serve", serveFlags, serve).pipe(
  Command.withDescription("Run the HTTP server")
)
