/** A real listening server on 127.0.0.1 with real logs on stores in memory, for one test. */
import type { SpoolSource } from "@effect-wal/core/store/Spool"
import type { WalOpenError } from "@effect-wal/core/WalError"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Duration, Effect, Layer, Metric } from "effect"
import { HttpServer } from "effect/http"
import { Tokens } from "../../src/auth/Tokens.ts"
import { DirectRoutes } from "../../src/DirectRoutes.ts"
import { Lifecycle } from "../../src/Lifecycle.ts"
import type { Certificate, Connections } from "../../src/Listener.ts"
import { LogOpener } from "../../src/LogOpener.ts"
import * as Server from "../../src/Server.ts"
import { defaultLimits, type Limits, type ServerSettings, Settings } from "../../src/Settings.ts"
import { Streams } from "../../src/Streams.ts"
import { makeTestLog, type TestLog, type TestLogOptions } from "./TestLog.ts"
import { until } from "./Wait.ts"

export interface TestServerOptions extends Partial<Omit<ServerSettings, "limits">> {
  readonly limits?: Partial<Limits>
  /** Comes before a stream is opened, and can fail. */
  readonly open?: (id: string) => Effect.Effect<void, WalOpenError>
  /** Options of every log. */
  readonly log?: TestLogOptions
  /** The spool of the only log. */
  readonly spool?: SpoolSource
}

export interface TestServer {
  readonly context: Context.Context<Settings | Lifecycle | Streams | Connections | Certificate>
  readonly port: number
  readonly logs: Readonly<Record<string, TestLog>>
  readonly log: TestLog
  readonly lifecycle: Lifecycle["Service"]
  readonly streams: Streams["Service"]
  readonly tokens: Tokens["Service"]
  readonly direct: DirectRoutes["Service"]
}

export const settingsOf = (
  { limits, log: _log, open: _open, spool: _spool, ...settings }: TestServerOptions
): ServerSettings => ({
  host: "127.0.0.1",
  port: 0,
  tokens: [],
  insecure: false,
  storeGrace: Duration.seconds(30),
  drainDelay: Duration.zero,
  drainTimeout: Duration.seconds(25),
  streams: ["orders"],
  ...settings,
  limits: { ...defaultLimits, ...limits }
})

/** Starts a server; it ends with the scope of the test. */
export const startServer = Effect.fnUntraced(function*(options: TestServerOptions = {}) {
  const settings = settingsOf(options)
  const made = yield* Effect.forEach(
    settings.streams,
    (id) => Effect.map(makeTestLog(id, options.log ?? {}, options.spool), (log): [string, TestLog] => [id, log])
  )
  const logs = Object.fromEntries(made)
  const log = Object.values(logs)[0]
  if (log === undefined) return yield* Effect.die("a test server needs a stream")
  const opener = LogOpener.of({
    open: (id) => {
      const opened = logs[id]
      return opened === undefined
        ? Effect.die(`no log ${id}`)
        : Effect.andThen(options.open?.(id) ?? Effect.void, opened.open)
    }
  })
  const context = yield* Layer.build(Server.layer.pipe(
    Layer.provideMerge(Layer.succeed(Settings, settings)),
    Layer.provideMerge(Layer.succeed(LogOpener, opener)),
    Layer.provideMerge(NodeServices.layer),
    Layer.provideMerge(Layer.succeed(Metric.MetricRegistry, new Map()))
  ))
  const { address } = Context.get(context, HttpServer.HttpServer)
  if (address._tag === "UnixPathAddress") return yield* Effect.die("not a port")
  const server: TestServer = {
    context,
    port: address.port,
    logs,
    log,
    lifecycle: Context.get(context, Lifecycle),
    streams: Context.get(context, Streams),
    tokens: Context.get(context, Tokens),
    direct: Context.get(context, DirectRoutes)
  }
  // What a test held back must not keep its logs from closing.
  yield* Effect.addFinalizer(() => Effect.forEach(Object.values(logs), (each) => each.release, { discard: true }))
  // The streams open in the background.
  if (options.open === undefined) {
    yield* until(() => server.streams.entries().every(({ state }) => state._tag !== "Opening"))
  }
  return server
})
