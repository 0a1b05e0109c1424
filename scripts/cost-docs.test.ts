import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { renderCostDocs } from "./CostDocs.ts"

describe("docs/cost.md", () => {
  it.effect("is what scripts/write-cost-docs.ts writes", () =>
    Effect.gen(function*() {
      const written = readFileSync(new URL("../docs/cost.md", import.meta.url), "utf8")
      assert.strictEqual(written, yield* renderCostDocs)
    }))

  it.effect("has the corrected numbers of the source document beside its own", () =>
    Effect.gen(function*() {
      const text = yield* renderCostDocs
      for (const number of ["36,000", "$129.60", "$16.20", "25.9 TB", "$596.16", "$741.96", "$7.71"]) {
        assert.include(text, number)
      }
    }))
})
