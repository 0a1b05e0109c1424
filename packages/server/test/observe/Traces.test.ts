/** Traces of a real process at a collector: one append from its request to its PUT to the manifest. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { call } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"
import { attributeOf, type Collector, type Span, startCollector } from "./Collector.ts"

/** Processes start slowly on a busy machine; nothing is timed. */
const hangMillis = 180_000

const token = "a-secret-token-of-some-length-0123456789"

interface RunOptions {
  /** The value of `server.otlp`. */
  readonly otlp?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Serves, lets `use` make requests, and stops in order, so that all spans are handed over. */
const served = Effect.fnUntraced(function*(
  { env = {}, otlp }: RunOptions,
  use: (port: number) => Effect.Effect<unknown>
) {
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(
    `${cwd}/wal.yaml`,
    `
server:
  port: 0
  tokens: [{ id: t, env: WAL_TOKEN, scopes: [read, write, admin] }]
${otlp === undefined ? "" : `  otlp: ${otlp}`}
streams:
  - durability:
      backend: { type: object_store, node_id: n, stream_id: orders, directory: { path: store } }
`
  )
  const program = yield* startProgram({ args: ["--config", "wal.yaml"], cwd, env: { WAL_TOKEN: token, ...env } })
  yield* use(yield* program.portOnce("log orders open"))
  program.kill("SIGTERM")
  assert.strictEqual(yield* program.ended, 0)
  return program.output()
})

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const parentId = "00f067aa0ba902b7"

const appendTraced = (port: number, flags: string, headers: Readonly<Record<string, string>> = {}) =>
  Effect.tap(
    call(port, "/v1/streams/orders/records", {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/x-ndjson",
        traceparent: `00-${traceId}-${parentId}-${flags}`,
        ...headers
      },
      body: "{\"a\":1}\n{\"a\":2}\n"
    }),
    ({ status }) => Effect.sync(() => assert.strictEqual(status, 200))
  )

const named = ({ spans }: Collector, name: string): ReadonlyArray<Span> => spans.filter((span) => span.name === name)

/** The one span of this name. */
const only = (collector: Collector, name: string): Span => {
  const [span, ...others] = named(collector, name)
  if (span === undefined || others.length > 0) {
    throw new Error(`${others.length} more of ${name} in ${collector.spans.map((each) => each.name).join(", ")}`)
  }
  return span
}

const linksTo = (from: Span, to: Span): boolean =>
  from.links.some(({ spanId, traceId: trace }) => spanId === to.spanId && trace === to.traceId)

describe("traces", () => {
  it.live("show one append from its request to the PUT to the manifest", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector()
      yield* served({ otlp: `{ endpoint: "${collector.endpoint}" }` }, (port) => appendTraced(port, "01"))
      const request = only(collector, "POST /v1/streams/{stream}/records")
      assert.deepInclude(request, { traceId, parentSpanId: parentId, kind: 2 })
      const accepted = only(collector, "wal.append")
      assert.deepInclude(accepted, { traceId, parentSpanId: request.spanId })
      const wait = only(collector, "wal.durable")
      assert.deepInclude(wait, { traceId, parentSpanId: request.spanId })
      const put = only(collector, "wal.put")
      assert.isTrue(linksTo(put, request), "the PUT links to the request that it carries")
      assert.isTrue(linksTo(wait, put), "the wait links to the PUT")
      const created = named(collector, "store.create").filter(({ parentSpanId }) => parentSpanId === put.spanId)
      assert.deepStrictEqual(created.map(({ kind, traceId: trace }) => [kind, trace]), [[3, put.traceId]])
      assert.match(String(attributeOf(wait, "wal.segment")), /n\/orders\/segments\/.*\.seg$/)
      const manifest = named(collector, "wal.manifest").find((span) => linksTo(span, put))
      assert.isDefined(manifest, "a manifest links to the PUT that it covers")
      const replaced = named(collector, "store.replace").filter(({ parentSpanId }) => parentSpanId === manifest?.spanId)
      assert.strictEqual(replaced.length, 1)
      assert.deepInclude(collector.resource(), { "service.name": "effect-wal" })
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("hold no token, no payload, and nothing of probes and scrapes", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector()
      yield* served({ otlp: `{ endpoint: "${collector.endpoint}", headers: "api-key=collector%2Ckey" }` }, (port) =>
        Effect.gen(function*() {
          yield* appendTraced(port, "01")
          for (const path of ["/healthz", "/readyz", "/metrics"]) {
            yield* call(port, path, { headers: { authorization: `Bearer ${token}` } })
          }
        }))
      assert.notInclude(collector.received(), token)
      assert.notInclude(collector.received(), "\\\"a\\\"")
      assert.strictEqual(collector.requests[0]?.headers["api-key"], "collector,key")
      assert.strictEqual(collector.requests[0]?.url, "/v1/traces")
      const servers = collector.spans.filter(({ kind }) =>
        kind === 2
      )
      assert.deepStrictEqual(servers.map(({ name }) => name), ["POST /v1/streams/{stream}/records"])
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("leave out what the caller leaves out", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector()
      yield* served({ otlp: `{ endpoint: "${collector.endpoint}" }` }, (port) => appendTraced(port, "00"))
      assert.deepStrictEqual(collector.spans.filter((span) => span.traceId === traceId), [])
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("leave out requests that the ratio leaves out", () =>
    Effect.gen(function*() {
      const quiet = yield* startCollector()
      yield* served(
        { otlp: `{ endpoint: "${quiet.endpoint}", sample_ratio: 0 }` },
        (port) => call(port, "/v1/streams", { headers: { authorization: `Bearer ${token}` } })
      )
      assert.isNotEmpty(quiet.spans, "what the log does by itself is there")
      assert.deepStrictEqual(quiet.spans.filter(({ kind }) => kind === 2), [])
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("are switched on by the variables of OpenTelemetry", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector()
      const env = {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a%20b",
        OTEL_SERVICE_NAME: "orders-log"
      }
      yield* served({ env }, (port) => appendTraced(port, "01"))
      assert.isDefined(named(collector, "wal.put")[0])
      assert.deepInclude(collector.resource(), { "service.name": "orders-log" })
      assert.strictEqual(collector.requests[0]?.headers["x-tenant"], "a b")
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("are encoded as protobuf where that is asked for", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector()
      yield* served(
        { otlp: `{ endpoint: "${collector.endpoint}", protocol: http/protobuf }` },
        (port) => appendTraced(port, "01")
      )
      assert.strictEqual(collector.requests[0]?.headers["content-type"], "application/x-protobuf")
      assert.include(collector.received(), "wal.durable")
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("a collector that refuses them is told in the log, and stops nothing", () =>
    Effect.gen(function*() {
      const collector = yield* startCollector(400)
      const output = yield* served(
        { otlp: `{ endpoint: "${collector.endpoint}" }` },
        (port) => appendTraced(port, "01")
      )
      assert.include(output, "spans were not taken by the collector")
      assert.include(output, "stream orders: durable to 2, nothing left")
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)
})
