/**
 * Requests to one server: its address and the token are added, and everything that is not the answer that was asked for
 * becomes a `WalClientError`. Nothing is tried again here.
 */
import { errorTable } from "@effect-wal/core/ErrorTable"
import { Clock, DateTime, type Duration, Effect, Option, Redacted, Schema } from "effect"
import { HttpClient, type HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { ErrorAnswer } from "../api/Schemas.ts"
import { requestProblems } from "../RequestProblem.ts"
import { isRefusal, type Reason, type Refused, WalClientError } from "./ClientError.ts"

/** Where a server is. */
export interface ServerAddress {
  /** As in `https://wal.example.com` or `http://127.0.0.1:8180`; what stands before `/v1` is part of it. */
  readonly url: string | URL
  /** The bearer token, where the server wants one. */
  readonly token?: Redacted.Redacted | undefined
  /**
   * How long to wait for an answer to begin; then the call counts as not answered. Longer than the server's own waits:
   * 30 s for durability, 55 s for a first record. Default 90 s.
   */
  readonly answerTimeout?: Duration.Input
}

/** A client whose failures are all `WalClientError`. */
export type TransportClient = HttpClient.HttpClient.With<WalClientError>

/** The two ways to a server. */
export interface Transport {
  /** Fails for every status but 2xx. */
  readonly checked: TransportClient
  /** Answers whatever the server answers. */
  readonly raw: TransportClient
}

/** Fails with the reason. */
export const failWith = (reason: Reason): Effect.Effect<never, WalClientError> =>
  Effect.fail(new WalClientError({ reason }))

/** So much of what is no answer of the server is told, in characters. */
const maxShownText = 200

/** The messages of an error and of what caused it: `fetch` hides what happened in the cause. */
const messagesOf = (cause: unknown): ReadonlyArray<string> => {
  if (!(cause instanceof Error)) return []
  const inner = messagesOf(cause.cause)
  return cause.message === "" ? inner : [cause.message, ...inner]
}

/** What a failure of the HTTP client means. It names neither headers nor the token. */
export const clientErrorOf = ({ reason }: HttpClientError.HttpClientError): WalClientError => {
  const detail = [...messagesOf(reason.cause), reason.description ?? ""].filter((part) => part !== "").join(": ")
  switch (reason._tag) {
    case "InvalidUrlError":
    case "EncodeError":
      return new WalClientError({ reason: { _tag: "InvalidCall", message: `the call cannot be sent: ${detail}` } })
    case "TransportError":
      return new WalClientError({
        reason: {
          _tag: "ConnectionFailed",
          message: `no answer from ${originOf(reason.request.url)}: ${detail}; is the server running, is its URL right?`
        }
      })
    default:
      return new WalClientError({ reason: { _tag: "ConnectionFailed", message: `the answer broke off: ${detail}` } })
  }
}

/** An address without what could be secret in it: user, password, query. */
const originOf = (url: string): string => URL.canParse(url) ? new URL(url).origin : "the server"

const decodeError = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorAnswer))

/** `Retry-After` in milliseconds from now: seconds, or a date as proxies give it. */
const retryAfterOf = (value: string | undefined, nowMillis: number): number | undefined => {
  if (value === undefined) return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000
  return Option.getOrUndefined(Option.map(DateTime.make(value), (at) => Math.max(0, at.epochMilliseconds - nowMillis)))
}

/** Why an answer with this status and text is a failure. */
const reasonOf = (status: number, text: string, retryAfterMillis: number | undefined): Reason => {
  const wait = retryAfterMillis === undefined ? {} : { retryAfterMillis }
  const decoded = decodeError(text)
  if (Option.isSome(decoded)) {
    const { code, data, details = {}, message, retryable } = decoded.value.error
    const refusal: Refused & { readonly _tag: string } = {
      _tag: code,
      status,
      message,
      data,
      retryable,
      details,
      ...wait
    }
    if (isRefusal(refusal)) return refusal
  }
  return {
    _tag: "UnexpectedAnswer",
    status,
    message: `status ${status}, which is no answer of effect-wal: ${JSON.stringify(text.slice(0, maxShownText))}`,
    ...wait
  }
}

/** The status that goes with each code: in the middle of an answer there is none any more. */
const statusByCode: ReadonlyMap<string, number> = new Map([
  ...Object.values(errorTable).map(({ code, httpStatus }) => [code, httpStatus] as const),
  ...Object.entries(requestProblems).map(([code, { httpStatus }]) => [code, httpStatus] as const)
])

/** The failure that an error event in a live tail tells of. */
export const failureOfEvent = (data: string): WalClientError => {
  const decoded = decodeError(data)
  const status = Option.isSome(decoded) ? statusByCode.get(decoded.value.error.code) : undefined
  return new WalClientError({ reason: reasonOf(status ?? 200, data, undefined) })
}

/** Lets answers with 2xx pass. */
const checkStatus = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
  if (response.status >= 200 && response.status < 300) return response
  const text = yield* Effect.mapError(response.text, clientErrorOf)
  const retryAfterMillis = retryAfterOf(response.headers["retry-after"], yield* Clock.currentTimeMillis)
  return yield* failWith(reasonOf(response.status, text, retryAfterMillis))
})

/** What the value of a header can hold. An error that `fetch` makes of anything else would show the whole of it. */
const headerText = /^[\t -~\u0080-\u00ff]+$/

/** Fails `InvalidCall` for a token that no request can carry, without showing it. */
const checkToken = (token: string | undefined): Effect.Effect<void, WalClientError> =>
  token === undefined || headerText.test(token) ? Effect.void : failWith({
    _tag: "InvalidCall",
    message: "the token is empty or holds characters that no request can carry, such as a line end"
  })

/** Both ways to the server at an address. */
export const makeTransport = Effect.fnUntraced(function*({ answerTimeout, token, url }: ServerAddress) {
  const client = yield* HttpClient.HttpClient
  const base = String(url).replace(/\/+$/, "")
  // Files and variables often end with a line end, which is no part of the token.
  const bearer = token === undefined ? undefined : Redacted.value(token).trim()
  const raw: TransportClient = client.pipe(
    HttpClient.mapRequest((request) => {
      const placed = HttpClientRequest.prependUrl(request, base)
      return bearer === undefined ? placed : HttpClientRequest.bearerToken(placed, bearer)
    }),
    HttpClient.transformResponse((answer) =>
      Effect.timeoutOrElse(Effect.andThen(checkToken(bearer), Effect.mapError(answer, clientErrorOf)), {
        duration: answerTimeout ?? "90 seconds",
        orElse: () => failWith({ _tag: "ConnectionFailed", message: `no answer from ${originOf(base)} in time` })
      })
    )
  )
  const transport: Transport = {
    raw,
    checked: HttpClient.transformResponse(raw, Effect.flatMap(checkStatus))
  }
  return transport
})

/**
 * A name as a part of a path. Fails `InvalidCall` for what URLs take for a direction (`.`, `..`) or for nothing, or cannot
 * hold (half of a surrogate pair); whether the name is a good one is the server's to say.
 */
export const pathPart = (kind: string, name: string): Effect.Effect<string, WalClientError> =>
  name === "" || name === "." || name === ".." || !name.isWellFormed()
    ? failWith({ _tag: "InvalidCall", message: `${JSON.stringify(name)} is no name of a ${kind}` })
    : Effect.succeed(encodeURIComponent(name))
