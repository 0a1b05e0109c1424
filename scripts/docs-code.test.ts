/** TypeScript, YAML and JSON of every page: checked, and run where the page says that it runs. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { make as makeDouble } from "../packages/testing/src/HttpS3Double.ts"
import { type Module, modulesOf, ownLines, runProgram, typeFaults, writeModules } from "./docs/CodeBlocks.ts"
import { dataProblems } from "./docs/Configurations.ts"
import { readPages, root } from "./docs/Markdown.ts"
import { makeFolder, removeFolder } from "./docs/Workspace.ts"

const pages = readPages()
const modules = pages.flatMap(modulesOf)

/** The compiler, a program each, a run of Vitest: more than a usual test on a machine that does other things too. */
const hangMillis = 300_000

const folder = (all: ReadonlyArray<Module>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const made = makeFolder()
      writeModules(made, all)
      return made
    }),
    (made) => Effect.sync(() => removeFolder(made))
  )

/** A module with a fault, as a page could hold one. */
const faulty: Module = {
  block: { page: "a page", line: 7, language: "ts", marks: [], text: "" },
  file: "faulty.ts",
  text: `import { Wal } from "@effect-wal/core/Wal"\nWal.layer({ nodeId: "node-0" })\n`,
  lines: [7, 8],
  output: undefined
}

describe("code of the pages", () => {
  it.live("type-checks, block by block, and a fault is told with its page and line", () =>
    Effect.gen(function*() {
      assert.isAbove(modules.length, 12)
      const all = [...modules, faulty]
      const made = yield* folder(all)
      const faults = yield* Effect.promise(() => typeFaults(made, all))
      assert.strictEqual(faults.filter((fault) => fault.startsWith("a page:8:")).length, 1)
      assert.deepStrictEqual(faults.filter((fault) => !fault.startsWith("a page:")), [])
    }), hangMillis)

  it.live("does what the page says where it is a program", () =>
    Effect.gen(function*() {
      const programs = modules.filter(({ block }) => block.marks.includes("run"))
      assert.isAbove(programs.length, 1)
      const made = yield* folder(programs)
      const { s3Options: { bucket, credentials, endpoint, region } } = yield* makeDouble()
      const env = {
        PATH: process.env["PATH"],
        S3_ENDPOINT: endpoint,
        S3_BUCKET: bucket,
        AWS_REGION: region,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: Redacted.value(credentials.secretAccessKey)
      }
      for (const { block, file, output } of programs) {
        const ran = yield* Effect.promise(() => runProgram(process.execPath, [join(made, file)], { cwd: made, env }))
        assert.strictEqual(ran.code, 0, `${block.page}:${block.line}\n${ran.stdout}${ran.stderr}`)
        if (output !== undefined) assert.deepStrictEqual(ownLines(ran.stdout), output.trimEnd().split("\n"), block.page)
      }
    }), hangMillis)

  it.live("passes where it is a test", () =>
    Effect.gen(function*() {
      const tests = modules.filter(({ block }) => block.marks.includes("test"))
      assert.isAbove(tests.length, 1)
      const made = yield* folder(tests)
      const vitest = join(root, "node_modules/vitest/vitest.mjs")
      const args = [vitest, "run", "--root", made, "--reporter=json", "--outputFile=report.json"]
      const ran = yield* Effect.promise(() =>
        runProgram(process.execPath, args, { cwd: made, env: { PATH: process.env["PATH"] } })
      )
      assert.strictEqual(ran.code, 0, `${ran.stdout}${ran.stderr}`)
      const report = readFileSync(join(made, "report.json"), "utf8")
      assert.include(report, `"numPassedTests":${tests.length},`)
    }), hangMillis)

  it.effect("is a configuration that passes its check where it is YAML, and JSON where it says so", () =>
    Effect.gen(function*() {
      const blocks = pages.flatMap((page) => page.blocks)
      assert.isAbove(blocks.filter(({ language }) => language === "yaml").length, 4)
      const problems = yield* Effect.forEach(blocks, dataProblems)
      assert.deepStrictEqual(problems.flat(), [])
    }))

  it.effect("a configuration with a fault does not pass", () =>
    Effect.gen(function*() {
      const block = {
        page: "a page",
        line: 3,
        language: "yaml",
        marks: [],
        text: "streams:\n  - id: a\n    durabilty: {}\n"
      }
      assert.isNotEmpty(yield* dataProblems(block))
      assert.isNotEmpty(yield* dataProblems({ ...block, language: "json" }))
    }))

  it("is in a language that these tests know", () => {
    const known = ["ts", "sh", "yaml", "json", "text"]
    const others = pages.flatMap((page) => page.blocks.filter(({ language }) => !known.includes(language)))
    assert.deepStrictEqual(others.map(({ language, line, page }) => `${page}:${line}: ${language}`), [])
  })
})
