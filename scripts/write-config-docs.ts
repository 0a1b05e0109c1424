/** Writes `docs/configuration.md` from the Schema of the configuration file: `node scripts/write-config-docs.ts`. */
import { writeFileSync } from "node:fs"
import { renderConfigDocs } from "../packages/server/src/config/ConfigDocs.ts"

writeFileSync(new URL("../docs/configuration.md", import.meta.url), renderConfigDocs())
