/** The server on a log with a spool, while the object store cannot be reached and afterwards. */
import { errorAnswer } from "@effect-wal/testing/HttpS3Action"
import { type DoubleS3Options, make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, FileSystem, Layer, Metric, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { loadConfig } from "../src/config/ServerConfig.ts"
import { LogOpener } from "../src/LogOpener.ts"
import { Settings } from "../src/Settings.ts"
import * as StoreLayer from "../src/StoreLayer.ts"
import { append, call, json } from "./support/Client.ts"
import { parseExposition } from "./support/Exposition.ts"
import { startProgram } from "./support/Process.ts"
import { smallBuffer } from "./support/TestLog.ts"
import { settingsOf, startServer } from "./support/TestServer.ts"
import { advanceUntil } from "./support/Wait.ts"

const ndjson = "application/x-ndjson"

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

const s3Config = ({ bucket, credentials, endpoint }: DoubleS3Options, spool = "") =>
  `server:
  port: 0
  shutdown_timeout: 5s
  store_grace: 0ms
  limits: { ack_timeout: 1s }
streams:
  - id: orders
    durability:
      backend:
        type: object_store
        node_id: node-0
        stream_id: orders
        ${spool}
        s3:
          bucket: ${bucket}
          endpoint: ${endpoint}
          access_key_id: ${credentials.accessKeyId}
          secret_access_key: ${Redacted.value(credentials.secretAccessKey)}
`

const spoolLine = "spool: { path: waiting, max_bytes: 64MiB }"

const status = (port: number) => Effect.map(call(port, "/v1/streams/orders"), json)

const payloads = (port: number) =>
  Effect.map(
    call(port, "/v1/streams/orders/records"),
    (answer) => json(answer).records.map((record: { readonly payload: unknown }) => record.payload)
  )

const gauges = (port: number) =>
  Effect.map(call(port, "/metrics"), (answer) => {
    const families = parseExposition(answer.body.toString("utf8"))
    return (name: string) => families.get(name)?.samples[0]?.value
  })

/** A program whose store goes down once two records are durable. */
const inOutage = Effect.gen(function*() {
  const cwd = yield* temporary
  const fs = yield* FileSystem.FileSystem
  const double = yield* makeDouble()
  const configure = (spool: string) => fs.writeFileString(`${cwd}/wal.yaml`, s3Config(double.s3Options, spool))
  yield* configure(spoolLine)
  const start = startProgram({ args: ["--config", "wal.yaml"], cwd })
  const program = yield* start
  const port = yield* program.portOnce("log orders open")
  assert.strictEqual(json(yield* append(port, ndjson, "1\n2\n")).ack, "durable")
  double.rule(() => errorAnswer(503, "SlowDown"))
  return { cwd, double, configure, start, program, port }
})

describe("the program with a spool whose store is away", () => {
  it.live(
    "answers what is spooled, stays ready, ends with 0, and sends all of it at the next start",
    () =>
      Effect.gen(function*() {
        const { double, port, program, start } = yield* inOutage
        const spooled = yield* append(port, ndjson, "3\n4\n5\n", "?ack=spooled")
        assert.strictEqual(spooled.status, 200)
        assert.deepInclude(json(spooled), { first_seq: 3, last_seq: 5, count: 3, ack: "spooled" })
        const waiting = yield* append(port, ndjson, "6\n")
        assert.deepStrictEqual([waiting.status, json(waiting).error.code], [504, "ack_pending"])
        const during = yield* status(port)
        assert.deepInclude(during, { durable: 2, spooled: 6, last_accepted: 6, state: "open" })
        assert.deepInclude(during.at_risk, { records: 0, bytes: 0 })
        assert.deepInclude(during.spool, { records: 4, limit_bytes: 67_108_864 })
        assert.isTrue(during.spool.path.startsWith("/"))
        assert.isTrue(during.spool.path.endsWith("/waiting/node-0/orders/~spool"))
        const gauge = yield* gauges(port)
        assert.strictEqual(gauge("wal_spooled_entries"), 4)
        assert.strictEqual(gauge("wal_spool_bytes"), during.spool.bytes)
        assert.strictEqual(gauge("wal_spool_limit_bytes"), 67_108_864)
        assert.strictEqual(gauge("wal_at_risk_entries"), 0)
        assert.strictEqual((yield* call(port, "/readyz")).status, 200)
        program.kill("SIGTERM")
        assert.strictEqual(yield* program.ended, 0)
        assert.include(program.output(), "stream orders: durable to 2, in the spool: records 3 to 6, nothing left")
        double.clearRules()
        const next = yield* start
        const again = yield* next.portOnce("log orders open")
        assert.deepStrictEqual(yield* payloads(again), [1, 2, 3, 4, 5, 6])
        assert.deepInclude((yield* status(again)).spool, { records: 0, segments: 0 })
        assert.deepInclude(json(yield* append(again, ndjson, "7\n", "?ack=spooled")), { first_seq: 7, ack: "durable" })
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )

  it.live(
    "killed, and started with a configuration that names no spool: what was spooled is found and stored",
    () =>
      Effect.gen(function*() {
        const { configure, double, port, program, start } = yield* inOutage
        assert.strictEqual(json(yield* append(port, ndjson, "3\n4\n", "?ack=spooled")).ack, "spooled")
        program.kill("SIGKILL")
        assert.strictEqual(yield* program.ended, "SIGKILL")
        double.clearRules()
        yield* configure("")
        const next = yield* start
        const again = yield* next.portOnce("log orders open")
        assert.include(next.output(), "/waiting/node-0/orders/~spool, is emptied")
        assert.deepStrictEqual(yield* payloads(again), [1, 2, 3, 4])
        const refused = yield* append(again, ndjson, "5\n", "?ack=spooled")
        assert.deepStrictEqual([refused.status, json(refused).error.code], [400, "ack_level_unavailable"])
        assert.deepInclude(yield* status(again), { last_accepted: 4 })
      }).pipe(Effect.provide(NodeServices.layer)),
    60_000
  )
})

describe("readyz of a log with a spool", () => {
  it.effect("is 200 while the spool takes what comes, and 503 once it and the buffer are full", () =>
    Effect.gen(function*() {
      const disk = MemorySpool.make({ maxBytes: 20_000, afterMillis: 0 })
      const { log, port, streams } = yield* startServer({
        storeGrace: Duration.zero,
        limits: { roomTimeout: Duration.zero },
        log: smallBuffer,
        spool: disk.attach().source
      })
      const lift = log.faults.rule(() => ({ _tag: "Fail", reason: "Unavailable" }))
      const line = `"${"a".repeat(998)}"\n`
      const taken = yield* append(port, ndjson, line, "?ack=spooled")
      assert.deepStrictEqual([taken.status, json(taken).ack], [200, "spooled"])
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* call(port, "/readyz")).status, 200)
      let refused = taken
      for (let count = 0; count < 100 && refused.status === 200; count++) {
        refused = yield* append(port, ndjson, line, "?ack=accepted")
        yield* TestClock.adjust("10 millis")
      }
      assert.deepStrictEqual([refused.status, json(refused).error.code], [503, "buffer_full"])
      assert.isAtMost((yield* status(port)).spool.bytes, 20_000)
      assert.include((yield* status(port)).spool.problem, "20000 bytes")
      const ready = yield* call(port, "/readyz")
      assert.strictEqual(ready.status, 503)
      assert.include(ready.body.toString("utf8"), "buffer_full")
      lift()
      const flushed = yield* Effect.forkChild(Effect.flatMap(streams.log("orders"), (wal) => wal.flush))
      yield* advanceUntil(flushed, "1 second")
      assert.strictEqual((yield* call(port, "/readyz")).status, 200)
    }))
})

describe("the spools of several streams", () => {
  const stream = (path: string, id: string) =>
    `  - { id: ${id}, durability: { backend: { type: object_store, node_id: node, stream_id: ${id}, ` +
    `directory: { path: ${path} }, spool: { path: ${path} } } } }`

  it.live("lie apart below one path, which can be that of the store", () =>
    Effect.gen(function*() {
      const path = yield* temporary
      const fs = yield* FileSystem.FileSystem
      const text = `streams:\n${stream(path, "a")}\n${stream(path, "b")}\n`
      const { streams } = yield* loadConfig({ text, env: {} })
      const settings = settingsOf({ streams: ["a", "b"] })
      const context = yield* Layer.build(
        StoreLayer.layer(streams).pipe(Layer.provide(Layer.succeed(Settings, settings)))
      )
      const { open } = Context.get(context, LogOpener)
      for (const id of ["a", "b"]) {
        const log = yield* open(id)
        yield* Effect.flatMap(log.append([{ payload: new Uint8Array(1) }]), ({ durable }) => durable)
        assert.strictEqual((yield* log.status).spool?.path, `${yield* fs.realPath(path)}/node/${id}/~spool`)
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer), Effect.provideService(Metric.MetricRegistry, new Map())))
})
