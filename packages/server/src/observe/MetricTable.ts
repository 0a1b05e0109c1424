/**
 * Every metric of a server: its type, unit and labels, what it means and what to do about it.
 *
 * `docs/metrics.md` is written from this table; a test compares it with the `/metrics` of a real server, name by name.
 */
import { records, store, uploads } from "./LogMetrics.ts"
import type { MetricGroup } from "./MetricDoc.ts"
import { disk, logState, server, settings } from "./ServerMetrics.ts"

/** All metrics, in the order of the documentation. */
export const metricGroups: ReadonlyArray<MetricGroup> = [records, uploads, store, disk, logState, settings, server]

const byName = new Map(metricGroups.flatMap(({ metrics }) => metrics).map((metric) => [metric.name, metric]))

/** The HELP line of a metric that this package registers itself. */
export const meaningOf = (name: string): string => byName.get(name)?.meaning ?? ""
