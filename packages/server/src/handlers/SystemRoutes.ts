/** `/healthz`, `/readyz`, `/metrics`, `/openapi.json`, `/docs`, and the answer to everything that is not a route. */
import { Effect, Layer } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiSwagger, OpenApi } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { WalApi } from "../api/WalApi.ts"
import { answering, type ApiFailure, errorResponse } from "../ApiError.ts"
import { Tokens } from "../auth/Tokens.ts"
import type { Lifecycle } from "../Lifecycle.ts"
import { deadStreams, notReadyReasons } from "../Readiness.ts"
import { RequestProblem } from "../RequestProblem.ts"
import type { Settings } from "../Settings.ts"
import type { Streams } from "../Streams.ts"

const json = (body: unknown, status: number) =>
  HttpServerResponse.text(JSON.stringify(body), {
    status,
    contentType: "application/json",
    headers: { "cache-control": "no-store" }
  })

/** Not HEAD: the router answers that by the GET route, as load balancers expect, unless another route takes it. */
const otherwiseMethods = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY"] as const

const healthz = Effect.map(deadStreams, (dead) =>
  dead.length === 0
    ? HttpServerResponse.text("ok\n")
    : HttpServerResponse.text(`dead: ${dead.join(", ")}\n`, { status: 503 }))

const routes = HttpRouter.use(Effect.fn(function*(router) {
  const tokens = yield* Tokens
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
  for (const method of otherwiseMethods) {
    yield* router.add(
      method,
      "*",
      (request) =>
        Effect.succeed(errorResponse(
          new RequestProblem({
            code: "route_not_found",
            message: `there is no ${request.method} ${request.url}; see /docs`
          })
        ))
    )
  }
}))

/** All of them. The docs page brings its own scripts and styles: it works without the internet. */
export const layer = Layer.merge(routes, HttpApiSwagger.layer(WalApi, { path: "/docs" }))
