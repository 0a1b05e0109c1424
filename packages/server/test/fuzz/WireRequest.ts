/** Requests without a socket: what the server's own code is handed, in pieces of any size. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Deferred, Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"

/** How a request comes. */
export interface Wire {
  /** Name, value, name, value. */
  readonly headers: ReadonlyArray<string>
  readonly pieces: ReadonlyArray<Uint8Array>
  /** The connection ends before the body does. */
  readonly breaksOff: boolean
}

const incomingOf = ({ headers, pieces }: Wire): IncomingMessage => {
  const incoming = new IncomingMessage(new Socket())
  incoming.method = "POST"
  incoming.url = "/"
  incoming.rawHeaders = [...headers]
  for (let index = 0; index < headers.length; index += 2) {
    incoming.headers[(headers[index] ?? "").toLowerCase()] = headers[index + 1]
  }
  for (const piece of pieces) incoming.push(piece)
  return incoming
}

/** Runs `use` with the request, as a handler of the server would. */
export const withRequest = <A, E>(
  wire: Wire,
  use: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.scoped(Effect.gen(function*() {
    const answer = yield* Deferred.make<A, E>()
    const handler = yield* NodeHttpServer.makeHandler(
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        Deferred.doneUnsafe(answer, yield* Effect.exit(use(request)))
        return HttpServerResponse.empty()
      }),
      { scope: yield* Effect.scope }
    )
    const incoming = incomingOf(wire)
    handler(incoming, new ServerResponse(incoming))
    if (wire.breaksOff) incoming.destroy()
    else incoming.push(null)
    return yield* Deferred.await(answer)
  }))
