import { assert, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { missingMarks, renderCases } from "./cases/CaseDocs.ts"
import { cases } from "./cases/Cases.ts"
import { findTests } from "./cases/FindTests.ts"
import { kinds } from "./cases/Kinds.ts"
import { predecessor } from "./cases/Predecessor.ts"

const root = join(import.meta.dirname, "..")
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe("docs/cases.md", () => {
  it("is what scripts/list-cases.ts --write writes", () => {
    const written = readFileSync(join(root, "docs", "cases.md"), "utf8")
    assert.strictEqual(written, renderCases(findTests(root)), "run node scripts/list-cases.ts --write")
  })

  it("has every number and every letter, each with a test", () => {
    assert.deepStrictEqual(cases.map(({ number }) => number), upTo(27))
    assert.deepStrictEqual(predecessor.map(({ number }) => number), upTo(35))
    assert.strictEqual(kinds.map(({ letter }) => letter).join(""), "ABCDEFGHIJKLMNOPQRS")
    assert.deepStrictEqual(kinds.flatMap((kind) => kind.cases).toSorted((left, right) => left - right), upTo(27))
    assert.deepStrictEqual(missingMarks(findTests(root)), [])
  })

  it("finds titles of every form, and nothing in comments", () => {
    const folder = mkdtempSync(join(tmpdir(), "effect-wal-cases-"))
    for (const name of ["core", "s3", "testing", "server"]) {
      mkdirSync(join(folder, "packages", name, "test"), { recursive: true })
    }
    mkdirSync(join(folder, "packages", "testing", "src"), { recursive: true })
    const text = [
      "// [case 1] is told here, it is no test",
      "it(\"[case 2] plain\", () => {})",
      "it.effect(`${name}: with \\`marks\\` at its end [case 3] [predecessor 3]`, () => {})",
      "it.each([1])(\"[kind B] %s of \\\"them\\\"\", () => {})"
    ]
    writeFileSync(join(folder, "packages", "core", "test", "a.test.ts"), text.join("\n"))
    const found = findTests(folder)
    rmSync(folder, { recursive: true })
    const file = "packages/core/test/a.test.ts"
    assert.deepStrictEqual(Object.fromEntries(found), {
      "case 2": [{ file, title: "plain" }],
      "case 3": [{ file, title: "…: with `marks` at its end" }],
      "predecessor 3": [{ file, title: "…: with `marks` at its end" }],
      "kind B": [{ file, title: "… of \"them\"" }]
    })
  })
})
