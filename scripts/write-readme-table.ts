/**
 * Writes the table of `README.md` from `docs/performance.md`: `node scripts/write-readme-table.ts`, after a run of
 * `pnpm bench --save`. Format it afterwards: `node_modules/.bin/dprint fmt README.md`.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { withReadmeTable } from "./docs/ReadmeTable.ts"

const readme = new URL("../README.md", import.meta.url)
const performance = new URL("../docs/performance.md", import.meta.url)
writeFileSync(readme, withReadmeTable(readFileSync(readme, "utf8"), readFileSync(performance, "utf8")))
