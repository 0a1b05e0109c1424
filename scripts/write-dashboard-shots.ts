/**
 * `node scripts/write-dashboard-shots.ts [folder]`: takes the pictures of docs/dashboard.md, in some two minutes. Needs
 * chromium on the PATH.
 */
import { Effect } from "effect"
import { join } from "node:path"
import { takeShots } from "../packages/server/test/dashboard/Shots.ts"

await Effect.runPromise(takeShots(process.argv[2] ?? join(import.meta.dirname, "..", "docs", "dashboard")))
