/**
 * Appending: every call has an idempotency key, and every try of it the same, so that a try whose answer was lost can be
 * repeated and is appended once.
 *
 * Where durability takes longer than the server waits (504 `ack_pending`), the stream's status is asked until it covers
 * the records. Where that cannot tell, the call is sent again: with its key it is answered as the first time.
 */
import { NonceSource } from "@effect-wal/core/Nonce"
import { Clock, Duration, Effect, Random, Schema } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import { type AckLevel, AppendAnswer, idempotencyKeyForm, type StreamStatus } from "../api/Schemas.ts"
import { type AppendBody, httpBody } from "./AppendBody.ts"
import type { Refused, WalClientError } from "./ClientError.ts"
import { type RetryPolicy, retrySchedule } from "./RetryPolicy.ts"
import { clientErrorOf, failWith, pathPart, type Transport } from "./Transport.ts"

/** How records are appended. */
export interface AppendOptions {
  /** How far the records must have come before the call ends; default `durable`. */
  readonly ack?: AckLevel
  /**
   * Names the call: 1 to 128 printable ASCII characters, another for each call. Default: a fresh one. A call with a key
   * must fit into one segment of the stream, else it fails `producer_call_too_large`. `false`: none; then the call can be
   * larger, and is tried again only where the server says that nothing was appended.
   */
  readonly idempotencyKey?: string | false
  /** How long to wait in all, beyond the server's own waits, for records that it has accepted; default 2 minutes. */
  readonly pendingTimeout?: Duration.Input
}

/** What was appended. `last_seq` is `first_seq - 1` when there was no record. */
export interface Appended extends Schema.Schema.Type<typeof AppendAnswer> {
  /** The call had been appended before, by an earlier try or with the same key: nothing was appended now. */
  readonly replayed: boolean
}

/** What the calls of one client share. */
export interface AppendParts {
  readonly transport: Transport
  readonly retry: RetryPolicy
  /** Where a stream stands; not tried again. */
  readonly status: (stream: string) => Effect.Effect<StreamStatus, WalClientError>
}

/** First and longest pause between two looks at the status. */
const look = { firstMillis: 100, longestMillis: 2_000 }

/** Of a key that the server does not take `fetch` would say that there is no answer. */
const keyOf = Effect.fnUntraced(function*(given: string | false | undefined) {
  if (given === false) return undefined
  if (given === undefined) return yield* yield* NonceSource
  if (idempotencyKeyForm.test(given)) return given
  return yield* failWith({
    _tag: "InvalidCall",
    message: "the idempotency key must be 1 to 128 printable ASCII characters"
  })
})

/** How often a call whose records may be lost is sent again. */
const maxResends = 10

const PendingDetails = Schema.Struct({
  first_seq: Schema.Int,
  last_seq: Schema.Int,
  count: Schema.Int,
  epoch: Schema.Int,
  /** The try that was refused was a repeat. */
  replayed: Schema.optionalKey(Schema.Boolean)
})
type Range = typeof PendingDetails.Type

const decodePending = Schema.decodeUnknownOption(PendingDetails)
const decodeAnswer = Schema.decodeUnknownEffect(Schema.fromJsonString(AppendAnswer))

const appendedOf = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
  const text = yield* Effect.mapError(response.text, clientErrorOf)
  const answer = yield* Effect.catch(
    decodeAnswer(text),
    () =>
      failWith({ _tag: "UnexpectedAnswer", status: response.status, message: "the answer is not that of an append" })
  )
  const appended: Appended = { ...answer, replayed: response.headers["idempotency-replayed"] === "true" }
  return appended
})

/** What the status says of accepted records: the level they have reached, that they wait, or nothing that helps. */
const levelOf = (status: StreamStatus, range: Range, ack: AckLevel): AckLevel | "waiting" | "unknown" => {
  if (status.state !== "open" || status.epoch !== range.epoch) return "unknown"
  if ((status.durable ?? 0) >= range.last_seq) return "durable"
  return ack === "spooled" && (status.spooled ?? 0) >= range.last_seq ? "spooled" : "waiting"
}

/** One call. */
interface Call {
  readonly stream: string
  readonly ack: AckLevel
  readonly key: string | undefined
  /** When to stop waiting for what was accepted, epoch milliseconds. */
  readonly deadlineMillis: number
  readonly send: Effect.Effect<Appended, WalClientError>
}

/** Watches accepted records until they have come as far as the call wants; `unknown` where the status cannot tell. */
const follow = Effect.fnUntraced(function*(parts: AppendParts, call: Call, range: Range, pending: WalClientError) {
  for (let pauseMillis = look.firstMillis;; pauseMillis = Math.min(pauseMillis * 2, look.longestMillis)) {
    const level = yield* parts.status(call.stream).pipe(
      Effect.map((status) => levelOf(status, range, call.ack)),
      Effect.catch(() => Effect.succeed("unknown" as const))
    )
    if (level !== "waiting") return level
    if ((yield* Clock.currentTimeMillis) >= call.deadlineMillis) return yield* pending
    yield* Effect.sleep(pauseMillis * (yield* Random.nextBetween(0.5, 1)))
  }
})

/** The call as often as it takes to know what became of it. */
const settled = Effect.fnUntraced(function*(parts: AppendParts, call: Call) {
  const tried = Effect.retry(call.send, retrySchedule(parts.retry, call.key !== undefined))
  for (let resends = 0;; resends++) {
    const outcome = yield* Effect.catchReason(
      tried,
      "WalClientError",
      "ack_pending",
      (reason, pending) => Effect.succeed({ reason, pending })
    )
    if (!("pending" in outcome)) return outcome
    const { pending, reason } = outcome
    const done = yield* followed(parts, call, reason, pending)
    if (done !== undefined) return done
    if (call.key === undefined || resends === maxResends || (yield* Clock.currentTimeMillis) >= call.deadlineMillis) {
      return yield* pending
    }
  }
})

const followed = Effect.fnUntraced(function*(parts: AppendParts, call: Call, reason: Refused, pending: WalClientError) {
  const range = decodePending(reason.details)
  if (range._tag === "None") return undefined
  const level = yield* follow(parts, call, range.value, pending)
  const appended: Appended | undefined = level === "unknown"
    ? undefined
    : { ...range.value, ack: level, replayed: range.value.replayed === true }
  return appended
})

/** Appends to a stream; see `WalClient`. */
export const append = Effect.fnUntraced(
  function*(parts: AppendParts, stream: string, body: AppendBody, options: AppendOptions = {}) {
    const ack = options.ack ?? "durable"
    const key = yield* keyOf(options.idempotencyKey)
    const path = `/v1/streams/${yield* pathPart("stream", stream)}/records`
    const request = HttpClientRequest.post(path).pipe(
      HttpClientRequest.setUrlParam("ack", ack),
      HttpClientRequest.setHeaders(key === undefined ? {} : { "idempotency-key": key }),
      HttpClientRequest.setBody(httpBody(body))
    )
    return yield* settled(parts, {
      stream,
      ack,
      key,
      deadlineMillis: (yield* Clock.currentTimeMillis) + Duration.toMillis(options.pendingTimeout ?? "2 minutes"),
      send: Effect.flatMap(parts.transport.checked.execute(request), appendedOf)
    })
  }
)
