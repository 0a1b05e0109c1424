/** The log as a repair is going to leave it. */
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { type DamagedSlots, type Manifest, maxDamage } from "../format/ManifestCodec.ts"
import type { Finding } from "../verify/Finding.ts"
import type { DamagedStretch, Evidence } from "./Evidence.ts"

export interface Proposal {
  /** The manifest as it is to be, without its commit id; `undefined`: it stays as it is. */
  readonly manifest: Manifest | undefined
  /** Ends that are not in that manifest: there is no room for them. */
  readonly archived: ReadonlyArray<Boundary>
  readonly stretches: ReadonlyArray<DamagedStretch>
  /** Where an end marker is to be put. */
  readonly markers: ReadonlyArray<{ readonly epoch: number; readonly slot: number; readonly why: string }>
  readonly damagedKeys: Evidence["damagedKeys"]
  readonly findings: ReadonlyArray<Finding>
  readonly kept: { readonly segments: number; readonly records: number; readonly lastSeq: number }
  readonly notes: ReadonlyArray<string>
}

/** What the manifest records of the damage, the newest of it where there is too much. */
export const recordOf = (
  stretches: ReadonlyArray<DamagedStretch>,
  ends: ReadonlyArray<Finding>
): ReadonlyArray<DamagedSlots> => {
  const taken = ends.flatMap(({ epoch, kind, slot }) =>
    kind === "data-at-end" && epoch !== undefined && slot !== undefined ? [{ epoch, slot, through: slot }] : []
  )
  const damage: ReadonlyArray<DamagedSlots> = stretches.map(({ epoch, lost, slot, through }) => ({
    epoch,
    slot,
    through,
    ...(lost === undefined ? {} : { from: lost.from, to: lost.to })
  }))
  return [...damage, ...taken].sort((left, right) => left.epoch - right.epoch || left.slot - right.slot)
    .slice(-maxDamage)
}

/** Says that not all damage is recorded. */
export const recordNotes = (
  stretches: ReadonlyArray<DamagedStretch>,
  ends: ReadonlyArray<Finding>
): ReadonlyArray<string> =>
  stretches.length + ends.length <= maxDamage
    ? []
    : [`the manifest records the newest ${maxDamage} damaged stretches; of the others verify tells again`]

/** The manifest with the damage; a field that says nothing is left out. */
export const withDamage = (manifest: Manifest, damage: ReadonlyArray<DamagedSlots>): Manifest => {
  const { damage: _, ...rest } = manifest
  return damage.length === 0 ? rest : { ...rest, damage }
}

/** The copies of objects that stand where end markers belong. */
export const takenEnds = (ends: ReadonlyArray<Finding>): Evidence["damagedKeys"] =>
  ends.filter((finding) => finding.kind === "data-at-end").map(({ key, reason }) => ({ key, reason }))

/** Markers that are to be put back. */
export const missingMarkers = (ends: ReadonlyArray<Finding>): Proposal["markers"] =>
  ends.flatMap(({ epoch, kind, reason, slot }) =>
    kind === "end-marker-missing" && epoch !== undefined && slot !== undefined ? [{ epoch, slot, why: reason }] : []
  )

/** Points that the segments contradict are taken from the segments. */
export const corrected = (manifest: Manifest, actual: ReadonlyArray<Boundary>): Manifest => {
  const right = (point: Boundary) => actual.find((one) => compareBoundaries(one, point) === 0) ?? point
  return actual.length === 0 ? manifest : {
    ...manifest,
    ends: manifest.ends.map(right),
    index: manifest.index.map(right),
    checkpoint: right(manifest.checkpoint)
  }
}
