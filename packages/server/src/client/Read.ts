/** Reading durable records page by page. */
import type { WalRecord } from "@effect-wal/core/WalRecord"
import { Duration, Effect, Option, Stream } from "effect"
import { HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { WalClientError } from "./ClientError.ts"
import { decodeElement, type Element } from "./ElementJson.ts"
import { type RetryPolicy, retrySchedule } from "./RetryPolicy.ts"
import { clientErrorOf, failWith, pathPart, type Transport } from "./Transport.ts"

/** Where reading starts: at a number, or at the first record that was appended at or after a time. */
export type ReadFrom = number | { readonly appendedAtMillis: number }

/** What is read. */
export interface ReadOptions {
  /** Default: the oldest record. */
  readonly from?: ReadFrom
  /** Records of a page; default: the server's own. */
  readonly pageSize?: number
  /** What to do where damage took records away: fail (default), or read the lost range in their place and go on. */
  readonly onDamage?: "fail" | "skip"
}

/** What is read in one request. */
export interface PageOptions extends ReadOptions {
  /** How long the server may wait for the first record, at most 55 seconds; default: not at all. */
  readonly wait?: Duration.Input
}

/** Some records. */
export interface Page {
  readonly elements: ReadonlyArray<Element>
  /** Where the next page starts. */
  readonly next: number
}

/** What the reads of one client share. */
export interface ReadParts {
  readonly transport: Transport
  readonly retry: RetryPolicy
}

/** The parameters that say where to start. */
export const fromParams = (from: ReadFrom | undefined): Readonly<Record<string, string>> => {
  if (from === undefined) return {}
  return typeof from === "number" ? { from: String(from) } : { from_time: String(from.appendedAtMillis) }
}

/** The request for records of a stream. */
export const recordsRequest = (
  stream: string,
  accept: string,
  params: Readonly<Record<string, string>>
): Effect.Effect<HttpClientRequest.HttpClientRequest, WalClientError> =>
  Effect.map(pathPart("stream", stream), (part) =>
    HttpClientRequest.get(`/v1/streams/${part}/records`).pipe(
      HttpClientRequest.setUrlParams(params),
      HttpClientRequest.accept(accept)
    ))

const newline = 0x0a

/** The lines of a text, each without its end. */
const linesOf = (bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const lines: Array<Uint8Array> = []
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(newline, start)
    const end = found === -1 ? bytes.length : found
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return lines
}

const pageOf = Effect.fnUntraced(function*(response: HttpClientResponse.HttpClientResponse) {
  const bytes = new Uint8Array(yield* Effect.mapError(response.arrayBuffer, clientErrorOf))
  const next = Number(response.headers["wal-next"])
  if (!Number.isSafeInteger(next)) {
    return yield* failWith({
      _tag: "UnexpectedAnswer",
      status: response.status,
      message: "the answer does not say where the next page starts"
    })
  }
  const page: Page = { elements: yield* Effect.forEach(linesOf(bytes), decodeElement), next }
  return page
})

/** One page; see `WalClient`. */
export const readPage = (parts: ReadParts, stream: string, options: PageOptions = {}) => {
  const params = {
    ...fromParams(options.from),
    ...options.pageSize === undefined ? {} : { limit: String(options.pageSize) },
    ...options.wait === undefined ? {} : { wait: `${Math.round(Duration.toMillis(options.wait))}ms` },
    ...options.onDamage === undefined ? {} : { on_damage: options.onDamage }
  }
  return recordsRequest(stream, "application/x-ndjson", params).pipe(
    Effect.flatMap(parts.transport.checked.execute),
    Effect.flatMap(pageOf),
    Effect.retry(retrySchedule(parts.retry, true))
  )
}

/** All durable records from a place on; see `WalClient`. */
export interface Read {
  (stream: string, options: ReadOptions & { readonly onDamage: "skip" }): Stream.Stream<Element, WalClientError>
  (
    stream: string,
    options?: ReadOptions & { readonly onDamage?: "fail" }
  ): Stream.Stream<WalRecord, WalClientError>
}

/** The read of one client. */
export const makeRead = (parts: ReadParts): Read => {
  function read(
    stream: string,
    options: ReadOptions & { readonly onDamage: "skip" }
  ): Stream.Stream<Element, WalClientError>
  function read(
    stream: string,
    options?: ReadOptions & { readonly onDamage?: "fail" }
  ): Stream.Stream<WalRecord, WalClientError>
  function read(stream: string, options: ReadOptions = {}): Stream.Stream<Element, WalClientError> {
    return Stream.paginate(
      options,
      (place) =>
        Effect.map(
          readPage(parts, stream, place),
          ({ elements, next }) =>
            [elements, elements.length === 0 ? Option.none() : Option.some({ ...options, from: next })] as const
        )
    )
  }
  return read
}
