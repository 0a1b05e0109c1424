/** Streams and cursors: the routes that are served through their definitions. */
import type { WalService } from "@effect-wal/core/WalService"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { BearerAuth, RequiredScope } from "../api/Access.ts"
import { ControlApi } from "../api/WalApi.ts"
import { answering, errorResponse } from "../ApiError.ts"
import { Tokens } from "../auth/Tokens.ts"
import { RequestProblem } from "../RequestProblem.ts"
import { Settings } from "../Settings.ts"
import { Streams } from "../Streams.ts"
import * as RequestCheck from "./RequestCheck.ts"
import { streamStatus } from "./StatusJson.ts"

const streamHandlers = HttpApiBuilder.group(
  ControlApi,
  "streams",
  Effect.fn(function*(handlers) {
    const streams = yield* Streams
    const tokens = yield* Tokens
    const { limits } = yield* Settings

    const list = Effect.fnUntraced(function*(request: HttpServerRequest.HttpServerRequest) {
      const refusals = streams.entries().map((entry) => ({
        entry,
        refusal: tokens.refusal(request.headers["authorization"], { scope: "read", stream: entry.id })
      }))
      const visible = refusals.flatMap(({ entry, refusal }) => refusal === undefined ? [entry] : [])
      const refusal = refusals[0]?.refusal
      if (visible.length === 0 && refusal !== undefined) return yield* Effect.fail(refusal)
      return { streams: yield* Effect.forEach(visible, streamStatus) }
    })

    const flush = (log: WalService) =>
      Effect.timeoutOrElse(log.flush, {
        duration: limits.ackTimeout,
        orElse: () =>
          Effect.fail(
            new RequestProblem({ code: "flush_pending", message: "the flush goes on; see the stream's status" })
          )
      })

    const trim = (log: WalService, seq: number) =>
      Effect.timeoutOrElse(log.trim(seq), {
        duration: limits.ackTimeout,
        orElse: () =>
          Effect.fail(
            new RequestProblem({ code: "trim_pending", message: "the trim goes on; see the stream's status" })
          )
      })

    return handlers.handleAll({
      list: ({ request }) => answering(list(request)),
      status: ({ params }) => answering(Effect.flatMap(streams.entry(params.stream), streamStatus)),
      epochs: ({ params }) =>
        answering(
          streams.log(params.stream).pipe(
            Effect.flatMap((log) => log.status),
            Effect.map(({ epochs }) => ({
              epochs: epochs.map(({ end, epoch, lastSeq }) => ({ epoch, end, last_seq: lastSeq }))
            }))
          )
        ),
      flush: ({ params }) =>
        answering(streams.log(params.stream).pipe(Effect.flatMap(flush), Effect.map((durable) => ({ durable })))),
      trim: ({ params, payload }) =>
        answering(
          streams.log(params.stream).pipe(
            Effect.flatMap((log) => trim(log, payload.seq)),
            Effect.map((trimmedTo) => ({ trimmed_to: trimmedTo }))
          )
        )
    })
  })
)

/** Where the cursor stands, or `cursor_not_found`. */
const readCursor = Effect.fnUntraced(function*(log: WalService, name: string) {
  const { cursors } = yield* log.status
  const found = Object.hasOwn(cursors, name) ? cursors[name] : undefined
  if (found === undefined) {
    return yield* new RequestProblem({
      code: "cursor_not_found",
      message: `there is no cursor ${JSON.stringify(name)}`
    })
  }
  return { name, seq: found.mark, persisted: found.persisted, lag: found.lag }
})

const cursorHandlers = HttpApiBuilder.group(
  ControlApi,
  "cursors",
  Effect.fn(function*(handlers) {
    const streams = yield* Streams
    return handlers.handleAll({
      read: ({ params }) =>
        answering(Effect.flatMap(streams.log(params.stream), (log) => readCursor(log, params.name))),
      commit: ({ params, payload }) =>
        answering(
          Effect.flatMap(streams.log(params.stream), (log) =>
            Effect.andThen(log.commit(payload.seq, { cursor: params.name }), readCursor(log, params.name)))
        ),
      remove: ({ params }) =>
        answering(
          Effect.flatMap(streams.log(params.stream), (log) =>
            Effect.andThen(readCursor(log, params.name), log.removeCursor(params.name)))
        )
    })
  })
)

const bearerAuth = Layer.effect(
  BearerAuth,
  Effect.gen(function*() {
    const tokens = yield* Tokens
    return BearerAuth.of({
      bearer: Effect.fnUntraced(function*(handler, { endpoint }) {
        const scope = Context.get(endpoint.annotations, RequiredScope)
        if (scope === undefined) return yield* handler
        const request = yield* HttpServerRequest.HttpServerRequest
        const params = yield* HttpRouter.params
        const refusal = tokens.refusal(request.headers["authorization"], { scope, stream: params["stream"] ?? "*" })
        return refusal === undefined ? yield* handler : errorResponse(refusal)
      })
    })
  })
)

/** The routes of `ControlApi`. */
export const layer = HttpApiBuilder.layer(ControlApi).pipe(
  Layer.provide([streamHandlers, cursorHandlers]),
  Layer.provide([bearerAuth, RequestCheck.layer])
)
