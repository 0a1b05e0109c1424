/**
 * Records as server-sent events: `id` is the sequence number, `data` the record as one line of JSON. Where damage took
 * records away and the reader asked to go on, an event `lost` names the range; its `id` is the last number of it.
 *
 * The first byte goes out at once and a comment every 15 s, so that neither end nor a proxy between takes silence for a
 * dead connection. When reading fails the last event is `error`; when the server drains, or the token has been taken away,
 * the stream just ends and the browser comes back with `Last-Event-ID`, to another server or to hear why not.
 */
import { type ReadError, Trimmed } from "@effect-wal/core/WalError"
import { isLostRange, type LostRange, type WalRecord } from "@effect-wal/core/WalRecord"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { errorBody } from "../ApiError.ts"
import { encodeElement } from "../body/RecordEncoder.ts"
import type { ReadRequest } from "./ReadRequest.ts"

const commentEveryMillis = 15_000

const utf8 = new TextEncoder()

const event = (element: WalRecord | LostRange): Uint8Array => {
  const head = isLostRange(element) ? `event: lost\nid: ${element.to}\ndata: ` : `id: ${element.seq}\ndata: `
  return Buffer.concat([Buffer.from(head), encodeElement(element), Buffer.from("\n\n")])
}

const failure = (error: ReadError): Uint8Array =>
  utf8.encode(`event: error\ndata: ${JSON.stringify({ error: errorBody(error) })}\n\n`)

const comments = Stream.map(Stream.drop(Stream.tick(commentEveryMillis), 1), () => utf8.encode(": alive\n\n"))

/** The answer, which goes on until `end`; fails `Trimmed` when the start is gone already. */
export const liveTail = Effect.fnUntraced(
  function*(log: WalService, request: ReadRequest, end: Effect.Effect<void>) {
    const { durable, trimmedTo } = yield* log.status
    const from = request.from ?? durable + 1
    if (typeof from === "number" && from <= trimmedTo) return yield* new Trimmed({ from, trimmedTo })
    const options = { from, until: "live" } as const
    const elements: Stream.Stream<WalRecord | LostRange, ReadError> = request.onDamage === "skip"
      ? log.read({ ...options, onDamage: "skip" })
      : log.read(options)
    const records = elements.pipe(
      Stream.map(event),
      Stream.catch((error) => Stream.succeed(failure(error)))
    )
    const body = Stream.succeed(utf8.encode(": open\n\n")).pipe(
      Stream.concat(Stream.merge(records, comments, { haltStrategy: "left" })),
      Stream.interruptWhen(end)
    )
    return HttpServerResponse.stream(body, {
      contentType: "text/event-stream",
      headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
    })
  }
)
