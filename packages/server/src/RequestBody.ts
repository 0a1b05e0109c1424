/**
 * Request bodies: read whole, within limits that hold while the bytes arrive.
 *
 * A body that declares, sends or unpacks to more than `maxBodyBytes` is refused at that moment, not at its end; the
 * bodies of all requests in flight together, with the records that they become, are bounded too. How long a body may take
 * is the listener's (`Listener.ts`).
 */
import { NodeHttpServerRequest } from "@effect/platform-node"
import { Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Readable } from "node:stream"
import { createGunzip } from "node:zlib"
import type { ParseBounds } from "./body/ParseBounds.ts"
import { RequestProblem } from "./RequestProblem.ts"
import { type Limits, Settings } from "./Settings.ts"

/** The bytes that requests in flight hold. */
interface Budget {
  heldBytes: number
}

const tooLarge = (limits: Limits): RequestProblem =>
  new RequestProblem({
    code: "body_too_large",
    message: `the body is larger than ${limits.maxBodyBytes} bytes; nothing was appended`,
    details: { limit_bytes: limits.maxBodyBytes }
  })

const overloaded = new RequestProblem({
  code: "overloaded",
  message: "requests in flight hold too much memory; nothing was appended"
})

const brokenOff = new RequestProblem({
  code: "malformed_request",
  message: "the connection ended before the body; nothing was appended"
})

const notGzip = new RequestProblem({
  code: "invalid_encoding",
  message: "the body is not whole gzip data; nothing was appended"
})

/** What one request holds of the budget: its body, packed and unpacked, and its records. */
interface Hold {
  bytes: number
  records: number
}

/** What a record takes beside its bytes in the body: a view, the object around it, a few fields. */
const recordOverheadBytes = 256

/** Accounts for the records of a request, all so far. A request that is the only one is never refused for them. */
const claimRecords = (budget: Budget, hold: Hold, records: number, limits: Limits) =>
  Effect.suspend(() => {
    const more = Math.max(0, records - hold.records)
    hold.records += more
    hold.bytes += more * recordOverheadBytes
    budget.heldBytes += more * recordOverheadBytes
    const isAlone = budget.heldBytes === hold.bytes
    return budget.heldBytes > limits.maxInFlightBodyBytes && !isAlone ? Effect.fail(overloaded) : Effect.void
  })

/** Collects `stream` under both limits; `broken` says what its failure means. */
const collect = (stream: Readable, budget: Budget, hold: Hold, limits: Limits, broken: () => RequestProblem) =>
  Effect.callback<Uint8Array, RequestProblem>((resume) => {
    const chunks: Array<Uint8Array> = []
    let length = 0
    const detach = () => {
      stream.off("data", onData)
      stream.off("end", onEnd)
      stream.off("close", onClose)
      // The error listener stays: an error after the answer must not end the process.
    }
    const finish = (result: Effect.Effect<Uint8Array, RequestProblem>) => {
      detach()
      resume(result)
    }
    const onData = (chunk: Uint8Array) => {
      length += chunk.length
      hold.bytes += chunk.length
      budget.heldBytes += chunk.length
      if (length > limits.maxBodyBytes) return finish(Effect.fail(tooLarge(limits)))
      if (budget.heldBytes > limits.maxInFlightBodyBytes) return finish(Effect.fail(overloaded))
      chunks.push(chunk)
    }
    const onEnd = () => {
      const only = chunks[0]
      finish(Effect.succeed(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, length)))
    }
    const onClose = () => finish(Effect.fail(broken()))
    stream.on("data", onData)
    stream.on("end", onEnd)
    stream.on("close", onClose)
    stream.on("error", onClose)
    return Effect.sync(detach)
  })

const unpacked = (source: Readable, budget: Budget, hold: Hold, limits: Limits) =>
  Effect.suspend(() => {
    let packedBytes = 0
    const gunzip = createGunzip()
    const count = (chunk: Uint8Array) => {
      packedBytes += chunk.length
      if (packedBytes > limits.maxBodyBytes) gunzip.destroy()
    }
    // `pipe` does not hand on that its source broke off.
    const onClose = () => {
      if (!source.readableEnded) gunzip.destroy()
    }
    source.on("data", count)
    source.once("close", onClose)
    source.pipe(gunzip)
    return Effect.ensuring(
      collect(gunzip, budget, hold, limits, () => packedBytes > limits.maxBodyBytes ? tooLarge(limits) : notGzip),
      Effect.sync(() => {
        source.off("data", count)
        source.off("close", onClose)
        source.unpipe(gunzip)
        gunzip.destroy()
      })
    )
  })

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
    use: (body: Uint8Array, claim: ParseBounds["claim"]) => Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RequestProblem, R>
}>()("@effect-wal/server/RequestBody") {
  static readonly layer = Layer.effect(
    RequestBody,
    Effect.gen(function*() {
      const { limits } = yield* Settings
      const budget: Budget = { heldBytes: 0 }

      const read = (
        request: HttpServerRequest.HttpServerRequest,
        hold: Hold
      ): Effect.Effect<Uint8Array, RequestProblem> => {
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
          ? unpacked(source, budget, hold, limits)
          : collect(source, budget, hold, limits, () => brokenOff)
      }

      return RequestBody.of({
        use: (request, use) =>
          Effect.suspend(() => {
            const hold: Hold = { bytes: 0, records: 0 }
            const claim = (records: number) => claimRecords(budget, hold, records, limits)
            return Effect.ensuring(
              Effect.flatMap(read(request, hold), (body) => use(body, claim)),
              Effect.sync(() => {
                budget.heldBytes -= hold.bytes
              })
            )
          })
      })
    })
  )
}
