/**
 * `wal_http_requests_total`: answers by method, route and status.
 *
 * The route is the pattern, never the path, so that the number of series is bounded; what is not a route is `other`. A
 * handle is made once for each series.
 */
import { Metric } from "effect"
import type { Context } from "effect"
import { HttpMethod } from "effect/http"

const total = Metric.counter("wal_http_requests_total", {
  description: "Requests that were answered, by method, route and status",
  incremental: true
})

/** Counts answers; one for a server. */
export interface RequestCount {
  readonly count: (method: string, path: string, status: number) => void
}

const knownRoutes: ReadonlyArray<readonly [RegExp, string]> = [
  [/^\/v1\/streams\/[^/]+\/records$/, "/v1/streams/{stream}/records"],
  [/^\/v1\/streams\/?$/, "/v1/streams"],
  [/^\/v1\/streams\/[^/]+$/, "/v1/streams/{stream}"],
  [/^\/v1\/streams\/[^/]+\/epochs$/, "/v1/streams/{stream}/epochs"],
  [/^\/v1\/streams\/[^/]+\/flush$/, "/v1/streams/{stream}/flush"],
  [/^\/v1\/streams\/[^/]+\/trim$/, "/v1/streams/{stream}/trim"],
  [/^\/v1\/streams\/[^/]+\/cursors\/[^/]+$/, "/v1/streams/{stream}/cursors/{name}"],
  [/^\/(v1\/dashboard|metrics|healthz|readyz|docs|openapi\.json)?$/, "$&"]
]

/** The pattern of a path. */
export const routeOf = (path: string): string => {
  const found = knownRoutes.find(([form]) => form.test(path))
  return found === undefined ? "other" : path.replace(found[0], found[1])
}

/** So many paths are remembered with their route; the others are matched each time. */
const maxKnownPaths = 1_000

/** Nearly all requests have one of a few paths. */
const makeRoutes = () => {
  const known = new Map<string, string>()
  return (url: string): string => {
    const query = url.indexOf("?")
    const path = query === -1 ? url : url.slice(0, query)
    let route = known.get(path)
    if (route === undefined) {
      route = routeOf(path)
      if (known.size < maxKnownPaths) known.set(path, route)
    }
    return route
  }
}

/** Counts into the registry of `context`. */
export const makeRequestCount = (context: Context.Context<never>): RequestCount => {
  const routes = makeRoutes()
  const handles = new Map<string, Metric.Counter<number>>()
  return {
    count: (method, url, status) => {
      const route = routes(url)
      const key = `${method} ${status} ${route}`
      let handle = handles.get(key)
      if (handle === undefined) {
        // A method that HTTP does not know is the client's invention, and must not become a label.
        const known = HttpMethod.isHttpMethod(method) ? method : "other"
        handle = Metric.withAttributes(total, { method: known, route, status: String(status) })
        handles.set(key, handle)
      }
      handle.updateUnsafe(1, context)
    }
  }
}
