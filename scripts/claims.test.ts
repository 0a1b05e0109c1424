import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { claimsProblems } from "./claims/Check.ts"
import { type Claim, differs, holds, model, rule, section, test } from "./claims/Claim.ts"
import { claims } from "./claims/Claims.ts"
import { type Known, knownIn } from "./claims/Known.ts"
import { headingsIn, linksIn, numbersIn } from "./claims/Numbers.ts"
import { notPassed } from "./claims/Ran.ts"
import { renderClaims } from "./claims/Render.ts"
import { titlesIn } from "./claims/Titles.ts"

const root = join(import.meta.dirname, "..")
const known = knownIn(root)
const read = (path: string) => readFileSync(join(root, path), "utf8")
const sourceOf = (title: string) => claims.find((source) => source.title === title) ?? assert.fail(title)

describe("docs/claims.md", () => {
  it("is what scripts/write-claims.ts writes", () => {
    assert.strictEqual(read("docs/claims.md"), renderClaims(claims, known), "run node scripts/write-claims.ts")
  })

  it("names only what is there: tests that run, measurements, rules, mutations, commands", () => {
    assert.deepStrictEqual(claimsProblems(claims, known), [])
  })

  it("has no link that leads nowhere", () => {
    const missing = linksIn(read("docs/claims.md")).filter((target) =>
      !existsSync(join(root, "docs", target.split("#")[0] ?? ""))
    )
    assert.deepStrictEqual(missing, [])
  })

  it("has an entry for each heading of README.md", () => {
    assert.deepStrictEqual(sourceOf("README.md").sections.map(({ heading }) => heading), headingsIn(read("README.md")))
  })

  it("has an entry for each number with a unit in README.md", () => {
    const text = sourceOf("README.md").sections.flatMap(({ claims: entries }) => entries).map(({ says, why }) =>
      `${says} ${why}`
    )
    assert.deepStrictEqual(numbersIn(read("README.md")).filter((one) => !text.some((part) => part.includes(one))), [])
  })

  it("has an entry for each page in docs", () => {
    const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md")).map((name) => `docs/${name.replaceAll("\\", "/")}`)
    const entries = sourceOf("Pages of docs").sections.map(({ heading }) => heading)
    assert.deepStrictEqual(entries.toSorted(), pages.toSorted())
  })
})

describe("titles of tests", () => {
  it("are found in every form, with what is skipped", () => {
    const text = [
      "describe(\"a suite\", () => {",
      "  it.effect(`${name}: done [case 3]`, () => {})",
      "  it.live.each([[\"a)\", 1], [\"b\", 2]] as const)(\n    \"[kind B] %s is %j\", () => {})",
      "  it.skip(\"left out\", () => {})",
      "  it.todo(\"to come\")",
      "  test.skipIf(process.platform !== \"linux\")(\"on Linux\", () => {})",
      "  it(name, () => {})",
      "  emit(\"not a test\")"
    ].join("\n")
    assert.deepStrictEqual(titlesIn(text), [
      { title: "a suite", skipped: false },
      { title: "…: done", skipped: false },
      { title: "… is …", skipped: false },
      { title: "left out", skipped: true },
      { title: "to come", skipped: true },
      { title: "on Linux", skipped: false }
    ])
  })
})

describe("a claim", () => {
  const file = "packages/core/test/a.test.ts"
  const texts: Readonly<Record<string, string>> = { [file]: "it(\"runs\", f)\nit.skip(\"sleeps\", f)" }
  const line = { unit: "x", better: "lower", goal: 1, floor: null, peer: null, low: 2, high: 2, rounds: 1 } as const
  const little: Known = {
    textOf: (path) => texts[path],
    titlesOf: (path) => titlesIn(texts[path] ?? ""),
    benches: new Set(["put", "ack"]),
    lines: [{ ...line, bench: "put", metric: "missed", value: 2, ok: false }],
    modelRules: new Set(["window"]),
    rules: new Set(["a rule"]),
    mutations: new Set(),
    scripts: new Set(["sim"])
  }
  const problems = (...entries: ReadonlyArray<Claim>) =>
    claimsProblems([{ title: "T", about: "", sections: [section("H", ...entries)] }], little)
  const bench = (name: string, metric: string) => ({ kind: "bench", bench: name, metric }) as const

  it("is fine where all that it names is there", () => {
    assert.deepStrictEqual(
      problems(
        holds("a", test(file, "runs"), model("window"), rule("a rule"), bench("ack", "not measured yet")),
        differs("b", "why", bench("put", "missed"), { kind: "command", run: "sim --walks 1", file })
      ),
      []
    )
  })

  it("is told where it names what is not there, is skipped, has missed its goal, or says nothing", () => {
    assert.deepStrictEqual(
      problems(
        holds("a", test(file, "walks"), test(file, "sleeps"), test("packages/core/test/b.test.ts", "runs")),
        holds("b", model("barrier"), rule("no rule"), { kind: "mutation", name: "none" }, bench("put", "missed")),
        holds("c", bench("put", "other"), bench("get", "a"), { kind: "command", run: "fuzz", file: "b" }),
        holds("d"),
        differs("e", "", test(file, "runs"))
      ).map((problem) => problem.replace("T, H: ", "")),
      [
        `a: ${file}: there is no test "walks"`,
        `a: ${file}: "sleeps" is skipped`,
        "a: packages/core/test/b.test.ts: there is no such file",
        "b: the model has no rule barrier",
        "b: there is no rule \"no rule\"",
        "b: there is no mutation \"none\"",
        "b: \"missed\" has missed its goal, and the claim says that it holds",
        "c: put has not measured \"other\"",
        "c: there is no benchmark get",
        "c: package.json has no script fuzz",
        "d: nothing shows it",
        "e: it does not hold, and nothing says why"
      ]
    )
  })

  it("has passed only where the report of a run says so", () => {
    const entries = [{
      title: "T",
      about: "",
      sections: [
        section("H", holds("a", test(file, "…: done"), test(file, "never"), test(file, "broken"), test(file, "asleep")))
      ]
    }]
    const result = (title: string, status: string) => ({ ancestorTitles: ["all"], title, status })
    const report = {
      testResults: [{
        name: `/somewhere/${file}`,
        assertionResults: [
          result("seven (of 9): done [case 3]", "passed"),
          result("broken", "failed"),
          result("asleep", "skipped")
        ]
      }]
    }
    assert.deepStrictEqual(notPassed(entries, report), [
      `${file}: never: did not run`,
      `${file}: broken: failed`,
      `${file}: asleep: did not run`
    ])
  })
})

describe("numbers and headings", () => {
  it("are found outside of code, and of what a script has written", () => {
    const text = [
      "# `a`",
      "It takes 5 ms, 10,000 records, 2.5 GB or $3.20; port 8180, version 4.1.",
      "```sh\n# 7 ms\n```",
      "<!-- table: written by scripts/a.ts -->\n\n| 8 ms |\n\n<!-- end -->",
      "## b"
    ].join("\n\n")
    assert.deepStrictEqual(numbersIn(text), ["5 ms", "10,000 records", "2.5 GB", "$3.20"])
    assert.deepStrictEqual(headingsIn(text), ["a", "b"])
  })
})
