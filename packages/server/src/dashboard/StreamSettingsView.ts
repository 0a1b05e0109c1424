/** The settings of a stream that its thresholds follow from, as the page shows them. */
import { presetNames, presets } from "@effect-wal/core/config/Presets"
import type { SegmentOptions, WalOptions } from "@effect-wal/core/WalOptions"
import { Duration } from "effect"
import type { StreamSetup } from "../LogOpener.ts"
import type { StreamSettings } from "./Snapshot.ts"
import { queueSegments } from "./Thresholds.ts"

const isPreset = (segment: SegmentOptions, preset: SegmentOptions): boolean =>
  segment.maxEntries === preset.maxEntries && segment.maxBytes === preset.maxBytes &&
  Duration.equals(segment.flushInterval, preset.flushInterval) && Duration.equals(segment.linger, preset.linger)

const compressionOf = ({ compression }: WalOptions): string =>
  compression.type === "none" ? "none" : `${compression.type} ${compression.level}`

/** In snake case, durations in milliseconds. */
export const settingsView = ({ options, store }: StreamSetup): StreamSettings => {
  const { parallelPut, segment } = options
  const preset = presetNames.find((name) => isPreset(segment, presets[name]))
  return {
    store,
    ...preset === undefined ? {} : { preset },
    max_entries: segment.maxEntries,
    max_bytes: segment.maxBytes,
    flush_interval_ms: Duration.toMillis(segment.flushInterval),
    linger_ms: Duration.toMillis(segment.linger),
    workers: parallelPut.workers,
    pipeline_depth: parallelPut.pipelineDepth,
    queue_segments: queueSegments(options),
    compression: compressionOf(options)
  }
}
