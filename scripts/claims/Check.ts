/** Whether what claims name is there, and does what they say of it. */
import type { BenchEvidence, Claim, ClaimSource, Evidence, TestEvidence } from "./Claim.ts"
import type { Known } from "./Known.ts"

/** Files that `vitest run` runs, and suites that such files run. */
const runs = [
  /^packages\/(core|s3|testing|server)\/test\/.+\.test\.ts$/,
  /^(bench|reference|examples)\/test\/.+\.test\.ts$/,
  /^scripts\/[^/]+\.test\.ts$/,
  /^packages\/testing\/src\/(walsuite|suite|fuzz)\/.+\.ts$/
]

/** Needs a real S3 server: `npm test` says so where it leaves these out. */
export const needsServer = (file: string): boolean => file.endsWith(".integration.test.ts")

/** What the file needs may not be there: then a suite in its place is skipped, which has the same title. */
export const mayBeLeftOut = (file: string, known: Known): boolean => {
  const titles = known.titlesOf(file)
  return needsServer(file) ||
    titles.some(({ skipped, title }) => skipped && titles.some((one) => one.title === title && !one.skipped))
}

const testProblem = ({ file, title }: TestEvidence, known: Known): string | undefined => {
  if (known.textOf(file) === undefined) return "there is no such file"
  if (!runs.some((pattern) => pattern.test(file))) return "no test run takes this file"
  const found = known.titlesOf(file).filter((one) => one.title === title)
  if (found.length === 0) return `there is no test ${JSON.stringify(title)}`
  if (found.every(({ skipped }) => skipped)) return `${JSON.stringify(title)} is skipped`
  const leftOut = /\bdescribe(?:\.[a-zA-Z]+)*\.(?:skip|todo)\b/.test(known.textOf(file) ?? "")
  return leftOut && !mayBeLeftOut(file, known) ? "a part of this file is skipped" : undefined
}

/** The line of a benchmark that is kept. */
export const lineFor = ({ bench, metric }: BenchEvidence, { lines }: Known) =>
  lines.find((line) => line.bench === bench && line.metric === metric)

const benchProblem = (evidence: BenchEvidence, claim: Claim, known: Known): string | undefined => {
  const { bench, metric } = evidence
  if (!known.benches.has(bench)) return `there is no benchmark ${bench}`
  if (!known.lines.some((line) => line.bench === bench)) return undefined
  const line = lineFor(evidence, known)
  if (line === undefined) return `${bench} has not measured ${JSON.stringify(metric)}`
  return claim.verdict === "holds" && line.ok === false
    ? `${JSON.stringify(metric)} has missed its goal, and the claim says that it holds`
    : undefined
}

const evidenceProblem = (evidence: Evidence, claim: Claim, known: Known): string | undefined => {
  switch (evidence.kind) {
    case "test":
      return testProblem(evidence, known)
    case "bench":
      return benchProblem(evidence, claim, known)
    case "model":
      return known.modelRules.has(evidence.rule) ? undefined : `the model has no rule ${evidence.rule}`
    case "rule":
      return known.rules.has(evidence.name) ? undefined : `there is no rule ${JSON.stringify(evidence.name)}`
    case "mutation":
      return known.mutations.has(evidence.name) ? undefined : `there is no mutation ${JSON.stringify(evidence.name)}`
    case "command": {
      const [name = ""] = evidence.run.split(" ")
      if (!known.scripts.has(name)) return `package.json has no script ${name}`
      return known.textOf(evidence.file) === undefined ? `there is no ${evidence.file}` : undefined
    }
  }
}

const claimProblems = (claim: Claim, known: Known): ReadonlyArray<string> => {
  const problems = claim.evidence.flatMap((evidence) => {
    const problem = evidenceProblem(evidence, claim, known)
    return problem === undefined ? [] : [evidence.kind === "test" ? `${evidence.file}: ${problem}` : problem]
  })
  if (claim.verdict !== "holds" && claim.why === "") problems.push("it does not hold, and nothing says why")
  if ((claim.verdict === "holds" || claim.verdict === "differs") && claim.evidence.length === 0) {
    problems.push("nothing shows it")
  }
  return problems.map((problem) => `${claim.says}: ${problem}`)
}

/** What is wrong with the claims, in words; nothing where all is well. */
export const claimsProblems = (sources: ReadonlyArray<ClaimSource>, known: Known): ReadonlyArray<string> =>
  sources.flatMap(({ sections, title }) =>
    sections.flatMap(({ claims, heading }) =>
      claims.flatMap((claim) => claimProblems(claim, known).map((problem) => `${title}, ${heading}: ${problem}`))
    )
  )
