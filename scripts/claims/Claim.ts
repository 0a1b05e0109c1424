/** What a page says of this log, whether it is so, and what in this repository shows it. */
import type { RuleName } from "../../packages/testing/src/model/Rules.ts"

/**
 * `holds`: as it is said. `differs`: something else is true here, `why` says what. `fails`: it is not so, and nothing stands
 * in its place. `unproven`: nothing in this repository tries it.
 */
export type Verdict = "holds" | "differs" | "fails" | "unproven"

/** A test, by its file and its title without marks; what is filled in when it runs is `…`. */
export interface TestEvidence {
  readonly kind: "test"
  /** From the root of the repository. */
  readonly file: string
  readonly title: string
}

/** A line of `bench/results/latest.jsonl`. */
export interface BenchEvidence {
  readonly kind: "bench"
  readonly bench: string
  readonly metric: string
}

/** A rule that breaks a promise of the model when it is dropped (`pnpm model --rule NAME`). */
export interface ModelEvidence {
  readonly kind: "model"
  readonly rule: RuleName
}

/** A change of the source that tests (`rule`) or walks (`mutation`) have to notice. */
export interface EditEvidence {
  readonly kind: "rule" | "mutation"
  readonly name: string
}

/** A command of `package.json`, and the file that it runs. */
export interface CommandEvidence {
  readonly kind: "command"
  /** As it follows `pnpm`. */
  readonly run: string
  readonly file: string
}

export type Evidence = TestEvidence | BenchEvidence | ModelEvidence | EditEvidence | CommandEvidence

export interface Claim {
  readonly verdict: Verdict
  /** The claim, with its numbers. */
  readonly says: string
  /** What is true instead, or what is left to say; required unless it holds. */
  readonly why: string
  readonly evidence: ReadonlyArray<Evidence>
}

/** What stands below one heading of a page. */
export interface ClaimSection {
  readonly heading: string
  readonly claims: ReadonlyArray<Claim>
}

/** A page, or a document, that claims something. */
export interface ClaimSource {
  readonly title: string
  readonly about: string
  /** Where the page is part of this repository: its path from the root. */
  readonly page?: string
  readonly sections: ReadonlyArray<ClaimSection>
}

export const holds = (says: string, ...evidence: ReadonlyArray<Evidence>): Claim => ({
  verdict: "holds",
  says,
  why: "",
  evidence
})

export const differs = (says: string, why: string, ...evidence: ReadonlyArray<Evidence>): Claim => ({
  verdict: "differs",
  says,
  why,
  evidence
})

export const fails = (says: string, why: string, ...evidence: ReadonlyArray<Evidence>): Claim => ({
  verdict: "fails",
  says,
  why,
  evidence
})

export const unproven = (says: string, why: string, ...evidence: ReadonlyArray<Evidence>): Claim => ({
  verdict: "unproven",
  says,
  why,
  evidence
})

export const test = (file: string, title: string): Evidence => ({ kind: "test", file, title })

/** Tests of a package, by the file below its `test` folder. */
export const core = (name: string, title: string): Evidence => test(`packages/core/test/${name}.test.ts`, title)
export const s3 = (name: string, title: string): Evidence => test(`packages/s3/test/${name}.test.ts`, title)
export const server = (name: string, title: string): Evidence => test(`packages/server/test/${name}.test.ts`, title)
export const testing = (name: string, title: string): Evidence => test(`packages/testing/test/${name}.test.ts`, title)
export const script = (name: string, title: string): Evidence => test(`scripts/${name}.test.ts`, title)

/** A test of the suite that every backend of the log runs: memory, directory, local disk, S3. */
export const suite = (name: string, title: string): Evidence =>
  test(`packages/testing/src/walsuite/${name}Tests.ts`, title)

export const bench = (name: string, metric: string): Evidence => ({ kind: "bench", bench: name, metric })
export const model = (rule: RuleName): Evidence => ({ kind: "model", rule })
export const rule = (name: string): Evidence => ({ kind: "rule", name })
export const mutation = (name: string): Evidence => ({ kind: "mutation", name })
export const command = (run: string, file: string): Evidence => ({ kind: "command", run, file })
export const acceptance = (name: string): Evidence => command(`acceptance ${name}`, `scripts/acceptance/${name}.ts`)

export const section = (heading: string, ...claims: ReadonlyArray<Claim>): ClaimSection => ({ heading, claims })
