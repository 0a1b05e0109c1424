/** Writes the version of the package into `packages/server/src/Version.ts`: `node scripts/write-version.ts`. */
import { readFileSync, writeFileSync } from "node:fs"

const server = new URL("../packages/server/", import.meta.url)
const { version } = JSON.parse(readFileSync(new URL("package.json", server), "utf8"))
const file = new URL("src/Version.ts", server)
writeFileSync(file, readFileSync(file, "utf8").replace(/version = ".*"/, `version = "${version}"`))
