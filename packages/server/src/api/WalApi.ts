/**
 * The HTTP API, defined once: the OpenAPI document, the docs page and typed clients come from `WalApi`.
 *
 * `ControlApi` is the part that is served through it. The data routes and the system routes are served by plain routes
 * beneath (raw bodies, plain text), appends for the most part by a shorter way still (`DirectRoutes.ts`), and stand here for
 * the document.
 */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { BearerAuth, RequestCheck, RequiredScope } from "./Access.ts"
import {
  AckLevel,
  AppendAnswer,
  AppendAnswerHeaders,
  AppendHeaders,
  AppendRequest,
  CursorAnswer,
  EpochAnswer,
  ErrorAnswer,
  OnDamage,
  Readiness,
  RecordPage,
  SeqRequest,
  StreamStatus
} from "./Schemas.ts"

const errorsByStatus = new Map<number, typeof ErrorAnswer>()

/** One schema for each status: the document would number copies as if they were different. */
const failing = (...statuses: ReadonlyArray<number>) =>
  statuses.map((httpApiStatus) => {
    const known = errorsByStatus.get(httpApiStatus) ??
      ErrorAnswer.annotate({ httpApiStatus, identifier: `Error${httpApiStatus}` })
    errorsByStatus.set(httpApiStatus, known)
    return known
  })

/** What every call on a stream can be refused with. */
const streamErrors = failing(400, 401, 403, 404, 409, 500, 503)

const stream = { stream: Schema.String }
const cursor = { stream: Schema.String, name: Schema.String }

/** Streams and their state. */
class StreamsGroup extends HttpApiGroup.make("streams").add(
  HttpApiEndpoint.get("list", "/v1/streams", {
    success: Schema.Struct({ streams: Schema.Array(StreamStatus) }),
    error: failing(401, 403)
  }).annotate(OpenApi.Summary, "All streams that the token may read"),
  HttpApiEndpoint.get("status", "/v1/streams/:stream", { params: stream, success: StreamStatus, error: streamErrors })
    .annotate(RequiredScope, "read").annotate(OpenApi.Summary, "Where a stream stands"),
  HttpApiEndpoint.get("epochs", "/v1/streams/:stream/epochs", {
    params: stream,
    success: Schema.Struct({ epochs: Schema.Array(EpochAnswer) }),
    error: streamErrors
  }).annotate(RequiredScope, "read").annotate(OpenApi.Summary, "The writer epochs above the trim point"),
  HttpApiEndpoint.post("flush", "/v1/streams/:stream/flush", {
    params: stream,
    success: Schema.Struct({ durable: Schema.Int }),
    error: [...streamErrors, ...failing(504)]
  }).annotate(RequiredScope, "write").annotate(OpenApi.Summary, "Make durable what was accepted, now"),
  HttpApiEndpoint.post("trim", "/v1/streams/:stream/trim", {
    params: stream,
    payload: SeqRequest,
    success: Schema.Struct({ trimmed_to: Schema.Int }),
    error: [...streamErrors, ...failing(413, 415, 504)]
  }).annotate(RequiredScope, "admin").annotate(
    OpenApi.Summary,
    "Delete whole segments up to a record, as far as cursors allow"
  )
).middleware(BearerAuth).middleware(RequestCheck) {}

/** How far readers are. */
class CursorsGroup extends HttpApiGroup.make("cursors").add(
  HttpApiEndpoint.get("read", "/v1/streams/:stream/cursors/:name", {
    params: cursor,
    success: CursorAnswer,
    error: streamErrors
  })
    .annotate(RequiredScope, "read").annotate(OpenApi.Summary, "Where a cursor stands"),
  HttpApiEndpoint.put("commit", "/v1/streams/:stream/cursors/:name", {
    params: cursor,
    payload: SeqRequest,
    success: CursorAnswer,
    error: [...streamErrors, ...failing(413, 415, 504)]
  }).annotate(RequiredScope, "write")
    .annotate(OpenApi.Summary, "Everything up to a record is done; a lower value than before changes nothing"),
  HttpApiEndpoint.delete("remove", "/v1/streams/:stream/cursors/:name", {
    params: cursor,
    success: HttpApiSchema.NoContent,
    error: [...streamErrors, ...failing(504)]
  }).annotate(RequiredScope, "admin").annotate(OpenApi.Summary, "Forget a cursor; it holds back deletion no more")
).middleware(BearerAuth).middleware(RequestCheck) {}

const text = (contentType: string) => Schema.String.pipe(HttpApiSchema.asText({ contentType }))
const bytes = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array())

/** Records in and out. */
class RecordsGroup extends HttpApiGroup.make("records").add(
  HttpApiEndpoint.post("append", "/v1/streams/:stream/records", {
    params: stream,
    query: { ack: Schema.optionalKey(AckLevel) },
    headers: AppendHeaders,
    payload: [AppendRequest, text("application/x-ndjson"), bytes],
    success: HttpApiSchema.WithHeaders(AppendAnswer, AppendAnswerHeaders),
    error: [...streamErrors, ...failing(408, 413, 415, 422, 504)]
  }).annotate(
    OpenApi.Summary,
    "Append records; answered after durability, or as `ack` says; once for each `Idempotency-Key`"
  ),
  HttpApiEndpoint.get("read", "/v1/streams/:stream/records", {
    params: stream,
    query: {
      from: Schema.optionalKey(Schema.Int),
      from_time: Schema.optionalKey(Schema.Int),
      limit: Schema.optionalKey(Schema.Int),
      wait: Schema.optionalKey(Schema.String),
      on_damage: Schema.optionalKey(OnDamage)
    },
    success: [RecordPage, text("application/x-ndjson"), text("text/event-stream"), bytes],
    error: [...streamErrors, ...failing(406, 410)]
  }).annotate(OpenApi.Summary, "Read durable records from a number or a time; `text/event-stream` is a live tail")
).middleware(BearerAuth) {}

/** The server itself. */
class SystemGroup extends HttpApiGroup.make("system", { topLevel: true }).add(
  HttpApiEndpoint.get("healthz", "/healthz", {
    success: text("text/plain"),
    error: failing(503)
  }).annotate(OpenApi.Summary, "Alive; 503 when a log has died"),
  HttpApiEndpoint.get("readyz", "/readyz", {
    success: [Readiness, Readiness.annotate({ httpApiStatus: 503, identifier: "NotReady" })]
  }).annotate(OpenApi.Summary, "Able to write; 503 and the reasons when not"),
  HttpApiEndpoint.get("openapi", "/openapi.json", { success: Schema.Json }).annotate(OpenApi.Summary, "This document"),
  HttpApiEndpoint.get("docs", "/docs", { success: text("text/html") }).annotate(
    OpenApi.Summary,
    "This document, for people"
  ),
  HttpApiEndpoint.get("dashboard", "/", { success: text("text/html") }).annotate(
    OpenApi.Summary,
    "The dashboard: a page without data, for browsers"
  )
) {}

/** What the dashboard's page asks for. */
class DashboardGroup extends HttpApiGroup.make("dashboard", { topLevel: true }).add(
  HttpApiEndpoint.get("dashboardFeed", "/v1/dashboard", {
    success: [Schema.Json, text("text/event-stream")],
    error: failing(401, 403)
  }).annotate(
    OpenApi.Summary,
    "What the dashboard shows of the streams that the token may read; `text/event-stream` is an event a second, with what has changed"
  )
).middleware(BearerAuth) {}

/** What Prometheus asks for. */
class MetricsGroup extends HttpApiGroup.make("metrics", { topLevel: true }).add(
  HttpApiEndpoint.get("metrics", "/metrics", { success: text("text/plain"), error: failing(401, 403) })
    .annotate(OpenApi.Summary, "Prometheus text format; needs `read` for all streams")
).middleware(BearerAuth) {}

/** The routes that are served through their definitions. */
export class ControlApi extends HttpApi.make("effect-wal").add(StreamsGroup).add(CursorsGroup) {}

/** The whole API: the OpenAPI document, the docs page and typed clients are made from it. */
export class WalApi
  extends ControlApi.add(RecordsGroup).add(SystemGroup).add(DashboardGroup).add(MetricsGroup).annotateMerge(
    OpenApi.annotations({
      title: "effect-wal",
      version: "1",
      description: "A write-ahead log on object storage. Error codes are listed in docs/errors.md."
    })
  )
{}
