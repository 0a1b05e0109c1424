/** What a PromQL expression mentions, for comparing it with the metrics that there are. */
import type { MetricDoc } from "../../src/observe/MetricDoc.ts"
import { metricGroups } from "../../src/observe/MetricTable.ts"

/** What is recorded by a rule: its expression. */
export type Recordings = ReadonlyMap<string, string>

const documented = new Map(metricGroups.flatMap(({ metrics }) => metrics).map((metric) => [metric.name, metric]))

/** Labels that Prometheus adds to each series. */
const targetLabels = ["job", "instance"]

/** Metrics that Prometheus makes itself. */
const ownMetrics: Readonly<Record<string, ReadonlyArray<string>>> = { up: [] }

const namesIn = (expression: string): ReadonlyArray<string> =>
  [...withoutText(expression).matchAll(/\b(wal[_:][a-z0-9_:]+|process_[a-z_]+|nodejs_[a-z_]+|effect_[a-z_]+|up)\b/g)]
    .map((match) => match[1] ?? "")

/** The expression without what stands in quotes. */
const withoutText = (expression: string): string => expression.replace(/"(?:[^"\\]|\\.)*"/g, "\"\"")

const familyOf = (name: string): MetricDoc | undefined =>
  documented.get(name) ?? documented.get(name.replace(/_(bucket|sum|count)$/, ""))

/** Names in an expression that are neither metrics nor recordings. */
const unknownNames = (expression: string, recordings: Recordings): ReadonlyArray<string> =>
  namesIn(expression).filter((name) =>
    familyOf(name) === undefined && !recordings.has(name) && !Object.hasOwn(ownMetrics, name)
  )

/** All labels that the series of an expression can have. */
export const labelsOf = (expression: string, recordings: Recordings): ReadonlySet<string> =>
  new Set(
    namesIn(expression).flatMap((name): ReadonlyArray<string> => {
      const recorded = recordings.get(name)
      if (recorded !== undefined) return [...labelsOf(recorded, recordings)]
      const family = familyOf(name)
      return [
        ...targetLabels,
        ...(family?.labels ?? ownMetrics[name] ?? []),
        ...(family?.type === "histogram" && name.endsWith("_bucket") ? ["le"] : [])
      ]
    })
  )

const labelLists = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g
const matchers = /\{([^}]*)\}/g

/** The labels that an expression names. */
const labelsNamed = (expression: string): ReadonlyArray<string> => {
  const text = withoutText(expression)
  return [
    ...[...text.matchAll(labelLists)].flatMap((match) => (match[1] ?? "").split(",")),
    ...[...text.matchAll(matchers)].flatMap((match) =>
      (match[1] ?? "").split(",").map((one) => one.split(/[=!]/)[0] ?? "")
    )
  ].map((label) => label.trim()).filter((label) => label !== "")
}

/** Names and labels of an expression that do not exist. */
export const mistakesIn = (expression: string, recordings: Recordings): ReadonlyArray<string> => {
  const labels = labelsOf(expression, recordings)
  return [
    ...unknownNames(expression, recordings).map((name) => `no metric ${name}`),
    ...labelsNamed(expression).filter((label) => !labels.has(label)).map((label) => `no label ${label}`)
  ]
}
