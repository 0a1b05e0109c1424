/**
 * Routes that answer on node's own request and response.
 *
 * The platform makes objects, a scope and a context for each request, which cost as much as node's whole part in it. A
 * route that is called some ten thousand times a second can register here what it does for its plain requests; whatever it
 * leaves is served by the router, which has the same route for all requests.
 */
import { Context, Layer } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"

/** Takes a request on itself and answers it, or leaves it untouched and answers `false`. */
export type DirectRoute = (request: IncomingMessage, response: ServerResponse) => boolean

export class DirectRoutes extends Context.Service<DirectRoutes, {
  readonly add: (route: DirectRoute) => void
  /** Offers a request to the routes. */
  readonly offer: DirectRoute
}>()("@effect-wal/server/DirectRoutes") {
  static readonly layer = Layer.sync(DirectRoutes, () => {
    const routes: Array<DirectRoute> = []
    return DirectRoutes.of({
      add: (route) => routes.push(route),
      offer: (request, response) => {
        for (const route of routes) if (route(request, response)) return true
        return false
      }
    })
  })
}
