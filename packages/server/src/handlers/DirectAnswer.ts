/** Answers on node's own response: runs what an answer depends on, and writes it. */
import { Effect, Exit, Fiber } from "effect"
import { HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import { answering, type ApiFailure, errorResponse } from "../ApiError.ts"
import { safeHeaders } from "../ResponseHeaders.ts"

/** Writes an answer whole, where somebody is there to hear it and has not been answered yet. */
export const writeAnswer = (
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string | number>>,
  text: string
): void => {
  if (response.destroyed || response.headersSent) return
  response.writeHead(status, { ...safeHeaders, ...headers })
  response.end(text)
}

const writeResponse = (response: ServerResponse, { body, headers, status }: HttpServerResponse.HttpServerResponse) =>
  writeAnswer(response, status, headers, body._tag === "Uint8Array" ? body.text ?? "" : "")

/** Answers an error, as the router's routes do. */
export const writeError = (response: ServerResponse, error: ApiFailure): void =>
  writeResponse(response, errorResponse(error))

/** Runs an outcome and answers its failure, or calls `succeed`. It ends when the client goes. */
export type DirectAnswer = <A>(
  response: ServerResponse,
  outcome: Effect.Effect<A, ApiFailure>,
  succeed: (value: A) => void
) => Fiber.Fiber<unknown>

/** Answers until the scope ends. */
export const makeDirectAnswer = Effect.gen(function*() {
  const scope = yield* Effect.scope
  const run = Effect.runForkWith(yield* Effect.context())
  const answer: DirectAnswer = (response, outcome, succeed) => {
    const fiber = run(answering(outcome))
    const finish = (exit: NonNullable<ReturnType<typeof fiber.pollUnsafe>>) => {
      // Interrupted: by the client, who hears nothing any more, or by the end of the server.
      if (Exit.isFailure(exit)) writeAnswer(response, 503, { "content-length": 0 }, "")
      else if (HttpServerResponse.isHttpServerResponse(exit.value)) writeResponse(response, exit.value)
      else succeed(exit.value)
    }
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      finish(exit)
      return fiber
    }
    Fiber.runIn(fiber, scope)
    fiber.addObserver(finish)
    response.on("close", () => {
      if (!response.writableEnded) fiber.interruptUnsafe()
    })
    return fiber
  }
  return answer
})
