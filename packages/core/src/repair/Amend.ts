/**
 * A repair of a log whose manifest is right: it stays as it is, but for the damage that is recorded in it, for points that
 * it has wrong, and for the end of the live epoch where damage keeps the log from being opened.
 */
import { Effect, Result } from "effect"
import { observeLiveEpoch } from "../epoch/ObserveEpoch.ts"
import { recoverProducers, type RecoveryContext } from "../epoch/RecoverProducers.ts"
import { compareBoundaries } from "../format/Boundary.ts"
import { highestMark, newerCursors } from "../format/CursorSet.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { slotKey } from "../format/ObjectKey.ts"
import { originsWith, recordedTail } from "../manifest/Manifest.ts"
import type { Examined } from "./Examine.ts"
import { corrected, missingMarkers, type Proposal, recordNotes, recordOf, takenEnds, withDamage } from "./Proposal.ts"
import type { RebuildContext } from "./Rebuild.ts"
import { reserve } from "./Reserve.ts"
import { readStored } from "./StoredLog.ts"

/**
 * Why the log does not open, where it is the live epoch; `undefined`: it opens. A writer that is still at work may have
 * trimmed or ended meanwhile what the manifest led to: then it is looked at again, as it is now.
 */
const refusal = Effect.fnUntraced(function*(context: RebuildContext, planned: Manifest) {
  for (let manifest = planned;;) {
    if (manifest.live === 0) return undefined
    const observed = yield* Effect.result(observeLiveEpoch(context, manifest))
    if (Result.isSuccess(observed)) return undefined
    const error = observed.failure
    // What really is too new was refused before: here it is a damaged version.
    const isDamage = error._tag === "SegmentMissing" || error._tag === "SegmentCorrupt" ||
      error._tag === "SegmentTooNew"
    if (!isDamage) return yield* error
    const now = (yield* readStored(context))?.manifest
    if (now === undefined || now.live === manifest.live && compareBoundaries(now.trim, manifest.trim) === 0) {
      return error.message
    }
    manifest = now
  }
})

/** The live epoch with its end recorded, above everything in it that was durable. */
const endLive = Effect.fnUntraced(
  function*(context: RecoveryContext, manifest: Manifest, examined: Examined) {
    const { evidence } = examined
    const found = evidence.ends.get(manifest.live)
    const cursors = evidence.cursors === undefined ? manifest.cursors : newerCursors(evidence.cursors, manifest.cursors)
    const { end, stretches } = reserve(
      found?.boundary ?? { ...recordedTail(manifest), epoch: manifest.live, slot: 0 },
      evidence.stretches,
      { maxSegmentBytes: context.maxSegmentBytes, highestCursor: highestMark(cursors) }
    )
    const calls = evidence.callSpans.get(manifest.live)
    const producers = yield* recoverProducers(context, manifest, {
      end,
      cursors,
      ...(calls === undefined ? {} : { calls })
    })
    const epoch = Math.max(manifest.epoch, evidence.highestEpoch) + 1
    const { producers: _, ...rest } = manifest
    const next: Manifest = {
      ...rest,
      ...(producers.length === 0 ? {} : { producers }),
      ...originsWith(manifest, evidence.origins),
      epoch,
      live: 0,
      ends: end.slot === 0 ? manifest.ends : [...manifest.ends, end],
      cursors,
      checkpoint: { ...end, epoch, slot: 0 }
    }
    return { manifest: next, end, stretches, isMarked: evidence.marked.has(end.epoch) }
  }
)

/** What is to be done about a log whose manifest is right. */
export const amend = Effect.fnUntraced(
  function*(context: RebuildContext, manifest: Manifest, examined: Examined) {
    const { ends, evidence, findings, report } = examined
    const why = yield* refusal(context, manifest)
    const base = corrected(manifest, evidence.corrected)
    const ended = why === undefined ? undefined : yield* endLive(context, base, examined)
    const stretches = ended?.stretches ?? evidence.stretches
    const next = withDamage(ended?.manifest ?? base, recordOf(stretches, ends))
    const isChanged = JSON.stringify(next) !== JSON.stringify(withDamage(manifest, manifest.damage ?? []))
    const marker = ended === undefined || ended.isMarked ? [] : [{ ...ended.end, why: "the live epoch ends here" }]
    return {
      manifest: isChanged ? next : undefined,
      archived: [],
      stretches,
      markers: [...missingMarkers(ends), ...marker],
      damagedKeys: [...takenEnds(ends), ...evidence.damagedKeys],
      findings,
      kept: { segments: evidence.segments, records: report.records, lastSeq: ended?.end.seq ?? report.durable },
      notes: [
        ...(ended === undefined ? [] : [
          `the log did not open: ${why}`,
          `epoch ${ended.end.epoch} is recorded to end before ${
            slotKey(context.prefix, ended.end.epoch, ended.end.slot)
          }`
        ]),
        ...recordNotes(stretches, ends)
      ]
    } satisfies Proposal as Proposal
  }
)
