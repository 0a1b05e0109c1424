import { make as makeDouble } from "@effect-wal/testing/HttpS3Double"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { payloadOf } from "../../src/cli/bench/Payload.ts"
import { append } from "../support/Client.ts"
import { startProgram } from "../support/Process.ts"
import { configured, serve, snapshot } from "./data/Cli.ts"
import { absolute, inProcess } from "./InProcess.ts"
import { configuredAs, s3Config } from "./S3Config.ts"

const small = ["--records", "500", "--batch", "20", "--concurrency", "4"]

describe("the records of a benchmark", () => {
  for (const kind of ["json", "random"] as const) {
    it(`${kind}: have the size that was asked for, and differ`, () => {
      for (const size of [1, 7, 60, 1_000]) assert.lengthOf(payloadOf(kind, 3, size), size)
      assert.notDeepEqual(payloadOf(kind, 1, 200), payloadOf(kind, 2, 200))
      assert.deepStrictEqual(payloadOf(kind, 1, 200), payloadOf(kind, 1, 200))
    })
  }

  it("json are lines of JSON", () => {
    assert.strictEqual(JSON.parse(new TextDecoder().decode(payloadOf("json", 7, 300))).bench, 7)
  })
})

/** How a run in a bucket ends that gets these signals in its midst, and how many objects stay. */
const signalled = Effect.fnUntraced(function*(...signals: ReadonlyArray<NodeJS.Signals>) {
  const double = yield* makeDouble()
  const cwd = yield* configuredAs(s3Config(double.s3Options))
  const program = yield* startProgram({
    args: ["bench", "--config", "wal.yaml", "--records", "100000000", "--yes"],
    cwd
  })
  yield* double.until(() => double.count("put", "/segments/") > 3)
  for (const signal of signals) program.kill(signal)
  return { code: yield* program.ended, output: program.output(), left: double.objects.size }
})

describe("effect-wal bench", () => {
  for (const backend of ["local", "directory"] as const) {
    it.live(`${backend}: measures in a log of its own, and leaves nothing of it`, () =>
      Effect.gen(function*() {
        const cwd = yield* configured(backend)
        const args = ["bench", "--config", absolute(cwd), ...small]
        const { code, err, text } = yield* inProcess(...args, "--json")
        assert.strictEqual(code, 0, err)
        const result = JSON.parse(text)
        assert.strictEqual(result.records, 500)
        assert.isAbove(result.records_per_second, 0)
        assert.isAbove(result.puts, 0)
        assert.isAtLeast(result.ack_p99_ms, result.ack_p50_ms)
        assert.deepStrictEqual(result.left, [])
        assert.isEmpty(snapshot(`${cwd}/store`).filter((name) => name.includes("bench-")))
        const shown = yield* inProcess(...args)
        assert.include(shown.text, "until durable, p99")
        assert.include(shown.text, "The throw-away log is removed")
        assert.include(shown.err, "500 of 500 records")
      }).pipe(Effect.provide(NodeServices.layer)))
  }

  it.live("does not touch the log of the stream, nor its writer", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const path = absolute(cwd)
      const { port, program } = yield* serve(cwd)
      assert.strictEqual((yield* append(port, "application/x-ndjson", "1\n")).status, 200)
      assert.strictEqual((yield* inProcess("bench", "--config", path, ...small)).code, 0)
      assert.strictEqual((yield* append(port, "application/x-ndjson", "2\n")).status, 200)
      program.kill("SIGTERM")
      assert.strictEqual(yield* program.ended, 0)
      assert.include(program.output(), "durable to 2")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("writes into a bucket only with --yes, and removes all of it", () =>
    Effect.gen(function*() {
      const double = yield* makeDouble()
      const cwd = yield* configuredAs(s3Config(double.s3Options))
      const refused = yield* inProcess("bench", "--config", `${cwd}/wal.yaml`, ...small)
      assert.strictEqual(refused.code, 2)
      assert.include(refused.err, "nothing was written")
      assert.include(refused.err, "--yes")
      assert.strictEqual(double.count(), 0)
      const done = yield* inProcess("bench", "--config", `${cwd}/wal.yaml`, ...small, "--yes", "--json")
      assert.strictEqual(done.code, 0, done.err)
      const { puts, segments } = JSON.parse(done.text)
      assert.strictEqual(segments, double.count("put", "/segments/"))
      // The rest of what was put is the probe, opening and closing, which are not measured.
      assert.isAtLeast(puts, segments)
      assert.isAbove(double.count("put"), puts)
      assert.strictEqual(double.objects.size, 0)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("removes what it has stored at Ctrl-C, and ends with 130", () =>
    Effect.gen(function*() {
      const { code, left, output } = yield* signalled("SIGINT")
      assert.strictEqual(code, 130, output)
      assert.strictEqual(left, 0)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("removes what it has stored when its terminal is closed, which can be said twice, and ends with 129", () =>
    Effect.gen(function*() {
      const { code, left, output } = yield* signalled("SIGHUP", "SIGHUP")
      assert.strictEqual(code, 129, output)
      assert.strictEqual(left, 0)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("says before anything is done that there would be too many appends", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      const args = ["bench", "--config", absolute(cwd), "--records", "1000001", "--batch"]
      const { code, err } = yield* inProcess(...args, "1")
      assert.strictEqual(code, 2)
      assert.include(err, "more than 1,000,000 appends")
      assert.include(err, "Give --batch 2 or more")
      assert.lengthOf(snapshot(cwd), 1)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("says before anything is done that records are too large", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("local")
      const { code, err } = yield* inProcess("bench", "--config", `${cwd}/wal.yaml`, "--record-bytes", "100MB")
      assert.strictEqual(code, 2)
      assert.include(err, "max_record_bytes")
    }).pipe(Effect.provide(NodeServices.layer)))
})
