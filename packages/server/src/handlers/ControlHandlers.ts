/** Streams and cursors: the routes that are served through their definitions. */
import type { WalService } from "@effect-wal/core/WalService"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { BearerAuth, RequiredScope } from "../api/Access.ts"
import { ControlApi } from "../api/WalApi.ts"
import { answering, errorResponse } from "../ApiError.ts"
import { Tokens } from "../auth/Tokens.ts"
import { RequestProblem, type RequestProblemCode } from "../RequestProblem.ts"
import { type Limits, Settings } from "../Settings.ts"
import { Streams } from "../Streams.ts"
import * as RequestCheck from "./RequestCheck.ts"
import { streamStatus } from "./StatusJson.ts"

/** Ends a wait for the store that lasts too long; what it waits for goes on. */
const inTime = ({ ackTimeout }: Limits, code: RequestProblemCode, what: string) =>
  Effect.timeoutOrElse({
    duration: ackTimeout,
    orElse: () => Effect.fail(new RequestProblem({ code, message: `${what} goes on; see the stream's status` }))
  })

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

    const flush = (log: WalService) => log.flush.pipe(inTime(limits, "flush_pending", "the flush"))

    const trim = (log: WalService, seq: number) => log.trim(seq).pipe(inTime(limits, "trim_pending", "the trim"))

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
    const { limits } = yield* Settings

    /** A cursor that is new has to be stored before it counts. */
    const commit = (log: WalService, cursor: string, seq: number) =>
      log.commit(seq, { cursor }).pipe(inTime(limits, "cursor_pending", "the commit"))

    const remove = (log: WalService, cursor: string) =>
      log.removeCursor(cursor).pipe(inTime(limits, "cursor_pending", "the removal"))

    return handlers.handleAll({
      read: ({ params }) =>
        answering(Effect.flatMap(streams.log(params.stream), (log) => readCursor(log, params.name))),
      commit: ({ params, payload }) =>
        answering(
          Effect.flatMap(streams.log(params.stream), (log) =>
            Effect.andThen(commit(log, params.name, payload.seq), readCursor(log, params.name)))
        ),
      remove: ({ params }) =>
        answering(
          Effect.flatMap(streams.log(params.stream), (log) =>
            Effect.andThen(readCursor(log, params.name), remove(log, params.name)))
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
