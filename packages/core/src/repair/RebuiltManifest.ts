/**
 * The manifest that objects tell of: pure decisions on what their headers say.
 *
 * What outranks what, where an epoch ends: the link of the next epoch's first segment is the recorded end, word for word;
 * then the end marker; then what a manifest says that is still there; then the first slot that nothing knows to be durable.
 */
import type { DigestService } from "../codec/Digest.ts"
import { type Boundary, compareBoundaries, laterBoundary } from "../format/Boundary.ts"
import { chainSeed } from "../format/ChainHash.ts"
import { emptyCursorSet, highestMark, newerCursors } from "../format/CursorSet.ts"
import { type Manifest, manifestVersion } from "../format/ManifestCodec.ts"
import { originsWith } from "../manifest/Manifest.ts"
import type { Evidence } from "./Evidence.ts"
import { reserve } from "./Reserve.ts"

/** A chain hash where none is known: readers do not follow the chain across a loss. */
const unknownChain = "0".repeat(32)

export interface RebuildRequest {
  readonly logId: string
  /** A manifest of this log that is older than its objects, or in doubt; its fields are lower bounds. */
  readonly base: Manifest | undefined
  readonly evidence: Evidence
  readonly digest: DigestService
  readonly maxSegmentBytes: number
  /** The last number before the log's start, where neither headers nor a manifest say. */
  readonly lastSeq: number
  readonly nonce: string
  readonly host: string
}

/** The ends of all epochs that hold something, ascending. */
const rebuiltEnds = ({ base, evidence }: RebuildRequest): ReadonlyArray<Boundary> => {
  const ends = new Map<number, Boundary>((base?.ends ?? []).map((end) => [end.epoch, end]))
  for (const [epoch, { boundary, isExact }] of evidence.ends) {
    const isSure = isExact && evidence.marked.has(epoch)
    if (isSure || !ends.has(epoch)) ends.set(epoch, boundary)
  }
  for (const [epoch, link] of evidence.links) ends.set(epoch, link)
  return [...ends.values()]
    .filter((end) => end.slot > 0)
    .map((end) => end.chain === "" ? { ...end, chain: unknownChain } : end)
    .sort(compareBoundaries)
}

/** Numbers and times that fall, where ends are not exact, are raised to those before. */
const rising = (start: Boundary, ends: ReadonlyArray<Boundary>): ReadonlyArray<Boundary> => {
  let before = start
  return ends.map((end) => {
    before = { ...end, seq: Math.max(end.seq, before.seq), at: Math.max(end.at, before.at) }
    return before
  })
}

/** The manifest with all ends in it, however many, and no index; producers are left to who asks for them. */
export const rebuildManifest = (request: RebuildRequest): Manifest => {
  const { base, digest, evidence, logId } = request
  const seed: Boundary = { epoch: 1, slot: 0, seq: request.lastSeq, at: 0, chain: chainSeed(logId, digest) }
  const trims = [evidence.trim, base?.trim].filter((one) => one !== undefined)
  const trim = trims.reduce(laterBoundary, trims[0] ?? seed)
  const cursors = [evidence.cursors, base?.cursors].filter((one) => one !== undefined)
    .reduce(newerCursors, emptyCursorSet)
  const found = rising(trim, rebuiltEnds(request).filter((end) => compareBoundaries(end, trim) > 0))
  const last = found.at(-1)
  const raised = last === undefined ? undefined : reserve(last, evidence.stretches, {
    maxSegmentBytes: request.maxSegmentBytes,
    highestCursor: highestMark(cursors)
  }).end
  const ends = raised === undefined ? found : [...found.slice(0, -1), raised]
  const epoch = Math.max(base?.epoch ?? 0, evidence.highestEpoch, trim.epoch, ends.at(-1)?.epoch ?? 0) + 1
  return {
    version: manifestVersion,
    log_id: logId,
    epoch,
    nonce: request.nonce,
    host: request.host,
    commit_id: request.nonce,
    live: 0,
    live_window: 1,
    trim,
    ends,
    ends_archive: null,
    cursors,
    checkpoint: { ...(raised ?? trim), epoch, slot: 0 },
    index: [],
    ...(base?.spool === undefined ? {} : { spool: base.spool }),
    ...(base?.spools_left === undefined ? {} : { spools_left: base.spools_left }),
    ...originsWith(base ?? {}, evidence.origins),
    unknown: base?.unknown ?? {}
  }
}

/** The manifest with a later trim point: ends before it go. */
export const trimmedTo = (manifest: Manifest, trim: Boundary): Manifest => {
  const later = laterBoundary(trim, manifest.trim)
  const ends = manifest.ends.filter((end) => compareBoundaries(end, later) > 0)
  return {
    ...manifest,
    trim: later,
    ends,
    checkpoint: ends.length > 0 ? manifest.checkpoint : { ...later, epoch: manifest.epoch, slot: 0 }
  }
}
