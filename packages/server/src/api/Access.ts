/** Who may call what: the scope of an endpoint, and the middleware that checks it. */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import type { TokenScope } from "../Settings.ts"

/** The scope that a call of the endpoint needs, on the stream of its path; `undefined`: the handler decides itself. */
export const RequiredScope = Context.Reference<TokenScope | undefined>("@effect-wal/server/api/RequiredScope", {
  defaultValue: () => undefined
})

/** Checks the bearer token of a call against the scope of the endpoint. */
export class BearerAuth extends HttpApiMiddleware.Service<BearerAuth>()("@effect-wal/server/api/BearerAuth", {
  security: { bearer: HttpApiSecurity.bearer }
}) {}

/** Answers what does not decode with `invalid_request` and the place. */
export class RequestCheck extends HttpApiMiddleware.Service<RequestCheck>()("@effect-wal/server/api/RequestCheck") {}
