/** What both source documents want watched, and from when on somebody should be told. */
import { type ClaimSection, differs, holds, section, server } from "./Claim.ts"

const thresholds = (title: string) => server("dashboard/thresholds", title)
const cases = server("observe/Rules", "have a case of each alert in which it fires, and one in which it does not")
const fires = server("observe/Rules", "fire and stay quiet as they should, by … test rules")

export const monitoringSections: ReadonlyArray<ClaimSection> = [
  section(
    "Monitoring",
    differs(
      "segment_put_latency: above 500 ms p99 in one document, above 200 ms in the other.",
      "a warning from 200 ms (EffectWalPutSlow), a page from 500 ms (EffectWalPutVerySlow).",
      cases,
      fires,
      thresholds("of the latency of a PUT: a warning above 200 ms, somebody acts above 500 ms")
    ),
    differs(
      "segment_put_frequency: above 10 a second; it drops with aggressive.",
      "low_latency makes more than that by itself. EffectWalPutsFrequent compares with what the settings explain.",
      cases,
      fires,
      thresholds("of PUTs follow a load that fills segments, and are none without linger")
    ),
    differs(
      "segment_size: below 100KB or above 10MB.",
      "low_latency has 100 KB, aggressive 10 MB by design. EffectWalSegmentsSmall and EffectWalSegmentsLarge are relative to max_bytes.",
      cases,
      fires,
      thresholds("of a preset are not met by its own normal state, and are by ten times that")
    ),
    differs(
      "cursor_lag: above 10,000 entries.",
      "that is one segment of aggressive. EffectWalCursorLag says ten segments: 10,000 for balanced.",
      cases,
      fires,
      thresholds("of balanced are those of the source documents")
    ),
    holds("recovery_latency: above 5 s at start (EffectWalRecoverySlow).", cases, fires)
  )
]
