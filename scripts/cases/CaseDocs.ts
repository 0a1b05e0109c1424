/** `docs/cases.md`: each known fault with what the log does about it, and the tests that hold it. */
import { cases } from "./Cases.ts"
import type { CaseText, KindText } from "./CaseText.ts"
import type { TestsByMark, TitledTest } from "./FindTests.ts"
import { kinds } from "./Kinds.ts"
import { predecessor } from "./Predecessor.ts"

/** Every mark that must have a test, in the order of the page. */
export const requiredMarks: ReadonlyArray<string> = [
  ...cases.map(({ number }) => `case ${number}`),
  ...kinds.map(({ letter }) => `kind ${letter}`),
  ...predecessor.map(({ number }) => `predecessor ${number}`)
]

/** Marks without a test. */
export const missingMarks = (tests: TestsByMark): ReadonlyArray<string> =>
  requiredMarks.filter((mark) => (tests.get(mark) ?? []).length === 0)

/** As code; text that holds a backtick needs a longer fence, and a blank where one stands at an end. */
export const code = (text: string): string => {
  if (!text.includes("`")) return `\`${text}\``
  const pad = text.startsWith("`") || text.endsWith("`") ? " " : ""
  return `\`\`${pad}${text}${pad}\`\``
}

const grouped = (tests: ReadonlyArray<TitledTest>): string => {
  const byFile = new Map<string, Set<string>>()
  for (const { file, title } of tests) byFile.set(file, (byFile.get(file) ?? new Set()).add(title))
  return [...byFile].map(([file, titles]) =>
    [`- ${code(file)}`, ...[...titles].map((title) => `  - ${code(title)}`)].join("\n")
  ).join("\n")
}

const section = (heading: string, text: Pick<CaseText, "risk" | "answer">, tests: ReadonlyArray<TitledTest>): string =>
  [`### ${heading}`, `**Can go wrong.** ${text.risk}`, `**The log.** ${text.answer}`, grouped(tests)].join("\n\n")

const kindOf = (number: number): string => kinds.find((kind) => kind.cases.includes(number))?.letter ?? ""

const kindSection = (kind: KindText, tests: TestsByMark): string =>
  section(
    `${kind.letter}. ${kind.title} (cases ${kind.cases.join(", ")})`,
    kind,
    tests.get(`kind ${kind.letter}`) ?? []
  )

/** The page. */
export const renderCases = (tests: TestsByMark): string =>
  [
    "# Known faults and the tests that hold them off",
    "Failures that other logs and stores have had, and what an earlier implementation of the same documents gets wrong. " +
    "Each has at least one test that fails when the fault comes back; the number stands in its title. This page is " +
    "written by `node scripts/list-cases.ts --write` from the titles and from `scripts/cases/`.",
    "## Reported failures",
    ...cases.map((one) =>
      section(`${one.number}. ${one.title} (kind ${kindOf(one.number)})`, one, tests.get(`case ${one.number}`) ?? [])
    ),
    "## Twins: the same kinds of fault in other places",
    ...kinds.map((kind) => kindSection(kind, tests)),
    "## What an earlier implementation gets wrong",
    ...predecessor.map((one) =>
      section(`${one.number}. ${one.title}`, one, tests.get(`predecessor ${one.number}`) ?? [])
    )
  ].join("\n\n") + "\n"
