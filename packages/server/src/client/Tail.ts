/**
 * A live tail that outlives its connections: a dropped one, a restarted server and silence are answered by connecting
 * again behind the last record that came, so that none is left out and none comes twice.
 *
 * It ends with an error that does not pass: what should come next was trimmed, the log was fenced, the token is refused.
 */
import { isLostRange, type LostRange, type WalRecord } from "@effect-wal/core/WalRecord"
import { type Duration, Effect, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClientRequest } from "effect/http"
import type { StreamStatus } from "../api/Schemas.ts"
import { WalClientError } from "./ClientError.ts"
import { decodeElement, type Element } from "./ElementJson.ts"
import { fromParams, type ReadFrom, readPage, type ReadParts, recordsRequest } from "./Read.ts"
import { type RetryPolicy, retrySchedule } from "./RetryPolicy.ts"
import { clientErrorOf, failureOfEvent } from "./Transport.ts"

/** What is followed. */
export interface TailOptions {
  /** Default: the next record that becomes durable after the tail was begun. */
  readonly from?: ReadFrom
  /** What to do where damage took records away: fail (default), or read the lost range in their place and go on. */
  readonly onDamage?: "fail" | "skip"
  /** A connection that is silent for so long is given up; the server says something every 15 s. Default 45 s. */
  readonly idleTimeout?: Duration.Input
  /** How often and how soon to connect again; default: the client's pauses, without end. */
  readonly retry?: Partial<RetryPolicy>
}

/** What the tails of one client share. */
export interface TailParts extends ReadParts {
  /** Where a stream stands; not tried again. */
  readonly status: (stream: string) => Effect.Effect<StreamStatus, WalClientError>
}

/** How far a tail is. */
interface Position {
  from: ReadFrom | undefined
  /** The last number that was delivered. */
  last: number | undefined
}

/** A record of 64 MiB in base64, with what is around it. */
const maxEventLength = 100_000_000

const dropped = (how: string) =>
  new WalClientError({ reason: { _tag: "ConnectionFailed", message: `the live tail ${how}` } })

/** The first number behind what is durable now: later connections must not start later than the first. */
const nextDurable = Effect.fnUntraced(function*(parts: TailParts, stream: string) {
  const { durable } = yield* parts.status(stream)
  if (durable !== undefined) return durable + 1
  // Not open: this fails with the reason.
  yield* readPage({ ...parts, retry: { ...parts.retry, times: 0 } }, stream, { pageSize: 1 })
  return yield* dropped("cannot begin: the stream is not open")
})

const utf8 = new TextEncoder()

/** The element of an event, or the failure that it tells of. */
const elementOf = (event: Sse.Event): Effect.Effect<Element, WalClientError> =>
  event.event === "error" ? Effect.fail(failureOfEvent(event.data)) : decodeElement(utf8.encode(event.data))

const lastOf = (element: WalRecord | LostRange): number => isLostRange(element) ? element.to : element.seq

/** What comes over one connection. */
const connection = (parts: TailParts, stream: string, options: TailOptions, position: Position) =>
  Stream.unwrap(Effect.gen(function*() {
    if (position.from === undefined) position.from = yield* nextDurable(parts, stream)
    const request = yield* recordsRequest(stream, "text/event-stream", {
      ...fromParams(position.from),
      ...options.onDamage === undefined ? {} : { on_damage: options.onDamage }
    })
    const response = yield* parts.transport.checked.execute(
      position.last === undefined
        ? request
        : HttpClientRequest.setHeader(request, "last-event-id", String(position.last))
    )
    return response.stream.pipe(
      Stream.mapError(clientErrorOf),
      Stream.timeoutOrElse({
        duration: options.idleTimeout ?? "45 seconds",
        orElse: () => Stream.fail(dropped("was silent for too long"))
      }),
      Stream.decodeText(),
      Stream.pipeThroughChannel(Sse.decode<WalClientError, unknown>({ maxEventSize: maxEventLength })),
      Stream.mapError((error) =>
        error._tag === "WalClientError" ? error : dropped("sent what is no event of a record")
      ),
      Stream.mapEffect(elementOf)
    )
  }))

/** A live tail; see `WalClient`. */
export interface Tail {
  (stream: string, options: TailOptions & { readonly onDamage: "skip" }): Stream.Stream<Element, WalClientError>
  (
    stream: string,
    options?: TailOptions & { readonly onDamage?: "fail" }
  ): Stream.Stream<WalRecord, WalClientError>
}

const follow = (parts: TailParts, stream: string, options: TailOptions): Stream.Stream<Element, WalClientError> =>
  Stream.suspend(() => {
    const position: Position = { from: options.from, last: undefined }
    const policy = { ...parts.retry, times: Number.POSITIVE_INFINITY, ...options.retry }
    return Stream.concat(
      connection(parts, stream, options, position),
      Stream.fail(dropped("was ended by the server"))
    ).pipe(
      Stream.filter((element) => position.last === undefined || lastOf(element) > position.last),
      Stream.tap((element) =>
        Effect.sync(() => {
          position.last = lastOf(element)
        })
      ),
      Stream.retry(retrySchedule(policy, true))
    )
  })

/** The tail of one client. */
export const makeTail = (parts: TailParts): Tail => {
  function tail(
    stream: string,
    options: TailOptions & { readonly onDamage: "skip" }
  ): Stream.Stream<Element, WalClientError>
  function tail(
    stream: string,
    options?: TailOptions & { readonly onDamage?: "fail" }
  ): Stream.Stream<WalRecord, WalClientError>
  function tail(stream: string, options: TailOptions = {}): Stream.Stream<Element, WalClientError> {
    return follow(parts, stream, options)
  }
  return tail
}
