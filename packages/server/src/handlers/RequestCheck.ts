/** What the routes of `ControlApi` refuse before a handler runs: bodies that are too large, of another type, or wrong. */
import { ByteSize, Effect, Layer, Predicate } from "effect"
import { Headers, HttpIncomingMessage, HttpServerError, HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { RequestCheck } from "../api/Access.ts"
import { errorResponse } from "../ApiError.ts"
import { RequestProblem } from "../RequestProblem.ts"

/** Their bodies name a sequence number and nothing else. */
const maxBodyBytes = 65_536

const tooLarge = new RequestProblem({
  code: "body_too_large",
  message: `the body is larger than ${maxBodyBytes} bytes`,
  details: { limit_bytes: maxBodyBytes }
})

/** The API answers a body of another type itself, as plain text. */
const wrongType = new RequestProblem({ code: "unsupported_media_type", message: "send application/json" })

const brokenOff = new RequestProblem({ code: "malformed_request", message: "the connection ended before the body" })

/** What did not decode, as one line. */
const undecoded = ({ cause, kind }: HttpApiError.HttpApiSchemaError): RequestProblem =>
  new RequestProblem({
    code: "invalid_request",
    message: `${kind === "Payload" ? "body" : kind.toLowerCase()}: ${cause.message.replaceAll(/\s+/g, " ")}`
  })

/** A body that could not be read is a defect to the API; to us it is the client's. */
const unreadable = (defect: unknown): RequestProblem | undefined => {
  if (!HttpServerError.isHttpServerError(defect) || defect.reason._tag !== "RequestParseError") return undefined
  return Predicate.isTagged(defect.reason.cause, "MaxBytesError") ? tooLarge : brokenOff
}

/**
 * What names no type is bytes (RFC 9110, 8.3). The API would take it for JSON, and a page of another site can make a browser
 * send such a body without asking.
 */
const typed = (request: HttpServerRequest.HttpServerRequest): HttpServerRequest.HttpServerRequest =>
  request.headers["content-type"] === undefined
    ? request.modify({ headers: Headers.set(request.headers, "content-type", "application/octet-stream") })
    : request

/** The check. */
export const layer = Layer.succeed(
  RequestCheck,
  (handler) =>
    Effect.flatMap(
      HttpServerRequest.HttpServerRequest,
      (request) =>
        Number(request.headers["content-length"] ?? 0) > maxBodyBytes
          ? Effect.succeed(errorResponse(tooLarge))
          : Effect.provideService(handler, HttpServerRequest.HttpServerRequest, typed(request))
    ).pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
      Effect.map((response) => response.status === 415 ? errorResponse(wrongType) : response),
      Effect.catch((error) =>
        HttpApiError.HttpApiSchemaError.is(error)
          ? Effect.succeed(errorResponse(undecoded(error)))
          : Effect.fail(error)
      ),
      Effect.catchDefect((defect) => {
        const problem = unreadable(defect)
        return problem === undefined ? Effect.die(defect) : Effect.succeed(errorResponse(problem))
      })
    )
)
