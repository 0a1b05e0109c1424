/**
 * `/`, the dashboard's page, and `/v1/dashboard`, what it shows.
 *
 * The page is the same for everybody and holds no data, so it needs no token; what it shows needs `read`, and each stream
 * only shows to those who may read it. The feed is one event a second. A stream that has not changed is not in it, so an
 * idle one is some thirty bytes.
 */
import { Effect, Layer, Stream } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { answering, type ApiFailure, errorBody, errorResponse } from "../ApiError.ts"
import { Tokens } from "../auth/Tokens.ts"
import { DashboardData, type Seen, type SeenStream } from "../dashboard/DashboardData.ts"
import { loadPage } from "../dashboard/PageSource.ts"
import type { ServerView } from "../dashboard/Snapshot.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { RequestProblem } from "../RequestProblem.ts"
import { version } from "../Version.ts"

const eventEveryMillis = 1_000

/** What a reader of the feed was told last. */
interface Told {
  server: string
  readonly streams: Map<string, string>
}

const member = (name: string, value: string): string => `,"${name}":${value}`

/** A `FeedEvent` in JSON, with what has changed since `told`, which is brought up to date. */
const eventText = (seen: Seen, streams: ReadonlyArray<SeenStream>, server: string, told: Told): string => {
  const isFirst = told.server === ""
  const changed = streams.filter(({ id, text }) => told.streams.get(id) !== text)
  let text = `{"at":${seen.at}`
  if (told.server !== server) text += member("server", server)
  if (changed.length > 0) text += member("streams", `[${changed.map((stream) => stream.text).join(",")}]`)
  if (isFirst) {
    text += member("history", JSON.stringify(Object.fromEntries(streams.map(({ history, id }) => [id, history()]))))
  }
  told.server = server
  for (const stream of changed) told.streams.set(stream.id, stream.text)
  return `${text}}`
}

const serverText = (seen: Seen, streams: ReadonlyArray<SeenStream>, phase: ServerView["phase"]): string => {
  const ids = new Set(streams.map(({ id }) => id))
  const view: ServerView = {
    version,
    phase,
    ready: seen.reasons.length === 0,
    reasons: seen.reasons.filter(({ stream }) => stream === undefined || ids.has(stream))
  }
  return JSON.stringify(view)
}

const wantsEvents = (accept: string | undefined): boolean => accept?.includes("text/event-stream") === true

const utf8 = new TextEncoder()

const feedRoute = HttpRouter.use(Effect.fn(function*(router) {
  const tokens = yield* Tokens
  const lifecycle = yield* Lifecycle
  const data = yield* DashboardData

  /** What the owner of the header may see; fails where that is nothing. Asked for each event, as tokens come and go. */
  const look = Effect.fnUntraced(function*(authorization: string | undefined) {
    const seen = yield* data.look
    const refusalOf = ({ id }: SeenStream) => tokens.refusal(authorization, { scope: "read", stream: id })
    const streams = seen.streams.filter((stream) => refusalOf(stream) === undefined)
    const refusal = seen.streams[0] === undefined ? undefined : refusalOf(seen.streams[0])
    if (streams.length === 0 && refusal !== undefined) return yield* Effect.fail<ApiFailure>(refusal)
    return { seen, streams, server: serverText(seen, streams, lifecycle.phase()) }
  })

  const feed = (authorization: string | undefined) => {
    const told: Told = { server: "", streams: new Map() }
    const next = Effect.map(
      look(authorization),
      ({ seen, server, streams }) => `data: ${eventText(seen, streams, server, told)}\n\n`
    )
    return Stream.tick(eventEveryMillis).pipe(
      Stream.mapEffect(() => next),
      Stream.catch((failure) =>
        Stream.succeed(`event: error\ndata: ${JSON.stringify({ error: errorBody(failure) })}\n\n`)
      ),
      Stream.map((text) => utf8.encode(text)),
      Stream.interruptWhen(lifecycle.draining)
    )
  }

  const answer = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const authorization = request.headers["authorization"]
    const { seen, server, streams } = yield* look(authorization)
    if (wantsEvents(request.headers["accept"])) {
      return HttpServerResponse.stream(feed(authorization), {
        contentType: "text/event-stream",
        headers: { "x-accel-buffering": "no" }
      })
    }
    const told: Told = { server: "", streams: new Map() }
    return HttpServerResponse.text(eventText(seen, streams, server, told), {
      contentType: "application/json"
    })
  })
  yield* router.add("GET", "/v1/dashboard", (request) => answering(answer(request)))
}))

const pageRoute = HttpRouter.use(Effect.fn(function*(router) {
  const found = yield* Effect.result(loadPage)
  if (found._tag === "Failure") {
    yield* Effect.logWarning(`there is no dashboard: ${found.failure.message}`)
    const problem = new RequestProblem({
      code: "route_not_found",
      message: "the dashboard was not installed with this server; see its log, or /docs for the API"
    })
    return yield* router.add("GET", "/", () => Effect.succeed(errorResponse(problem)))
  }
  const { contentSecurityPolicy, etag, html } = found.success
  const headers = {
    etag,
    "cache-control": "no-cache",
    "content-security-policy": contentSecurityPolicy,
    "cross-origin-opener-policy": "same-origin"
  }
  const whole = HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers })
  const unchanged = HttpServerResponse.empty({ status: 304, headers })
  yield* router.add(
    "GET",
    "/",
    (request: HttpServerRequest.HttpServerRequest) =>
      Effect.succeed(request.headers["if-none-match"] === etag ? unchanged : whole)
  )
}))

/** Both. */
export const layer = Layer.merge(pageRoute, feedRoute).pipe(Layer.provide(DashboardData.layer))
