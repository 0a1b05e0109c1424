/**
 * The two blocks that say what a segment gathers: `segment_tuning`, and `segment`, its older spelling.
 */
import { Schema } from "effect"
import { formatDuration } from "./DurationText.ts"
import { choice, duration, integer, optional, size, withDefault } from "./Field.ts"
import { presetNames, presets } from "./Presets.ts"

const mebibyte = 1_048_576

const byPreset = (show: (preset: typeof presets.balanced) => string): string =>
  presetNames.map((name) => `${name} ${show(presets[name])}`).join(", ")

const maxEntries = integer({
  min: 1,
  max: 1_000_000,
  note: "Records in a segment. More: fewer PUTs, more at risk in a crash. Fewer: the reverse."
})
const maxBytes = size({
  min: 1,
  max: 256 * mebibyte,
  note:
    "Bytes in a segment, before compression. Larger: fewer PUTs and better compression, more memory and more at risk."
})
const flushInterval = duration({
  min: "1ms",
  max: "365d",
  note: "Longest time that a record waits in an open segment. Longer: fewer PUTs on a quiet stream, more at risk."
})

/** `segment`: the older spelling of `segment_tuning`. */
export const LegacySegment = Schema.Struct({
  max_entries: optional(maxEntries, "see segment_tuning"),
  max_bytes: optional(maxBytes, "see segment_tuning"),
  flush_interval: optional(flushInterval, "see segment_tuning")
})

/** `segment_tuning`: a preset, and what it is overridden with. */
export const SegmentTuning = Schema.Struct({
  strategy: withDefault(
    choice(presetNames, {
      note: "The preset: `aggressive` is cheap, `low_latency` is quick. Each field below overrides it."
    }),
    "balanced"
  ),
  max_entries: optional(maxEntries, byPreset((preset) => String(preset.maxEntries))),
  max_bytes: optional(maxBytes, byPreset((preset) => String(preset.maxBytes))),
  flush_interval: optional(flushInterval, byPreset((preset) => formatDuration(preset.flushInterval))),
  linger: optional(
    duration({
      min: "0ms",
      max: "1h",
      note: "How long a segment waits for more once somebody waits for durability and a worker is free. " +
        "Longer: fewer PUTs. " +
        "Shorter: quicker acks. As long as `flush_interval`: the request rates of the source documents."
    }),
    `${byPreset((preset) => formatDuration(preset.linger))}; 0ms with type: local`
  )
})
