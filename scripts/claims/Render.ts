/** `docs/claims.md`, written from the claims. */
import { relative } from "node:path"
import { cellsOf, heads, shown } from "../../bench/src/Table.ts"
import { code } from "../cases/CaseDocs.ts"
import { lineFor, mayBeLeftOut, needsServer } from "./Check.ts"
import type { BenchEvidence, Claim, ClaimSource, Evidence, TestEvidence, Verdict } from "./Claim.ts"
import type { Known } from "./Known.ts"

const words: Readonly<Record<Verdict, string>> = {
  holds: "Holds",
  differs: "Differs",
  fails: "Does not hold",
  unproven: "Not tried here"
}

const verdicts: ReadonlyArray<Verdict> = ["holds", "differs", "fails", "unproven"]

/** A link from `docs/` to a file of the repository. */
const link = (text: string, file: string): string => `[${text}](${relative("docs", file)})`

const needsOf = (file: string, known: Known): string => {
  if (needsServer(file)) return " (needs a real S3 server)"
  return mayBeLeftOut(file, known) ? " (left out where what it needs is missing)" : ""
}

const testText = ({ file, title }: TestEvidence, known: Known): string => {
  const many = file.startsWith("packages/testing/src/") ? " (each backend runs it)" : ""
  const name = file.replace(/^packages\//, "").replace(/(\.test)?\.ts$/, "")
  return `${link(name, file)}: ${code(title)}${needsOf(file, known)}${many}`
}

const benchText = (evidence: BenchEvidence, known: Known): string => {
  const line = lineFor(evidence, known)
  const place = link(`pnpm bench ${evidence.bench}`, "docs/performance.md")
  if (line === undefined) return `${place}: ${evidence.metric}, not measured yet`
  const sign = line.better === "higher" ? "≥" : "≤"
  const goal = line.goal === null ? "" : ` (goal ${sign} ${shown(line.goal)}, ${line.ok === true ? "met" : "missed"})`
  return `${place}: ${evidence.metric}: ${`${shown(line.value)} ${line.unit}`.trim()}${goal}`
}

const evidenceText = (evidence: Evidence, known: Known): string => {
  switch (evidence.kind) {
    case "test":
      return testText(evidence, known)
    case "bench":
      return benchText(evidence, known)
    case "model":
      return `${link("pnpm model", "docs/model.md")}: without ${code(evidence.rule)} a promise is broken`
    case "rule":
      return `${link("scripts/rule-mutations", "scripts/rules.ts")}: tests notice when it is taken out: ${
        code(evidence.name)
      }`
    case "mutation":
      return `${link("pnpm sim --mutations", "scripts/sim/Mutations.ts")}: walks notice: ${code(evidence.name)}`
    case "command":
      return link(`pnpm ${evidence.run}`, evidence.file)
  }
}

const claimText = (claim: Claim, known: Known): string => {
  const why = claim.why === "" ? "" : ` ${claim.verdict === "differs" ? "Here: " : ""}${claim.why}`
  const evidence = claim.evidence.map((one) => `  - ${evidenceText(one, known)}`)
  return [`- **${words[claim.verdict]}.** ${claim.says}${why}`, ...evidence].join("\n")
}

const sourceText = ({ about, sections, title }: ClaimSource, known: Known): string =>
  [
    `## ${title}`,
    about,
    ...sections.flatMap(({ claims, heading }) => [
      `### ${heading}`,
      claims.map((claim) => claimText(claim, known)).join("\n")
    ])
  ].join("\n\n")

const row = (cells: ReadonlyArray<string>): string => `| ${cells.join(" | ")} |`

const countsTable = (sources: ReadonlyArray<ClaimSource>): string =>
  [
    ["", ...verdicts.map((verdict) => words[verdict].toLowerCase())],
    ["---", ...verdicts.map(() => "---")],
    ...sources.map(({ sections, title }) => {
      const all = sections.flatMap(({ claims }) => claims)
      return [title, ...verdicts.map((verdict) => String(all.filter((claim) => claim.verdict === verdict).length))]
    })
  ].map(row).join("\n")

/** Goals of benchmarks that were missed when they were measured last. */
const missedText = ({ lines }: Known): string => {
  const missed = lines.filter(({ ok }) => ok === false)
  const rows = missed.map((line) => row(cellsOf(line).slice(0, 5)))
  return [
    "## Goals that were missed",
    "Of all that the benchmarks have a goal for, when they were run last; " +
    `${link("docs/performance.md", "docs/performance.md")} says of each part why. Written from ` +
    `${link("bench/results/latest.jsonl", "bench/results/latest.jsonl")}.`,
    missed.length === 0
      ? "None."
      : [row(heads.slice(0, 5)), row(heads.slice(0, 5).map(() => "---")), ...rows].join("\n")
  ].join("\n\n")
}

const intro = `# Claims, and what holds them

Every claim of the two source documents, and every one of ours, with the test, the line of a benchmark, the rule of the model or
the change of the source that holds it. Written by \`node scripts/write-claims.ts\` from \`scripts/claims\`; a test checks that the
page is current, that each file, test, measurement, rule and mutation that it names is there and is not skipped, and that no
claim holds by a measurement that missed its goal. \`node scripts/check-claims.ts REPORT\` checks that each named test ran and
passed: \`REPORT\` is what \`vitest run --reporter=json --outputFile=REPORT\` writes.

**Holds**: as it is said. **Differs**: something else is true here; the text says what. **Does not hold**: it is not so.
**Not tried here**: nothing in this repository shows it; the text says why. In titles of tests, \`…\` stands for what is filled in
when they run.`

/** The page. */
export const renderClaims = (sources: ReadonlyArray<ClaimSource>, known: Known): string =>
  `${
    [intro, countsTable(sources), ...sources.map((source) => sourceText(source, known)), missedText(known)].join("\n\n")
  }\n`
