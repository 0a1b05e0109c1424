/**
 * The node server beneath the routes: sockets, TLS, and every limit that must hold before a route is found.
 *
 * A client that is slow with its head or its body is answered 408 by node's own checks, which cost a request nothing;
 * a head that is too large is answered 431. Both with the JSON body of all other errors.
 */
import type { ConfigError } from "@effect-wal/core/WalError"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Duration, Effect, type FileSystem, Layer } from "effect"
import * as Http from "node:http"
import * as Https from "node:https"
import type { Socket } from "node:net"
import { errorBody, errorStatus } from "./ApiError.ts"
import { type DirectRoute, DirectRoutes } from "./DirectRoutes.ts"
import { writeError } from "./handlers/DirectAnswer.ts"
import { makeHostCheck } from "./HostCheck.ts"
import { Lifecycle } from "./Lifecycle.ts"
import { makeRequestCount } from "./RequestCount.ts"
import { RequestProblem } from "./RequestProblem.ts"
import { safeHeaders } from "./ResponseHeaders.ts"
import { type ServerSettings, Settings } from "./Settings.ts"
import { makeWatchAnswer } from "./StalledClients.ts"
import { readTls } from "./TlsFiles.ts"

const safe = Object.entries(safeHeaders)

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

/** The answer that a connection waits for, or that is being sent. */
const answerUnderWay = (socket: Socket): Http.ServerResponse | undefined =>
  "_httpMessage" in socket && socket._httpMessage instanceof Http.ServerResponse ? socket._httpMessage : undefined

/** How long a client that is refused has to take the answer and to close its side. */
const lingerMillis = 500

/** Answers what never became a request, and ends the connection. */
const answerRaw = (error: NodeJS.ErrnoException, socket: Socket): void => {
  const underWay = answerUnderWay(socket)
  // An answer that has begun must not get a second head in its middle.
  if (!socket.writable || underWay?.headersSent === true) {
    socket.destroy(error)
    return
  }
  // What is wrong stands behind a request that came whole, and must not be taken for the answer to it.
  if (underWay?.req.complete === true) {
    underWay.setHeader("connection", "close")
    return
  }
  const problem = problemOf(error.code)
  const body = JSON.stringify({ error: errorBody(problem) })
  const status = errorStatus(problem)
  const headers = safe.map(([name, value]) => `${name}: ${value}\r\n`).join("")
  socket.end(
    `HTTP/1.1 ${status} ${Http.STATUS_CODES[status]}\r\ncontent-type: application/json\r\n${headers}` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  )
  if (underWay !== undefined) underWay.statusCode = status
  // A connection of which only this side is closed would last, and count, for as long as the client likes.
  socket.pause()
  socket.setTimeout(lingerMillis, () => socket.destroy())
}

const nodeOptions = ({ limits }: ServerSettings): Http.ServerOptions => ({
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: Duration.toMillis(limits.headerTimeout),
  requestTimeout: Duration.toMillis(limits.requestTimeout),
  keepAliveTimeout: Duration.toMillis(limits.keepAliveTimeout),
  connectionsCheckingInterval: checkEveryMillis,
  // There is no other protocol to change to: such a request is one like any other.
  shouldUpgradeCallback: () => false
})

const createServer = Effect.fnUntraced(function*(settings: ServerSettings) {
  if (settings.tls === undefined) return Http.createServer(nodeOptions(settings))
  const handshakeTimeout = Duration.toMillis(settings.limits.headerTimeout)
  return Https.createServer({ ...nodeOptions(settings), ...yield* readTls(settings.tls), handshakeTimeout })
})

/** Whether somebody was told something: a response that was never begun has the status that node gives it at first. */
const isAnswered = ({ headersSent, statusCode }: Http.ServerResponse): boolean => headersSent || statusCode !== 200

/** A request comes by the second where it asks whether it may send its body. */
const requestEvents: ReadonlySet<string> = new Set(["request", "checkContinue"])

/**
 * Shows each request to `take` before the listeners of the server, which get it unless that answers `true`. Node has no
 * other way for one listener to keep a request from the next.
 */
const beforeListeners = (server: Http.Server, take: DirectRoute): void => {
  const emit = server.emit.bind(server)
  server.emit = (event: string, ...given: ReadonlyArray<unknown>): boolean => {
    const [request, response] = given
    const isTaken = requestEvents.has(event) && request instanceof Http.IncomingMessage &&
      response instanceof Http.ServerResponse && take(request, response)
    return isTaken || emit(event, ...given)
  }
}

/**
 * Keeps the requests that come while the routes are still being made, and hands them on as soon as somebody listens. Node
 * would answer them never: the port is open from the first moment, so that a second server notices it. One whose client is
 * gone by then is dropped: nobody would be told of that any more, and what is done for it would last until the server ends.
 */
const holdUntilServed = (server: Http.Server): void => {
  const emit = server.emit.bind(server)
  const early: Array<() => void> = []
  server.emit = (event: string, ...given: ReadonlyArray<unknown>): boolean => {
    if (!requestEvents.has(event) || server.listenerCount(event) > 0) return emit(event, ...given)
    const [request] = given
    const isGone = () => request instanceof Http.IncomingMessage && request.socket.destroyed
    return early.push(() => isGone() || emit(event, ...given)) > 0
  }
  const handOn = () => {
    for (const again of early.splice(0)) again()
  }
  // It is told before the listener is there.
  server.on("newListener", (event) => {
    if (event === "checkContinue") queueMicrotask(handOn)
  })
}

/** Ends connections that would keep the server from closing. */
export class Connections extends Context.Service<Connections, {
  /** Closes every connection, also those with a request in flight. */
  readonly closeAll: Effect.Effect<void>
  /** Completes when no request is in flight. */
  readonly answered: Effect.Effect<void>
}>()("@effect-wal/server/Listener/Connections") {}

/** The certificate that new connections are shown. */
export class Certificate extends Context.Service<Certificate, {
  /** Reads it and its key again, and answers whether there is one; on failure the old one stays. */
  readonly reload: Effect.Effect<boolean, ConfigError>
}>()("@effect-wal/server/Listener/Certificate") {}

const makeCertificate = Effect.fnUntraced(function*(server: Http.Server | Https.Server, { tls }: ServerSettings) {
  const services = yield* Effect.context<FileSystem.FileSystem>()
  const reload = tls === undefined || !(server instanceof Https.Server)
    ? Effect.succeed(false)
    : Effect.map(readTls(tls), (pem) => {
      server.setSecureContext(pem)
      return true
    })
  return Certificate.of({ reload: Effect.provideContext(reload, services) })
})

/** The listening server; fails `ConfigError` where TLS files cannot be read or used, `ServeError` where it cannot listen. */
export const layer = Layer.unwrap(Effect.gen(function*() {
  const settings = yield* Settings
  const lifecycle = yield* Lifecycle
  const direct = yield* DirectRoutes
  const server = yield* createServer(settings)
  server.maxConnections = settings.limits.maxConnections
  server.on("clientError", answerRaw)
  holdUntilServed(server)
  const requests = makeRequestCount(yield* Effect.context())
  const hostRefusal = makeHostCheck(settings)
  const watchAnswer = makeWatchAnswer(server, settings.limits.sendTimeout)
  let inFlight = 0
  const idle = new Set<() => void>()
  beforeListeners(server, (request, response) => {
    inFlight++
    response.on("close", () => {
      inFlight--
      if (isAnswered(response)) requests.count(request.method ?? "", request.url ?? "", response.statusCode)
      if (inFlight === 0) { for (const tell of idle) tell() }
    })
    // So that clients move to another server with their next request.
    if (lifecycle.phase() !== "serving") response.setHeader("connection", "close")
    watchAnswer(request, response)
    const refusal = hostRefusal(request.headers.host)
    if (refusal !== undefined) {
      writeError(response, refusal)
      return true
    }
    if (direct.offer(request, response)) return true
    for (const [name, value] of safe) response.setHeader(name, value)
    return false
  })
  const answered = Effect.callback<void>((resume) => {
    if (inFlight === 0) return resume(Effect.void)
    const tell = () => resume(Effect.void)
    idle.add(tell)
    return Effect.sync(() => idle.delete(tell))
  })
  const certificate = yield* makeCertificate(server, settings)
  return Layer.mergeAll(
    NodeHttpServer.layer(() => server, {
      host: settings.host,
      port: settings.port,
      gracefulShutdownTimeout: Duration.seconds(1)
    }),
    Layer.succeed(Certificate, certificate),
    Layer.succeed(Connections, { closeAll: Effect.sync(() => server.closeAllConnections()), answered })
  )
}))
