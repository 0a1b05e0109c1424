import { resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import { costOf } from "@effect-wal/core/model/CostModel"
import { lossWindow, usualLossWindow } from "@effect-wal/core/model/LossWindow"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, FileSystem } from "effect"
import { createHash } from "node:crypto"
import { startServer } from "../support/TestServer.ts"
import { configured, parsed, temporary } from "./data/Cli.ts"
import { inProcess } from "./InProcess.ts"

const run = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const { code, err, text } = yield* inProcess(...args)
  assert.strictEqual(code, 0, err)
  return text
})

const load = { recordsPerSecond: 10_000, recordBytes: 1_000 }

describe("effect-wal cost", () => {
  it.live("prints what the model computes", () =>
    Effect.gen(function*() {
      const settings = yield* resolveOptions({
        nodeId: "n",
        streamId: "s",
        preset: "balanced",
        parallelPut: { workers: 2 }
      })
      const expected = costOf(settings, load, {
        putLatencyMillis: 60,
        waiting: true,
        storedFor: Duration.days(30),
        compressionRatio: 4
      })
      const flags = [
        "--rate",
        "10000",
        "--preset",
        "balanced",
        "--workers",
        "2",
        "--compression-ratio",
        "4",
        "--stored-for",
        "30d"
      ]
      const [found] = parsed(yield* run("cost", ...flags, "--json"))
      assert.closeTo(found.dollars_per_month.total, expected.dollarsPerMonth.total, 1e-9)
      assert.strictEqual(found.stored_bytes, expected.storedBytes)
      assert.strictEqual(found.requests_per_month.segment_puts, expected.perMonth.segmentPuts)
      const text = yield* run("cost", ...flags)
      assert.include(text, `$${expected.dollarsPerMonth.total.toFixed(2)}`)
      assert.include(text, "S3 Standard, us-east-1")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("has the corrected number of the source document's example", () =>
    Effect.gen(function*() {
      const text = yield* run("cost", "--rate", "10000", "--nobody-waits", "--stored-for", "30d")
      for (const number of ["36,000", "$129.60", "$16.20", "$596.16", "$741.96"]) assert.include(text, number)
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("warns of a rate that the settings cannot carry", () =>
    Effect.gen(function*() {
      const text = yield* run("cost", "--rate", "10000", "--preset", "low_latency")
      assert.include(text, "warning: 10000 records/s")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("takes a stream of a configuration; a local one costs nothing", () =>
    Effect.gen(function*() {
      const cwd = yield* configured("directory")
      const found = yield* inProcess("cost", "--config", `${cwd}/wal.yaml`, "--json")
      assert.strictEqual(JSON.parse(found.text).settings, "stream orders")
      const twice = yield* inProcess("cost", "--config", `${cwd}/wal.yaml`, "--preset", "balanced")
      assert.strictEqual(twice.code, 2)
      const local = yield* inProcess("cost", "--config", `${yield* configured("local")}/wal.yaml`)
      assert.strictEqual(local.code, 2)
      assert.include(local.err, "makes no requests")
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("refuses flags that would say nothing", () =>
    Effect.gen(function*() {
      for (const command of ["cost", "loss-window"]) {
        const { code, err } = yield* inProcess(command, "--stream", "orders")
        assert.strictEqual(code, 2, command)
        assert.include(err, "Name the file with --config")
      }
      for (const flag of ["--token", "--token-file"]) {
        const { code, err } = yield* inProcess("cost", flag, "a-token")
        assert.strictEqual(code, 2, flag)
        assert.include(err, "Name it with --url")
      }
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("reads the counters of a running server", () =>
    Effect.gen(function*() {
      const url = `http://127.0.0.1:${(yield* startServer()).port}`
      const { code, err, text } = yield* inProcess("cost", "--url", url, "--over", "100ms", "--json")
      assert.strictEqual(code, 0, err)
      const [row] = parsed(text)
      assert.strictEqual(row.stream, "orders")
      assert.strictEqual(row.puts_per_second, 0)
      assert.isAbove(row.request_dollars_so_far, 0)
      const shown = yield* inProcess("cost", "--url", url, "--over", "1ms")
      assert.include(shown.err, "watching the counters")
      assert.include(shown.text, "total a month")
      const other = yield* inProcess("cost", "--url", url, "--over", "1ms", "--stream", "absent")
      assert.strictEqual(other.code, 3)
      assert.include(other.err, "orders")
    }))

  it.live("asks for a token where the server wants one, and says where to give it", () =>
    Effect.gen(function*() {
      const sha256 = createHash("sha256").update("some-token").digest("hex")
      const tokens = [{ id: "t", secret: { sha256 }, scopes: ["read"] as const }]
      const url = `http://127.0.0.1:${(yield* startServer({ tokens })).port}`
      const without = yield* inProcess("cost", "--url", url, "--over", "1ms")
      assert.strictEqual(without.code, 77, without.err)
      assert.include(without.err, "EFFECT_WAL_TOKEN")
      const given = yield* inProcess("cost", "--url", url, "--over", "1ms", "--json", "--token", "some-token")
      assert.strictEqual(given.code, 0, given.err)
      assert.notInclude(given.text + given.err, "some-token")
    }))

  it.live("says that no server answers", () =>
    Effect.gen(function*() {
      const { code, err } = yield* inProcess("cost", "--url", "http://127.0.0.1:1", "--over", "1ms")
      assert.strictEqual(code, 69)
      assert.include(err, "what to do:")
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("effect-wal loss-window", () => {
  it.live("prints what the model computes", () =>
    Effect.gen(function*() {
      const settings = yield* resolveOptions({
        nodeId: "n",
        streamId: "s",
        preset: "low_latency",
        parallelPut: { workers: 8 }
      })
      const most = lossWindow(settings, load)
      const usual = usualLossWindow(settings, load, { putLatencyMillis: 20, waiting: true })
      const flags = ["--rate", "10000", "--preset", "low_latency", "--workers", "8", "--put-latency", "20ms"]
      const [found] = parsed(yield* run("loss-window", ...flags, "--json"))
      assert.strictEqual(found.most_records, most.records)
      assert.strictEqual(found.usual_records, usual.records)
      assert.strictEqual(found.queued_records, most.queued)
      assert.include(yield* run("loss-window", ...flags), most.records.toLocaleString("en-US"))
    }).pipe(Effect.provide(NodeServices.layer)))

  it.live("takes the settings of a configured stream", () =>
    Effect.gen(function*() {
      const cwd = yield* temporary
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(
        `${cwd}/wal.yaml`,
        "streams: [{ durability: { backend: { type: object_store, node_id: n, stream_id: a, directory: { path: d }, " +
          "segment_tuning: { strategy: aggressive } } } }]\n"
      )
      const { text } = yield* inProcess("loss-window", "--rate", "10000", "--config", `${cwd}/wal.yaml`, "--json")
      const settings = yield* resolveOptions({ nodeId: "n", streamId: "a", preset: "aggressive" })
      assert.strictEqual(JSON.parse(text).most_records, lossWindow(settings, load).records)
    }).pipe(Effect.provide(NodeServices.layer)))
})
