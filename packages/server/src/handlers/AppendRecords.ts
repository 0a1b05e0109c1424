/**
 * `POST /v1/streams/{stream}/records`: records in.
 *
 * Everything is validated before anything is appended; a call is appended whole or not at all. It is answered when it
 * is durable, with `ack=spooled` when it is durable or in the spool, with `ack=accepted` when it is in the buffer. With an
 * `Idempotency-Key` it is appended once, however often it is sent.
 */
import type { AppendError, BufferFull } from "@effect-wal/core/WalError"
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import type { Appended, AppendOptions, WalService } from "@effect-wal/core/WalService"
import { Clock, Duration, Effect, Result } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { AckLevel } from "../api/Schemas.ts"
import { answering, type ApiFailure } from "../ApiError.ts"
import { Tokens } from "../auth/Tokens.ts"
import { splitLines } from "../body/Ndjson.ts"
import type { ParseBounds } from "../body/ParseBounds.ts"
import { decodeRecords } from "../body/RecordsJson.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { RequestBody } from "../RequestBody.ts"
import { RequestProblem } from "../RequestProblem.ts"
import { type Limits, Settings } from "../Settings.ts"
import { Streams } from "../Streams.ts"
import { appendOptions, replayedHeader } from "./IdempotencyKey.ts"

/** What one call appends, and on whose behalf. */
interface Call {
  readonly records: ReadonlyArray<AppendRecord>
  readonly options: AppendOptions
}

type Decoder = (body: Uint8Array, bounds: ParseBounds) => Effect.Effect<ReadonlyArray<AppendRecord>, RequestProblem>

const ndjson: Decoder = (body, bounds) =>
  Effect.map(splitLines(body, bounds), (lines) => lines.map((payload) => ({ payload })))

/** By media type, in lower case. */
const decoders: Readonly<Record<string, Decoder>> = {
  "application/x-ndjson": ndjson,
  "application/ndjson": ndjson,
  "application/jsonl": ndjson,
  "application/json": decodeRecords,
  "application/octet-stream": (payload) => Effect.succeed([{ payload }])
}

const decoderFor = (contentType: string | undefined): Result.Result<Decoder, RequestProblem> => {
  const mediaType = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""
  const decoder = Object.hasOwn(decoders, mediaType) ? decoders[mediaType] : undefined
  return decoder === undefined
    ? Result.fail(
      new RequestProblem({
        code: "unsupported_media_type",
        message: `content-type ${
          JSON.stringify(contentType ?? "")
        }: send application/x-ndjson, application/json or application/octet-stream`
      })
    )
    : Result.succeed(decoder)
}

const ackLevel = (
  query: Readonly<Record<string, string | ReadonlyArray<string>>>
): Result.Result<AckLevel, RequestProblem> => {
  const unknown = Object.keys(query).find((name) => name !== "ack")
  if (unknown !== undefined) {
    return Result.fail(
      new RequestProblem({ code: "invalid_request", message: `${unknown}: is not a parameter of this route` })
    )
  }
  const value = query["ack"]
  if (value === undefined || value === "durable") return Result.succeed("durable")
  if (value === "accepted" || value === "spooled") return Result.succeed(value)
  return Result.fail(
    new RequestProblem({
      code: "invalid_request",
      message: `ack: must be durable, spooled or accepted, found ${JSON.stringify(value)}`
    })
  )
}

/** Only a log that has a spool can answer for it. */
const checkLevel = Effect.fnUntraced(function*(log: WalService, ack: AckLevel) {
  if (ack !== "spooled" || (yield* log.status).spool !== undefined) return
  return yield* new RequestProblem({
    code: "ack_level_unavailable",
    message: "ack=spooled needs a spool, and this stream has none"
  })
})

/** First and largest pause between two looks for room. */
const roomPause = { firstMillis: 5, largestMillis: 200 }

/**
 * Appends when there is room, and looks for it for `roomTimeout`. Not `log.append` with a time-out: interrupting that
 * could leave a part of the call behind, and a call is appended whole or not at all.
 */
const appendWhenRoom = Effect.fnUntraced(
  function*(log: WalService, { options, records }: Call, full: BufferFull, limits: Limits) {
    const callBytes = records.reduce((bytes, { payload }) => bytes + payload.length, 0)
    if (callBytes >= full.limitBytes) {
      return yield* new RequestProblem({
        code: "batch_too_large",
        message:
          `the records have ${callBytes} bytes, the whole buffer of the stream ${full.limitBytes}; nothing was appended`,
        details: { limit_bytes: full.limitBytes }
      })
    }
    const deadline = (yield* Clock.currentTimeMillis) + Duration.toMillis(limits.roomTimeout)
    let pauseMillis = roomPause.firstMillis
    for (;;) {
      const leftMillis = deadline - (yield* Clock.currentTimeMillis)
      if (leftMillis <= 0) return yield* Effect.fail(full)
      yield* Effect.sleep(Math.min(pauseMillis, leftMillis))
      const result = yield* Effect.result(log.appendNow(records, options))
      if (Result.isSuccess(result)) return result.success
      if (result.failure._tag !== "BufferFull") return yield* Effect.fail(result.failure)
      pauseMillis = Math.min(pauseMillis * 2, roomPause.largestMillis)
    }
  }
)

const appendBounded = (
  log: WalService,
  call: Call,
  limits: Limits
): Effect.Effect<Appended, AppendError | BufferFull | RequestProblem> =>
  Effect.catchTag(
    log.appendNow(call.records, call.options),
    "BufferFull",
    (full) => appendWhenRoom(log, call, full, limits)
  )

const range = ({ epoch, first, last }: Appended) => ({
  first_seq: first,
  last_seq: last,
  count: last - first + 1,
  epoch
})

const awaitInTime = <E>(level: Effect.Effect<void, E>, appended: Appended, limits: Limits) =>
  Effect.timeoutOrElse(level, {
    duration: limits.ackTimeout,
    orElse: () =>
      Effect.fail(
        new RequestProblem({
          code: "ack_pending",
          message: "the records were accepted and are not durable yet; see the stream's status",
          details: range(appended)
        })
      )
  })

/** Waits for the level that was asked for; answers what holds then, which can be more than `spooled`. */
const awaitLevel = Effect.fnUntraced(function*(log: WalService, appended: Appended, ack: AckLevel, limits: Limits) {
  if (ack === "accepted") return ack
  yield* awaitInTime(ack === "durable" ? appended.durable : appended.spooled, appended, limits)
  if (ack === "durable") return ack
  const { durable } = yield* log.status
  return durable >= appended.last ? "durable" : ack
})

const answer = (appended: Appended, ack: AckLevel): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(JSON.stringify({ ...range(appended), ack }), {
    contentType: "application/json",
    headers: appended.isRepeat === true ? replayedHeader : {}
  })

/** Adds the route. */
export const layer = HttpRouter.use(Effect.fn(function*(router) {
  const streams = yield* Streams
  const tokens = yield* Tokens
  const bodies = yield* RequestBody
  const lifecycle = yield* Lifecycle
  const { limits } = yield* Settings

  const append = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
    const stream = (yield* HttpRouter.params)["stream"] ?? ""
    const refusal = tokens.refusal(request.headers["authorization"], { scope: "write", stream })
    if (refusal !== undefined) return yield* Effect.fail<ApiFailure>(refusal)
    yield* lifecycle.accepting
    const log = yield* streams.log(stream)
    const ack = yield* Effect.fromResult(ackLevel(yield* HttpServerRequest.ParsedSearchParams))
    yield* checkLevel(log, ack)
    const options = yield* Effect.fromResult(appendOptions(request))
    const decode = yield* Effect.fromResult(decoderFor(request.headers["content-type"]))
    const appended = yield* bodies.use(
      request,
      (body, claim) =>
        decode(body, { maxRecords: limits.maxBatchRecords, claim }).pipe(
          Effect.tap((records) => claim(records.length)),
          Effect.flatMap((records) => appendBounded(log, { records, options }, limits))
        )
    )
    return answer(appended, yield* awaitLevel(log, appended, ack, limits))
  })

  yield* router.add("POST", "/v1/streams/:stream/records", (request) => answering(append(request)))
}))
