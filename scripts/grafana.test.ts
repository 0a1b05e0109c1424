import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { renderDashboard } from "./grafana/Dashboard.ts"
import { rows } from "./grafana/Panels.ts"

describe("deploy/grafana/effect-wal.json", () => {
  it("is what scripts/write-grafana.ts writes", () => {
    assert.strictEqual(
      readFileSync(new URL("../deploy/grafana/effect-wal.json", import.meta.url), "utf8"),
      renderDashboard()
    )
  })

  it("says of each panel what it shows, and names none twice", () => {
    const panels = rows.flatMap((row) => row.panels)
    for (const { description, title } of panels) assert.isAbove(description.length, 5, title)
    assert.strictEqual(new Set(panels.map(({ title }) => title)).size, panels.length)
  })
})
