import { assert, describe, it } from "@effect/vitest"
import { parseSource } from "../../src/config/YamlSource.ts"

const rules = (text: string) => parseSource(text).problems.map((problem) => `${problem.line ?? "-"}: ${problem.rule}`)

describe("YamlSource", () => {
  it("keeps the line of every place, also in JSON indented with tabs", () => {
    const yaml = parseSource("a:\n  b: 1\n  c:\n    - x\n    - y: 2\n")
    assert.deepStrictEqual(yaml.tree, { a: { b: 1, c: ["x", { y: 2 }] } })
    assert.strictEqual(yaml.lineOf(["a", "b"]), 2)
    assert.strictEqual(yaml.lineOf(["a", "c", 1, "y"]), 5)
    assert.strictEqual(yaml.lineOf(["a", "missing"]), 1)
    const json = parseSource("{\n\t\"a\": {\n\t\t\"b\": [1, true, null, \"x\"]\n\t}\n}\n")
    assert.deepStrictEqual(json.problems, [])
    assert.deepStrictEqual(json.tree, { a: { b: [1, true, null, "x"] } })
    assert.strictEqual(json.lineOf(["a", "b"]), 3)
  })

  it("[case 22] a doubled key is an error with its line, and the value is not shown", () => {
    const source = parseSource("a:\n  workers: 4\n  secret: x\n  workers: hunter2\n")
    assert.deepStrictEqual(source.problems, [
      { path: ["a", "workers"], rule: "is given twice; first in line 2", hidden: true, line: 4 }
    ])
    assert.deepStrictEqual(rules("{\"a\": 1,\n\"a\": 2}"), ["2: is given twice; first in line 1"])
  })

  it.each(["", "\n\n", "# only a comment\n", "---\n", "null\n", "\uFEFF"])("[case 22] empty file %j", (text) => {
    assert.deepStrictEqual(rules(text), ["-: is empty; give at least one stream"])
  })

  it("[case 22] a tab as indentation is named with its line", () => {
    assert.include(rules("a:\n\tb: 1\n").join(), "2: is not valid YAML: a tab cannot indent; use blanks")
  })

  it("a line has one problem: the first, or the tab that is the cause of the others", () => {
    const tab = "is not valid YAML: a tab cannot indent; use blanks"
    assert.deepStrictEqual(rules("a:\n  b:\n\t\tc: 1\n    d: 2\n"), [`3: ${tab}`])
    assert.deepStrictEqual(rules("a:\n\tb: 1\n\tc: 2\n"), [`2: ${tab}`, `3: ${tab}`])
    assert.deepStrictEqual(rules("a: }}}} ]]] : :\n"), ["1: is not valid YAML: something is left over here"])
  })

  it("a byte order mark is skipped, Windows line ends are taken", () => {
    assert.deepStrictEqual(parseSource("\uFEFFa: 1\r\nb: 2\r\n").tree, { a: 1, b: 2 })
  })

  it("more than one document is refused, with the line of the second", () => {
    assert.deepStrictEqual(rules("a: 1\n---\nb: 2\n"), ["2: has more than one document; keep one"])
  })

  it("anchors and merge keys work; own keys win, earlier blocks win", () => {
    const source = parseSource(
      "base: &b { x: 1, y: 1 }\nmore: &m { y: 2, z: 2 }\nall:\n  <<: [*b, *m]\n  x: 3\ncopy: *b\n"
    )
    assert.deepStrictEqual(source.problems, [])
    assert.deepStrictEqual(source.tree, {
      base: { x: 1, y: 1 },
      more: { y: 2, z: 2 },
      all: { x: 3, y: 1, z: 2 },
      copy: { x: 1, y: 1 }
    })
  })

  it("ten lines of aliases do not grow into gigabytes, and a loop ends", () => {
    const levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for (let level = 1; level < 10; level++) {
      levels.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`)
    }
    assert.include(rules(levels.join("\n")).join(), "more than 100 uses of aliases")
    assert.include(rules("a: &a [*a]").join(), "is nested deeper than")
  })

  it("deep nesting is refused, not a stack overflow", () => {
    assert.include(rules(`a: ${"[".repeat(200)}${"]".repeat(200)}`).join(), "is nested deeper than 64")
    assert.isAbove(rules("[".repeat(100_000)).length, 0)
    assert.include(rules("x".repeat(1_048_577)).join(), "is longer than 1048576 characters")
  })

  it("syntax errors have a line and never quote the file", () => {
    for (
      const text of ["a: [1, 2", "a: \"x", "a: !hunter2 x", "secret: @hunter2", "a: b: hunter2", "a: 1\n b: hunter2"]
    ) {
      const found = rules(text)
      assert.isAbove(found.length, 0, text)
      assert.match(found.join(), /^\d+: is not valid YAML/, text)
      assert.notInclude(found.join(), "hunter2", text)
    }
  })

  it("an alias without its anchor is an error with its line", () => {
    assert.deepStrictEqual(rules("a: 1\nkey: *hunter2\n"), [
      "2: is an alias without an anchor before it; text that starts with * needs quotes"
    ])
  })

  it("keys of the prototype are just unknown keys", () => {
    const { tree } = parseSource("__proto__: { polluted: true }\n")
    assert.isTrue(Object.hasOwn(tree as object, "__proto__"))
    assert.notProperty({}, "polluted")
  })
})
