/** The dashboard that is shipped for Grafana: each query parses, and asks for what a server has. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { hasPromtool, promtool, withPromtool } from "./Promtool.ts"
import { labelsOf, mistakesIn } from "./Queries.ts"

const Dashboard = Schema.Struct({
  panels: Schema.Array(Schema.Struct({
    id: Schema.Int,
    type: Schema.String,
    title: Schema.String,
    gridPos: Schema.Struct({ x: Schema.Int, y: Schema.Int, w: Schema.Int, h: Schema.Int }),
    targets: Schema.optionalKey(Schema.Array(Schema.Struct({ expr: Schema.String, legendFormat: Schema.String })))
  })),
  templating: Schema.Struct({
    list: Schema.Array(Schema.Struct({ name: Schema.String, definition: Schema.optionalKey(Schema.String) }))
  })
})

const text = readFileSync(new URL("../../../../deploy/grafana/effect-wal.json", import.meta.url), "utf8")
const { panels, templating } = Schema.decodeUnknownSync(Schema.fromJsonString(Dashboard))(text)
const targets = panels.flatMap((panel) => panel.targets ?? [])
const none = new Map<string, string>()

/** A query as Grafana sends it. */
const filled = (expr: string): string =>
  expr.replaceAll("$__rate_interval", "1m").replace(/\$(job|instance|stream)\b/g, ".*")

describe("the dashboard for Grafana", () => {
  it("asks for metrics and labels that a server has", () => {
    assert.isAbove(targets.length, 25)
    for (const { expr, legendFormat } of targets) {
      assert.deepStrictEqual(mistakesIn(expr, none), [], expr)
      const labels = labelsOf(expr, none)
      for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) {
        assert.isTrue(labels.has(label), legendFormat)
      }
    }
  })

  it("fills its choices from metrics and labels that a server has", () => {
    const choices = templating.list.flatMap(({ definition }) => definition ?? [])
    assert.strictEqual(choices.length, 3)
    for (const definition of choices) {
      const [, query = "", label = ""] = /^label_values\((.*), (\w+)\)$/.exec(definition) ?? []
      assert.deepStrictEqual(mistakesIn(query, none), [], definition)
      assert.isTrue(labelsOf(query, none).has(label), definition)
    }
  })

  it("uses only variables that it defines", () => {
    const defined = new Set([...templating.list.map(({ name }) => name), "__rate_interval", "__all"])
    for (const [, name = ""] of text.matchAll(/\$\{?(\w+)/g)) assert.isTrue(defined.has(name), name)
  })

  it("has panels that do not overlap", () => {
    for (const a of panels) {
      for (const b of panels) {
        if (a.id === b.id) continue
        const [p, q] = [a.gridPos, b.gridPos]
        const apart = p.x + p.w <= q.x || q.x + q.w <= p.x || p.y + p.h <= q.y || q.y + q.h <= p.y
        assert.isTrue(apart, `${a.title} lies on ${b.title}`)
      }
    }
    assert.strictEqual(new Set(panels.map(({ id }) => id)).size, panels.length)
  })

  it.skipIf(!hasPromtool)(`has queries that ${withPromtool} takes`, () => {
    const folder = mkdtempSync(join(tmpdir(), "effect-wal-grafana-"))
    try {
      const file = join(folder, "queries.json")
      const rules = targets.map(({ expr }, index) => ({ record: `test:query:${index}`, expr: filled(expr) }))
      writeFileSync(file, JSON.stringify({ groups: [{ name: "queries", rules }] }))
      const { code, said } = promtool(["check", "rules", file])
      assert.strictEqual(code, 0, said)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
