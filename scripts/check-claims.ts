/**
 * `node scripts/check-claims.ts REPORT`: whether every test that `docs/claims.md` names has run and passed. `REPORT` is what
 * `vitest run --reporter=json --outputFile=REPORT` writes. Status 1 where one has not; without a real S3 server its tests
 * have not.
 */
import { readFileSync } from "node:fs"
import { claims } from "./claims/Claims.ts"
import { notPassed, type RunReport } from "./claims/Ran.ts"

const [path] = process.argv.slice(2)
if (path === undefined) {
  process.stderr.write("usage: node scripts/check-claims.ts REPORT, the file that vitest run --reporter=json writes\n")
  process.exitCode = 2
} else {
  const report: RunReport = JSON.parse(readFileSync(path, "utf8"))
  const problems = notPassed(claims, report)
  process.stdout.write(problems.length === 0 ? "every test of docs/claims.md has passed\n" : `${problems.join("\n")}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
