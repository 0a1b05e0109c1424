/**
 * The one place where errors become HTTP answers: `{"error":{code, message, data, retryable, details?}}`.
 *
 * Errors of the log are mapped by the core's `errorTable`, the server's own by `requestProblems`.
 */
import { type DataOutcome, errorTable, type WalErrorTag } from "@effect-wal/core/ErrorTable"
import { Cause, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { RequestProblem, requestProblems } from "./RequestProblem.ts"

/** An error of the log, as far as the mapping looks at it. */
export type LogError = Error & { readonly _tag: WalErrorTag }

/** Everything that a handler can fail with. */
export type ApiFailure = LogError | RequestProblem

/** What the body of an answer says about an error. */
export interface ErrorBody {
  readonly code: string
  readonly message: string
  readonly data: DataOutcome
  readonly retryable: boolean
  readonly details?: Readonly<Record<string, unknown>>
}

/** The fields of an error class that are data, not machinery of `Error`. */
const fieldsOf = (error: LogError): Record<string, unknown> => {
  const machinery = new Set(["_tag", "message", "name", "stack", "cause"])
  return Object.fromEntries(Object.entries(error).filter(([name]) => !machinery.has(name)))
}

/** The status of an answer. */
export const errorStatus = (error: ApiFailure): number =>
  error._tag === "RequestProblem" ? requestProblems[error.code].httpStatus : errorTable[error._tag].httpStatus

/** The part of an answer that describes the error. */
export const errorBody = (error: ApiFailure): ErrorBody => {
  const details = error._tag === "RequestProblem" ? error.details : fieldsOf(error)
  const meaning = error._tag === "RequestProblem"
    ? { ...requestProblems[error.code], code: error.code }
    : errorTable[error._tag]
  return {
    code: meaning.code,
    message: error.message,
    data: meaning.data,
    retryable: meaning.retryable,
    ...details === undefined ? {} : { details }
  }
}

/**
 * Seconds that a client should wait, by status: overload passes quickly, a full disk waits for somebody to make room.
 * What cannot be repeated has none.
 */
const retryAfterSeconds: Readonly<Record<number, string>> = { 429: "1", 503: "1", 507: "5" }

const responseHeaders = (error: ApiFailure, status: number): Record<string, string> => {
  const headers: Record<string, string> = {}
  const retryAfter = errorBody(error).retryable ? retryAfterSeconds[status] : undefined
  if (retryAfter !== undefined) headers["retry-after"] = retryAfter
  if (status === 401) headers["www-authenticate"] = "Bearer"
  if (error._tag === "RequestProblem" && error.code === "draining") headers["connection"] = "close"
  return headers
}

/** The answer to an error, whole. */
export const errorResponse = (error: ApiFailure): HttpServerResponse.HttpServerResponse => {
  const status = errorStatus(error)
  return HttpServerResponse.text(JSON.stringify({ error: errorBody(error) }), {
    status,
    contentType: "application/json",
    headers: responseHeaders(error, status)
  })
}

/**
 * Turns every way in which a handler can end into an answer. A defect is logged and answered `internal_error`;
 * interruption (the client is gone) stays interruption.
 */
export const answering = <A, R>(
  handler: Effect.Effect<A, ApiFailure, R>
): Effect.Effect<A | HttpServerResponse.HttpServerResponse, never, R> =>
  Effect.catchCause(handler, (cause) => {
    const failure = cause.reasons.find(Cause.isFailReason)
    if (failure !== undefined) return Effect.succeed(errorResponse(failure.error))
    if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
    return Effect.logError("A request died of a defect", cause).pipe(
      Effect.as(
        errorResponse(new RequestProblem({ code: "internal_error", message: "internal error; see the server's log" }))
      )
    )
  })
