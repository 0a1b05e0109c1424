import { presetNames } from "@effect-wal/core/config/Presets"
import { resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import * as Thresholds from "../../src/dashboard/Thresholds.ts"

const optionsOf = (preset: typeof presetNames[number]) =>
  resolveOptions({ nodeId: "node-0", streamId: "orders", preset })

describe("thresholds", () => {
  it("of the latency of a PUT: a warning above 200 ms, somebody acts above 500 ms", () => {
    const levels = [200, 200.1, 500, 500.1].map((value) => Thresholds.judge(value, Thresholds.putThreshold).level)
    assert.deepStrictEqual(levels, ["ok", "warn", "warn", "page"])
  })

  it.effect("of a preset are not met by its own normal state, and are by ten times that", () =>
    Effect.gen(function*() {
      for (const preset of presetNames) {
        const options = yield* optionsOf(preset)
        const { segment } = options
        const lingers = 1_000 / Duration.toMillis(segment.linger)
        const load = { records: 0, bytes: 0 }
        const judged = (share: number) => [
          Thresholds.judge(share * segment.maxEntries, Thresholds.lagThreshold(options)).level,
          Thresholds.judge(share * segment.maxEntries, Thresholds.riskThreshold(options)).level,
          Thresholds.judge(share * lingers, Thresholds.putRateThreshold(options, load)).level
        ]
        assert.deepStrictEqual(judged(1), ["ok", "ok", "ok"], preset)
        assert.deepStrictEqual(judged(11), ["warn", "warn", "warn"], preset)
      }
    }))

  it.effect("of segments of one record are those of the smallest preset: as many callers wait at once", () =>
    Effect.gen(function*() {
      const options = yield* resolveOptions({ nodeId: "node-0", streamId: "orders", segment: { maxEntries: 1 } })
      assert.deepStrictEqual(Thresholds.riskThreshold(options), { warn: 200 })
      assert.deepStrictEqual(Thresholds.lagThreshold(options), { warn: 1_000 })
    }))

  it.effect("of balanced are those of the source documents", () =>
    Effect.gen(function*() {
      const options = yield* optionsOf("balanced")
      assert.deepStrictEqual(Thresholds.lagThreshold(options), { warn: 10_000 })
      assert.deepStrictEqual(Thresholds.ageThreshold(options, 30_000), { warn: 2_000, page: 30_000 })
    }))

  it.effect("of PUTs follow a load that fills segments, and are none without linger", () =>
    Effect.gen(function*() {
      const options = yield* optionsOf("balanced")
      assert.deepStrictEqual(Thresholds.putRateThreshold(options, { records: 50_000, bytes: 0 }), { warn: 100 })
      const eager = yield* resolveOptions({ nodeId: "node-0", streamId: "orders", segment: { linger: "0ms" } })
      assert.deepStrictEqual(Thresholds.putRateThreshold(eager, { records: 50_000, bytes: 0 }), {})
    }))

  it("of retries ask for more than one in twenty", () => {
    const levelOf = (retries: number, puts: number) => Thresholds.judge(retries, Thresholds.retryThreshold(puts)).level
    assert.deepStrictEqual([levelOf(3, 1), levelOf(4, 1), levelOf(50, 1_000), levelOf(51, 1_000)], [
      "ok",
      "warn",
      "ok",
      "warn"
    ])
  })

  it("the gravest level counts", () => {
    assert.strictEqual(Thresholds.worst(["ok", "page", "warn"]), "page")
    assert.strictEqual(Thresholds.worst([]), "ok")
  })
})
