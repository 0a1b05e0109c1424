/** A server as the target of data commands, through its HTTP API. */
import { Effect, Layer, type Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { WalClientError } from "../../client/ClientError.ts"
import type { ReadFrom } from "../../client/Read.ts"
import * as WalClient from "../../client/WalClient.ts"
import { CommandFailed, failureOfAnswer, type TaggedFailure, usageError } from "../Failure.ts"
import {
  type AppendOrder,
  type Element,
  lastNumber,
  type ReadOrder,
  type StreamReader,
  type StreamWriter,
  type Target
} from "./Target.ts"

type Client = WalClient.WalClientService

/** What is said about a call that failed; other errors stay as they are. */
export const tellClientError = (error: TaggedFailure): TaggedFailure => {
  if (!(error instanceof WalClientError)) return error
  const { reason } = error
  switch (reason._tag) {
    case "ConnectionFailed":
      return new CommandFailed({
        code: "server_unreachable",
        message: reason.message,
        next: "Start it with `effect-wal serve`, or name another one with `--url`.",
        exit: "unavailable"
      })
    case "UnexpectedAnswer":
      return new CommandFailed({
        code: "unexpected_answer",
        message: reason.message,
        next: "Check `--url`: it is the address of the server, without a path.",
        exit: "failed"
      })
    case "InvalidCall":
      return new CommandFailed({
        code: "invalid_request",
        message: reason.message,
        next: "Correct the call.",
        exit: "usage"
      })
    default:
      return new CommandFailed(failureOfAnswer({ status: reason.status, code: reason._tag, message: reason.message }))
  }
}

/**
 * Where the stream is once it is open: of one that is being opened nobody knows where it ends, and without that a read
 * would start at its first record. Fails with the reason where it does not open.
 */
const openStatus = Effect.fnUntraced(function*(client: Client, stream: string) {
  const first = yield* client.status(stream)
  if (first.durable !== undefined) return { durable: first.durable, trimmedTo: first.trimmed_to ?? 0 }
  // Tried again while it is being opened.
  yield* client.readPage(stream, { pageSize: 1, onDamage: "skip" })
  const { durable, trimmed_to: trimmedTo = 0 } = yield* client.status(stream)
  if (durable !== undefined) return { durable, trimmedTo }
  return yield* new CommandFailed({
    code: "stream_opening",
    message: `stream ${stream} is not open`,
    next: "Try again later; `effect-wal status` says what the stream waits for.",
    exit: "unavailable"
  })
})

/** Where to start, as the API knows it. */
const fromOf = Effect.fnUntraced(function*(client: Client, stream: string, { start }: ReadOrder) {
  const oldest: ReadFrom | undefined = undefined
  switch (start._tag) {
    case "Seq":
      return start.seq
    case "Time":
      return { appendedAtMillis: start.millis }
    case "Cursor":
      return (yield* client.cursor(stream, start.name)).seq + 1
    case "Oldest":
      return oldest
    case "Next":
    case "Last": {
      const { durable, trimmedTo } = yield* openStatus(client, stream)
      return Math.max(trimmedTo, durable - (start._tag === "Last" ? start.records : 0)) + 1
    }
  }
})

/** Where a tail starts; its own default is the next record, for which it waits until the stream is open. */
const tailFrom = Effect.fnUntraced(function*(client: Client, stream: string, order: ReadOrder) {
  if (order.start._tag === "Next") return {}
  return { from: (yield* fromOf(client, stream, order)) ?? (yield* openStatus(client, stream)).trimmedTo + 1 }
})

/** All pages from a place on. */
const readPages = (
  client: Client,
  stream: string,
  onDamage: ReadOrder["onDamage"],
  options: { readonly from?: ReadFrom; readonly pageSize?: number }
): Stream.Stream<Element, WalClientError> =>
  onDamage === "skip" ? client.read(stream, { ...options, onDamage }) : client.read(stream, options)

/**
 * As many records as are wanted, in pages that are no larger: damage behind them is not met. A server that refuses pages of
 * this size has a smaller one of its own.
 */
const readSome = (client: Client, stream: string, { limit, onDamage }: ReadOrder, from: ReadFrom | undefined) => {
  const place = from === undefined ? {} : { from }
  if (limit === undefined) return readPages(client, stream, onDamage, place)
  let next: { readonly from?: ReadFrom } = place
  return readPages(client, stream, onDamage, { ...place, pageSize: Math.min(limit, 1_000) }).pipe(
    Stream.mapArray((elements) => {
      const last = elements.at(-1)
      if (last !== undefined) next = { from: lastNumber(last) + 1 }
      return elements
    }),
    Stream.catchIf(({ reason }) => reason._tag === "invalid_request", () => readPages(client, stream, onDamage, next))
  )
}

const startRead = Effect.fnUntraced(function*(client: Client, stream: string, order: ReadOrder) {
  const { follow, limit, onDamage } = order
  const most = <A, E>(elements: Stream.Stream<A, E>) => limit === undefined ? elements : Stream.take(elements, limit)
  if (follow) {
    const options = yield* tailFrom(client, stream, order)
    return most<Element, WalClientError>(
      onDamage === "skip" ? client.tail(stream, { ...options, onDamage }) : client.tail(stream, options)
    )
  }
  const from = yield* fromOf(client, stream, order)
  const { durable } = yield* openStatus(client, stream)
  const elements = readSome(client, stream, order, from)
  // A log that is written to all the time has no end of its own: the end is where it was at the start.
  return most(Stream.takeWhile(elements, (element) => lastNumber(element) <= durable))
})

const joinLines = (lines: ReadonlyArray<Uint8Array>): Uint8Array => {
  const lineEnd = Buffer.from("\n")
  return Buffer.concat(lines.flatMap((line) => [line, lineEnd]))
}

const append = Effect.fnUntraced(
  function*(client: Client, stream: string, payloads: ReadonlyArray<Uint8Array>, { ack, form, key }: AppendOrder) {
    const body = form === "ndjson" ? { ndjson: joinLines(payloads) } : { bytes: payloads[0] ?? new Uint8Array(0) }
    const answer = yield* client.append(stream, body, { ack, idempotencyKey: key ?? false })
    const placed = {
      first: answer.first_seq,
      last: answer.last_seq,
      epoch: answer.epoch,
      isRepeat: answer.replayed
    }
    return { settled: Effect.succeed(placed) }
  }
)

const writerOf = (client: Client, stream: string): StreamWriter => ({
  append: (records, order) => append(client, stream, records.map(({ payload }) => payload), order),
  commit: (cursor, seq) => client.commit(stream, cursor, seq),
  removeCursor: (cursor) => client.removeCursor(stream, cursor),
  flush: client.flush(stream),
  trim: (seq) => client.trim(stream, seq),
  close: Effect.void
})

const readerOf = (client: Client, stream: string): StreamReader => ({
  read: (order) => Stream.unwrap(startRead(client, stream, order)),
  report: client.status(stream)
})

/** Where a server is, and the token for it. */
export interface ServerPlace {
  readonly url: URL
  readonly token: Redacted.Redacted | undefined
}

const clientOf = ({ token, url }: ServerPlace, retry?: { readonly times: number }) =>
  WalClient.make({
    url,
    ...token === undefined ? {} : { token },
    ...retry === undefined ? {} : { retry }
  })

/** Whether something that speaks HTTP answers there; looked at once, for a second at most. */
export const answers = (place: ServerPlace): Effect.Effect<boolean> =>
  Effect.flatMap(clientOf(place, { times: 0 }), (client) => client.health).pipe(
    Effect.as(true),
    Effect.timeoutOrElse({ duration: 1_000, orElse: () => Effect.succeed(false) }),
    Effect.catch(() => Effect.succeed(false)),
    Effect.provide(FetchHttpClient.layer)
  )

/** Nobody is there: said at once. Later on a server that has gone is waited for. */
const mustAnswer = (place: ServerPlace) =>
  Effect.flatMap(clientOf(place, { times: 0 }), (client) => client.health).pipe(
    Effect.asVoid,
    Effect.catchIf(({ reason }) => reason._tag !== "ConnectionFailed", () => Effect.void)
  )

const noTakeOver = usageError(
  "--take-over is for a store: a server has the logs that it writes",
  "Leave it out, or name the store with --config."
)

/** The streams of a server. Fails where nothing answers. */
export const makeServerTarget = Effect.fnUntraced(function*(place: ServerPlace) {
  const context = yield* Layer.build(FetchHttpClient.layer)
  yield* Effect.provide(mustAnswer(place), context)
  const client = yield* Effect.provide(clientOf(place), context)
  const target: Target["Service"] = {
    kind: "server",
    place: place.url.origin,
    streamIds: Effect.map(client.streams, (streams) => streams.map(({ id }) => id)),
    reader: (stream) => Effect.succeed(readerOf(client, stream)),
    writer: (stream, { takeOver }) => takeOver ? Effect.fail(noTakeOver) : Effect.succeed(writerOf(client, stream)),
    configOf: () => undefined
  }
  return target
})
