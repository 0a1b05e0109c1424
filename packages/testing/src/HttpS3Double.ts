/**
 * An S3 server in this process, on 127.0.0.1, that misbehaves on command.
 *
 * ```ts
 * const double = yield* HttpS3Double
 * double.rule((request) => request.key.endsWith("manifest.json") ? storeThenDrop : undefined)
 * // … S3ObjectStore.layer(double.s3Options) …
 * yield* double.until(() => double.count("put") === 3)
 * ```
 *
 * It checks no signatures. Paths are `/{bucket}/{key}`. What it does by default stands in `HttpS3Model.ts`, what it can
 * be told to do in `HttpS3Action.ts`.
 */
import { Context, Deferred, Effect, Layer, Redacted } from "effect"
import type { Scope } from "effect"
import { createServer } from "node:http"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import type { Action, DoubleAnswer } from "./HttpS3Action.ts"
import { defaultSettings, HttpS3Model } from "./HttpS3Model.ts"
import type { DoubleObject, DoubleOperation, DoubleRequest, DoubleSettings } from "./HttpS3Model.ts"

/** Says what to do with a request; `undefined` leaves it to the next rule and in the end to the store. */
export type Rule = (request: DoubleRequest) => Action | undefined

/** A request in the log of the double. */
export interface LoggedRequest extends DoubleRequest {
  /** The status that was sent; absent while nothing was, and for ever when the connection was dropped. */
  readonly status?: number
}

/** Options for `S3ObjectStore.layer`. */
export interface DoubleS3Options {
  readonly bucket: string
  readonly region: string
  readonly endpoint: string
  readonly forcePathStyle: true
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: Redacted.Redacted }
}

/** An S3 server in the process of the test. */
export class HttpS3Double extends Context.Service<HttpS3Double, {
  readonly s3Options: DoubleS3Options
  /** How the store differs from S3; assign to its fields at any time. */
  readonly settings: DoubleSettings
  /** What is stored. Tests may read, put in and take out. */
  readonly objects: Map<string, DoubleObject>
  /** Puts an object there, past all conditions. */
  readonly store: (key: string, body: Uint8Array) => DoubleObject
  /** Every request that arrived whole, in order. */
  readonly requests: ReadonlyArray<LoggedRequest>
  /** How many requests arrived: of one operation, and of keys that hold `part`. */
  readonly count: (operation?: DoubleOperation, part?: string) => number
  /** Adds a rule in front of those before. */
  readonly rule: (rule: Rule) => void
  /** Takes all rules away: the fault is lifted. */
  readonly clearRules: () => void
  /** Connections that are open now. */
  readonly openConnections: () => number
  /** Done as soon as the condition holds; looked at after every request, answer and closed connection. */
  readonly until: (condition: () => boolean) => Effect.Effect<void>
}>()("@effect-wal/testing/HttpS3Double") {
  /** A double of its own for each layer build. */
  static readonly layer = (settings: Partial<DoubleSettings> = {}): Layer.Layer<HttpS3Double> =>
    Layer.effect(HttpS3Double, make(settings))
}

interface Watcher {
  readonly condition: () => boolean
  readonly done: Deferred.Deferred<void>
}

/** What one running double holds. */
interface Running {
  readonly model: HttpS3Model
  readonly rules: Array<Rule>
  readonly requests: Array<LoggedRequest>
  readonly sockets: Set<Socket>
  readonly watchers: Set<Watcher>
  /** Runs `then` once the gate is open. */
  readonly afterGate: (gate: Deferred.Deferred<void>, then: () => void) => void
}

const notify = (running: Running): void => {
  for (const watcher of running.watchers) {
    if (!watcher.condition()) continue
    running.watchers.delete(watcher)
    Deferred.doneUnsafe(watcher.done, Effect.void)
  }
}

const operationOf = (method: string, key: string, query: URLSearchParams): DoubleOperation => {
  if (key === "") {
    if (method === "POST" && query.has("delete")) return "deleteMany"
    if (method !== "GET") return "other"
    return query.has("versioning") ? "versioning" : query.has("lifecycle") ? "lifecycle" : "list"
  }
  switch (method) {
    case "PUT":
      return "put"
    case "GET":
      return "get"
    case "HEAD":
      return "head"
    case "DELETE":
      return "delete"
    default:
      return "other"
  }
}

const headersOf = (incoming: IncomingMessage): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(",") : value])
  )

const toRequest = (incoming: IncomingMessage, body: Uint8Array, number: number): DoubleRequest => {
  const url = new URL(incoming.url ?? "/", "http://double")
  const [bucket = "", ...rest] = url.pathname.slice(1).split("/")
  const key = decodeURIComponent(rest.join("/"))
  const method = incoming.method ?? ""
  return {
    number,
    operation: operationOf(method, key, url.searchParams),
    method,
    bucket,
    key,
    query: url.searchParams,
    headers: headersOf(incoming),
    body,
    accessKeyId: /Credential=([^/]+)\//.exec(incoming.headers.authorization ?? "")?.[1]
  }
}

/** One exchange: the request and the ways to answer it. */
interface Exchange {
  readonly running: Running
  readonly request: DoubleRequest
  readonly response: ServerResponse
}

const begin = (exchange: Exchange, answer: DoubleAnswer): void => {
  const index = exchange.request.number - 1
  const logged = exchange.running.requests[index]
  if (logged !== undefined) exchange.running.requests[index] = { ...logged, status: answer.status }
  exchange.response.writeHead(answer.status, {
    "x-amz-request-id": `double-${exchange.request.number}`,
    // No body, no length: a 204 must not have one.
    ...(answer.status === 204 ? {} : { "content-length": String(answer.body.byteLength) }),
    ...answer.headers
  })
}

const send = (exchange: Exchange, answer: DoubleAnswer): void => {
  begin(exchange, answer)
  exchange.response.end(exchange.request.method === "HEAD" ? undefined : answer.body)
  notify(exchange.running)
}

const sendPart = (exchange: Exchange, answer: DoubleAnswer, bytes: number, then: () => void): void => {
  begin(exchange, answer)
  exchange.response.flushHeaders()
  exchange.response.write(answer.body.subarray(0, bytes), then)
  notify(exchange.running)
}

/** Carries out an action. `done` is the answer of a request that has taken effect already. */
const perform = (exchange: Exchange, action: Action, done?: DoubleAnswer): void => {
  const { request, response, running } = exchange
  const served = () => done ?? running.model.serve(request)
  switch (action._tag) {
    case "Pass":
      return send(exchange, served())
    case "Drop":
      response.socket?.destroy()
      return
    case "Never":
      return
    case "Answer":
      return send(exchange, action.answer)
    case "Applied":
      return perform(exchange, action.rest, served())
    case "Gated":
      return running.afterGate(action.gate, () => perform(exchange, action.rest, done))
    case "Ghost":
      response.socket?.destroy()
      return running.afterGate(action.gate, () => {
        running.model.serve(request)
        notify(running)
      })
    case "StallBody":
      return sendPart(exchange, served(), action.bytes, () => undefined)
    case "CutBody":
      return sendPart(exchange, served(), action.bytes, () => response.socket?.destroy())
    case "RewriteAnswer":
      return send(exchange, action.rewrite(served()))
    case "RewriteList":
      return request.operation === "list" ?
        send(exchange, running.model.listAnswer(action.rewrite(running.model.page(request)), request)) :
        send(exchange, served())
  }
}

const actionFor = (running: Running, request: DoubleRequest): Action => {
  // One by one: a rule that counts its calls must not be asked after another has decided.
  for (const rule of running.rules) {
    const action = rule(request)
    if (action !== undefined) return action
  }
  return { _tag: "Pass" }
}

const receive = (running: Running, incoming: IncomingMessage, response: ServerResponse): void => {
  const chunks: Array<Uint8Array> = []
  incoming.on("data", (chunk: Uint8Array) => chunks.push(chunk))
  // A caller that goes away in the middle of its body is what tests make happen; such a request never arrived.
  incoming.on("error", () => notify(running))
  response.on("error", () => notify(running))
  incoming.on("end", () => {
    const request = toRequest(incoming, Buffer.concat(chunks), running.requests.length + 1)
    running.requests.push(request)
    perform({ running, request, response }, actionFor(running, request))
    notify(running)
  })
}

const listen = (server: Server): Effect.Effect<number> =>
  Effect.callback<number>((resume) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resume(
        address === null || typeof address === "string" ?
          Effect.die(new Error("the double has no port")) :
          Effect.succeed(address.port)
      )
    })
  })

const close = (server: Server): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    server.closeAllConnections()
    server.close(() => resume(Effect.void))
  })

const track = (running: Running, socket: Socket): void => {
  running.sockets.add(socket)
  socket.once("close", () => {
    running.sockets.delete(socket)
    notify(running)
  })
}

const until = (running: Running, condition: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (condition()) return Effect.void
    const watcher: Watcher = { condition, done: Deferred.makeUnsafe<void>() }
    running.watchers.add(watcher)
    return Effect.onInterrupt(Deferred.await(watcher.done), () => Effect.sync(() => running.watchers.delete(watcher)))
  })

/** Starts a double; it is gone with the scope. */
export const make: (settings?: Partial<DoubleSettings>) => Effect.Effect<HttpS3Double["Service"], never, Scope.Scope> =
  Effect
    .fnUntraced(function*(settings = {}) {
      const context = yield* Effect.context<Scope.Scope>()
      const fork = Effect.runForkWith(context)
      const running: Running = {
        model: new HttpS3Model({ ...defaultSettings(), ...settings }),
        rules: [],
        requests: [],
        sockets: new Set(),
        watchers: new Set(),
        afterGate: (gate, then) => {
          fork(Effect.andThen(Deferred.await(gate), Effect.sync(then)))
        }
      }
      const server = createServer((incoming, response) => receive(running, incoming, response))
      server.on("connection", (socket) => track(running, socket))
      // Connections live as long as their client wants: a double that closes idle ones makes tests fail by chance.
      server.keepAliveTimeout = 0
      const port = yield* Effect.acquireRelease(listen(server), () => close(server))
      const { model, requests, rules, sockets } = running
      return HttpS3Double.of({
        s3Options: {
          bucket: model.settings.bucket,
          region: "us-east-1",
          endpoint: `http://127.0.0.1:${port}`,
          forcePathStyle: true,
          credentials: { accessKeyId: "double", secretAccessKey: Redacted.make("double-secret") }
        },
        settings: model.settings,
        objects: model.objects,
        store: (key, body) => model.store(key, body),
        requests,
        count: (operation, part = "") =>
          requests.filter((one) => (operation === undefined || one.operation === operation) && one.key.includes(part))
            .length,
        rule: (rule) => {
          rules.unshift(rule)
        },
        clearRules: () => {
          rules.length = 0
        },
        openConnections: () => sockets.size,
        until: (condition) => until(running, condition)
      })
    })
