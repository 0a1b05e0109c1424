/** What each example comes to: the set-up of the source documents, and the numbers in its head. */
import { type PresetName, presets } from "@effect-wal/core/config/Presets"
import { medianAckMillis } from "@effect-wal/core/model/AckLatency"
import { costOf } from "@effect-wal/core/model/CostModel"
import { lossWindow, usualLossWindow } from "@effect-wal/core/model/LossWindow"
import { segmentRhythm } from "@effect-wal/core/model/SegmentRhythm"
import { throughputCeiling } from "@effect-wal/core/model/ThroughputCeiling"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { readFileSync } from "node:fs"
import { printConfig } from "../../src/config/ConfigPrint.ts"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { startProgram } from "../support/Process.ts"
import {
  directory,
  environmentOf,
  local,
  names,
  nowhere,
  onS3,
  pathOf,
  streamOf,
  temporary,
  textOf
} from "./Examples.ts"

const load = (name: string) => loadConfig({ path: pathOf(name), env: name === local ? {} : environmentOf(nowhere) })

const optionsOf = Effect.fnUntraced(function*(name: string) {
  const [stream] = (yield* load(name)).streams
  return stream === undefined ? yield* Effect.die(`${name} has no stream`) : stream.options
})

interface SetUp {
  readonly preset: PresetName
  readonly workers?: number
  readonly compression?: WalOptions["compression"]["type"]
  readonly level?: number
  readonly flushInterval?: Duration.Duration
}

/** The set-ups as the source documents have them. */
const setUps: Readonly<Record<string, SetUp>> = {
  durability_batch_job: { preset: "aggressive", workers: 4, compression: "zstd", level: 3 },
  durability_cold_storage: {
    preset: "aggressive",
    compression: "zstd",
    level: 9,
    flushInterval: Duration.seconds(60)
  },
  durability_example_aggressive: { preset: "aggressive" },
  durability_example_compressed: { preset: "aggressive", compression: "zstd", level: 3 },
  durability_example_parallel: { preset: "balanced", workers: 4 },
  durability_example_s3: { preset: "balanced" },
  durability_real_time: { preset: "low_latency", workers: 2, compression: "lz4", level: 4 },
  durability_smoke_test: { preset: "aggressive", workers: 2, compression: "zstd", level: 3 }
}

const grouped = (value: number): string => Math.round(value).toLocaleString("en-US")
const short = (value: number, digits: number): string =>
  value < 100 ? String(Number(value.toFixed(digits))) : grouped(value)

const head =
  /^# Model of docs\/cost\.md: ([\d,]+) records\/s of 1,000 bytes, PUTs of 60 ms, (callers wait for durability|nobody waits):$/m

/** The lines below the one that names the load, as the models compute them. */
const modelLines = (options: WalOptions, recordsPerSecond: number, waiting: boolean): string => {
  const load = { recordsPerSecond, recordBytes: 1_000 }
  const conditions = { putLatencyMillis: 60, waiting }
  const { gets, lists, manifestPuts, segmentPuts } =
    costOf(options, load, { ...conditions, storedFor: Duration.days(30) }).dollarsPerMonth
  const { segmentsPerSecond } = segmentRhythm(options, load, conditions)
  const ceiling = throughputCeiling(options, load.recordBytes, { putLatencyMillis: 60 }).bytesPerSecond / 1e6
  return [
    `#   p50 until durable ${grouped(medianAckMillis(options, load, conditions))} ms, ` +
    `${short(segmentsPerSecond, segmentsPerSecond < 1 ? 2 : 1)} PUT/s, ` +
    `requests $${(segmentPuts + manifestPuts + gets + lists).toFixed(2)} a month, ` +
    `carries at most ${short(ceiling, 1)} MB/s,`,
    `#   at risk ${grouped(usualLossWindow(options, load, conditions).records)} records while the store answers, ` +
    `at most ${grouped(lossWindow(options, load).records)} while it does not`
  ].join("\n")
}

describe("examples/*.yaml, what they come to", () => {
  it("are all here, and the page beside them names each", () => {
    assert.deepStrictEqual(Object.keys(setUps), onS3)
    const page = readFileSync(`${directory}README.md`, "utf8")
    const listed = [...page.matchAll(/^\| `(\w+)\.yaml` /gm)].map((match) => match[1])
    assert.sameMembers(listed, [...names])
  })

  it.effect(`${local}: a log on this disk, synced for all who wait at once`, () =>
    Effect.gen(function*() {
      const [stream] = (yield* load(local)).streams
      assert.deepStrictEqual(stream?.store, { type: "local", path: "./data/wal", maxFileBytes: 67_108_864 })
      assert.deepStrictEqual([stream?.id, stream?.options.sync, stream?.options.nodeId], [
        "main",
        "group_commit",
        "node-0"
      ])
    }))

  it.effect.each(Object.entries(setUps))(
    "%s: the set-up of the source documents, on S3",
    ([name, setUp]) =>
      Effect.gen(function*() {
        const { flushInterval = presets[setUp.preset].flushInterval, compression: type = "none", level } = setUp
        const { notices, streams: [stream] } = yield* load(name)
        const { compression, cursor, nodeId, parallelPut, prefix, segment } = yield* optionsOf(name)
        assert.deepStrictEqual(segment, { ...presets[setUp.preset], flushInterval })
        assert.deepStrictEqual([parallelPut.workers, parallelPut.pipelineDepth], [setUp.workers ?? 1, 1])
        assert.deepStrictEqual(parallelPut.shutdownTimeout, Duration.seconds(30))
        assert.deepStrictEqual(compression, {
          type,
          thresholdBytes: 10_240,
          ...level === undefined ? {} : { level }
        })
        assert.deepStrictEqual([cursor.maxEntries, cursor.interval], [1_000, Duration.seconds(1)])
        assert.deepStrictEqual([nodeId, prefix], [name === "durability_smoke_test" ? "smoke-node" : "node-0", "wal"])
        assert.deepInclude(stream?.store, { type: "s3", bucket: "my-bucket", conditionalWrites: "required" })
        assert.strictEqual(stream?.id, streamOf(name))
        assert.deepStrictEqual(notices, [])
      })
  )

  it.effect.each([...onS3])("%s: the numbers in its head are those of the models", (name) =>
    Effect.gen(function*() {
      const text = textOf(name)
      const [line = "", rate = "", waiting] = head.exec(text) ?? []
      const lines = modelLines(yield* optionsOf(name), Number(rate.replace(",", "")), waiting !== "nobody waits")
      assert.include(text, `${line}\n${lines}\n`)
    }))
})

describe("config print", () => {
  it.effect.each([...names])(
    "%s: each value with its line or its variable, no secret",
    (name) =>
      Effect.gen(function*() {
        const printed = printConfig(yield* load(name))
        const at = (variable: string) => `variable ${variable} (${pathOf(name)}:`
        assert.include(printed, `streams[0].durability.enabled = true  # ${pathOf(name)}:`)
        if (name === local) {
          assert.include(printed, `backend.local.path = "./data/wal"  # ${at("WAL_PATH")}`)
        } else {
          assert.include(printed, `backend.s3.bucket = "my-bucket"  # ${at("S3_BUCKET")}`)
          assert.include(printed, `backend.s3.secret_access_key = <redacted>  # ${at("AWS_SECRET_ACCESS_KEY")}`)
        }
        assert.notMatch(printed, /some-access-key|some-secret-key/)
      })
  )

  it.live("as the command prints it", () =>
    Effect.gen(function*() {
      const name = "durability_smoke_test"
      const program = yield* startProgram({
        args: ["config", "print", "--config", pathOf(name)],
        cwd: yield* temporary,
        env: environmentOf(nowhere)
      })
      assert.strictEqual(yield* program.ended, 0, program.output())
      assert.strictEqual(program.output().trimEnd(), printConfig(yield* load(name)).trimEnd())
    }).pipe(Effect.provide(NodeServices.layer)))
})
