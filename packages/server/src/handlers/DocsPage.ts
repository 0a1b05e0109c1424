/**
 * `/docs`: the API's document for people. It brings its own scripts and styles and works without the internet; it says so
 * to the browser, which then runs these very scripts, asks this server only, and shows the page in no frame.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiSwagger } from "effect/http-api"
import { createHash } from "node:crypto"
import { WalApi } from "../api/WalApi.ts"

/** Scripts that run; what has a type beside `<script` is data. */
const inlineScript = /<script>([^]*?)<\/script>/g

const policyOf = (html: string): string => {
  const hashes = [...html.matchAll(inlineScript)].map(([, script = ""]) =>
    `'sha256-${createHash("sha256").update(script, "utf8").digest("base64")}'`
  )
  return [
    "default-src 'none'",
    `script-src ${hashes.join(" ")}`,
    // The page sets styles at its elements while it is used.
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

/** The answer with the policy for what is in it; the page never changes, so that is made once. */
const makeAddPolicy = () => {
  let policy: string | undefined
  return (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
    const { body } = response
    if (body._tag !== "Uint8Array") return response
    policy ??= policyOf(body.text ?? new TextDecoder().decode(body.body))
    return HttpServerResponse.setHeader(response, "content-security-policy", policy)
  }
}

const withPolicy = HttpRouter.middleware(Effect.sync(() => {
  const addPolicy = makeAddPolicy()
  return <E, R>(page: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) => Effect.map(page, addPolicy)
})).layer

/** The page. */
export const layer = HttpApiSwagger.layer(WalApi, { path: "/docs" }).pipe(Layer.provide(withPolicy))
