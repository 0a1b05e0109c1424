/** Whether the tests that claims name have run and passed, by what Vitest reports of a run. */
import { readable } from "../cases/FindTests.ts"
import type { ClaimSource, TestEvidence } from "./Claim.ts"

/** What this reads of Vitest's JSON report. */
export interface RunReport {
  readonly testResults: ReadonlyArray<{
    /** The path of the file. */
    readonly name: string
    readonly assertionResults: ReadonlyArray<{
      readonly ancestorTitles: ReadonlyArray<string>
      readonly title: string
      readonly status: string
    }>
  }>
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)

/** A title as it runs: what is filled in can be anything. */
const filledIn = (title: string): RegExp => new RegExp(`^${title.split(/…|\$\w+/).map(escaped).join("[^]*")}$`)

const testsIn = (sources: ReadonlyArray<ClaimSource>): ReadonlyArray<TestEvidence> =>
  sources.flatMap(({ sections }) => sections).flatMap(({ claims }) => claims).flatMap(({ evidence }) => evidence)
    .filter((one) => one.kind === "test")

/** Named tests that did not run, or did not pass, each once, in words. A suite counts where it ran at least once. */
export const notPassed = (sources: ReadonlyArray<ClaimSource>, report: RunReport): ReadonlyArray<string> => {
  const results = report.testResults.flatMap(({ assertionResults, name }) =>
    assertionResults.map(({ ancestorTitles, status, title }) => ({
      file: name.replaceAll("\\", "/"),
      titles: [title, ...ancestorTitles].map(readable),
      status
    }))
  )
  const problems = testsIn(sources).flatMap(({ file, title }) => {
    const pattern = filledIn(title)
    const own = file.endsWith(".test.ts")
    const found = results.filter((one) =>
      (!own || one.file.endsWith(`/${file}`)) && one.titles.some((text) => pattern.test(text))
    )
    const failed = found.filter(({ status }) => status === "failed")
    if (failed.length > 0) return [`${file}: ${title}: failed`]
    return found.some(({ status }) => status === "passed") ? [] : [`${file}: ${title}: did not run`]
  })
  return [...new Set(problems)]
}
