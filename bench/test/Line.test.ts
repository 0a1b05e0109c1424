/** When a goal counts as missed, and what a line says. */
import { assert, describe, it } from "@effect/vitest"
import { lineOf, meets } from "../src/Line.ts"
import { pairedRatios, quantile, spreadOf } from "../src/Stats.ts"
import { tableText } from "../src/Table.ts"

describe("a measurement", () => {
  it("misses its goal only where the whole middle half is on the wrong side", () => {
    const value = spreadOf([0.6, 0.65, 0.68, 0.71, 0.8])
    assert.deepStrictEqual([value.low, value.median, value.high], [0.65, 0.68, 0.71])
    assert.isTrue(meets(value, 0.7, "higher"))
    assert.isFalse(meets(value, 0.72, "higher"))
    assert.isTrue(meets(value, 0.66, "lower"))
    assert.isFalse(meets(value, 0.64, "lower"))
  })

  it("is a ratio of rounds that were next to each other", () => {
    assert.deepStrictEqual(pairedRatios([10, 30], [5, 10]), [2, 3])
    assert.isNaN(quantile([], 0.5))
    assert.strictEqual(quantile([1, 2], 0.5), 1.5)
  })

  it("says what it is against, and whether the goal is met", () => {
    const line = lineOf("encode", {
      metric: "against copy + CRC",
      value: spreadOf([0.5, 0.51234, 0.6]),
      unit: "x",
      better: "higher",
      goal: 0.7,
      floor: { name: "copy + CRC", value: 3_712.345, unit: "MB/s" }
    })
    assert.deepInclude(line, { bench: "encode", value: 0.5123, ok: false, goal: 0.7, peer: null, rounds: 3 })
    assert.strictEqual(line.floor?.value, 3_712)
    const table = tableText([line])
    for (const word of ["encode", "0.51 x", "≥ 0.70", "missed", "copy + CRC 3,712 MB/s"]) assert.include(table, word)
    assert.deepInclude(lineOf("encode", { metric: "m", value: spreadOf([1]), unit: "s", better: "lower" }), {
      goal: null,
      ok: null
    })
  })
})
