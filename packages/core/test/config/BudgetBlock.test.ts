import { decodeBackend } from "@effect-wal/core/config/DecodeBackend"
import { resolveLocalOptions, resolveOptions } from "@effect-wal/core/config/ResolveOptions"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"

const decode = (budget: unknown, more: object = {}) =>
  decodeBackend({ type: "object_store", node_id: "n", stream_id: "s", s3: { bucket: "my-bucket" }, budget, ...more })

const problemsOf = (budget: unknown, more: object = {}) =>
  Effect.map(Effect.flip(decode(budget, more)), ({ _tag, problems }) => {
    assert.strictEqual(_tag, "ConfigError")
    return problems
  })

describe("the budget block", () => {
  it.effect("takes PUTs a second, with or without decimals", () =>
    Effect.gen(function*() {
      for (const putsPerSecond of [0.001, 0.5, 1, 10_000]) {
        const { options } = yield* decode({ puts_per_second: putsPerSecond })
        assert.deepStrictEqual(options.budget, { putsPerSecond })
      }
    }))

  it.effect("takes dollars a month as the PUTs that they buy", () =>
    Effect.gen(function*() {
      const { options } = yield* decode({ dollars_per_month: 12.96 })
      assert.closeTo(options.budget?.putsPerSecond ?? 0, 1, 1e-12)
    }))

  it.effect("is none where it is not given", () =>
    Effect.gen(function*() {
      const options = yield* resolveOptions({ nodeId: "n", streamId: "s" })
      assert.notProperty(options, "budget")
    }))

  const none = "is empty; give puts_per_second or dollars_per_month"
  const both = "stands beside puts_per_second; give one of the two"
  const range = "must be a number, 0.001 to 10000"
  const refused: ReadonlyArray<readonly [given: unknown, path: string, rule: string, value?: string]> = [
    [{}, "backend.budget", none],
    [1, "backend.budget", "must be a block of keys"],
    [{ puts_per_second: 1, dollars_per_month: 1 }, "backend.budget.dollars_per_month", both, "1"],
    [{ puts_per_second: 0 }, "backend.budget.puts_per_second", range, "0"],
    [{ puts_per_second: -1 }, "backend.budget.puts_per_second", range, "-1"],
    [{ puts_per_second: Infinity }, "backend.budget.puts_per_second", range, "Infinity"],
    [{ puts_per_second: 10_001 }, "backend.budget.puts_per_second", range, "10001"],
    [{ puts_per_second: "2" }, "backend.budget.puts_per_second", `${range}; write it without quotes`, "\"2\""],
    [{ puts_per_second: null }, "backend.budget.puts_per_second", `has no value; it ${range}`, "null"],
    [{ dollars_per_month: 0 }, "backend.budget.dollars_per_month", "must be a number, 0.01 to 100000000", "0"],
    [
      { dollars: 5 },
      "backend.budget.dollars",
      "is not a known key; known keys here: puts_per_second, dollars_per_month"
    ]
  ]
  for (const [given, path, rule, value] of refused) {
    it.effect(`${JSON.stringify(given)} is refused`, () =>
      Effect.gen(function*() {
        const [first] = yield* problemsOf(given)
        assert.deepStrictEqual(first, { path, rule, ...(value === undefined ? {} : { value }) })
      }))
  }

  it.effect("a wrong value is one problem, not two", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* problemsOf({ puts_per_second: 0 })).length, 1)
      assert.strictEqual((yield* problemsOf({ puts_per_second: 0, dollars_per_month: 1 })).length, 1)
    }))

  it.effect("has no effect with periodic, and is refused there", () =>
    Effect.gen(function*() {
      const [first] = yield* problemsOf({ puts_per_second: 1 }, { sync: "periodic" })
      assert.strictEqual(first?.path, "backend.budget")
      assert.include(first?.rule, "has no effect with sync: periodic")
      const error = yield* Effect.flip(
        resolveOptions({ nodeId: "n", streamId: "s", sync: "periodic", budget: { putsPerSecond: 1 } })
      )
      assert.deepStrictEqual(error.problems.map(({ path }) => path), ["budget"])
    }))

  it.effect("has no meaning on a local disk, and is refused there", () =>
    Effect.gen(function*() {
      const tree = { type: "local", local: { path: "/data" }, budget: { puts_per_second: 1 } }
      const { problems } = yield* Effect.flip(decodeBackend(tree))
      assert.deepStrictEqual(problems.map(({ path }) => path), ["backend.budget"])
      assert.include(problems[0]?.rule, "does not go with type: local")
      const input = { nodeId: "n", streamId: "s", path: "/data", budget: { putsPerSecond: 1 } }
      const local = yield* Effect.flip(resolveLocalOptions(input))
      assert.deepStrictEqual(local.problems.map(({ path }) => path), ["budget"])
    }))

  it.effect("has the library's names there", () =>
    Effect.gen(function*() {
      const ids = { nodeId: "n", streamId: "s" }
      const { budget } = yield* resolveOptions({ ...ids, budget: { dollarsPerMonth: 25.92 } })
      assert.closeTo(budget?.putsPerSecond ?? 0, 2, 1e-12)
      const { problems } = yield* Effect.flip(
        resolveOptions({ ...ids, budget: { putsPerSecond: 1, dollarsPerMonth: 0.001 } })
      )
      assert.deepStrictEqual(problems.map(({ path, value }) => [path, value]), [["budget.dollarsPerMonth", "0.001"]])
    }))

  it.effect("says where the interval alone makes more PUTs", () =>
    Effect.gen(function*() {
      const small = yield* decode({ puts_per_second: 0.5 })
      assert.strictEqual(small.notices.length, 1)
      assert.include(small.notices[0], "0.5 PUTs a second are fewer than flush_interval 1s makes")
      assert.deepStrictEqual((yield* decode({ puts_per_second: 1 })).notices, [])
      const longer = yield* decode({ puts_per_second: 0.5 }, { segment_tuning: { flush_interval: "2s" } })
      assert.deepStrictEqual(longer.notices, [])
    }))
})
