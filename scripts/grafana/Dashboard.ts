/** The dashboard for Grafana: `write-grafana.ts` makes its JSON of the panels. */
import { type Panel, rows } from "./Panels.ts"

const columns = 24
const width = 12
const height = 8

const steps = ({ page, warn }: Panel) => [
  { color: "green", value: null },
  ...(warn === undefined ? [] : [{ color: "orange", value: warn }]),
  ...(page === undefined || page === warn ? [] : [{ color: "red", value: page }])
]

const source = { type: "prometheus", uid: "${datasource}" }

const panelJson = (panel: Panel, id: number, x: number, y: number) => ({
  id,
  type: panel.stat === true ? "stat" : "timeseries",
  title: panel.title,
  description: panel.description,
  datasource: source,
  gridPos: { x, y, w: width, h: height },
  fieldConfig: {
    defaults: {
      unit: panel.unit,
      min: 0,
      thresholds: { mode: "absolute", steps: steps(panel) },
      ...(panel.stat === true || panel.warn === undefined ? {} : { custom: { thresholdsStyle: { mode: "dashed" } } })
    },
    overrides: []
  },
  options: panel.stat === true
    ? { reduceOptions: { calcs: ["lastNotNull"] } }
    : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
  targets: panel.queries.map(({ expr, legend }, index) => ({
    refId: String.fromCharCode(65 + index),
    datasource: source,
    expr,
    legendFormat: legend
  }))
})

const layOut = () => {
  const panels: Array<unknown> = []
  let y = 0
  for (const row of rows) {
    panels.push({
      id: panels.length + 1,
      type: "row",
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: columns, h: 1 },
      panels: []
    })
    y += 1
    for (const [index, panel] of row.panels.entries()) {
      const x = (index * width) % columns
      panels.push(panelJson(panel, panels.length + 1, x, y))
      if (x + width >= columns || index === row.panels.length - 1) y += height
    }
  }
  return panels
}

const choice = (name: string, label: string, query: string) => ({
  name,
  label,
  type: "query",
  datasource: source,
  query: { query, refId: name },
  definition: query,
  includeAll: true,
  multi: true,
  allValue: ".*",
  current: { selected: true, text: ["All"], value: ["$__all"] },
  refresh: 2,
  sort: 1
})

/** The text of `deploy/grafana/effect-wal.json`. */
export const renderDashboard = (): string =>
  `${
    JSON.stringify(
      {
        title: "effect-wal",
        uid: "effect-wal",
        tags: ["effect-wal"],
        description:
          "Logs of effect-wal servers: throughput, durability, store, cost. docs/metrics.md explains the metrics.",
        schemaVersion: 39,
        version: 1,
        editable: true,
        graphTooltip: 1,
        refresh: "30s",
        time: { from: "now-3h", to: "now" },
        timezone: "browser",
        templating: {
          list: [
            {
              name: "datasource",
              label: "Data source",
              type: "datasource",
              query: "prometheus",
              current: {},
              refresh: 1
            },
            choice("job", "Job", "label_values(wal_build_info, job)"),
            choice("instance", "Server", "label_values(wal_build_info{job=~\"$job\"}, instance)"),
            choice("stream", "Stream", "label_values(wal_epoch{job=~\"$job\",instance=~\"$instance\"}, stream)")
          ]
        },
        annotations: { list: [] },
        links: [],
        panels: layOut()
      },
      null,
      2
    )
  }\n`
