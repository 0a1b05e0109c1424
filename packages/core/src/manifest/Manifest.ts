/**
 * The transitions of the manifest, as pure functions from one body to the next.
 *
 * Invariants: `epoch`, `trim`, `checkpoint` and every cursor only rise · `trim` is a segment boundary of an epoch that is
 * live or has a recorded end · `ends` lie above `trim`, ascending, none at slot 0 · `checkpoint` is in the live epoch and
 * no cursor is above it · each body has a commit id of its own.
 */
import { type Boundary, compareBoundaries, laterBoundary } from "../format/Boundary.ts"
import { type CursorSet, emptyCursorSet, newerCursors } from "../format/CursorSet.ts"
import type { OriginMarks } from "../format/Extensions.ts"
import { type Manifest, manifestVersion, maxEnds } from "../format/ManifestCodec.ts"
import type { StoredProducer } from "../format/StoredProducer.ts"
import { thinIndex } from "./SparseIndex.ts"

/** Entries of the sparse index that are stored: some 14 KB of manifest. */
export const storedIndexEntries = 128

export interface WriterIdentity {
  readonly nonce: string
  readonly host: string
}

/** The first manifest of a log: nobody has claimed it yet. */
export const newManifest = (
  log: { readonly logId: string; readonly chain: string },
  writer: WriterIdentity,
  commitId: string
): Manifest => {
  const start: Boundary = { epoch: 1, slot: 0, seq: 0, at: 0, chain: log.chain }
  return {
    version: manifestVersion,
    log_id: log.logId,
    epoch: 0,
    nonce: writer.nonce,
    host: writer.host,
    commit_id: commitId,
    live: 0,
    live_window: 1,
    trim: start,
    ends: [],
    ends_archive: null,
    cursors: emptyCursorSet,
    checkpoint: start,
    index: [],
    unknown: {}
  }
}

/** Step 2 of a take-over: a higher epoch and my nonce, everything else as read. */
export const claim = (current: Manifest, writer: WriterIdentity, commitId: string): Manifest => ({
  ...current,
  epoch: current.epoch + 1,
  nonce: writer.nonce,
  host: writer.host,
  commit_id: commitId
})

/** The point after everything that an epoch with a recorded end holds. */
export const recordedTail = (manifest: Manifest): Boundary => manifest.ends.reduce(laterBoundary, manifest.trim)

/** Where the live epoch starts: its slot 0, after the recorded tail. Only for a manifest whose `live` is not 0. */
export const liveStart = (manifest: Manifest): Boundary => {
  if (manifest.checkpoint.epoch === manifest.live && manifest.checkpoint.slot === 0) return manifest.checkpoint
  return { ...recordedTail(manifest), epoch: manifest.live, slot: 0 }
}

/** What is trimmed is no damage any more. */
const damageAbove = (damage: Manifest["damage"] = [], trim: Boundary): Pick<Manifest, "damage"> => {
  const left = damage.filter(({ epoch, through }) => compareBoundaries({ epoch, slot: through }, trim) >= 0)
  return left.length === 0 ? {} : { damage: left }
}

/**
 * Drops what lies below the trim point, and moves a trim point that stands at the end of an epoch to the start of the
 * next one, so that it always is in an epoch that has segments or will have. Not while its epoch may be one whose end is
 * in the archive: from here nobody knows what lies between it and the next end.
 */
export const settle = (manifest: Manifest): Manifest => {
  let trim = manifest.trim
  let ends = manifest.ends
  const archive = manifest.ends_archive
  if (manifest.live !== 0) {
    ends = ends.filter((end) => end.epoch > trim.epoch || end.epoch === trim.epoch && end.slot > trim.slot)
    const archived = archive !== null && trim.epoch <= archive.through
    const open = archived || ends.some((end) => end.epoch === trim.epoch) || trim.epoch >= manifest.live
    if (!open) trim = { ...trim, epoch: ends[0]?.epoch ?? manifest.live, slot: 0 }
  }
  const index = manifest.index.filter((entry) => compareBoundaries(entry, trim) > 0)
  const { damage, ...rest } = manifest
  return {
    ...rest,
    ...damageAbove(damage, trim),
    trim,
    ends,
    index: thinIndex(index, storedIndexEntries),
    ends_archive: archive !== null && archive.through < trim.epoch ? null : archive
  }
}

/** The manifest with what is remembered of producers; a field that says nothing is left out. */
const withProducers = (manifest: Manifest, producers: ReadonlyArray<StoredProducer> | undefined): Manifest => {
  if (producers === undefined) return manifest
  const { producers: _, ...rest } = manifest
  return producers.length === 0 ? rest : { ...rest, producers }
}

export interface Activation {
  /** Where the epoch that was live until now ends; absent where none was. */
  readonly ended?: Boundary
  /** Points of that epoch that are known, for the index. */
  readonly cursors: CursorSet
  readonly window: number
  /** By spool the last slot that is done with, as far as the ended epoch knows. */
  readonly origins?: OriginMarks
  /** The spool of this writer; `undefined`: it has none. */
  readonly spool?: Manifest["spool"]
  /** Ids of spools of earlier writers that hold nothing any more. */
  readonly emptiedSpools?: ReadonlyArray<string>
  /** Ends that were moved out to this archive object. */
  readonly archived?: { readonly key: string; readonly through: number }
  /** What is remembered of producers up to the end; absent: as it was. */
  readonly producers?: ReadonlyArray<StoredProducer>
  readonly commitId: string
}

/** So many spools of earlier writers are looked for, the newest ones. */
export const maxLeftSpools = 16

/** The spools of earlier writers that may hold something still: each stays until a start has found it empty. */
const leftSpools = (
  { spool: last, spools_left: known = [] }: Manifest,
  { emptiedSpools = [], spool: own }: Activation
): Pick<Manifest, "spools_left"> => {
  const isGone = (one: NonNullable<Manifest["spool"]>) =>
    one.id === own?.id || one.host === own?.host && one.path === own.path || emptiedSpools.includes(one.id)
  const before = known.filter((one) => one.id !== last?.id)
  const left = [...before, ...(last === undefined ? [] : [last])].filter((one) => !isGone(one)).slice(-maxLeftSpools)
  return left.length === 0 ? {} : { spools_left: left }
}

/** Step 4 of a take-over: the claimed epoch becomes the live one, the end of the old one is recorded. */
export const activate = (current: Manifest, activation: Activation): Manifest => {
  const ended = activation.ended
  // An earlier try of this very activation may have landed: its end is not recorded twice.
  const before = current.ends.filter((end) => end.epoch !== ended?.epoch)
  const appended = ended === undefined || ended.slot === 0 ? before : [...before, ended]
  const archived = activation.archived
  const ends = archived === undefined ? appended : appended.filter((end) => end.epoch > archived.through)
  const tail = ended === undefined ? recordedTail(current) : laterBoundary(ended, recordedTail(current))
  const { spool: _, spools_left: __, ...rest } = current
  return settle({
    ...withProducers(rest, activation.producers),
    ...(activation.spool === undefined ? {} : { spool: activation.spool }),
    ...leftSpools(current, activation),
    ...originsWith(current, activation.origins),
    commit_id: activation.commitId,
    live: current.epoch,
    live_window: activation.window,
    ends,
    ends_archive: archived ?? current.ends_archive,
    cursors: newerCursors(activation.cursors, current.cursors),
    checkpoint: { ...tail, epoch: current.epoch, slot: 0 }
  })
}

/** The oldest ends that have to move to an archive object before one more is recorded; none most of the time. */
export const endsToArchive = (current: Manifest): ReadonlyArray<Boundary> =>
  current.ends.length < maxEnds ? [] : current.ends.slice(0, maxEnds / 2)

/** So many spools are remembered; of one that is forgotten, and comes back with what it has given already, records come twice. */
export const maxOrigins = 64

/** The marks of all spools; of each the later one. */
export const originsWith = (current: Pick<Manifest, "origins">, marks: OriginMarks = {}): Pick<Manifest, "origins"> => {
  const all = new Map(Object.entries(current.origins ?? {}))
  for (const [spool, mark] of Object.entries(marks)) {
    const known = all.get(spool)
    if (known === undefined || compareBoundaries(mark, known) > 0) all.set(spool, mark)
  }
  if (all.size === 0) return {}
  const newest = [...all].sort(([, left], [, right]) => compareBoundaries(right, left)).slice(0, maxOrigins)
  return { origins: Object.fromEntries(newest) }
}

export interface Progress {
  readonly checkpoint: Boundary
  readonly trim: Boundary
  readonly cursors: CursorSet
  readonly index: ReadonlyArray<Boundary>
  /** The last spooled slots of ended epochs whose copies are durable. */
  readonly origins?: OriginMarks
  /** What is remembered of producers at the checkpoint; absent: as it was. */
  readonly producers?: ReadonlyArray<StoredProducer>
}

/** A commit of the live writer: everything rises or stays. */
export const advance = (current: Manifest, progress: Progress, commitId: string): Manifest =>
  settle({
    ...withProducers(current, progress.producers),
    ...originsWith(current, progress.origins),
    commit_id: commitId,
    checkpoint: laterBoundary(progress.checkpoint, current.checkpoint),
    trim: laterBoundary(progress.trim, current.trim),
    cursors: newerCursors(progress.cursors, current.cursors),
    index: progress.index
  })
