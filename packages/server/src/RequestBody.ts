/**
 * Request bodies: read whole, within limits that hold while the bytes arrive.
 *
 * A body that declares, sends or unpacks to more than `maxBodyBytes` is refused at that moment, not at its end; the
 * bodies of all requests in flight together, with the records that they become, are bounded too. Only one that is alone
 * goes beyond that: packed bytes that wait are then up to `maxBodyBytes` more. How long a body may take is the listener's
 * (`Listener.ts`).
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, Layer, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import type { Body } from "./body/Body.ts"
import { Feed } from "./body/Feed.ts"
import { type Budget, Hold, overloaded } from "./body/Hold.ts"
import type { ParseBounds } from "./body/ParseBounds.ts"
import { Pieces } from "./body/Pieces.ts"
import { RequestProblem } from "./RequestProblem.ts"
import { type Limits, Settings } from "./Settings.ts"

const tooLarge = (limits: Limits): RequestProblem =>
  new RequestProblem({
    code: "body_too_large",
    message: `the body is larger than ${limits.maxBodyBytes} bytes; nothing was appended`,
    details: { limit_bytes: limits.maxBodyBytes }
  })

const brokenOff = () =>
  new RequestProblem({
    code: "malformed_request",
    message: "the connection ended before the body; nothing was appended"
  })

const notGzip = () =>
  new RequestProblem({
    code: "invalid_encoding",
    message: "the body is not whole gzip data; nothing was appended"
  })

/** A body, or why there is none. */
export type BodyResult = Result.Result<Body, RequestProblem>

/** What is read, on whose account, and what it means when it breaks off. */
interface Source {
  readonly stream: Readable
  readonly hold: Hold
  readonly broken: () => RequestProblem
}

/**
 * Collects a stream under both limits and tells `done` once, unless it is stopped before; answers what stops it. The
 * listeners stay and do nothing any more: to take them off costs more, and an error after the answer must not end the
 * process.
 */
const collect = ({ broken, hold, stream }: Source, limits: Limits, done: (body: BodyResult) => void): () => void => {
  const pieces = new Pieces()
  let isOver = false
  const stop = () => {
    isOver = true
    pieces.clear()
  }
  const fail = (problem: RequestProblem) => {
    stop()
    done(Result.fail(problem))
  }
  const onBroken = () => {
    if (!isOver) fail(broken())
  }
  stream.on("data", (chunk: Uint8Array) => {
    if (isOver) return
    hold.take(chunk.length)
    if (pieces.length + chunk.length > limits.maxBodyBytes) return fail(tooLarge(limits))
    if (hold.isCrowded) return fail(overloaded)
    pieces.add(chunk)
  })
  stream.on("end", () => {
    if (isOver) return
    const body = pieces.body()
    stop()
    done(Result.succeed(body))
  })
  stream.on("close", onBroken)
  stream.on("error", onBroken)
  return stop
}

const collected = (source: Source, limits: Limits) =>
  Effect.callback<Body, RequestProblem>((resume) => {
    const stop = collect(source, limits, (body) => resume(Effect.fromResult(body)))
    return Effect.sync(stop)
  })

const unpacked = (source: Readable, hold: Hold, limits: Limits) =>
  Effect.suspend(() => {
    let packedBytes = 0
    let refusal: RequestProblem | undefined
    const gunzip = createGunzip()
    const feed = new Feed(gunzip, hold)
    const refuse = (problem: RequestProblem) => {
      refusal = problem
      gunzip.destroy()
    }
    const onData = (chunk: Uint8Array) => {
      if (refusal !== undefined) return
      packedBytes += chunk.length
      feed.add(chunk)
      if (packedBytes > limits.maxBodyBytes) refuse(tooLarge(limits))
      else if (hold.isCrowded) refuse(overloaded)
    }
    const onEnd = () => feed.end()
    const onClose = () => {
      if (!source.readableEnded) gunzip.destroy()
    }
    source.on("data", onData)
    source.once("end", onEnd)
    source.once("close", onClose)
    return Effect.ensuring(
      collected({ stream: gunzip, hold, broken: () => refusal ?? notGzip() }, limits),
      Effect.sync(() => {
        source.off("data", onData)
        source.off("end", onEnd)
        source.off("close", onClose)
        source.pause()
        gunzip.destroy()
      })
    )
  })

const read = (
  request: HttpServerRequest.HttpServerRequest,
  hold: Hold,
  limits: Limits
): Effect.Effect<Body, RequestProblem> => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const declared = source.headers["content-length"]
  if (declared !== undefined && Number(declared) > limits.maxBodyBytes) return Effect.fail(tooLarge(limits))
  const encoding = source.headers["content-encoding"] ?? "identity"
  if (encoding !== "identity" && encoding !== "gzip") {
    return Effect.fail(
      new RequestProblem({
        code: "unsupported_content_encoding",
        message: `content-encoding ${JSON.stringify(encoding)} is not known; send gzip or none`
      })
    )
  }
  if (source.headers.expect !== undefined) NodeHttpServerRequest.toServerResponse(request).writeContinue()
  return encoding === "gzip"
    ? unpacked(source, hold, limits)
    : collected({ stream: source, hold, broken: brokenOff }, limits)
}

export class RequestBody extends Context.Service<RequestBody, {
  /**
   * Runs `use` with the whole body. Fails `body_too_large`, `overloaded`, `invalid_encoding`,
   * `unsupported_content_encoding`, `malformed_request`; then `use` was not run.
   *
   * `claim` accounts for the records that the body becomes, all so far, until `use` is done; it fails `overloaded` where
   * they and other requests together hold more than `maxInFlightBodyBytes`.
   */
  readonly use: <A, E, R>(
    request: HttpServerRequest.HttpServerRequest,
    use: (body: Body, claim: ParseBounds["claim"]) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RequestProblem, R>
  /**
   * Reads a body as it is sent and tells `done` once. It is on the account of what is answered, until that is released. For
   * routes that do without an effect for each request.
   */
  readonly read: (source: Readable, done: (body: BodyResult) => void) => Hold
}>()("@effect-wal/server/RequestBody") {
  static readonly layer = Layer.effect(
    RequestBody,
    Effect.gen(function*() {
      const { limits } = yield* Settings
      const budget: Budget = { heldBytes: 0, limitBytes: limits.maxInFlightBodyBytes }
      return RequestBody.of({
        use: (request, use) =>
          Effect.suspend(() => {
            const hold = new Hold(budget)
            return Effect.ensuring(
              Effect.flatMap(read(request, hold, limits), (body) => use(body, hold.claim)),
              Effect.sync(() => hold.release())
            )
          }),
        read: (stream, done) => {
          const hold = new Hold(budget)
          collect({ stream, hold, broken: brokenOff }, limits, done)
          return hold
        }
      })
    })
  )
}
