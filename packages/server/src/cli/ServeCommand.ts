/** `effect-wal serve`: loads the configuration, serves, and drains when told to stop. */
import { ConfigError } from "@effect-wal/core/WalError"
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
import { configFlag } from "./ConfigFlag.ts"
import { ExitCode, reportConfigError } from "./ExitCode.ts"

/** The flags of `serve`; those that are given win over the configuration. */
export const serveFlags = {
  config: configFlag,
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

/** Fails `ConfigError` for a `--port` that is none; the configuration checks its own. */
const checkPort = (port: Option.Option<number>): Effect.Effect<void, ConfigError> =>
  Option.isNone(port) || (port.value >= 0 && port.value <= 65_535)
    ? Effect.void
    : Effect.fail(
      new ConfigError({
        source: "command line",
        problems: [{ path: "--port", value: String(port.value), rule: "must be a whole number, 0 to 65535" }]
      })
    )

/** In one line, with what to do where the port is somebody else's. */
const whyNotListening = (cause: unknown): string => {
  const text = `cannot listen: ${cause instanceof Error ? cause.message : String(cause)}`
  const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE"
  return isTaken ? `${text}; stop what listens there, or choose another port with --port` : text
}

/** Serves until a signal or the death of a log, and ends with the exit code that says how that went. */
export const serve = Effect.fnUntraced(
  function*(input: ServeInput) {
    yield* checkPort(input.port)
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
    ConfigError: reportConfigError,
    ServeError: ({ cause }) =>
      Effect.andThen(Console.error(whyNotListening(cause)), Effect.fail(new ExitCode({ code: 1 })))
  })
)

/** The variables of the process. */
const environment = Effect.sync(() => process.env)

/** The command. */
export const serveCommand = Command.make("serve", serveFlags, serve).pipe(
  Command.withDescription("Run the HTTP server")
)
