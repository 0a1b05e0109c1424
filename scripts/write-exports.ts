/** Writes what each package publishes into its `package.json`: `node scripts/write-exports.ts`. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { packageNames, publishedExports } from "./packages/PublishedExports.ts"

const root = join(import.meta.dirname, "..")

for (const name of packageNames) {
  const file = join(root, "packages", name, "package.json")
  const manifest = JSON.parse(readFileSync(file, "utf8"))
  manifest.publishConfig.exports = publishedExports(root, name)
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
}
