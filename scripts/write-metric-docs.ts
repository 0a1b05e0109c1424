/** Writes `docs/metrics.md` from the metric definitions: `node scripts/write-metric-docs.ts`. */
import { writeFileSync } from "node:fs"
import { renderMetricDocs } from "../packages/server/src/observe/MetricDocs.ts"

writeFileSync(new URL("../docs/metrics.md", import.meta.url), renderMetricDocs())
