/**
 * The node server beneath the routes: sockets, TLS, and every limit that must hold before a route is found.
 *
 * A client that is slow with its head or its body is answered 408 by node's own checks, which cost a request nothing;
 * a head that is too large is answered 431. Both with the JSON body of all other errors.
 */
import { ConfigError } from "@effect-wal/core/WalError"
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Duration, Effect, FileSystem, Layer } from "effect"
import * as Http from "node:http"
import * as Https from "node:https"
import type { Socket } from "node:net"
import { errorBody, errorStatus } from "./ApiError.ts"
import { type DirectRoute, DirectRoutes } from "./DirectRoutes.ts"
import { Lifecycle } from "./Lifecycle.ts"
import { makeRequestCount } from "./RequestCount.ts"
import { RequestProblem } from "./RequestProblem.ts"
import { type ServerSettings, Settings } from "./Settings.ts"

/** How often node looks for requests that are over their time. */
const checkEveryMillis = 500

const problemOf = (code: string | undefined): RequestProblem => {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new RequestProblem({
      code: "request_timeout",
      message: "the request was not complete in time; nothing was appended"
    })
  }
  if (code === "HPE_HEADER_OVERFLOW") {
    return new RequestProblem({ code: "headers_too_large", message: "the request headers are too large" })
  }
  return new RequestProblem({ code: "malformed_request", message: "this is not an HTTP request" })
}

/** Answers what never became a request, and ends the connection. */
const answerRaw = (error: NodeJS.ErrnoException, socket: Socket): void => {
  // An answer that has begun must not get a second head in its middle.
  const begun = "_httpMessage" in socket && socket._httpMessage instanceof Http.ServerResponse &&
    socket._httpMessage.headersSent
  if (!socket.writable || begun) {
    socket.destroy(error)
    return
  }
  const problem = problemOf(error.code)
  const body = JSON.stringify({ error: errorBody(problem) })
  const status = errorStatus(problem)
  socket.end(
    `HTTP/1.1 ${status} ${Http.STATUS_CODES[status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  )
}

const nodeOptions = ({ limits }: ServerSettings): Http.ServerOptions => ({
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: Duration.toMillis(limits.headerTimeout),
  requestTimeout: Duration.toMillis(limits.requestTimeout),
  keepAliveTimeout: Duration.toMillis(limits.keepAliveTimeout),
  connectionsCheckingInterval: checkEveryMillis
})

const tlsError = (field: string, value: string, rule: string) =>
  new ConfigError({ source: "tls", problems: [{ path: `server.tls.${field}`, value, rule }] })

const readPem = Effect.fnUntraced(function*(field: string, path: string) {
  const fs = yield* FileSystem.FileSystem
  return yield* Effect.mapError(
    fs.readFileString(path),
    (error) => tlsError(field, path, `cannot be read: ${error.reason._tag}`)
  )
})

const createServer = Effect.fnUntraced(function*(settings: ServerSettings) {
  if (settings.tls === undefined) return Http.createServer(nodeOptions(settings))
  const { certFile, keyFile } = settings.tls
  const cert = yield* readPem("cert_file", certFile)
  const key = yield* readPem("key_file", keyFile)
  return yield* Effect.try({
    try: () => Https.createServer({ ...nodeOptions(settings), cert, key }),
    catch: (cause) =>
      tlsError(
        "cert_file",
        certFile,
        `is no certificate in PEM that fits the key in ${keyFile}: ${
          cause instanceof Error ? cause.message : String(cause)
        }`
      )
  })
})

/**
 * Shows each request to `take` before the listeners of the server, which get it unless that answers `true`. Node has no
 * other way for one listener to keep a request from the next.
 */
const beforeListeners = (server: Http.Server, take: DirectRoute): void => {
  const emit = server.emit.bind(server)
  server.emit = (event: string, ...given: ReadonlyArray<unknown>): boolean => {
    const [request, response] = given
    const isTaken = event === "request" && request instanceof Http.IncomingMessage &&
      response instanceof Http.ServerResponse && take(request, response)
    return isTaken || emit(event, ...given)
  }
}

/** Ends connections that would keep the server from closing. */
export class Connections extends Context.Service<Connections, {
  /** Closes every connection, also those with a request in flight. */
  readonly closeAll: Effect.Effect<void>
  /** Completes when no request is in flight. */
  readonly answered: Effect.Effect<void>
}>()("@effect-wal/server/Listener/Connections") {}

/** The listening server; fails `ConfigError` where TLS files cannot be read or used, `ServeError` where it cannot listen. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const settings = yield* Settings
  const lifecycle = yield* Lifecycle
  const direct = yield* DirectRoutes
  const server = yield* createServer(settings)
  server.maxConnections = settings.limits.maxConnections
  server.on("clientError", answerRaw)
  const requests = makeRequestCount(yield* Effect.context())
  let inFlight = 0
  const idle = new Set<() => void>()
  beforeListeners(server, (request, response) => {
    inFlight++
    response.on("close", () => {
      inFlight--
      requests.count(request.method ?? "", request.url ?? "", response.statusCode)
      if (inFlight === 0) { for (const tell of idle) tell() }
    })
    // So that clients move to another server with their next request.
    if (lifecycle.phase() !== "serving") response.setHeader("connection", "close")
    return direct.offer(request, response)
  })
  const answered = Effect.callback<void>((resume) => {
    if (inFlight === 0) return resume(Effect.void)
    const tell = () => resume(Effect.void)
    idle.add(tell)
    return Effect.sync(() => idle.delete(tell))
  })
  return Layer.merge(
    NodeHttpServer.layer(() => server, {
      host: settings.host,
      port: settings.port,
      gracefulShutdownTimeout: Duration.seconds(1)
    }),
    Layer.succeed(Connections, { closeAll: Effect.sync(() => server.closeAllConnections()), answered })
  )
}))
