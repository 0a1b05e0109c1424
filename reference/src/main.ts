/**
 * `pnpm reference` writes the reference as HTML to `reference/dist/html`; `--index` writes `docs/api.md` instead; `--check`
 * writes nothing. Problems are printed, and end with status 1.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./Packages.ts"
import { readReference } from "./Reference.ts"
import { renderIndex } from "./Summary.ts"

const known = ["--index", "--check"]
const flags = process.argv.slice(2)
const unknown = flags.filter((flag) => !known.includes(flag))
if (unknown.length > 0) {
  process.stderr.write(`unknown: ${unknown.join(", ")}; usage: pnpm reference [--index | --check]\n`)
  process.exitCode = 2
} else {
  process.stderr.write("reading the packages, some twenty seconds\n")
  const { app, problems: problemsOf, project } = await readReference()
  const problems = problemsOf()
  if (flags.includes("--index")) {
    writeFileSync(join(root, "docs/api.md"), renderIndex(project))
  } else if (!flags.includes("--check")) {
    await app.generateDocs(project, join(root, "reference/dist/html"))
    process.stdout.write("reference/dist/html/index.html\n")
  }
  process.stdout.write(problems.length === 0 ? "every export has its words\n" : `${problems.join("\n")}\n`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
