/** Every route with every kind of token: what each may do, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { createHash } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { WalApi } from "../../src/api/WalApi.ts"
import type { TokenScope, TokenSettings } from "../../src/Settings.ts"
import { call, json } from "../support/Client.ts"
import { startServer } from "../support/TestServer.ts"
import { type Route, routeTable } from "./RouteTable.ts"

const scopes: ReadonlyArray<TokenScope> = ["read", "write", "admin"]

/** Every set of scopes that is not empty. */
const scopeSets = Array.from(
  { length: 2 ** scopes.length - 1 },
  (_, index) => scopes.filter((_scope, bit) => ((index + 1) >> bit) % 2 === 1)
)

const streamSets: ReadonlyArray<ReadonlyArray<string> | undefined> = [
  undefined,
  ["orders"],
  ["payments"],
  ["orders", "payments"]
]

/** Its text is its id. */
const tokens: ReadonlyArray<TokenSettings> = scopeSets.flatMap((set) =>
  streamSets.map((streams): TokenSettings => {
    const id = [...set, "on", ...streams ?? ["all"]].join("-")
    return {
      id,
      secret: { sha256: createHash("sha256").update(id).digest("hex") },
      scopes: set,
      ...streams === undefined ? {} : { streams }
    }
  })
)

const mayCall = ({ needs }: Route, { scopes: has, streams }: TokenSettings): boolean => {
  if (needs === "nothing") return true
  if (needs === "read any") return has.includes("read")
  if (needs === "read all") return has.includes("read") && streams === undefined
  return has.includes(needs) && (streams === undefined || streams.includes("orders"))
}

const ask = (port: number, { body, method, path, type }: Route, headers: Record<string, string>) =>
  call(port, path, {
    method,
    headers: { ...headers, ...type === undefined ? {} : { "content-type": type } },
    ...body === undefined ? {} : { body }
  })

/** What nobody knows, in every place where somebody could look for a token. */
const strangers: ReadonlyArray<Record<string, string>> = [
  {},
  { authorization: "" },
  { authorization: "Bearer" },
  { authorization: "Bearer " },
  { authorization: "Bearer nobody" },
  { authorization: "Basic read-on-all" },
  { authorization: "read-on-all" },
  { authorization: "Bearer read-on-all extra" },
  { authorization: "Bearer read-on-all, Bearer write-on-all" },
  { authorization: `Bearer ${createHash("sha256").update("read-on-all").digest("hex")}` },
  { "x-authorization": "Bearer read-on-all" },
  { cookie: "token=read-on-all; authorization=Bearer read-on-all" },
  { "proxy-authorization": "Bearer read-on-all" }
]

describe("the table of routes", () => {
  it("has every route of the API's definition, and every one that is registered", () => {
    const known = new Set(routeTable.map(({ method, pattern }) => `${method} ${pattern}`))
    assert.strictEqual(known.size, routeTable.length)
    const defined: Array<string> = []
    HttpApi.reflect(WalApi, {
      onGroup: () => {},
      onEndpoint: ({ endpoint }) => defined.push(`${endpoint.method} ${endpoint.path}`)
    })
    assert.deepStrictEqual(defined.toSorted(), [...known].toSorted())
    const source = join(import.meta.dirname, "../../src")
    const registered = globSync("**/*.ts", { cwd: source }).flatMap((file) =>
      [...readFileSync(join(source, file), "utf8").matchAll(/router\.add\(\s*([^,]+),\s*([^,]+),/g)].map(
        ([, method = "", path = ""]) => `${method} ${path}`.replaceAll("\"", "")
      )
    )
    assert.isAbove(registered.length, 5)
    assert.deepStrictEqual(registered.filter((route) => !known.has(route)), [])
  })
})

describe("tokens", () => {
  it.effect(
    "of every set of scopes and streams may do what their scopes say, on their streams, on every route",
    () =>
      Effect.gen(function*() {
        const { port } = yield* startServer({ tokens, streams: ["orders", "payments"] })
        // What needs nothing is asked for without a token below.
        for (const route of routeTable.filter(({ needs }) => needs !== "nothing")) {
          for (const token of tokens) {
            const { status } = yield* ask(port, route, { authorization: `Bearer ${token.id}` })
            const what = `${token.id}: ${route.method} ${route.path}: ${status}`
            if (mayCall(route, token)) assert.notInclude([401, 403], status, what)
            else assert.strictEqual(status, 403, what)
            assert.isBelow(status, 500, what)
          }
        }
      }),
    60_000
  )

  it.effect("that are not there, or not known, open nothing that needs one, wherever they stand", () =>
    Effect.gen(function*() {
      const { log, port } = yield* startServer({ tokens, streams: ["orders", "payments"] })
      for (const route of routeTable) {
        for (const headers of strangers) {
          const answer = yield* ask(port, route, headers)
          const what = `${JSON.stringify(headers)}: ${route.method} ${route.path}`
          if (route.needs === "nothing") assert.strictEqual(answer.status, 200, what)
          else {
            assert.deepStrictEqual([answer.status, answer.headers["www-authenticate"]], [401, "Bearer"], what)
            assert.strictEqual(json(answer).error.code, "unauthorized")
          }
        }
        const inQuery = yield* ask(port, { ...route, path: `${route.path}?access_token=read-on-all` }, {})
        assert.strictEqual(inQuery.status, route.needs === "nothing" ? 200 : 401, route.path)
      }
      assert.deepStrictEqual(log.records, [])
    }))

  it.effect("are asked for before a body is looked at, and before a stream is looked for", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ tokens })
      const bad: Route = { method: "POST", pattern: "", path: "", needs: "write", type: "application/json", body: "{" }
      for (const stream of ["orders", "absent"]) {
        for (const [method, rest] of [["POST", "records"], ["POST", "trim"], ["PUT", "cursors/a"]] as const) {
          const answer = yield* ask(port, { ...bad, method, path: `/v1/streams/${stream}/${rest}` }, {})
          assert.strictEqual(answer.status, 401, `${method} ${stream}/${rest}`)
        }
      }
      const elsewhere = yield* call(port, "/v1/streams/absent", { headers: { authorization: "Bearer read-on-orders" } })
      assert.strictEqual(elsewhere.status, 403)
    }))

  it.effect("hold for HEAD as for GET", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ tokens, streams: ["orders", "payments"] })
      for (const route of routeTable.filter(({ method, needs }) => method === "GET" && needs !== "nothing")) {
        const head = { ...route, method: "HEAD" }
        assert.strictEqual((yield* ask(port, head, {})).status, 401, route.path)
        assert.strictEqual((yield* ask(port, head, { authorization: "Bearer write-on-all" })).status, 403, route.path)
      }
    }))

  it.effect("of a scheme in any case are known, with any number of blanks", () =>
    Effect.gen(function*() {
      const { port } = yield* startServer({ tokens })
      for (const scheme of ["Bearer ", "bearer ", "BEARER ", "Bearer   "]) {
        const answer = yield* call(port, "/v1/streams/orders", { headers: { authorization: `${scheme}read-on-all` } })
        assert.strictEqual(answer.status, 200, scheme)
      }
    }))

  it.effect("cannot be empty", () =>
    Effect.gen(function*() {
      const sha256 = createHash("sha256").digest("hex").toUpperCase()
      const error = yield* Effect.flip(startServer({ tokens: [{ id: "a", secret: { sha256 }, scopes: ["read"] }] }))
      assert.include(error.message, "server.tokens[0].sha256: is the SHA-256 of an empty token")
    }))
})
