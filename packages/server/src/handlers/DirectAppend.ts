/**
 * The short way of `POST /v1/streams/{stream}/records`, for the requests that most are: NDJSON or one record, a body of
 * declared and moderate length that is not packed, and nothing to refuse before it is read.
 *
 * It answers what the route of the router answers (`AppendRecords.ts`), byte for byte; what it does not know, and what that
 * would refuse at once, it leaves to it.
 */
import type { Appended } from "@effect-wal/core/WalService"
import { Effect, Layer, Result, Tracer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AckLevel } from "../api/Schemas.ts"
import { Tokens } from "../auth/Tokens.ts"
import { discardBody } from "../body/Body.ts"
import type { Hold } from "../body/Hold.ts"
import { DirectRoutes } from "../DirectRoutes.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { type BodyResult, RequestBody } from "../RequestBody.ts"
import { type Limits, Settings } from "../Settings.ts"
import { Streams } from "../Streams.ts"
import { makeAckDeadlines } from "./AckDeadlines.ts"
import { ackPending, answerText, appendBody, type AppendOrder } from "./AppendCall.ts"
import { decoderFor } from "./AppendRequest.ts"
import { makeDirectAnswer, writeAnswer, writeError } from "./DirectAnswer.ts"
import { appendOptions, replayedHeader } from "./IdempotencyKey.ts"

/**
 * Longest body that is taken. Where a request is refused in its middle, so much is read and thrown away to keep the
 * connection, by the platform too; a longer one would have to end it.
 */
const maxBodyBytes = 262_144

/** What a path and its query name. */
interface Target {
  readonly stream: string
  readonly ack: AckLevel
}

const targetForm = /^\/v1\/streams\/([A-Za-z0-9._-]+)\/records(?:\?ack=(durable|accepted))?$/

/** So many are remembered; the others are taken apart each time. */
const maxKnownTargets = 1_000

const makeTargets = () => {
  const known = new Map<string, Target>()
  return (url: string): Target | undefined => {
    const found = known.get(url)
    if (found !== undefined) return found
    const [, stream, ack] = targetForm.exec(url) ?? []
    if (stream === undefined) return undefined
    const target: Target = { stream, ack: ack === "accepted" ? ack : "durable" }
    if (known.size < maxKnownTargets) known.set(url, target)
    return target
  }
}

const isPlain = ({ headers }: IncomingMessage, limits: Limits): boolean =>
  headers["content-encoding"] === undefined && headers["transfer-encoding"] === undefined &&
  headers.expect === undefined && Number(headers["content-length"]) <= Math.min(maxBodyBytes, limits.maxBodyBytes)

const writeAppended = (response: ServerResponse, appended: Appended, ack: AckLevel): void => {
  const text = answerText(appended, ack)
  const headers = { "content-type": "application/json", "content-length": text.length }
  writeAnswer(response, 200, appended.isRepeat === true ? { ...replayedHeader, ...headers } : headers, text)
}

/** What a request asks for; `undefined` where it is left to the router. */
const makeOrders = Effect.gen(function*() {
  const streams = yield* Streams
  const tokens = yield* Tokens
  const lifecycle = yield* Lifecycle
  const { limits } = yield* Settings
  const targetOf = makeTargets()
  return (request: IncomingMessage): AppendOrder | undefined => {
    if (request.method !== "POST" || !isPlain(request, limits)) return undefined
    const target = targetOf(request.url ?? "")
    if (target === undefined) return undefined
    const { ack, stream } = target
    const { headers } = request
    const refusal = tokens.refusal(headers.authorization, { scope: "write", stream }) ?? lifecycle.refusal()
    const log = streams.opened(stream)
    if (refusal !== undefined || log === undefined) return undefined
    const options = appendOptions(request)
    const decode = decoderFor(headers["content-type"])
    if (Result.isFailure(options) || Result.isFailure(decode)) return undefined
    return { log, ack, options: options.success, decode: decode.success }
  }
})

/** Adds the short way. Not where requests are traced: each of them needs a span then, which the platform makes. */
export const layer = Layer.effectDiscard(Effect.gen(function*() {
  const context = yield* Effect.context()
  if (context.mapUnsafe.has(Tracer.Tracer.key)) return
  const routes = yield* DirectRoutes
  const bodies = yield* RequestBody
  const { limits } = yield* Settings
  const orderOf = yield* makeOrders
  const answer = yield* makeDirectAnswer
  const deadlines = yield* makeAckDeadlines(limits.ackTimeout)

  const answerWhenDurable = (response: ServerResponse, appended: Appended): void => {
    const waiting = answer(response, appended.durable, () => writeAppended(response, appended, "durable"))
    if (waiting.pollUnsafe() !== undefined) return
    const wait = deadlines.begin(() => {
      writeError(response, ackPending(appended))
      waiting.interruptUnsafe()
    })
    waiting.addObserver(() => deadlines.end(wait))
  }

  const append = (response: ServerResponse, order: AppendOrder, body: BodyResult, hold: Hold): void => {
    const appending = Result.isSuccess(body)
      ? appendBody(order, body.success, hold.claim, limits)
      : Effect.fail(body.failure)
    const released = Effect.ensuring(
      appending,
      Effect.sync(() => {
        hold.release()
        // The log has copied what it took.
        if (Result.isSuccess(body)) discardBody(body.success)
      })
    )
    answer(response, released, (appended) => {
      if (order.ack === "accepted") writeAppended(response, appended, order.ack)
      else answerWhenDurable(response, appended)
    })
  }

  routes.add((request, response) => {
    const order = orderOf(request)
    if (order === undefined) return false
    const hold = bodies.read(request, (body) => append(response, order, body, hold))
    return true
  })
}))
