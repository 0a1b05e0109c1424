/** What a manifest says that cannot be, whatever the objects are: pure rules. */
import type { DigestService } from "../codec/Digest.ts"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { chainSeed } from "../format/ChainHash.ts"
import type { Manifest } from "../format/ManifestCodec.ts"

const show = ({ epoch, slot }: { readonly epoch: number; readonly slot: number }): string => `${epoch}/${slot}`

/** Points that must not fall: in place, number and time. One that stands there twice does no harm. */
const fallingPoints = (name: string, points: ReadonlyArray<Boundary>): ReadonlyArray<string> =>
  points.flatMap((point, index) => {
    const before = points[index - 1]
    if (before === undefined) return []
    const rises = compareBoundaries(before, point) <= 0 && before.seq <= point.seq && before.at <= point.at
    return rises ? [] : [`${name} ${show(before)} and ${show(point)} do not rise`]
  })

const endProblems = (manifest: Manifest, ends: ReadonlyArray<Boundary>): ReadonlyArray<string> => [
  ...fallingPoints("trim point and ends", [manifest.trim, ...ends]),
  ...ends.flatMap((end, index) => [
    ...(ends[index - 1]?.epoch === end.epoch ? [`epoch ${end.epoch} has two ends`] : []),
    ...(end.slot === 0 ? [`epoch ${end.epoch} is recorded to end at slot 0`] : []),
    ...(manifest.live !== 0 && end.epoch >= manifest.live
      ? [`epoch ${end.epoch} has an end, epoch ${manifest.live} is live`]
      : [])
  ])
]

const trimProblems = (
  manifest: Manifest,
  ends: ReadonlyArray<Boundary>,
  digest: DigestService
): ReadonlyArray<string> => {
  const { live, trim } = manifest
  const isPlaced = live === 0 || trim.epoch === live || ends.some((end) => end.epoch === trim.epoch) ||
    manifest.ends_archive !== null && trim.epoch <= manifest.ends_archive.through
  return [
    ...(isPlaced ? [] : [`the trim point is in epoch ${trim.epoch}, which neither is live nor has an end`]),
    ...(trim.seq === 0 && trim.chain !== chainSeed(manifest.log_id, digest)
      ? ["the chain does not start as that of this log does"]
      : [])
  ]
}

const indexProblems = (manifest: Manifest, ends: ReadonlyArray<Boundary>): ReadonlyArray<string> => {
  const endOf = (epoch: number) => ends.find((end) => end.epoch === epoch)?.slot
  return [
    ...fallingPoints("index entries", manifest.index),
    ...manifest.index.flatMap((entry) => {
      const end = endOf(entry.epoch)
      // An epoch that holds nothing has one point, its start.
      const isPlaced = entry.slot === 0 || entry.epoch === manifest.live || end !== undefined && entry.slot <= end
      return isPlaced ? [] : [`the index names slot ${show(entry)}, which is beyond what is recorded`]
    })
  ]
}

const liveProblems = (manifest: Manifest): ReadonlyArray<string> => {
  const { checkpoint, epoch, live } = manifest
  return [
    ...(live > epoch ? [`epoch ${live} is live, ${epoch} is the newest that was claimed`] : []),
    ...(live !== 0 && checkpoint.epoch !== live
      ? [`the checkpoint is in epoch ${checkpoint.epoch}, epoch ${live} is live`]
      : [])
  ]
}

/** All contradictions, one sentence each; none in a manifest that the log has written. `ends` are all recorded ones. */
export const manifestProblems = (
  manifest: Manifest,
  ends: ReadonlyArray<Boundary>,
  digest: DigestService
): ReadonlyArray<string> => [
  ...liveProblems(manifest),
  ...endProblems(manifest, ends),
  ...trimProblems(manifest, ends, digest),
  ...indexProblems(manifest, ends)
]
