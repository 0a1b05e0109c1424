/** How the PUTs of a log divide between segments and the manifest. */
import { Duration } from "effect"
import type { WalOptions } from "../WalOptions.ts"

type ManifestSettings = WalOptions["manifest"]

/** Segments that one writing of the manifest covers. */
export const segmentsPerManifest = ({ maxDelay, maxSegments }: ManifestSettings, segmentsPerSecond: number): number =>
  Math.max(1, Math.min(maxSegments, Math.ceil(segmentsPerSecond * Duration.toMillis(maxDelay) / 1_000)))

/**
 * The most segments a second such that they, at this rate and at any lower one, and the manifest together are no more PUTs
 * than that.
 */
export const segmentsWithin = (putsPerSecond: number, manifest: ManifestSettings): number => {
  // While the manifest is written for k segments, k + 1 PUTs fall into `max_delay` at the most.
  const putsPerDelay = Math.floor(putsPerSecond * Duration.toMillis(manifest.maxDelay) / 1_000)
  const covered = Math.max(1, Math.min(manifest.maxSegments, putsPerDelay))
  return putsPerSecond * covered / (covered + 1)
}
