/**
 * A typed client of the HTTP API, made from its definition. It needs an `HttpClient` and nothing of the server:
 * `FetchHttpClient.layer` makes it work in a browser, in Bun, at the edge and in node.
 *
 * Every call fails with `WalClientError` only. What passes (overload, a restart, a lost connection) is tried again with
 * growing pauses, as `Retry-After` says, where that cannot append or remove anything twice.
 */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { type CursorAnswer, type EpochAnswer, Readiness, type StreamStatus } from "../api/Schemas.ts"
import { ControlApi } from "../api/WalApi.ts"
import * as Append from "./Append.ts"
import type { AppendBody } from "./AppendBody.ts"
import { WalClientError } from "./ClientError.ts"
import * as Read from "./Read.ts"
import { defaultRetryPolicy, type RetryPolicy, retrySchedule } from "./RetryPolicy.ts"
import * as Tail from "./Tail.ts"
import { clientErrorOf, failWith, makeTransport, pathPart, type ServerAddress } from "./Transport.ts"

export type { Appended, AppendOptions } from "./Append.ts"
export type { Element } from "./ElementJson.ts"
export type { Page, PageOptions, ReadFrom, ReadOptions } from "./Read.ts"
export type { TailOptions } from "./Tail.ts"

/** Where the server is, and how calls are tried again. */
export interface WalClientOptions extends ServerAddress {
  /** What differs from `defaultRetryPolicy`. */
  readonly retry?: Partial<RetryPolicy>
}

/** A cursor. */
export type Cursor = typeof CursorAnswer.Type

/** One writer epoch. */
export type Epoch = typeof EpochAnswer.Type

type Failing<A> = Effect.Effect<A, WalClientError>

/** What a client does. All fail `WalClientError`. */
export interface WalClientService {
  /** Appends records, all or none, and ends when they are durable, or as `ack` says. Tried again with the same key. */
  readonly append: (stream: string, body: AppendBody, options?: Append.AppendOptions) => Failing<Append.Appended>
  /** Some durable records. `onDamage: "skip"` can bring lost ranges among them. */
  readonly readPage: (stream: string, options?: Read.PageOptions) => Failing<Read.Page>
  /** All durable records from a place on, up to the durable end; page by page, as they are taken. */
  readonly read: Read.Read
  /** Durable records as they come, without end, across lost connections and restarts. */
  readonly tail: Tail.Tail
  /** All streams that the token may read. */
  readonly streams: Failing<ReadonlyArray<StreamStatus>>
  /** Where a stream stands. */
  readonly status: (stream: string) => Failing<StreamStatus>
  /** The writer epochs above the trim point. */
  readonly epochs: (stream: string) => Failing<ReadonlyArray<Epoch>>
  /** Makes durable what was accepted; answers the last durable number. */
  readonly flush: (stream: string) => Failing<number>
  /** Deletes whole segments up to a record, as far as cursors allow; answers how far that was. */
  readonly trim: (stream: string, seq: number) => Failing<number>
  /** Where a cursor stands. */
  readonly cursor: (stream: string, name: string) => Failing<Cursor>
  /** Says that everything up to a record is done; a lower number than before changes nothing. */
  readonly commit: (stream: string, name: string, seq: number) => Failing<Cursor>
  /** Forgets a cursor. Not tried again after a lost answer: the second try would not find it. */
  readonly removeCursor: (stream: string, name: string) => Failing<void>
  /** Whether the process is alive and none of its logs has died of a defect. */
  readonly health: Failing<boolean>
  /** Whether the server can write, and the reasons where the token may know them. */
  readonly ready: Failing<Readiness>
  /** The metrics in Prometheus' text format. */
  readonly metrics: Failing<string>
}

/** What went wrong in the client that is made of the API. */
const toClientError = (error: unknown): WalClientError =>
  error instanceof WalClientError ? error : new WalClientError({
    reason: { _tag: "UnexpectedAnswer", status: 200, message: "the answer is not that of the call" }
  })

const decodeReadiness = Schema.decodeUnknownOption(Schema.fromJsonString(Readiness))

/** A client; see `WalClientService`. */
export const make = Effect.fnUntraced(function*(options: WalClientOptions) {
  const transport = yield* makeTransport(options)
  const retry: RetryPolicy = { ...defaultRetryPolicy, ...options.retry }
  const api = yield* HttpApiClient.makeWith(ControlApi, { httpClient: transport.checked })

  const repeated = <A>(call: Failing<A>): Failing<A> => Effect.retry(call, retrySchedule(retry, true))
  const statusOnce = (stream: string): Failing<StreamStatus> =>
    Effect.andThen(
      pathPart("stream", stream),
      Effect.mapError(Effect.suspend(() => api.streams.status({ params: { stream } })), toClientError)
    )
  /** Names are looked at before the API's own client sees them: it dies of those that it cannot send. */
  const named = <A, E>(stream: string, name: string, call: Effect.Effect<A, E>): Failing<A> =>
    pathPart("stream", stream).pipe(
      Effect.andThen(pathPart("cursor", name)),
      Effect.andThen(Effect.mapError(call, toClientError))
    )
  const onStream = <A, E>(stream: string, call: Effect.Effect<A, E>): Failing<A> => named(stream, "-", call)

  const textOf = Effect.fnUntraced(function*(path: string, client: typeof transport.raw) {
    const response = yield* client.get(path)
    return { status: response.status, text: yield* Effect.mapError(response.text, clientErrorOf) }
  })

  const ready = Effect.gen(function*() {
    const { status, text } = yield* textOf("/readyz", transport.raw)
    const decoded = decodeReadiness(text)
    if ((status === 200 || status === 503) && Option.isSome(decoded)) return decoded.value
    return yield* failWith({ _tag: "UnexpectedAnswer", status, message: "the answer is not that of /readyz" })
  })

  const health = Effect.gen(function*() {
    const { status } = yield* textOf("/healthz", transport.raw)
    if (status === 200 || status === 503) return status === 200
    return yield* failWith({ _tag: "UnexpectedAnswer", status, message: "the answer is not that of /healthz" })
  })

  const parts = { transport, retry, status: statusOnce }
  return WalClient.of({
    append: (stream, body, given) => Append.append(parts, stream, body, given),
    readPage: (stream, given) => Read.readPage(parts, stream, given),
    read: Read.makeRead(parts),
    tail: Tail.makeTail(parts),
    streams: repeated(Effect.mapError(api.streams.list({}), toClientError)).pipe(Effect.map(({ streams }) => streams)),
    status: (stream) => repeated(statusOnce(stream)),
    epochs: (stream) =>
      Effect.map(
        repeated(onStream(stream, api.streams.epochs({ params: { stream } }))),
        ({ epochs }) => epochs
      ),
    flush: (stream) =>
      Effect.map(repeated(onStream(stream, api.streams.flush({ params: { stream } }))), ({ durable }) => durable),
    trim: (stream, seq) =>
      Effect.map(
        repeated(onStream(stream, api.streams.trim({ params: { stream }, payload: { seq } }))),
        ({ trimmed_to }) => trimmed_to
      ),
    cursor: (stream, name) => repeated(named(stream, name, api.cursors.read({ params: { stream, name } }))),
    commit: (stream, name, seq) =>
      repeated(named(stream, name, api.cursors.commit({ params: { stream, name }, payload: { seq } }))),
    removeCursor: (stream, name) =>
      Effect.retry(
        named(stream, name, api.cursors.remove({ params: { stream, name } })),
        retrySchedule(retry, false)
      ),
    health: repeated(health),
    ready: repeated(ready),
    metrics: repeated(Effect.map(textOf("/metrics", transport.checked), ({ text }) => text))
  })
})

/** A client of one server. */
export class WalClient extends Context.Service<WalClient, WalClientService>()("@effect-wal/server/WalClient") {
  /** The client of the server at an address. */
  static readonly layer = (options: WalClientOptions): Layer.Layer<WalClient, never, HttpClient.HttpClient> =>
    Layer.effect(WalClient, make(options))
}
