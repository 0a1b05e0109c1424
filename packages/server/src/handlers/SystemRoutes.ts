/** `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/docs`, and the answer to everything that is not a route. */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerError, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { WalApi } from "../api/WalApi.ts"
import { answering, type ApiFailure, errorResponse } from "../ApiError.ts"
import { Tokens } from "../auth/Tokens.ts"
import type { Lifecycle } from "../Lifecycle.ts"
import { StreamMetrics } from "../observe/StreamMetrics.ts"
import { deadStreams, notReadyReasons } from "../Readiness.ts"
import { RequestProblem } from "../RequestProblem.ts"
import type { Settings } from "../Settings.ts"
import type { Streams } from "../Streams.ts"
import * as DocsPage from "./DocsPage.ts"

const json = (body: unknown, status: number) =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store" }
  })

const healthz = Effect.map(deadStreams, (dead) =>
  dead.length === 0
    ? HttpServerResponse.text("ok\n")
    : HttpServerResponse.text(`dead: ${dead.join(", ")}\n`, { status: 503 }))

const routes = HttpRouter.use(Effect.fn(function*(router) {
  const tokens = yield* Tokens
  const streamMetrics = yield* StreamMetrics
  const services = yield* Effect.context<Settings | Lifecycle | Streams>()

  const readyz = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const reasons = yield* notReadyReasons
    const status = reasons.length === 0 ? 200 : 503
    // Probes carry no token; the ids of streams are for those who may read them.
    const told = tokens.refusal(request.headers["authorization"], { scope: "read", stream: "*" }) === undefined
    return json({ ready: reasons.length === 0, ...told ? { reasons } : {} }, status)
  })

  const metrics = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const refusal = tokens.refusal(request.headers["authorization"], { scope: "read", stream: "*" })
    if (refusal !== undefined) return yield* Effect.fail<ApiFailure>(refusal)
    yield* streamMetrics.refresh
    return HttpServerResponse.text(yield* PrometheusMetrics.format(), {
      contentType: "text/plain; version=0.0.4; charset=utf-8"
    })
  })

  const openapi = json(OpenApi.fromApi(WalApi), 200)
  const withServices = Effect.provideContext(services)
  yield* router.add("GET", "/healthz", withServices(healthz))
  yield* router.add("GET", "/readyz", (request) => Effect.provideContext(readyz(request), services))
  yield* router.add("GET", "/metrics", (request) => answering(metrics(request)))
  yield* router.add("GET", "/openapi.json", openapi)
}))

const isNoRoute = (error: unknown): error is HttpServerError.HttpServerError =>
  HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** Answers what is not a route: of a method that HTTP does not know, with a path that does not decode, or just not there. */
const answerNoRoute = <E, R>(
  app: Effect.Effect<HttpServerResponse.HttpServerResponse, E | HttpServerError.HttpServerError, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E | HttpServerError.HttpServerError, R> =>
  Effect.catchIf(app, isNoRoute, ({ reason: { request } }) =>
    Effect.succeed(errorResponse(
      new RequestProblem({
        code: "route_not_found",
        message: `there is no ${request.method} ${request.url}; see /docs`
      })
    )))

/** All of them. */
export const layer = Layer.mergeAll(routes, DocsPage.layer, HttpRouter.middleware(answerNoRoute, { global: true }))
