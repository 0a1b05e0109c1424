/**
 * Everything that can be wrong with a request itself, as opposed to the log: what the server refuses by its own rules.
 *
 * The table is the counterpart of the core's `errorTable`; both are written to `docs/errors.md`.
 */
import type { DataOutcome } from "@effect-wal/core/ErrorTable"
import { Schema } from "effect"

/** One row of the table. */
export interface RequestProblemEntry {
  readonly when: string
  readonly data: DataOutcome
  readonly retryable: boolean
  readonly httpStatus: number
}

const refused = (httpStatus: number, when: string): RequestProblemEntry => ({
  when,
  data: "not-durable",
  retryable: false,
  httpStatus
})

const later = (httpStatus: number, when: string, data: DataOutcome = "not-durable"): RequestProblemEntry => ({
  when,
  data,
  retryable: true,
  httpStatus
})

/** By reason code. Codes are stable: programs compare them. */
export const requestProblems = {
  invalid_request: refused(400, "a query parameter, a path parameter or a field of the body breaks a rule"),
  invalid_json: refused(400, "the body, or a line of it, is not JSON; the place is in `details`"),
  invalid_encoding: refused(400, "the body does not unpack"),
  ack_level_unavailable: refused(400, "`ack=spooled` on a stream without a spool"),
  unauthorized: refused(401, "there is no token, or nobody knows it"),
  forbidden: refused(403, "the token has not the scope, or not for this stream"),
  stream_not_found: refused(404, "no stream of this id is configured"),
  cursor_not_found: refused(404, "the stream has no cursor of this name"),
  route_not_found: refused(404, "there is nothing at this method and path"),
  not_acceptable: refused(406, "`Accept` names nothing that the route can answer"),
  request_timeout: refused(408, "the request was not complete within `limits.request_timeout`"),
  body_too_large: refused(413, "the body, packed or unpacked, is larger than `limits.max_body_bytes`"),
  too_many_records: refused(413, "the body has more records than `limits.max_batch_records`; send several requests"),
  batch_too_large: refused(413, "the records of one call are larger than the stream's whole buffer"),
  unsupported_media_type: refused(415, "the content type is not one that the route takes"),
  unsupported_content_encoding: refused(415, "the content encoding is neither gzip nor identity"),
  headers_too_large: refused(431, "the request headers are larger than `limits.max_header_bytes`"),
  host_refused: refused(
    421,
    "a server on a loopback address without tokens was asked under a name that other sites can have"
  ),
  malformed_request: refused(400, "the bytes are not HTTP"),
  internal_error: refused(500, "a defect of the server; the log of the process has the cause"),
  overloaded: later(
    503,
    "requests in flight, bodies and their records, hold more than `limits.max_in_flight_body_bytes`"
  ),
  stream_opening: later(503, "the stream is being opened"),
  draining: later(503, "the server is shutting down"),
  ack_pending: later(504, "the records were accepted and are not durable within `limits.ack_timeout`", "unknown"),
  flush_pending: later(504, "the flush was not over within `limits.ack_timeout`", "unknown"),
  trim_pending: later(504, "the new trim point was not stored within `limits.ack_timeout`", "durable"),
  cursor_pending: later(504, "a new cursor, or its removal, was not stored within `limits.ack_timeout`", "durable")
} satisfies Record<string, RequestProblemEntry>

/** The stable reason codes of the server's own refusals. */
export type RequestProblemCode = keyof typeof requestProblems

const codes = Object.keys(requestProblems) as Array<RequestProblemCode>

/** A request that the server refuses, or cannot finish, by its own rules. `details` stands in the answer as it is. */
export class RequestProblem extends Schema.TaggedError<RequestProblem>()("RequestProblem", {
  code: Schema.Literals(codes),
  message: Schema.String,
  details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
}) {}
