/**
 * Proves from what is stored that a log is whole, or says what is not. Writes nothing.
 *
 * In this order: the manifest, a listing of everything below the prefix, the end markers, then each segment from the trim
 * point to the durable end as it was at the start.
 */
import { Effect, Result, Stream } from "effect"
import { isMarkerOf } from "../epoch/EndOfEpoch.ts"
import { allEnds, endsAbove } from "../epoch/EndsArchive.ts"
import { lookAt } from "../epoch/SlotLook.ts"
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { manifestKey } from "../format/ObjectKey.ts"
import { type HeldManifest, readManifest } from "../manifest/ManifestStore.ts"
import type { ObjectStore } from "../store/ObjectStore.ts"
import { pauseBeforeRetry } from "../store/StoreRetry.ts"
import { ManifestMissing, type ManifestTooNew, type StoreError } from "../WalError.ts"
import { Census, type KnownLog, sampleLogIds, takeCensus } from "./Census.ts"
import { manifestProblems } from "./CheckManifest.ts"
import type { FetchContext } from "./FetchSlot.ts"
import { type Finding, objectFinding, slotFinding, type VerifyEvent, type VerifyReport } from "./Finding.ts"
import { type LookAgain, lookAgain, lookOnly } from "./LogLook.ts"
import { type LogMap, mapOf, slotsOf } from "./LogMap.ts"
import { mapOfObjects } from "./ObjectMap.ts"
import type { WalkStep } from "./SegmentWalk.ts"
import { Tally } from "./Tally.ts"
import { walkLog } from "./WalkLog.ts"

export interface VerifyContext extends FetchContext {
  readonly streamId: string
  /** Objects fetched ahead, 1 or more. */
  readonly prefetch: number
  /** Told of what is found on the way. */
  readonly observer?: VerifyObserver
  /** What is taken for the manifest instead of the stored one. */
  readonly assume?: Assumed
}

export interface VerifyObserver {
  /** Each step of the walk, before it is counted. */
  readonly onStep: (step: WalkStep) => void
  /** The census, when everything is listed, and what is going to be walked. */
  readonly onCensus: (census: Census, map: LogMap) => void
}

/** `undefined` in place of a manifest: there is none. */
export interface Assumed {
  readonly known: KnownLog | undefined
  /** The log whose objects count where there is no manifest; absent: that of the first one. */
  readonly logId?: string
}

/** `ManifestMissing`: there is no log here. `ManifestTooNew`: it needs a newer program. Damage is no error but a finding. */
export type VerifyFailure = StoreError | ManifestMissing | ManifestTooNew

/** Tries to see an end marker that must be there. */
const markerAttempts = 3

const accessOf = (context: VerifyContext) => ({
  key: manifestKey(context.prefix),
  streamId: context.streamId,
  backoff: context.backoff,
  readAttempts: context.attempts
})

/** What a verification starts from. */
interface Start {
  readonly known: KnownLog | undefined
  /** There is no manifest: with no segments either, there is no log. */
  readonly isAbsent?: true
  readonly findings: ReadonlyArray<Finding>
}

/** The recorded ends; what an archive holds that is lost is not among them. */
const findEnds = Effect.fnUntraced(function*(context: VerifyContext, manifest: Manifest) {
  const all = yield* Effect.result(allEnds(context, manifest))
  if (Result.isSuccess(all)) return { ends: all.success, lost: undefined }
  const error = all.failure
  return error._tag === "ManifestCorrupt"
    ? { ends: endsAbove(manifest.ends, manifest.trim), lost: error }
    : yield* error
})

const start = Effect.fnUntraced(function*(context: VerifyContext, held: HeldManifest | undefined) {
  const key = manifestKey(context.prefix)
  if (held === undefined) {
    const finding = objectFinding(key, "manifest-missing", "there are objects of a log, and no manifest")
    return { known: undefined, isAbsent: true, findings: [finding] } satisfies Start as Start
  }
  const { manifest } = held
  const ids = yield* sampleLogIds(context)
  if (ids.size > 0 && !ids.has(manifest.log_id)) {
    const reason = `it is of log ${manifest.log_id}, the segments are of ${[...ids].join(", ")}`
    return { known: undefined, findings: [objectFinding(key, "manifest-foreign", reason)] } satisfies Start as Start
  }
  const { ends, lost } = yield* findEnds(context, manifest)
  const problems = manifestProblems(manifest, ends, context.digest)
  return {
    known: { manifest, ends, unknownThrough: lost === undefined ? 0 : manifest.ends_archive?.through ?? 0 },
    findings: [
      ...(lost === undefined ? [] : [objectFinding(lost.key, "archive-lost", lost.reason)]),
      ...problems.map((reason) => objectFinding(key, "manifest-inconsistent", reason))
    ]
  } satisfies Start as Start
})

/** The manifest; one that does not decode is a finding. */
const readStart = Effect.fnUntraced(function*(context: VerifyContext) {
  if (context.assume !== undefined) return { known: context.assume.known, findings: [] } satisfies Start as Start
  const read = yield* Effect.result(readManifest(accessOf(context)))
  if (Result.isSuccess(read)) return yield* start(context, read.success)
  const error = read.failure
  if (error._tag !== "ManifestCorrupt") return yield* error
  return { known: undefined, findings: [objectFinding(error.key, "manifest-corrupt", error.reason)] } satisfies Start
})

/** What stands at a recorded end. */
const checkEnd = Effect.fnUntraced(
  function*(context: VerifyContext, manifest: Manifest, again: LookAgain, end: Boundary): Effect.fn.Return<
    ReadonlyArray<Finding>,
    StoreError,
    ObjectStore
  > {
    const place = { logId: manifest.log_id, epoch: end.epoch, slot: end.slot }
    const tell = (kind: "end-marker-missing" | "data-at-end", reason: string) => [
      slotFinding(context.prefix, end, { kind, reason })
    ]
    for (let attempt = 1;; attempt++) {
      const looked = yield* Effect.result(lookAt(context, end.epoch, end.slot))
      if (Result.isFailure(looked)) {
        const error = looked.failure
        const isDamage = error._tag === "SegmentCorrupt" || error._tag === "SegmentTooNew"
        return isDamage ? tell("data-at-end", `no end marker stands here: ${error.message}`) : yield* error
      }
      const header = looked.success
      if (header !== undefined) {
        return isMarkerOf(header, place)
          ? []
          : tell("data-at-end", "the epoch is recorded to end here, and no end marker stands here")
      }
      if (attempt === markerAttempts) break
      yield* pauseBeforeRetry(context.backoff, attempt)
    }
    // On a local disk a marker goes with its file.
    const look = yield* again
    if (look !== undefined && compareBoundaries(look.trim, end) >= 0) return []
    return tell("end-marker-missing", "the epoch is recorded to end here, and nothing stands here")
  }
)

/** A cursor above a log that nobody writes to; in one that is live the walk looks for what it stands for. */
const cursorFindings = (context: VerifyContext, manifest: Manifest, durable: number): ReadonlyArray<Finding> =>
  manifest.live !== 0 ? [] : Object.entries(manifest.cursors.marks).filter(([, mark]) => mark > durable).map((
    [name, mark]
  ) =>
    objectFinding(
      manifestKey(context.prefix),
      "cursor-beyond-durable",
      `cursor ${name} stands at ${mark}, the last record is ${durable}`
    )
  )

interface Parts {
  readonly isAbsent: boolean
  readonly context: VerifyContext
  readonly known: KnownLog | undefined
  readonly census: Census
  readonly tally: Tally
  readonly again: LookAgain
}

type Events = Stream.Stream<VerifyEvent, VerifyFailure, ObjectStore>

const reportOf = ({ census, known, tally }: Parts, map: LogMap, durable: number): VerifyReport => ({
  ...tally.progress,
  _tag: "Report",
  intact: tally.newFindings === 0,
  logId: known?.manifest.log_id,
  epochs: map.spans.length,
  trimmedTo: map.start?.seq ?? 0,
  durable,
  findings: tally.newFindings,
  knownFindings: tally.knownFindings,
  byKind: tally.byKind,
  garbage: { belowTrim: census.belowTrim, beyondEnds: census.beyondEnds },
  foreign: census.foreign
})

/** The log as the manifest has it, or as it is stored, once the census has shown what there is. */
const mapNow = Effect.fnUntraced(function*({ census, context, isAbsent, known }: Parts) {
  if (isAbsent && census.open.size === 0) {
    return yield* new ManifestMissing({ key: manifestKey(context.prefix), found: "no log here" })
  }
  return known === undefined
    ? yield* mapOfObjects(context, census.open, context.assume?.logId)
    : mapOf(known.manifest, known.ends, census.open, known.unknownThrough)
})

/** The segments. */
const walkAll = (parts: Parts): Events =>
  Stream.unwrap(Effect.map(mapNow(parts), (map): Events => {
    const { again, census, context, known, tally } = parts
    tally.segmentsTotal = slotsOf(map)
    context.observer?.onCensus(census, map)
    const { steps, walk } = walkLog({ ...context, map, lookAgain: again }, context.prefetch)
    const told = steps.pipe(
      Stream.map((step) => {
        context.observer?.onStep(step)
        return tally.step(step)
      }),
      Stream.flattenIterable
    )
    const last = Stream.suspend(() => {
      const durable = walk.reached.boundary.seq
      const cursors = known === undefined ? [] : cursorFindings(context, known.manifest, durable)
      const found = cursors.map((finding) => tally.found(finding))
      return Stream.fromIterable<VerifyEvent>([...found, tally.progress, reportOf(parts, map, durable)])
    })
    return Stream.concat(told, last)
  }))

/** How the manifest is looked at again: one that is only assumed stays as it is. */
const againOf = (context: VerifyContext, known: KnownLog | undefined): LookAgain => {
  if (known === undefined) return Effect.undefined
  return context.assume === undefined ? lookAgain(accessOf(context), known.manifest.log_id) : lookOnly(known.manifest)
}

/** All events, a `Report` last. */
export const verifyLog = (context: VerifyContext): Events =>
  Stream.unwrap(Effect.map(readStart(context), ({ findings, isAbsent = false, known }): Events => {
    const again = againOf(context, known)
    const census = new Census({ ...context, known, lookAgain: again })
    const tally = new Tally(known?.manifest.damage ?? [])
    const parts: Parts = { context, known, isAbsent, census, tally, again }
    const markers = known === undefined ? Stream.empty : Stream.fromIterable(known.ends).pipe(
      Stream.rechunk(1),
      Stream.mapEffect((end) => checkEnd(context, known.manifest, again, end), { concurrency: context.prefetch }),
      Stream.flattenIterable
    )
    const first = Stream.fromIterable(findings).pipe(
      Stream.concat(takeCensus(census, context)),
      Stream.concat(markers),
      Stream.map((finding) => tally.found(finding))
    )
    return Stream.concat(first, walkAll(parts))
  }))
