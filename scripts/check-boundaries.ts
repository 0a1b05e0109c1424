/** `node scripts/check-boundaries.ts`: prints each broken import rule and machine path of the tree; exit status 1 if any. */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { importProblems, pathProblems } from "./boundaries.ts"

const root = join(import.meta.dirname, "..")

const read = (...patterns: ReadonlyArray<string>) =>
  new Map(
    globSync([...patterns], { cwd: root, exclude: ["**/node_modules/**", "**/dist/**"] })
      .map((file) => [file.replaceAll("\\", "/"), readFileSync(join(root, file), "utf8")] as const)
  )

const sources = read("packages/*/{src,test}/**/*.ts")
const texts = read("**/*.{ts,md,json,sh,yaml,yml}", ".ci/*", ".github/**/*.yml")
texts.delete("pnpm-lock.yaml")
texts.delete("scripts/boundaries.test.ts")

const problems = [...importProblems(sources), ...pathProblems(texts)]
for (const problem of problems) process.stderr.write(`${problem}\n`)
process.stdout.write(`boundaries: ${sources.size} source files, ${texts.size} texts, ${problems.length} problems\n`)
process.exitCode = problems.length === 0 ? 0 : 1
