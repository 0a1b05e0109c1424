/**
 * `GET /v1/streams/{stream}/records`: records out.
 *
 * A page is bounded in records and in bytes and is whole before its first byte is sent, so that an error is always an
 * answer of its own and never the cut-off end of a good one.
 */
import type { ReadError } from "@effect-wal/core/WalError"
import { isLostRange, type LostRange, type WalRecord } from "@effect-wal/core/WalRecord"
import type { WalService } from "@effect-wal/core/WalService"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { answering, type ApiFailure } from "../ApiError.ts"
import { type Access, Tokens } from "../auth/Tokens.ts"
import { type Budget, Hold } from "../body/Hold.ts"
import { encodeElement } from "../body/RecordEncoder.ts"
import { Lifecycle } from "../Lifecycle.ts"
import { RequestProblem } from "../RequestProblem.ts"
import { type Limits, Settings } from "../Settings.ts"
import { Streams } from "../Streams.ts"
import { liveTail } from "./LiveTail.ts"
import { type ReadFormat, type ReadRequest, readRequest } from "./ReadRequest.ts"

/** Some records, encoded, and the ranges that damage took away between them. */
interface Page {
  readonly parts: Array<Uint8Array>
  bytes: number
  /** The last record; its payload is a copy only where the format needs the payload itself. */
  last: WalRecord | undefined
  /** The first number after the page; `undefined` while it is empty. */
  next: number | undefined
}

type Element = WalRecord | LostRange

const encode = (format: ReadFormat, element: Element): Uint8Array =>
  format === "octet-stream" && !isLostRange(element) ? element.payload.slice() : encodeElement(element)

const elements = (
  log: WalService,
  request: ReadRequest,
  reading: { readonly until: "durable-end" | "live"; readonly limit: number }
): Stream.Stream<Element, ReadError> => {
  const options = { ...reading, ...request.from === undefined ? {} : { from: request.from } }
  return request.onDamage === "skip" ? log.read({ ...options, onDamage: "skip" }) : log.read(options)
}

const crowded = new RequestProblem({
  code: "overloaded",
  message: "the pages that are being sent hold too much memory; ask again"
})

/** Reads a page, which is on the account of `hold` then; fails `overloaded`. */
const readPage = Effect.fnUntraced(function*(log: WalService, request: ReadRequest, limits: Limits, hold: Hold) {
  const page: Page = { parts: [], bytes: 0, last: undefined, next: undefined }
  yield* Stream.runForEachWhile(
    elements(log, request, { until: "durable-end", limit: request.limit }),
    (element) =>
      Effect.sync(() => {
        const encoded = encode(request.format, element)
        page.parts.push(encoded)
        page.bytes += encoded.length
        hold.take(encoded.length)
        if (!isLostRange(element)) page.last = element
        page.next = (isLostRange(element) ? element.to : element.seq) + 1
        return page.bytes < limits.maxPageBytes && !hold.isCrowded
      })
  )
  return hold.isCrowded ? yield* crowded : page
})

/** Waits until there is something to read, the time is over or the server drains, whatever comes first. */
const awaitRecord = (
  log: WalService,
  request: ReadRequest,
  lifecycle: Lifecycle["Service"]
): Effect.Effect<unknown, ReadError> =>
  Stream.runHead(elements(log, request, { until: "live", limit: 1 })).pipe(
    Effect.timeoutOption(request.waitMillis),
    Effect.raceFirst(lifecycle.draining)
  )

const newline = Buffer.from("\n")
const comma = Buffer.from(",")

const joined = (parts: ReadonlyArray<Uint8Array>, between: Uint8Array): Array<Uint8Array> =>
  parts.flatMap((part, index) => index === 0 ? [part] : [between, part])

/** Where the next page starts, as far as the request and the page know. */
const nextOf = (request: ReadRequest, page: Page, durable: number): number => {
  if (page.next !== undefined) return page.next
  return typeof request.from === "number" ? request.from : durable + 1
}

const pageResponse = (request: ReadRequest, page: Page, durable: number): HttpServerResponse.HttpServerResponse => {
  const next = nextOf(request, page, durable)
  if (request.format === "ndjson") {
    const body = Buffer.concat(page.parts.flatMap((part) => [part, newline]))
    return HttpServerResponse.uint8Array(body, {
      contentType: "application/x-ndjson",
      headers: { "wal-next": String(next) }
    })
  }
  if (request.format === "octet-stream") {
    const { last } = page
    if (last === undefined) return HttpServerResponse.empty({ status: 204, headers: { "wal-next": String(next) } })
    return HttpServerResponse.uint8Array(page.parts[0] ?? new Uint8Array(0), {
      contentType: "application/octet-stream",
      headers: { "wal-seq": String(last.seq), "wal-appended-at": String(last.appendedAt), "wal-next": String(next) }
    })
  }
  const body = Buffer.concat([
    Buffer.from("{\"records\":["),
    ...joined(page.parts, comma),
    Buffer.from(`],"next":${next}}`)
  ])
  return HttpServerResponse.uint8Array(body, { contentType: "application/json" })
}

/** Adds the route. */
export const layer = HttpRouter.use(Effect.fn(function*(router) {
  const streams = yield* Streams
  const tokens = yield* Tokens
  const lifecycle = yield* Lifecycle
  const { limits } = yield* Settings
  // Not that of the bodies: readers that are slow must not keep others from appending.
  const budget: Budget = { heldBytes: 0, limitBytes: limits.maxInFlightBodyBytes }

  const read = Effect.fnUntraced(function*(httpRequest: HttpServerRequest.HttpServerRequest) {
    const hold = new Hold(budget)
    // The page is in memory until the client has taken it, or is gone.
    NodeHttpServerRequest.toServerResponse(httpRequest).on("close", () => hold.release())
    const stream = (yield* HttpRouter.params)["stream"] ?? ""
    const { authorization } = httpRequest.headers
    const access: Access = { scope: "read", stream }
    const checkToken = Effect.suspend(() => {
      const refusal = tokens.refusal(authorization, access)
      return refusal === undefined ? Effect.void : Effect.fail<ApiFailure>(refusal)
    })
    yield* checkToken
    const log = yield* streams.log(stream)
    const query = yield* HttpServerRequest.ParsedSearchParams
    const request = yield* Effect.fromResult(readRequest(query, httpRequest.headers, limits))
    if (request.format === "event-stream") {
      return yield* liveTail(log, request, Effect.raceFirst(lifecycle.draining, tokens.revoked(authorization, access)))
    }
    const readNow = Effect.gen(function*() {
      // Before the page: what becomes durable after it was read must not be passed over by the next one.
      const { durable } = yield* log.status
      return { durable, page: yield* readPage(log, request, limits, hold) }
    })
    let found = yield* readNow
    if (found.page.next === undefined && request.waitMillis > 0) {
      yield* awaitRecord(log, request, lifecycle)
      // The token may have been taken away meanwhile.
      yield* checkToken
      found = yield* readNow
    }
    return pageResponse(request, found.page, found.durable)
  })

  yield* router.add("GET", "/v1/streams/:stream/records", (request) => answering(read(request)))
}))
