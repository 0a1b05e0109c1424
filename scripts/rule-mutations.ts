/**
 * `node scripts/rule-mutations.ts [--first] [part of a name, ...]`: takes one rule of the protocol out at a time, in a copy of
 * the tree, and runs the tests of the protocol there. Prints one line of JSON a rule: `{ rule, failed, tests }`; exit status
 * 1 if a rule is missed by all tests. `--first` stops each run at the first test that fails: much faster, and enough to see
 * that a rule is noticed.
 */
import { spawnSync } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import { basename, join } from "node:path"
import { applyEdits, copyTree } from "./CopiedTree.ts"
import { type Rule, rules } from "./rules.ts"

const root = join(import.meta.dirname, "..")
/** The tests of the protocol. */
const folders = ["epoch/", "format/", "manifest/", "retain/", "scenarios/", "write/"]
/** Longest run of the tests of one rule, and the status of `timeout` when it was longer. */
const runSeconds = 240
const timedOut = 124
const onlyFirst = process.argv.includes("--first")

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly message: string
    readonly name: string
    readonly assertionResults: ReadonlyArray<{ readonly status: string; readonly fullName: string }>
  }>
}

const failedTests = (copy: string, tests: ReadonlyArray<string> = folders): ReadonlyArray<string> => {
  const output = join(copy, "rules-report.json")
  rmSync(output, { force: true })
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs")
  const paths = tests.map((path) => `packages/core/test/${path}`)
  // Without a rule a loop may not end: the run and all its workers are killed then.
  const run = spawnSync(
    "timeout",
    [
      "--kill-after=10",
      String(runSeconds),
      process.execPath,
      vitest,
      "run",
      "--project",
      "core",
      "--reporter=json",
      `--outputFile=${output}`,
      ...onlyFirst ? ["--bail=1"] : [],
      ...paths
    ],
    { cwd: copy, encoding: "utf8" }
  )
  if (run.error !== undefined) throw run.error
  if (run.status === timedOut || run.signal !== null) return ["the tests did not end"]
  const report: Report = JSON.parse(readFileSync(output, "utf8"))
  // A file that does not load has a message and no results: an edit that breaks the source shows nothing about tests.
  const broken = report.testResults.find((file) => file.assertionResults.length === 0 && file.message !== "")
  if (broken !== undefined) throw new Error(`${basename(broken.name)} does not load: ${broken.message}`)
  return report.testResults.flatMap((file) =>
    file.assertionResults.filter((test) => test.status === "failed").map((test) => test.fullName)
  )
}

/** The tests that fail without the rule; the copy is as before afterwards. */
const withoutRule = (copy: string, { edits, tests }: Rule): ReadonlyArray<string> => {
  const restore = applyEdits(copy, edits)
  const failed = failedTests(copy, tests)
  restore()
  return failed
}

const parts = process.argv.slice(2).filter((argument) => !argument.startsWith("--"))
const chosen = rules.filter(({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)))
const copy = copyTree(root)
const print = (rule: string, tests: ReadonlyArray<string>) =>
  process.stdout.write(`${JSON.stringify({ rule, failed: tests.length, tests: tests.slice(0, 5) })}\n`)
process.on("exit", () => rmSync(copy, { recursive: true, force: true }))

const whole = failedTests(copy, [...new Set(chosen.flatMap(({ tests }) => tests ?? folders))])
print("all rules in force", whole)
let missed = 0
for (const rule of chosen) {
  const failed = withoutRule(copy, rule)
  print(rule.name, failed)
  if (failed.length === 0) missed++
}
process.exitCode = whole.length === 0 && missed === 0 ? 0 : 1
