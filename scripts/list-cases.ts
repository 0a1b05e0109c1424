/**
 * Lists the tests by the known fault that each of them holds: `[case 12]`, `[predecessor 7]`, `[kind B]` in its title.
 * `node scripts/list-cases.ts` prints the counts and fails where a number or a letter has no test; with `--write` it
 * also writes `docs/cases.md`.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { missingMarks, renderCases, requiredMarks } from "./cases/CaseDocs.ts"
import { findTests } from "./cases/FindTests.ts"

const root = join(import.meta.dirname, "..")
const tests = findTests(root)
if (process.argv.includes("--write")) writeFileSync(join(root, "docs", "cases.md"), renderCases(tests))
for (const mark of requiredMarks) {
  const found = tests.get(mark) ?? []
  process.stdout.write(`${mark}: ${found.length}\n${found.map(({ file, title }) => `  ${file}: ${title}\n`).join("")}`)
}
const missing = missingMarks(tests)
process.stdout.write(missing.length === 0 ? "no number without a test\n" : `without a test: ${missing.join(", ")}\n`)
process.exitCode = missing.length === 0 ? 0 : 1
