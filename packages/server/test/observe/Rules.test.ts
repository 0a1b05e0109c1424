/** The rules that are shipped for Prometheus: they parse, they fire when they should, and they ask for what is there. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "yaml"
import { alertCases } from "./AlertCases.ts"
import { type AlertCase, balanced } from "./AlertSeries.ts"
import { hasPromtool, promtool, withPromtool } from "./Promtool.ts"
import { labelsOf, mistakesIn } from "./Queries.ts"

const file = fileURLToPath(new URL("../../../../deploy/prometheus/effect-wal.rules.yml", import.meta.url))

const Rule = Schema.Struct({
  record: Schema.optionalKey(Schema.String),
  alert: Schema.optionalKey(Schema.String),
  expr: Schema.String,
  for: Schema.optionalKey(Schema.String),
  labels: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  annotations: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
})
const Rules = Schema.Struct({ groups: Schema.Array(Schema.Struct({ name: Schema.String, rules: Schema.Array(Rule) })) })

const { groups } = Schema.decodeUnknownSync(Rules)(parse(readFileSync(file, "utf8")))
const rules = groups.flatMap((group) => group.rules)
const recordings = new Map(rules.flatMap(({ expr, record }) => record === undefined ? [] : [[record, expr] as const]))
const alerts = rules.flatMap((rule) => rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }])

/** Runs promtool over a file that is made for it. */
const check = (content: unknown, args: ReadonlyArray<string>) => {
  const folder = mkdtempSync(join(tmpdir(), "effect-wal-rules-"))
  try {
    const made = join(folder, "made.json")
    // JSON is YAML.
    writeFileSync(made, JSON.stringify(content))
    return promtool([...args, made])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const firing = "count by (alertname) (ALERTS{alertstate=\"firing\"})"

/** A test of promtool: with these series, these alerts fire in that minute, and no other. */
const scenario = (name: string, minute: number, series: AlertCase["fires"], expected: ReadonlyArray<string>) => ({
  name,
  interval: "1m",
  input_series: Object.entries({ ...balanced, ...series }).map(([key, values]) => ({ series: key, values })),
  promql_expr_test: [{
    expr: firing,
    eval_time: `${minute}m`,
    exp_samples: expected.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }))
  }]
})

describe("the rules for Prometheus", () => {
  it("say of each alert how grave it is, what is wrong and what to do", () => {
    for (const { alert, annotations, labels } of alerts) {
      assert.match(alert, /^EffectWal[A-Z]/)
      assert.include(["page", "warning", "info"], labels?.["severity"], alert)
      assert.sameMembers(Object.keys(annotations ?? {}), ["summary", "action"], alert)
      assert.isAbove(annotations?.["action"]?.length ?? 0, 40, alert)
    }
    assert.strictEqual(new Set(alerts.map(({ alert }) => alert)).size, alerts.length)
  })

  it("ask for metrics and labels that a server has", () => {
    for (const { alert, annotations, expr, record } of rules) {
      assert.deepStrictEqual(mistakesIn(expr, recordings), [], alert ?? record)
      const labels = labelsOf(expr, recordings)
      for (const text of Object.values(annotations ?? {})) {
        for (const [, label = ""] of text.matchAll(/\$labels\.([a-z_]+)/g)) {
          assert.isTrue(labels.has(label), `${alert} tells ${label}`)
        }
      }
    }
  })

  it("find a metric or a label that does not exist", () => {
    assert.deepStrictEqual(mistakesIn("rate(wal_nonsense_total[5m])", recordings), ["no metric wal_nonsense_total"])
    assert.deepStrictEqual(mistakesIn("sum by (pod) (wal_open{stream=\"a\"})", recordings), ["no label pod"])
    assert.deepStrictEqual(mistakesIn("wal_open{le=\"5\"}", recordings), ["no label le"])
  })

  it("have a case of each alert in which it fires, and one in which it does not", () => {
    assert.sameMembers([...new Set(alertCases.map(({ alert }) => alert))], alerts.map(({ alert }) => alert))
  })

  it.skipIf(!hasPromtool)(`pass ${withPromtool} check rules`, () => {
    const { code, said } = promtool(["check", "rules", file])
    assert.strictEqual(code, 0, said)
    assert.include(said, `${rules.length} rules found`)
  })

  it.skipIf(!hasPromtool)(`fire and stay quiet as they should, by ${withPromtool} test rules`, () => {
    const tests = alertCases.flatMap(({ alert, also = [], fires, minute, quiet, quietBut = [] }) => [
      scenario(`${alert} fires`, minute, fires, [alert, ...also]),
      scenario(`${alert} is quiet`, minute, quiet, quietBut)
    ])
    const { code, said } = check({ rule_files: [file], evaluation_interval: "1m", tests }, ["test", "rules"])
    assert.strictEqual(code, 0, said)
  }, 180_000)

  it.skipIf(!hasPromtool)(`tell the stream and the value, by ${withPromtool} test rules`, () => {
    const series = "wal_cursor_lag_entries{job=\"effect-wal\",instance=\"a\",stream=\"orders\",node=\"n\"}"
    const limit = series.replace("wal_cursor_lag_entries", "wal_segment_limit_entries")
    const tests = [{
      interval: "1m",
      input_series: [{ series, values: "20000x30" }, { series: limit, values: "1000x30" }],
      alert_rule_test: [{
        eval_time: "15m",
        alertname: "EffectWalCursorLag",
        exp_alerts: [{
          exp_labels: { severity: "warning", job: "effect-wal", instance: "a", stream: "orders", node: "n" },
          exp_annotations: {
            summary: "Stream orders: the slowest cursor is 20k records behind",
            action: alerts.find(({ alert }) => alert === "EffectWalCursorLag")?.annotations?.["action"] ?? ""
          }
        }]
      }]
    }]
    const { code, said } = check({ rule_files: [file], evaluation_interval: "1m", tests }, ["test", "rules"])
    assert.strictEqual(code, 0, said)
  })

  it.skipIf(!hasPromtool)(`come with a configuration that passes ${withPromtool} check config`, () => {
    const { code, said } = promtool(["check", "config", file.replace("effect-wal.rules.yml", "prometheus.yml")])
    assert.strictEqual(code, 0, said)
  })
})
