/** Writes `docs/cli.md` from the commands: `node scripts/write-cli-docs.ts`. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { renderCliDocs } from "../packages/server/src/cli/CliDocs.ts"

writeFileSync(new URL("../docs/cli.md", import.meta.url), await Effect.runPromise(renderCliDocs))
