/** What there is in the repository for a claim to name. */
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { BenchLine } from "../../bench/src/Line.ts"
import { benchesIn } from "../../bench/src/PerformanceDocs.ts"
import { readResults } from "../../bench/src/Results.ts"
import { ruleNames } from "../../packages/testing/src/model/Rules.ts"
import { rules } from "../rules.ts"
import { mutations } from "../sim/Mutations.ts"
import { type FoundTitle, titlesIn } from "./Titles.ts"

export interface Known {
  /** The text of a file of the repository, by its path from the root; undefined where there is none. */
  readonly textOf: (path: string) => string | undefined
  /** The tests of a file; none where there is no such file. */
  readonly titlesOf: (path: string) => ReadonlyArray<FoundTitle>
  /** Every benchmark, measured or not. */
  readonly benches: ReadonlySet<string>
  /** What is kept of the last runs; benchmarks that were not measured yet have no line. */
  readonly lines: ReadonlyArray<BenchLine>
  readonly modelRules: ReadonlySet<string>
  readonly rules: ReadonlySet<string>
  readonly mutations: ReadonlySet<string>
  /** The scripts of `package.json`. */
  readonly scripts: ReadonlySet<string>
}

const namesOf = (named: ReadonlyArray<{ readonly name: string }>): ReadonlySet<string> =>
  new Set(named.map(({ name }) => name))

/** The names of the scripts in the text of a `package.json`. */
const scriptsIn = (text: string): ReadonlySet<string> => {
  const content: { readonly scripts?: Readonly<Record<string, string>> } = JSON.parse(text)
  return new Set(Object.keys(content.scripts ?? {}))
}

/** What the repository at `root` has. */
export const knownIn = (root: string): Known => {
  const titles = new Map<string, ReadonlyArray<FoundTitle>>()
  const textOf = (path: string) => {
    const file = join(root, path)
    return existsSync(file) ? readFileSync(file, "utf8") : undefined
  }
  const titlesOf = (path: string) => {
    const found = titles.get(path) ?? titlesIn(textOf(path) ?? "")
    titles.set(path, found)
    return found
  }
  return {
    textOf,
    titlesOf,
    benches: new Set(benchesIn(textOf("docs/performance.md") ?? "")),
    lines: readResults(join(root, "bench/results")).lines,
    modelRules: new Set(ruleNames),
    rules: namesOf(rules),
    mutations: namesOf(mutations),
    scripts: scriptsIn(textOf("package.json") ?? "{}")
  }
}
