/** What a plot shows. */
import { assert, describe, it } from "@effect/vitest"
import { type Curve, flat } from "../../src/growth/Curve.ts"
import { svgOf } from "../../src/growth/Plot.ts"

const measured = {
  name: "all <but> 10",
  points: [
    { x: 100, rounds: [4, 5, 6] },
    { x: 1_000, rounds: [5, 5, 7] },
    { x: 100_000, rounds: [50, 55, 60] }
  ]
}

const curve: Curve = {
  name: "recovery",
  title: "Recovery & more",
  x: { label: "segments" },
  y: { label: "time", unit: "ms" },
  lines: [measured, { name: "nothing", points: [{ x: 100, rounds: [0] }, { x: 100_000, rounds: [0] }] }],
  verdicts: [flat(measured, { metric: "recovery time" })]
}

const svg = svgOf(curve)
const all = (pattern: RegExp): ReadonlyArray<string> => [...svg.matchAll(pattern)].map(([, found]) => found ?? "")

describe("a plot", () => {
  it("has a title, axes with their units, a name for each line and what came of it", () => {
    const texts = all(/<text[^>]*>([^<]*)<\/text>/g)
    for (const text of ["Recovery &amp; more", "segments", "time, ms", "all &lt;but&gt; 10", "nothing"]) {
      assert.include(texts, text)
    }
    assert.include(texts, "recovery time: last point against first: 11.00 x, goal ≤ 1.50 ✗ missed")
    assert.include(svg, "<title>Recovery &amp; more</title>")
  })

  it("has both axes in decades, at least two of them", () => {
    const texts = all(/<text[^>]*class="(?:middle|end)"[^>]*>([^<]*)<\/text>/g)
    assert.deepStrictEqual(texts.slice(0, 4), ["100", "1k", "10k", "100k"])
    assert.deepStrictEqual(texts.slice(4, 7), ["1", "10", "100"])
  })

  it("puts each point at its place, and what has none at the end of the axis", () => {
    const places = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)])
    assert.strictEqual(places.length, 5)
    const [first, second, third, nothing] = places
    // Three decades to the right, one of them to the second point; upwards is less.
    assert.approximately(((second?.[0] ?? 0) - (first?.[0] ?? 0)) * 3, (third?.[0] ?? 0) - (first?.[0] ?? 0), 1)
    assert.strictEqual(first?.[1], second?.[1])
    assert.isBelow(third?.[1] ?? 0, first?.[1] ?? 0)
    assert.isAbove(nothing?.[1] ?? 0, first?.[1] ?? 0)
    assert.notInclude(svg, "NaN")
  })

  it("is readable on light and on dark, and the same each time", () => {
    assert.include(svg, "prefers-color-scheme: dark")
    assert.include(svg, "fill: currentColor")
    assert.strictEqual(svgOf(curve), svg)
  })
})
