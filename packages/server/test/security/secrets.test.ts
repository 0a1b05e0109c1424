/** Secrets are put wherever a configuration or a request can hold one, and looked for in everything that comes out. */
import { errorAnswer } from "@effect-wal/testing/HttpS3Action"
import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { createHash } from "node:crypto"
import { append, call, connect } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"
import { eventually } from "../support/Wait.ts"
import { routeTable } from "./RouteTable.ts"

/** Each is a text that stands nowhere else. */
const secrets = {
  tokenInFile: "s3cr3t-token-in-a-file",
  tokenInVariable: "s3cr3t-token-in-a-variable",
  tokenAsDigest: "s3cr3t-token-as-a-digest",
  tokenThatIsWrong: "s3cr3t-guess",
  tokenInQuery: "s3cr3t-in-a-query",
  secretKey: "s3cr3t-key-of-the-store",
  sessionToken: "s3cr3t-session-token",
  payload: "s3cr3t-payload",
  recordKey: "s3cr3t-record-key",
  headerValue: "s3cr3t-header-value"
}

const digest = createHash("sha256").update(secrets.tokenAsDigest).digest("hex")

const configText = (endpoint: string, bucket: string, accessKey: string) => `
server:
  port: 0
  shutdown_timeout: 2s
  tokens:
    - { id: by-file, file: token, scopes: [read, write, admin] }
    - { id: by-variable, env: WAL_TOKEN, scopes: [read] }
    - { id: by-digest, sha256: ${digest}, scopes: [read] }
streams:
  - durability:
      backend:
        type: object_store
        node_id: node-0
        stream_id: orders
        s3:
          bucket: ${bucket}
          endpoint: ${endpoint}
          access_key_id: ${accessKey}
          secret_access_key: \${STORE_KEY}
          session_token: ${secrets.sessionToken}
`

const env = { WAL_TOKEN: secrets.tokenInVariable, STORE_KEY: secrets.secretKey }

/** Fails where a secret stands in the text. */
const assertNone = (text: string, where: string) => {
  for (const secret of [...Object.values(secrets), digest]) {
    assert.isFalse(text.includes(secret), `${where} has ${secret}`)
    assert.isFalse(text.includes(Buffer.from(secret).toString("base64")), `${where} has ${secret} in base64`)
  }
}

const begin = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* fs.makeTempDirectoryScoped()
  const double = yield* makeDouble()
  const { bucket, credentials, endpoint } = double.s3Options
  yield* fs.writeFileString(`${cwd}/wal.yaml`, configText(endpoint, bucket, credentials.accessKeyId))
  yield* fs.writeFileString(`${cwd}/token`, `${secrets.tokenInFile}\n`)
  return { cwd, double, fs }
})

describe("secrets", () => {
  it.live(
    "are in no log, no answer, no metric and no page of a server that has all kinds of trouble",
    () =>
      Effect.gen(function*() {
        const { cwd, double, fs } = yield* begin
        const program = yield* startProgram({ args: ["serve", "--config", "wal.yaml"], cwd, env })
        const port = yield* program.portOnce("log orders open")
        const authorization = `Bearer ${secrets.tokenInFile}`
        const record = {
          payload: secrets.payload,
          key: secrets.recordKey,
          headers: { h: secrets.headerValue }
        }
        const appended = yield* call(port, "/v1/streams/orders/records", {
          method: "POST",
          headers: { authorization, "content-type": "application/json" },
          body: JSON.stringify({ records: [record] })
        })
        assert.strictEqual(appended.status, 200)
        // The store refuses, then breaks; a token file goes away; clients guess, and send what is no HTTP.
        double.rule((request) => request.key.includes("/segments/") ? errorAnswer(403, "AccessDenied") : undefined)
        yield* call(port, "/v1/streams/orders/records?ack=accepted", {
          method: "POST",
          headers: { authorization, "content-type": "application/json" },
          body: JSON.stringify({ records: [record] })
        })
        yield* eventually(() => /AccessDenied|access_denied|retrying/i.test(program.output()))
        const raw = yield* connect(port)
        raw.write(`GET / HTTP/1.1\r\nauthorization : Bearer ${secrets.tokenInFile}\r\n\r\n`)
        assertNone(yield* raw.closed, "the answer to what is no HTTP")
        assertNone(
          (yield* append(port, "text/plain", "1\n", "", "orders")).body.toString(),
          "an answer without a token"
        )
        yield* fs.writeFileString(`${cwd}/token`, "")
        program.kill("SIGHUP")
        yield* program.until("the tokens stay as they were")

        for (const route of routeTable) {
          // A record is given back to those who may read it; what changes things has been tried above.
          const mayShow = route.method !== "GET" || route.path.endsWith("/records")
          const tokens = mayShow ? [secrets.tokenThatIsWrong] : [secrets.tokenThatIsWrong, secrets.tokenInFile]
          for (const token of tokens) {
            const headers = { authorization: `Bearer ${token}` }
            const answer = yield* call(port, route.path, { method: route.method, headers })
            assertNone(`${JSON.stringify(answer.headers)}${answer.body.toString()}`, `${route.method} ${route.path}`)
          }
          yield* call(port, `${route.path}?access_token=${secrets.tokenInQuery}`, { method: route.method })
        }
        yield* call(port, `/no/route/${secrets.tokenInQuery}?token=${secrets.tokenInQuery}`)
        const metrics = yield* call(port, "/metrics", { headers: { authorization } })
        assert.include(metrics.body.toString(), "wal_http_requests_total")
        assertNone(metrics.body.toString(), "/metrics")
        program.kill("SIGTERM")
        yield* program.ended
        assertNone(program.output(), "the program's output")
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )

  it.live(
    "are redacted by every command that shows the configuration or what is wrong with it",
    () =>
      Effect.gen(function*() {
        const { cwd, fs } = yield* begin
        const good = yield* fs.readFileString(`${cwd}/wal.yaml`)
        const shown = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
          const program = yield* startProgram({ args, cwd, env })
          const code = yield* program.ended
          assertNone(program.output(), args.join(" "))
          return { code, output: program.output() }
        })
        const print = yield* shown("config", "print", "--config", "wal.yaml")
        assert.strictEqual(print.code, 0)
        assert.include(print.output, "<redacted>")
        yield* shown("config", "print", "--config", "wal.yaml", "--json")
        yield* shown("config", "check", "--config", "wal.yaml")
        // Wrong in ways in which a report would like to show the value.
        for (
          const [from, to] of [
            [`sha256: ${digest}`, `sha256: ${digest.slice(1)}`],
            ["session_token:", "sesion_token:"],
            ["secret_access_key: ${STORE_KEY}", "secret_access_key: ${STORE_KEY}${ABSENT}"],
            ["port: 0", "port: ${STORE_KEY}"],
            ["bucket: ", "bucket: \"${STORE_KEY}/\" #"],
            ["session_token: ", "session_token: \"\\q"]
          ] as const
        ) {
          assert.include(good, from)
          yield* fs.writeFileString(`${cwd}/wal.yaml`, good.replace(from, to))
          assert.strictEqual((yield* shown("serve", "--config", "wal.yaml")).code, 2, to)
        }
      }).pipe(Effect.provide(NodeServices.layer)),
    240_000
  )
})
