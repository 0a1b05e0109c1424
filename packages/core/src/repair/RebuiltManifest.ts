/**
 * The manifest that objects tell of: pure decisions on what their headers say.
 *
 * What outranks what, where an epoch ends: the link of the next epoch's first segment is the recorded end, word for word;
 * then the end marker; then what a manifest says that is still there; then the first slot that nothing knows to be durable.
 * None lies below the checkpoint of that manifest.
 *
 * Invariant: no number is given out again that a header, a manifest, a cursor or the operator knows, or that a damaged slot
 * can have had.
 */
import type { DigestService } from "../codec/Digest.ts"
import { type Boundary, compareBoundaries, laterBoundary } from "../format/Boundary.ts"
import { chainSeed } from "../format/ChainHash.ts"
import { emptyCursorSet, highestMark, newerCursors } from "../format/CursorSet.ts"
import { type Manifest, manifestVersion } from "../format/ManifestCodec.ts"
import { originsWith } from "../manifest/Manifest.ts"
import type { Evidence, FoundEnd } from "./Evidence.ts"
import { highestIn, reserveLast } from "./Reserve.ts"

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

const exactly = (boundary: Boundary): FoundEnd => ({ boundary, isExact: true })

/** Below the checkpoint everything was durable, whatever is left of it. */
const isCheckpointLater = (checkpoint: Boundary, found: FoundEnd | undefined): boolean => {
  const order = found === undefined ? 1 : compareBoundaries(checkpoint, found.boundary)
  return order > 0 || order === 0 && found?.isExact === false
}

/** The ends of all epochs that hold something, ascending. */
const rebuiltEnds = ({ base, evidence }: RebuildRequest): ReadonlyArray<FoundEnd> => {
  const ends = new Map<number, FoundEnd>((base?.ends ?? []).map((end) => [end.epoch, exactly(end)]))
  for (const [epoch, found] of evidence.ends) {
    const isSure = found.isExact && evidence.marked.has(epoch)
    if (isSure || !ends.has(epoch)) ends.set(epoch, found)
  }
  const checkpoint = base?.checkpoint
  if (checkpoint !== undefined && isCheckpointLater(checkpoint, ends.get(checkpoint.epoch))) {
    ends.set(checkpoint.epoch, exactly(checkpoint))
  }
  for (const [epoch, link] of evidence.links) ends.set(epoch, exactly(link))
  return [...ends.values()]
    .filter(({ boundary }) => boundary.slot > 0)
    .map(({ boundary, isExact }) => ({
      boundary: boundary.chain === "" ? { ...boundary, chain: unknownChain } : boundary,
      isExact
    }))
    .sort((left, right) => compareBoundaries(left.boundary, right.boundary))
}

/** Numbers and times that fall, where ends are not exact, are raised to those before; the chain goes on with the numbers. */
const rising = (start: Boundary, ends: ReadonlyArray<FoundEnd>): ReadonlyArray<FoundEnd> => {
  let before = start
  return ends.map(({ boundary, isExact }) => {
    const chain = isExact || boundary.seq > before.seq ? boundary.chain : before.chain
    before = { ...boundary, seq: Math.max(boundary.seq, before.seq), at: Math.max(boundary.at, before.at), chain }
    return { boundary: before, isExact }
  })
}

/** The last number that somebody knows: a cursor, which can stand in the middle of a segment, or the operator. */
const lastKnown = (tail: Boundary, { lastSeq, maxSegmentBytes }: RebuildRequest, highestCursor: number): number =>
  highestCursor <= tail.seq ? lastSeq : Math.max(lastSeq, highestIn(highestCursor, 1, maxSegmentBytes))

/**
 * Numbers above the tail that are known, and no slot is: one lost slot stands for them, in an epoch of its own, of which
 * nothing is stored.
 */
const lostAbove = (tail: Boundary, known: number, epoch: number): ReadonlyArray<FoundEnd> =>
  known <= tail.seq ? [] : [exactly({ ...tail, epoch, slot: 1, seq: known, chain: unknownChain })]

/** The ends above the trim point, where as many numbers are left out as may have been given out. */
const endsAboveTrim = (request: RebuildRequest, trim: Boundary, highestCursor: number): ReadonlyArray<FoundEnd> => {
  const above = rebuiltEnds(request).filter(({ boundary }) => compareBoundaries(boundary, trim) > 0)
  const limits = { maxSegmentBytes: request.maxSegmentBytes, highestCursor }
  return rising(trim, reserveLast(rising(trim, above), request.evidence.stretches, limits))
}

export interface Rebuilt {
  readonly manifest: Manifest
  /** Epochs whose end has numbers reserved below it: at most so many are lost. */
  readonly guessed: ReadonlySet<number>
  /** Epochs of which nothing is stored: their one slot stands for lost records of which no slot is known. */
  readonly standIns: ReadonlyArray<number>
}

/** The manifest with all ends in it, however many, and no index; producers are left to who asks for them. */
export const rebuildManifest = (request: RebuildRequest): Rebuilt => {
  const { base, digest, evidence, logId } = request
  const seed: Boundary = { epoch: 1, slot: 0, seq: request.lastSeq, at: 0, chain: chainSeed(logId, digest) }
  const trims = [evidence.trim, base?.trim].filter((one) => one !== undefined)
  const trim = trims.reduce(laterBoundary, trims[0] ?? seed)
  const cursors = [evidence.cursors, base?.cursors].filter((one) => one !== undefined)
    .reduce(newerCursors, emptyCursorSet)
  const highestCursor = highestMark(cursors)
  const found = endsAboveTrim(request, trim, highestCursor)
  const tail = found.at(-1)?.boundary ?? trim
  const seenEpoch = Math.max(base?.epoch ?? 0, evidence.highestEpoch, tail.epoch)
  const lost = lostAbove(tail, lastKnown(tail, request, highestCursor), seenEpoch + 1)
  const ends = [...found, ...lost].map(({ boundary }) => boundary)
  const last = ends.at(-1) ?? trim
  const epoch = Math.max(seenEpoch, last.epoch) + 1
  const exact = found.findLastIndex(({ isExact }) => isExact)
  const guessed = new Set(found.slice(exact + 1).map(({ boundary }) => boundary.epoch))
  const manifest: Manifest = {
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
    checkpoint: { ...last, epoch, slot: 0 },
    index: [],
    ...(base?.spool === undefined ? {} : { spool: base.spool }),
    ...(base?.spools_left === undefined ? {} : { spools_left: base.spools_left }),
    ...originsWith(base ?? {}, evidence.origins),
    unknown: base?.unknown ?? {}
  }
  return { manifest, guessed, standIns: lost.map(({ boundary }) => boundary.epoch) }
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
