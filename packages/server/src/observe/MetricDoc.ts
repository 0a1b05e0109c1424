/** How a metric is documented, and short ways to write that down. */

/** One family of series. */
export interface MetricDoc {
  readonly name: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly unit: string
  /** Besides those that Prometheus adds; `le` of a histogram is left out. */
  readonly labels: ReadonlyArray<string>
  /** The HELP line. */
  readonly meaning: string
  /** What a person does about it. */
  readonly advice: string
  /** It is absent until something has happened, or on some machines. */
  readonly absent?: string
}

/** A heading of the documentation with its metrics. */
export interface MetricGroup {
  readonly title: string
  readonly metrics: ReadonlyArray<MetricDoc>
}

/** Labels of a series of one log. */
export const logLabels = ["stream", "node"] as const

/** A counter of a log. */
export const counter = (name: string, unit: string, meaning: string, advice: string): MetricDoc => ({
  name,
  type: "counter",
  unit,
  labels: logLabels,
  meaning,
  advice
})

/** A gauge of a log. */
export const gauge = (name: string, unit: string, meaning: string, advice: string): MetricDoc => ({
  name,
  type: "gauge",
  unit,
  labels: logLabels,
  meaning,
  advice
})

/** A histogram of a log; it is absent until it has seen something. */
export const histogram = (
  name: string,
  unit: string,
  meaning: string,
  advice: string,
  absent: string
): MetricDoc => ({
  name,
  type: "histogram",
  unit,
  labels: logLabels,
  meaning,
  advice,
  absent
})
