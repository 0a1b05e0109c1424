/** An `HttpClient` that answers from a script, and remembers what it was asked and when. */
import { Clock, Effect } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { defaultRetryPolicy } from "../../src/client/RetryPolicy.ts"
import { make, type WalClientOptions } from "../../src/client/WalClient.ts"
import { advanceUntil } from "../support/Wait.ts"

/** One answer: a response, or none at all. */
export type Step = Response | "no answer" | "never"

export interface Asked {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  readonly atMillis: number
}

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

const noAnswer = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({
      request,
      cause: new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") })
    })
  })

/** A client of a server that answers the steps in their order, and dies of a request behind the last. */
export const scripted = Effect.fnUntraced(function*(
  steps: ReadonlyArray<Step | ((asked: Asked) => Step)>,
  options: Partial<WalClientOptions> = {}
) {
  const asked: Array<Asked> = []
  const http = HttpClient.make(Effect.fnUntraced(function*(request, url) {
    const one: Asked = {
      method: request.method,
      path: `${url.pathname}${url.search}`,
      headers: request.headers,
      body: bodyOf(request),
      atMillis: yield* Clock.currentTimeMillis
    }
    const given = steps[asked.length]
    asked.push(one)
    const step = typeof given === "function" ? given(one) : given
    if (step === undefined) return yield* Effect.die(new Error(`not in the script: ${one.method} ${one.path}`))
    if (step === "never") return yield* Effect.never
    if (step === "no answer") return yield* noAnswer(request)
    return HttpClientResponse.fromWeb(request, step)
  }))
  const client = yield* make({ url: "http://wal.test", ...options, retry: { ...defaultRetryPolicy, ...options.retry } })
    .pipe(
      Effect.provideService(HttpClient.HttpClient, http)
    )
  return { client, asked, pauses: () => asked.slice(1).map(({ atMillis }, index) => atMillis - asked[index]!.atMillis) }
})

/** An answer in JSON. */
export const answer = (body: unknown, init: ResponseInit = {}): Response =>
  new Response(JSON.stringify(body), { ...init, headers: { "content-type": "application/json", ...init.headers } })

/** A refusal as the server words it. */
export const refusal = (
  status: number,
  code: string,
  more: {
    readonly data?: "durable" | "not-durable" | "unknown"
    readonly retryable?: boolean
    readonly retryAfter?: string
    readonly details?: unknown
  } = {}
): Response =>
  answer(
    {
      error: {
        code,
        message: `said ${code}`,
        data: more.data ?? "not-durable",
        retryable: more.retryable ?? true,
        ...more.details === undefined ? {} : { details: more.details }
      }
    },
    { status, headers: more.retryAfter === undefined ? {} : { "retry-after": more.retryAfter } }
  )

/** The answer to an append of one record. */
export const appended = (seq: number, headers: Record<string, string> = {}): Response =>
  answer({ first_seq: seq, last_seq: seq, count: 1, epoch: 1, ack: "durable" }, { headers })

/** Where a stream stands. */
export const status = (epoch: number, durable: number) => answer({ id: "orders", state: "open", epoch, durable })

/** Runs a call to its end, and as much time as it wants to wait passes. */
export const run = <A, E>(call: Effect.Effect<A, E>) =>
  Effect.flatMap(Effect.forkChild(call, { startImmediately: true }), (fiber) => advanceUntil(fiber, "10 millis"))

/** The same step again and again; an answer can be read only once. */
export const times = (count: number, step: () => Step) => Array.from({ length: count }, step)
