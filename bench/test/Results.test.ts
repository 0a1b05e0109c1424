/** What is kept of a run, and how it comes into the documentation. */
import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { benches } from "../src/Benches.ts"
import { type BenchLine, lineOf } from "../src/Line.ts"
import { benchesIn, withResults } from "../src/PerformanceDocs.ts"
import { keepResults, readResults } from "../src/Results.ts"

const root = join(import.meta.dirname, "../..")
const machine = { date: "2026-01-01", node: "v24", processor: "one", cores: 2, memoryGigabytes: 8 }

const line = (bench: string, value: number): BenchLine =>
  lineOf(bench, {
    metric: "speed",
    value: { median: value, low: value, high: value, rounds: 5 },
    unit: "x",
    better: "higher",
    goal: 2
  })

describe("results", () => {
  it("of benchmarks that were not run stay as they are", () => {
    const folder = mkdtempSync(join(tmpdir(), "effect-wal-results-"))
    try {
      const order = ["a", "b", "c"]
      keepResults(folder, order, { machines: { c: machine, a: machine }, lines: [line("c", 1), line("a", 1)] })
      const later = { ...machine, date: "2026-02-02" }
      keepResults(folder, order, { machines: { b: later, a: later }, lines: [line("b", 2), line("a", 2)] })
      const { lines, machines } = readResults(folder)
      assert.deepStrictEqual(lines, [line("a", 2), line("b", 2), line("c", 1)])
      assert.deepStrictEqual(machines, { a: later, b: later, c: machine })
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("come into the text between the marks, and nothing else does", () => {
    const text = "before\n<!-- bench a -->\nold\n<!-- end -->\nbetween\n<!-- bench b -->\n<!-- end -->\n"
    const written = withResults(text, { machines: { a: machine }, lines: [line("a", 3), line("b", 9)] })
    assert.include(written, "| speed | 3.00 x | 3.00 – 3.00 | ≥ 2.00 | met |  |\n")
    assert.match(written, /^before\n[\s\S]*between\n<!-- bench b -->\n\nNot measured yet.\n\n<!-- end -->\n$/)
    assert.notInclude(written, "old")
    assert.strictEqual(withResults(written, { machines: { a: machine }, lines: [line("a", 3)] }), written)
  })
})

describe("docs/performance.md", () => {
  const text = readFileSync(join(root, "docs/performance.md"), "utf8")

  it("has the results that are kept", () => {
    assert.strictEqual(text, withResults(text, readResults(join(root, "bench/results"))))
  })

  it("has a place for every benchmark", () => {
    assert.sameMembers([...benchesIn(text)], benches.map(({ name }) => name))
  })
})
