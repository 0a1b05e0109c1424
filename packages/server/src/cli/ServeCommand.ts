/** `effect-wal serve`: loads the configuration, serves, and drains when told to stop. */
import { ConfigError } from "@effect-wal/core/WalError"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Option } from "effect"
import { Command, Flag, GlobalFlag } from "effect/cli"
import { HttpServer } from "effect/http"
import { loadConfig, type ServerConfig } from "../config/ServerConfig.ts"
import { refuseOpenServer } from "../Exposure.ts"
import * as Logging from "../observe/Logging.ts"
import * as Observe from "../observe/Observe.ts"
import { reload } from "../Reload.ts"
import * as Server from "../Server.ts"
import { type ServerSettings, Settings } from "../Settings.ts"
import { exitCodes, serveUntil } from "../Shutdown.ts"
import { onHangUp, stopSignal } from "../Signals.ts"
import * as StoreLayer from "../StoreLayer.ts"
import { banner, bannerFacts } from "./Banner.ts"
import { configFlag, loadOptions } from "./ConfigFlag.ts"
import { environment } from "./Environment.ts"
import { ExitCode } from "./ExitCode.ts"
import { CommandFailed, reportingFailures } from "./Failure.ts"
import { outliveOutput } from "./LostOutput.ts"
import { Json, print, valueView } from "./Output.ts"

/** The flags of `serve`; those that are given win over the configuration. */
export const serveFlags = {
  config: configFlag,
  host: Flag.String("host").pipe(Flag.withDescription("Address to listen on"), Flag.optional),
  port: Flag.Int("port").pipe(Flag.withDescription("Port to listen on; 0 takes any free one"), Flag.optional),
  insecure: Flag.Boolean("insecure").pipe(
    Flag.withDescription("Allow an address that others can reach without tokens"),
    Flag.withDefault(false)
  ),
  logFormat: Flag.Literals("log-format", Logging.logFormats).pipe(
    Flag.withDescription("How logs are written; json is one object a line, for collectors"),
    Flag.optional
  )
}

interface ServeInput {
  readonly config: Option.Option<string>
  readonly host: Option.Option<string>
  readonly port: Option.Option<number>
  readonly insecure: boolean
  readonly logFormat: Option.Option<Logging.LogFormat>
}

/** The format that the flags ask for; `--json` is about logs too. */
const flaggedFormat = Effect.fnUntraced(function*({ logFormat }: Pick<ServeInput, "logFormat">) {
  return (yield* Json) ? "json" : Option.getOrUndefined(logFormat)
})

/** What is said before the configuration is known: as the flags ask. */
const withLogs = Effect.fnUntraced(function*<A, E, R>(work: Effect.Effect<A, E, R>, input: ServeInput) {
  return yield* Effect.provide(work, Logging.layer({ format: (yield* flaggedFormat(input)) ?? "text" }))
})

/** Where the server is: for people with commands to copy, in a JSON log as one of its lines. */
const tellListening = Effect.fnUntraced(function*(settings: ServerSettings, port: number, format: Logging.LogFormat) {
  const facts = bannerFacts(settings, port)
  const text = banner(settings, port)
  if (format === "text" || (yield* Json)) return yield* print(valueView(facts, text))
  yield* Effect.annotateLogs(Effect.logInfo(text.split("\n", 1)[0]), facts.listening)
})

const running = Effect.fnUntraced(function*(
  settings: ServerSettings,
  format: Logging.LogFormat,
  stop: Effect.Effect<string>
) {
  const { address } = yield* HttpServer.HttpServer
  const port = address._tag === "UnixPathAddress" ? settings.port : address.port
  yield* tellListening(settings, port, format)
  yield* Effect.forkScoped(onHangUp(reload))
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

const whyNotListening = (cause: unknown): CommandFailed => {
  const isTaken = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE"
  return new CommandFailed({
    code: "cannot_listen",
    message: `cannot listen: ${cause instanceof Error ? cause.message : String(cause)}`,
    next: isTaken
      ? "Stop what listens there, or choose another port with --port."
      : "Check server.host and server.port, or give others with --host and --port.",
    exit: "failed"
  })
}

/** Serves what was configured; answers the exit code. */
const serveConfig = Effect.fnUntraced(
  function*(loaded: ServerConfig, settings: ServerSettings, format: Logging.LogFormat) {
    yield* Effect.forEach(loaded.notices, (notice) => Effect.logWarning(notice), { discard: true })
    // Listening for signals begins before there is anything to lose.
    const stop = yield* Effect.cached(stopSignal)
    yield* Effect.forkScoped(stop, { startImmediately: true })
    return yield* running(settings, format, stop).pipe(
      Effect.provide(Server.layer.pipe(
        Layer.provide(StoreLayer.layer(loaded.streams)),
        Layer.provideMerge(Layer.succeed(Settings, settings)),
        Layer.provideMerge(NodeServices.layer),
        Layer.provideMerge(Observe.layer(loaded, environment()))
      ))
    )
  },
  Effect.catchTag("ServeError", ({ cause }) => Effect.fail(whyNotListening(cause))),
  reportingFailures
)

/** Serves until a signal or the death of a log, and ends with the exit code that says how that went. */
export const serve = Effect.fnUntraced(
  function*(input: ServeInput) {
    yield* outliveOutput
    yield* checkPort(input.port)
    const loaded = yield* loadConfig({
      ...loadOptions(input.config),
      ...Option.isNone(input.host) ? {} : { host: input.host.value },
      insecure: input.insecure || Option.isSome(input.host)
    })
    const settings: ServerSettings = {
      ...loaded.settings,
      insecure: input.insecure,
      host: Option.getOrElse(input.host, () => loaded.settings.host),
      port: Option.getOrElse(input.port, () => loaded.settings.port)
    }
    yield* refuseOpenServer(settings)
    const format = (yield* flaggedFormat(input)) ?? loaded.log.format
    // A level that was given by a flag is in force already.
    const level = Option.isSome(yield* GlobalFlag.LogLevel) ? undefined : loaded.log.level
    const code = yield* serveConfig(loaded, settings, format).pipe(Effect.provide(Logging.layer({ format, level })))
    if (code !== exitCodes.drained) return yield* new ExitCode({ code })
  },
  Effect.scoped,
  reportingFailures,
  withLogs
)

/** Examples of serving, with the command and without. */
export const serveExamples = [
  { command: "effect-wal serve", description: "One stream in ./data, at http://127.0.0.1:8180" },
  { command: "effect-wal serve --config wal.yaml --port 9000", description: "As the file says, at another port" },
  {
    command: "EFFECT_WAL_CONFIG=wal.yaml effect-wal serve --json",
    description: "With logs as JSON, for a log collector"
  }
]

/** The command. */
export const serveCommand = Command.make("serve", serveFlags, serve).pipe(
  Command.withDescription(
    "Run the HTTP server until SIGTERM or Ctrl-C; then it drains. A second signal ends it at once. With --json, as with " +
      "--log-format json, all that it says is JSON on stdout, one object a line, its logs and its errors too; only a call " +
      "with a wrong flag is answered on stderr, as by every command."
  ),
  Command.withShortDescription("Run the HTTP server"),
  Command.withExamples(serveExamples)
)
