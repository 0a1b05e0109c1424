/** Every route of the server, with a request that it takes and the access that it needs. One row for each. */
import type { TokenScope } from "../../src/Settings.ts"

/** Who may call a route. */
export type Needs =
  /** Everybody. */
  | "nothing"
  /** The scope, on the stream `orders`. */
  | TokenScope
  /** The scope `read`, on every stream. */
  | "read all"
  /** The scope `read`, on some stream. */
  | "read any"

export interface Route {
  readonly method: string
  /** As it is registered. */
  readonly pattern: string
  /** A request for it. */
  readonly path: string
  readonly body?: string
  readonly type?: string
  readonly needs: Needs
}

const json = "application/json"

export const routeTable: ReadonlyArray<Route> = [
  {
    method: "POST",
    pattern: "/v1/streams/:stream/records",
    path: "/v1/streams/orders/records",
    body: "1\n",
    type: "application/x-ndjson",
    needs: "write"
  },
  { method: "GET", pattern: "/v1/streams/:stream/records", path: "/v1/streams/orders/records", needs: "read" },
  { method: "GET", pattern: "/v1/streams", path: "/v1/streams", needs: "read any" },
  { method: "GET", pattern: "/v1/streams/:stream", path: "/v1/streams/orders", needs: "read" },
  { method: "GET", pattern: "/v1/streams/:stream/epochs", path: "/v1/streams/orders/epochs", needs: "read" },
  { method: "POST", pattern: "/v1/streams/:stream/flush", path: "/v1/streams/orders/flush", needs: "write" },
  {
    method: "POST",
    pattern: "/v1/streams/:stream/trim",
    path: "/v1/streams/orders/trim",
    body: "{\"seq\":0}",
    type: json,
    needs: "admin"
  },
  {
    method: "GET",
    pattern: "/v1/streams/:stream/cursors/:name",
    path: "/v1/streams/orders/cursors/default",
    needs: "read"
  },
  {
    method: "PUT",
    pattern: "/v1/streams/:stream/cursors/:name",
    path: "/v1/streams/orders/cursors/default",
    body: "{\"seq\":0}",
    type: json,
    needs: "write"
  },
  {
    method: "DELETE",
    pattern: "/v1/streams/:stream/cursors/:name",
    path: "/v1/streams/orders/cursors/gone",
    needs: "admin"
  },
  { method: "GET", pattern: "/metrics", path: "/metrics", needs: "read all" },
  { method: "GET", pattern: "/v1/dashboard", path: "/v1/dashboard", needs: "read any" },
  { method: "GET", pattern: "/", path: "/", needs: "nothing" },
  { method: "GET", pattern: "/healthz", path: "/healthz", needs: "nothing" },
  { method: "GET", pattern: "/readyz", path: "/readyz", needs: "nothing" },
  { method: "GET", pattern: "/openapi.json", path: "/openapi.json", needs: "nothing" },
  { method: "GET", pattern: "/docs", path: "/docs", needs: "nothing" }
]
