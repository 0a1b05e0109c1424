/**
 * Ends connections whose client takes nothing of its answer. Without that, somebody who asks and never reads would keep a
 * connection, and the answer in memory, for ever.
 *
 * Node has one timer for each connection, which any byte in either direction winds up; between requests it is that of
 * keep-alive.
 */
import { Duration } from "effect"
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** Watches the connection of a request until it is answered. */
export type WatchAnswer = (request: IncomingMessage, response: ServerResponse) => void

/** Ends the connections of `server` that stand still with an answer in them for `sendTimeout`. */
export const makeWatchAnswer = (server: Server, sendTimeout: Duration.Duration): WatchAnswer => {
  const millis = Duration.toMillis(sendTimeout)
  /** How many requests of a connection are not answered yet. */
  const open = new WeakMap<Socket, number>()
  const countOf = (socket: Socket): number => open.get(socket) ?? 0
  server.on("timeout", (socket: Socket) => {
    // Nothing lies there to be taken: it is the client that waits.
    if (countOf(socket) > 0 && socket.writableLength === 0) socket.setTimeout(millis)
    else socket.destroy()
  })
  return ({ socket }, response) => {
    open.set(socket, countOf(socket) + 1)
    socket.setTimeout(millis)
    response.on("close", () => open.set(socket, countOf(socket) - 1))
  }
}
