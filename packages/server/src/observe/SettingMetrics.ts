/**
 * The settings that rules compare with, as gauges: what is normal depends on the preset, and a rule that does not know it
 * is wrong for two presets out of three.
 */
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { Duration, Effect, Layer, Metric } from "effect"
import { queueSegments } from "../dashboard/Thresholds.ts"
import { version } from "../Version.ts"
import { meaningOf } from "./MetricTable.ts"

/** By name: how a gauge is read from the settings of a log. */
const settingGauges: Readonly<Record<string, (options: WalOptions) => number>> = {
  wal_segment_limit_entries: ({ segment }) => segment.maxEntries,
  wal_segment_limit_bytes: ({ segment }) => segment.maxBytes,
  wal_flush_interval_seconds: ({ segment }) => Duration.toSeconds(segment.flushInterval),
  wal_linger_seconds: ({ segment }) => Duration.toSeconds(segment.linger),
  wal_put_window_segments: ({ parallelPut }) => parallelPut.workers * parallelPut.pipelineDepth,
  wal_queue_limit_segments: queueSegments
}

const buildInfo = Metric.gauge("wal_build_info", { description: meaningOf("wal_build_info") })

/** Sets them once; they stay for the life of the process. */
export const layer = (streams: ReadonlyArray<{ readonly options: WalOptions }>): Layer.Layer<never> =>
  Layer.effectDiscard(Effect.gen(function*() {
    yield* Metric.update(Metric.withAttributes(buildInfo, { version }), 1)
    for (const { options } of streams) {
      const labels = { stream: options.streamId, node: options.nodeId }
      for (const [name, read] of Object.entries(settingGauges)) {
        const gauge = Metric.gauge(name, { description: meaningOf(name) })
        yield* Metric.update(Metric.withAttributes(gauge, labels), read(options))
      }
    }
  }))
