/**
 * The three presets: how much a segment gathers before it is uploaded. Each field can be overridden.
 */
import { Duration } from "effect"
import type { SegmentOptions } from "../WalOptions.ts"

/** All presets: the one that costs least first, the quickest last. */
export const presetNames = ["aggressive", "balanced", "low_latency"] as const

/** `aggressive` is cheap, `low_latency` is quick, `balanced` (the default) lies between. */
export type PresetName = typeof presetNames[number]

/** What each preset sets. `linger` is how long a segment waits for more once somebody waits for it. */
export const presets: Readonly<Record<PresetName, SegmentOptions>> = {
  aggressive: {
    maxEntries: 10_000,
    maxBytes: 10_485_760,
    flushInterval: Duration.seconds(10),
    linger: Duration.seconds(1)
  },
  balanced: {
    maxEntries: 1_000,
    maxBytes: 1_048_576,
    flushInterval: Duration.seconds(1),
    linger: Duration.millis(100)
  },
  low_latency: {
    maxEntries: 100,
    maxBytes: 102_400,
    flushInterval: Duration.millis(100),
    linger: Duration.millis(5)
  }
}
