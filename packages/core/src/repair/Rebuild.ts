/**
 * A repair of a log whose manifest is lost, damaged, of another log or older than its objects: it is made anew from them.
 *
 * What objects cannot tell is asked: whether slots that are not there were trimmed or lost, and whose log it is.
 */
import { Effect } from "effect"
import { recoverProducers, type RecoveryContext } from "../epoch/RecoverProducers.ts"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import { lowestMark } from "../format/CursorSet.ts"
import { type Manifest, maxEnds } from "../format/ManifestCodec.ts"
import { slotKey } from "../format/ObjectKey.ts"
import type { StoredProducer } from "../format/StoredProducer.ts"
import { recordedTail } from "../manifest/Manifest.ts"
import { sampleLogIds } from "../verify/Census.ts"
import { describeFinding, type FindingKind } from "../verify/Finding.ts"
import type { VerifyContext } from "../verify/Verify.ts"
import type { DamagedStretch } from "./Evidence.ts"
import { examine, type Examined } from "./Examine.ts"
import { corrected, missingMarkers, type Proposal, recordNotes, recordOf, takenEnds, withDamage } from "./Proposal.ts"
import { rebuildManifest, trimmedTo } from "./RebuiltManifest.ts"
import { RepairUndecided } from "./RepairError.ts"
import { refuseUncounted } from "./Uncounted.ts"

/** What an operator decides where objects cannot. */
export interface RepairDecisions {
  /**
   * Slots that are not there, in a log whose trim point is not known for sure: `lost` records them as lost and leaves
   * everything before them in the log; `trimmed` takes the last of them for the trim point, so that what is stored before
   * it is deleted by the next writer that collects garbage.
   */
  readonly missing?: "lost" | "trimmed"
  /** Whose objects count, where there are those of several logs: the id of the log. */
  readonly logId?: string
  /**
   * The number of the last record that the log has had, 0 and up: asked where no segment reads any more, because all are
   * trimmed or damaged, or where the end marker of an epoch whose segments are gone stands above all that read. A number
   * that is too large does no harm, it leaves out numbers; one below what segments say is of no account.
   */
  readonly lastSeq?: number
}

export interface RebuildContext extends VerifyContext, RecoveryContext {}

export interface RebuildFrom {
  readonly first: Examined
  /** The stored manifest, where it decodes and is of this log. */
  readonly base: Manifest | undefined
  /** Its trim point is the log's: nothing shows that it is older than the objects. */
  readonly isTrimKnown: boolean
  readonly nonce: string
}

const askLogId = (ids: ReadonlySet<string>) =>
  new RepairUndecided({
    question: `There are segments of ${ids.size} logs.`,
    choices: [...ids].map((value) => ({ option: "logId", value, means: "the objects of the others are not the log's" }))
  })

/** Whose log it is; `undefined`: that of the first segment that reads. */
const chooseLogId = Effect.fnUntraced(
  function*(context: RebuildContext, base: Manifest | undefined, decisions: RepairDecisions) {
    if (decisions.logId !== undefined) return decisions.logId
    if (base !== undefined) return base.log_id
    const ids = yield* sampleLogIds(context)
    return ids.size > 1 ? yield* askLogId(ids) : [...ids][0]
  }
)

const showLost = (stretch: DamagedStretch): string => {
  const { epoch, lost, slot, through } = stretch
  const numbers = lost === undefined ? "" : ` (records ${lost.from} to ${lost.to}${lost.exact ? "" : " at least"})`
  return `epoch ${epoch}, slot ${slot} to ${through}${numbers}`
}

interface Gap {
  readonly trim: Boundary
  readonly before: Manifest
  readonly examined: Examined
}

/** Where the log would start if what is missing had been trimmed; `undefined`: nothing is missing. */
const possibleTrim = ({ evidence }: Examined, manifest: Manifest): Boundary | undefined => {
  const start = evidence.first ?? recordedTail(manifest)
  const isStartMissing = start.seq > manifest.trim.seq
  return evidence.afterLastMissing ?? (isStartMissing ? start : undefined)
}

/** Every cursor has passed it, and nothing is stored before it: whoever wants what is missing has had it. */
const isHarmless = ({ before, examined, trim }: Gap): boolean => {
  const { first } = examined.evidence
  const isStart = first === undefined || compareBoundaries(trim, first) === 0
  return isStart && lowestMark(before.cursors) >= trim.seq
}

const decideTrim = Effect.fnUntraced(
  function*(from: RebuildFrom, decisions: RepairDecisions, manifest: Manifest, examined: Examined) {
    const trim = from.isTrimKnown ? undefined : possibleTrim(examined, manifest)
    if (trim === undefined || decisions.missing === "lost") return manifest
    const isDecided = decisions.missing === "trimmed" || isHarmless({ trim, before: manifest, examined })
    if (isDecided) return trimmedTo(manifest, trim)
    const missing = examined.evidence.stretches.filter((stretch) => stretch.isMissing).slice(0, 10).map(showLost)
    const where = missing.length === 0 ? `records ${manifest.trim.seq + 1} to ${trim.seq}` : missing.join("; ")
    return yield* new RepairUndecided({
      question:
        `Segments are not there, and without a manifest nothing says whether they were trimmed or lost: ${where}.`,
      choices: [
        { option: "missing", value: "lost", means: "they are recorded as lost, and everything that is there stays" },
        {
          option: "missing",
          value: "trimmed",
          means: `the log starts after record ${trim.seq}; what is stored before it is garbage, and is deleted`
        }
      ]
    })
  }
)

/** With one of these a manifest is not what its objects tell: it must not be written. */
const contradictions: ReadonlyArray<FindingKind> = ["unrecorded-epoch", "manifest-rolled-back", "manifest-inconsistent"]

/** A manifest that the log would not open with, or that would leave out what is stored, is not proposed. */
const refuseContradiction = (examined: Examined) => {
  const found = contradictions.flatMap((kind) => examined.firstOf.get(kind) ?? []).at(0)
  return found === undefined ? Effect.void : Effect.fail(
    new RepairUndecided({
      question: `The objects contradict each other, no manifest fits them: ${describeFinding(found)}.`,
      choices: []
    })
  )
}

/** What is remembered of producers, from the calls that the segments of all epochs hold. */
const rebuildProducers = Effect.fnUntraced(
  function*(context: RebuildContext, from: RebuildFrom, objects: Examined, manifest: Manifest) {
    let producers: ReadonlyArray<StoredProducer> = from.base?.producers ?? []
    for (const end of manifest.ends) {
      const calls = objects.evidence.callSpans.get(end.epoch)
      if (calls === undefined) continue
      const start: Boundary = { ...end, slot: 0 }
      const epochOnly: Manifest = { ...manifest, live: end.epoch, checkpoint: start, trim: manifest.trim, producers }
      producers = yield* recoverProducers(context, epochOnly, { end, calls, cursors: manifest.cursors })
    }
    return producers
  }
)

const isBefore = (stretch: { readonly epoch: number; readonly slot: number }, trim: Boundary): boolean =>
  compareBoundaries(stretch, trim) < 0

/** What is lost at an end that is a guess is at most that much. */
const asGuessed = (
  stretch: DamagedStretch,
  guessed: ReadonlySet<number>,
  ends: ReadonlyArray<Boundary>
): DamagedStretch => {
  const { epoch, lost } = stretch
  const isGuess = lost !== undefined && guessed.has(epoch) &&
    ends.some((end) => end.epoch === epoch && end.seq === lost.to)
  return isGuess ? { ...stretch, lost: { ...lost, exact: false } } : stretch
}

/** The log as its objects tell. Fails `RepairUndecided`, and as an examination does. */
export const rebuild = Effect.fnUntraced(
  function*(context: RebuildContext, from: RebuildFrom, decisions: RepairDecisions) {
    const chosen = yield* chooseLogId(context, from.base, decisions)
    const objects = yield* examine({
      ...context,
      assume: { known: undefined, ...(chosen === undefined ? {} : { logId: chosen }) }
    })
    const logId = chosen ?? objects.evidence.logId
    if (logId === undefined) {
      return yield* new RepairUndecided({
        question: "No object of the log reads, so nothing says what its id was.",
        choices: [{ option: "logId", value: "", means: "32 hexadecimal digits, from a copy of the manifest" }]
      })
    }
    if (decisions.lastSeq === undefined) yield* refuseUncounted(context, { base: from.base, logId, objects })
    const { digest, maxSegmentBytes } = context
    const { guessed, manifest: draft, standIns } = rebuildManifest({
      logId,
      base: from.base,
      evidence: objects.evidence,
      digest,
      maxSegmentBytes,
      lastSeq: decisions.lastSeq ?? 0,
      nonce: from.nonce,
      host: "repair"
    })
    const known = { manifest: draft, ends: draft.ends, unknownThrough: 0 }
    const examined = yield* examine({ ...context, assume: { known } })
    yield* refuseContradiction(examined)
    const trimmed = yield* decideTrim(from, decisions, corrected(draft, examined.evidence.corrected), examined)
    const { trim } = trimmed
    const stretches = examined.evidence.stretches.filter((stretch) => !isBefore(stretch, trim))
      .map((stretch) => asGuessed(stretch, guessed, draft.ends))
    const ends = examined.ends.filter(({ epoch = 0, slot = 0 }) => !isBefore({ epoch, slot }, trim))
    const producers = yield* rebuildProducers(context, from, objects, trimmed)
    const all = { ...trimmed, ...(producers.length === 0 ? {} : { producers }) }
    const archived = all.ends.slice(0, Math.max(0, all.ends.length - maxEnds))
    const isKept = (finding: { readonly epoch?: number; readonly slot?: number }) =>
      finding.epoch === undefined || finding.slot === undefined ||
      !isBefore({ epoch: finding.epoch, slot: finding.slot }, trim)
    return {
      manifest: withDamage({ ...all, ends: all.ends.slice(archived.length) }, recordOf(stretches, ends)),
      archived,
      stretches,
      markers: missingMarkers(ends),
      damagedKeys: [...takenEnds(ends), ...examined.evidence.damagedKeys],
      findings: [...from.first.findings, ...examined.findings.filter(isKept)],
      kept: {
        segments: examined.evidence.segments,
        records: examined.report.records,
        lastSeq: recordedTail(trimmed).seq
      },
      notes: [
        `the manifest is made anew: epoch ${all.epoch}, cursors as the newest header knows them (${
          Object.entries(all.cursors.marks).map(([name, mark]) => `${name} ${mark}`).join(", ")
        }); what was committed after it is delivered again`,
        ...(from.base === undefined
          ? [
            "where spools of its writers are was in the manifest only: start each host that had one, with the same configuration"
          ]
          : []),
        ...(compareBoundaries(trim, draft.trim) === 0
          ? []
          : [`the log starts after record ${trim.seq}: what was before it is taken for trimmed`]),
        ...standIns.filter((epoch) => epoch >= trim.epoch).map((epoch) =>
          `${slotKey(context.prefix, epoch, 0)} stands for lost records: nothing says in which segments they were`
        ),
        ...recordNotes(stretches, ends)
      ]
    } satisfies Proposal as Proposal
  }
)
