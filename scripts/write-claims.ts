/** Writes `docs/claims.md` from `scripts/claims`: `node scripts/write-claims.ts`. Says what is wrong with a claim, status 1. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { claimsProblems } from "./claims/Check.ts"
import { claims } from "./claims/Claims.ts"
import { knownIn } from "./claims/Known.ts"
import { renderClaims } from "./claims/Render.ts"

const root = join(import.meta.dirname, "..")
const known = knownIn(root)
const problems = claimsProblems(claims, known)
writeFileSync(join(root, "docs", "claims.md"), renderClaims(claims, known))
process.stdout.write(problems.length === 0 ? "every claim names what is there\n" : `${problems.join("\n")}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
