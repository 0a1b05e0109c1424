/** The log of a real process as JSON: every line is an object, whoever wrote it. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Schema } from "effect"
import { append } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"

const Line = Schema.Struct({
  timestamp: Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)),
  level: Schema.Literals(["trace", "debug", "info", "warn", "error", "fatal"]),
  message: Schema.String,
  stream: Schema.optionalKey(Schema.String),
  fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  cause: Schema.optionalKey(Schema.String),
  trace_id: Schema.optionalKey(Schema.String),
  span_id: Schema.optionalKey(Schema.String)
})
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Line), { onExcessProperty: "error" })

const linesOf = (output: string) => output.split("\n").filter((line) => line !== "").map((line) => decode(line))

const config = (log: string) => `
server: { port: 0, log: ${log} }
streams:
  - durability:
      backend: { type: object_store, node_id: n, stream_id: orders, directory: { path: store } }
  - id: audit
    durability: { path: audit }
`

const started = Effect.fnUntraced(function*(
  log: string,
  args: ReadonlyArray<string> = [],
  env: Readonly<Record<string, string>> = {}
) {
  const fs = yield* FileSystem.FileSystem
  const cwd = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFileString(`${cwd}/wal.yaml`, config(log))
  return yield* startProgram({ args: ["--config", "wal.yaml", ...args], cwd, env })
})

/** Processes start slowly on a busy machine; nothing is timed. */
const hangMillis = 180_000

/** Tries until the stream is open; the test's own time-out bounds it. */
const appendOnceOpen = (port: number, stream: string): Effect.Effect<void> =>
  Effect.flatMap(
    append(port, "application/x-ndjson", "1\n", "", stream),
    ({ status }) => status === 503 ? appendOnceOpen(port, stream) : Effect.sync(() => assert.strictEqual(status, 200))
  )

/** What a process has said that has stored one record. */
const afterOneAppend = Effect.fnUntraced(function*(log: string, args: ReadonlyArray<string> = []) {
  const program = yield* started(log, args)
  yield* appendOnceOpen(yield* program.portOnce("listens on"), "audit")
  program.kill("SIGTERM")
  assert.strictEqual(yield* program.ended, 0)
  return program.output()
})

describe("logs as JSON", () => {
  it.live(
    "are one object a line from the start to the end, with the words of the source documents",
    () =>
      Effect.gen(function*() {
        const program = yield* started("{ format: json, level: debug }")
        yield* program.until("log audit open")
        yield* program.until("log orders open")
        const port = yield* program.portOnce("listens on")
        assert.strictEqual((yield* append(port, "application/x-ndjson", "1\n2\n")).status, 200)
        yield* program.until("Segment PUT complete")
        program.kill("SIGTERM")
        assert.strictEqual(yield* program.ended, 0)
        const lines = linesOf(program.output())
        const find = (form: RegExp) => lines.find(({ message }) => form.test(message))
        assert.deepInclude(find(/^Sealing segment: entries=2, bytes=\d+$/), { level: "debug", stream: "orders" })
        assert.deepInclude(find(/^Segment PUT complete: \S+, \d+ bytes in \d+ms$/), { level: "info", stream: "orders" })
        assert.deepInclude(find(/^stream orders: durable to 2, nothing left$/), { level: "info", stream: "orders" })
        const listening = find(/^effect-wal listens on http/)
        assert.deepStrictEqual(listening?.fields?.["streams"], ["orders", "audit"])
      }).pipe(Effect.provide(NodeServices.layer)),
    hangMillis
  )

  it.live("can be asked for with a flag", () =>
    Effect.gen(function*() {
      const json = yield* started("{}", ["--log-format", "json"])
      yield* json.until("log audit open")
      json.kill("SIGTERM")
      assert.strictEqual(yield* json.ended, 0)
      assert.isAbove(linesOf(json.output()).length, 3)
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("are lines for people where nobody asks for JSON", () =>
    Effect.gen(function*() {
      const text = yield* started("{}")
      yield* text.until("log audit open")
      text.kill("SIGTERM")
      assert.strictEqual(yield* text.ended, 0)
      assert.match(text.output(), /^\[.*\] INFO .*log audit open/m)
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("leave out what is less grave than `level`", () =>
    Effect.gen(function*() {
      assert.notInclude(yield* afterOneAppend("{ level: warn }"), "Segment PUT complete")
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("begin with the level of the flag, whatever the file says", () =>
    Effect.gen(function*() {
      assert.include(yield* afterOneAppend("{ level: warn }", ["--log-level", "debug"]), "Sealing segment")
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("have the warnings of Node among them", () =>
    Effect.gen(function*() {
      const warn = "setInterval(() => process.emitWarning('as Node does'), 100).unref()"
      const program = yield* started("{ format: json }", [], {
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(warn)}`
      })
      yield* program.until("\"level\":\"warn\",\"message\":\"Warning: as Node does\"")
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)

  it.live("a problem at the start is a line too", () =>
    Effect.gen(function*() {
      const program = yield* started("{ format: loud }", ["--log-format", "json"])
      assert.strictEqual(yield* program.ended, 2)
      const [line] = linesOf(program.output())
      assert.strictEqual(line?.level, "error")
      assert.include(line?.message, "server.log.format")
    }).pipe(Effect.provide(NodeServices.layer)), hangMillis)
})
