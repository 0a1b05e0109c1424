/**
 * `POST /v1/streams/{stream}/records`: records in.
 *
 * It is answered when the records are durable, with `ack=spooled` when they are durable or in the spool, with
 * `ack=accepted` when they are in the buffer. With an `Idempotency-Key` a call is appended once, however often it is sent.
 *
 * This is the route for every request; the plain ones among them take a shorter way (`DirectAppend.ts`).
 */
import type { Appended, WalService } from "@effect-wal/core/WalService"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AckLevel } from "../api/Schemas.ts"
import { answering, type ApiFailure } from "../ApiError.ts"
import { Tokens } from "../auth/Tokens.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { RequestBody } from "../RequestBody.ts"
import { RequestProblem } from "../RequestProblem.ts"
import { type Limits, Settings } from "../Settings.ts"
import { Streams } from "../Streams.ts"
import { ackPending, answerText, appendBody, type AppendOrder } from "./AppendCall.ts"
import { ackLevel, decoderFor } from "./AppendRequest.ts"
import { appendOptions, replayedHeader } from "./IdempotencyKey.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Only a log that has a spool can answer for it. */
const checkLevel = Effect.fnUntraced(function*(log: WalService, ack: AckLevel) {
  if (ack !== "spooled" || (yield* log.status).spool !== undefined) return
  return yield* new RequestProblem({
    code: "ack_level_unavailable",
    message: "ack=spooled needs a spool, and this stream has none"
  })
})

/** Waits for the level that was asked for; answers what holds then, which can be more than `spooled`. */
const awaitLevel = Effect.fnUntraced(function*(log: WalService, appended: Appended, ack: AckLevel, limits: Limits) {
  if (ack === "accepted") return ack
  yield* Effect.timeoutOrElse(ack === "durable" ? appended.durable : appended.spooled, {
    duration: limits.ackTimeout,
    orElse: () => Effect.fail(ackPending(appended))
  })
  if (ack === "durable") return ack
  const { durable } = yield* log.status
  return durable >= appended.last ? "durable" : ack
})

/** Adds the route. */
export const layer = HttpRouter.use(Effect.fn(function*(router) {
  const streams = yield* Streams
  const tokens = yield* Tokens
  const bodies = yield* RequestBody
  const lifecycle = yield* Lifecycle
  const { limits } = yield* Settings

  /** Everything that can be refused before the body is read. */
  const orderOf = Effect.fnUntraced(function*(request: Request) {
    const stream = (yield* HttpRouter.params)["stream"] ?? ""
    const refusal = tokens.refusal(request.headers["authorization"], { scope: "write", stream }) ?? lifecycle.refusal()
    if (refusal !== undefined) return yield* Effect.fail<ApiFailure>(refusal)
    const log = yield* streams.log(stream)
    const ack = yield* Effect.fromResult(ackLevel(yield* HttpServerRequest.ParsedSearchParams))
    yield* checkLevel(log, ack)
    const options = yield* Effect.fromResult(appendOptions(NodeHttpServerRequest.toIncomingMessage(request)))
    const decode = yield* Effect.fromResult(decoderFor(request.headers["content-type"]))
    const order: AppendOrder = { log, ack, options, decode }
    return order
  })

  const append = Effect.fnUntraced(function*(request: Request) {
    const order = yield* orderOf(request)
    const appended = yield* bodies.use(request, (body, claim) => appendBody(order, body, claim, limits))
    const level = yield* awaitLevel(order.log, appended, order.ack, limits)
    return HttpServerResponse.text(answerText(appended, level), {
      contentType: "application/json",
      headers: appended.isRepeat === true ? replayedHeader : {}
    })
  })

  yield* router.add("POST", "/v1/streams/:stream/records", (request) => answering(append(request)))
}))
