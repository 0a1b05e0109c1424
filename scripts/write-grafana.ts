/** Writes `deploy/grafana/effect-wal.json` from the panels: `node scripts/write-grafana.ts`. */
import { writeFileSync } from "node:fs"
import { renderDashboard } from "./grafana/Dashboard.ts"

writeFileSync(new URL("../deploy/grafana/effect-wal.json", import.meta.url), renderDashboard())
