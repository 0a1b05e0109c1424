/** Writes `docs/cost.md` from the models of cost and loss: `node scripts/write-cost-docs.ts`. */
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { renderCostDocs } from "./CostDocs.ts"

writeFileSync(new URL("../docs/cost.md", import.meta.url), Effect.runSync(renderCostDocs))
