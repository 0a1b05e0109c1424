/** What must hold in each body of the manifest, whoever has written it. */
import { compareBoundaries } from "@effect-wal/core/format/Boundary"
import type { Manifest } from "@effect-wal/core/format/ManifestCodec"
import type { Violations } from "./Violations.ts"

/** Entries of the index that a body holds at most. */
const maxIndex = 1_024

const isAscending = (points: Manifest["ends"]): boolean =>
  points.every((point, at) => {
    const before = points[at - 1]
    return before === undefined || compareBoundaries(before, point) < 0
  })

export const checkManifest = (
  violations: Violations,
  { checkpoint, ends, index, live, trim }: Manifest,
  /** The first slot of an epoch that was never stored; `undefined` where that is not known. */
  firstMissing: (epoch: number) => number | undefined
): void => {
  const epochs = ends.map(({ epoch }) => epoch)
  violations.unless(
    new Set(epochs).size === epochs.length,
    () => `epochs ${epochs.join()} have ended, one of them twice`
  )
  violations.unless(isAscending(ends) && isAscending(index), () => "ends or index of the manifest are out of order")
  violations.unless(ends.every(({ slot }) => slot > 0), () => "an end at slot 0 is in the manifest")
  violations.unless(
    live === 0 || ends.every((end) => compareBoundaries(end, trim) > 0),
    () => "an end at or below the trim point is in the manifest"
  )
  violations.unless(index.length <= maxIndex, () => `P5: the manifest's index has ${index.length} entries`)
  const missing = firstMissing(checkpoint.epoch)
  violations.unless(
    missing === undefined || checkpoint.slot <= missing,
    () => `the checkpoint is at slot ${checkpoint.slot} of epoch ${checkpoint.epoch}, slot ${missing} is not stored`
  )
}
