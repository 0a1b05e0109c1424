/** Finds tests by the marks in their titles: `[case 12]`, `[predecessor 7]`, `[kind B]`. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** A test as its title names it. */
export interface TitledTest {
  /** From the root of the repository, with slashes. */
  readonly file: string
  /** Without its marks; what is put in when it runs is `…`. */
  readonly title: string
}

/** By mark, as in `case 12`; files and titles in order. */
export type TestsByMark = ReadonlyMap<string, ReadonlyArray<TitledTest>>

/** Tests, and the suites that tests of several packages run. */
const folders = [
  ...["core", "s3", "testing", "server"].map((name) => `packages/${name}/test`),
  "packages/testing/src"
]

const marks = /\s*\[(case \d+|predecessor \d+|kind [A-S])\]/g
/** A string literal of one line that holds a mark. */
const marked = /(["'`])((?:(?!\1)[^\\\n]|\\.)*\[(?:case \d+|predecessor \d+|kind [A-S])\](?:(?!\1)[^\\\n]|\\.)*)\1/g

/** A title as people read it: without marks, escapes and what is filled in. */
export const readable = (literal: string): string =>
  literal.replaceAll(marks, "").replaceAll(/\$\{[^}]*\}|%[sdifj]/g, "…").replaceAll(/…( …)+/g, "…").replaceAll(
    /\\(["'`])/g,
    "$1"
  )
    .replaceAll(/\s+/g, " ").trim()

const filesIn = (root: string, folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.includes("node_modules"))
    .map((path) => `${folder}/${path.replaceAll("\\", "/")}`)

/** Looks through the repository at `root`. */
export const findTests = (root: string): TestsByMark => {
  const found = new Map<string, Array<TitledTest>>()
  for (const file of folders.flatMap((folder) => filesIn(root, folder)).sort()) {
    for (const [, , literal = ""] of readFileSync(join(root, file), "utf8").matchAll(marked)) {
      for (const [, mark = ""] of literal.matchAll(marks)) {
        const tests = found.get(mark) ?? []
        tests.push({ file, title: readable(literal) })
        found.set(mark, tests)
      }
    }
  }
  return found
}
