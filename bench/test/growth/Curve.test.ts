/** What a curve is judged by. */
import { assert, describe, it } from "@effect/vitest"
import { type CurveLine, exponentOf, flat, linear } from "../../src/growth/Curve.ts"
import { lineOf } from "../../src/Line.ts"

const line = (...points: ReadonlyArray<readonly [x: number, ...rounds: ReadonlyArray<number>]>): CurveLine => ({
  name: "line",
  points: points.map(([x, ...rounds]) => ({ x, rounds }))
})

const isMet = (measured: Parameters<typeof lineOf>[1]) => lineOf("growth", measured).ok

describe("a line that must be flat", () => {
  it("is judged by its last point against its first, round by round", () => {
    const measured = flat(line([10, 1, 2, 4], [100, 9, 9, 9], [1_000, 1.1, 2.4, 4]), { metric: "time" })
    assert.deepInclude(measured, { metric: "time: last point against first", goal: 1.5, better: "lower" })
    assert.deepInclude(measured.value, { median: 1.1, rounds: 3 })
    assert.isTrue(isMet(measured))
    assert.isFalse(isMet(flat(line([10, 1], [1_000, 2]), { metric: "time" })))
  })

  it("may start later: before that it may rise", () => {
    const rising = line([1, 1], [100, 20], [1_000, 21])
    assert.isFalse(isMet(flat(rising, { metric: "bytes" })))
    const measured = flat(rising, { metric: "bytes", from: 100, note: "full by then" })
    assert.isTrue(isMet(measured))
    assert.strictEqual(measured.note, "at 1,000 against at 100; full by then")
    assert.throws(() => flat(rising, { metric: "bytes", from: 1_000 }), /1 points/)
  })
})

describe("a line that must be linear", () => {
  it("is judged by its exponent", () => {
    const power = (exponent: number) => [1, 10, 100, 1_000].map((x) => ({ x, y: 7 * x ** exponent }))
    for (const exponent of [0, 0.5, 1, 2]) assert.approximately(exponentOf(power(exponent)), exponent, 1e-9)
  })

  it("misses its goal where it is flat, and where it rises faster", () => {
    const of = (exponent: number) =>
      linear(line(...[10, 100, 1_000].map((x) => [x, 3 * x ** exponent, 5 * x ** exponent] as const)), {
        metric: "memory"
      })
    assert.approximately(of(0.9).value.median, 0.1, 1e-9)
    assert.strictEqual(of(0.9).note, "grows as the power 0.90")
    assert.deepStrictEqual([0, 0.7, 0.9, 1.1, 1.3].map((exponent) => isMet(of(exponent))), [
      false,
      false,
      true,
      true,
      false
    ])
  })
})
