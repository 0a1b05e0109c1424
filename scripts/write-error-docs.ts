/** Writes `docs/errors.md`. Run it after a change of an error table: `node scripts/write-error-docs.ts`. */
import { writeFileSync } from "node:fs"
import { errorDocs } from "../packages/server/src/ErrorDocs.ts"

writeFileSync(new URL("../docs/errors.md", import.meta.url), errorDocs())
