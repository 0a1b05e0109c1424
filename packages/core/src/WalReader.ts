/**
 * Reading a log without writing anything: no epoch, no end marker, no probe. For readers on other nodes and for inspection.
 *
 * A live writer is not disturbed. What it shows is durable; what has become durable since is seen at the next look.
 */
import { Context, Duration, Effect, Layer, Option, Result, Stream } from "effect"
import { allEnds } from "./epoch/EndsArchive.ts"
import { observeLiveEpoch } from "./epoch/ObserveEpoch.ts"
import type { LookContext } from "./epoch/SlotLook.ts"
import { type Boundary, compareBoundaries } from "./format/Boundary.ts"
import type { CursorSet } from "./format/CursorSet.ts"
import type { Manifest } from "./format/ManifestCodec.ts"
import { manifestKey } from "./format/ObjectKey.ts"
import { makeReads, readFrom, replayFrom, type ReplayParts } from "./log/LogReading.ts"
import { lookContext, type LookOptions } from "./log/LookOptions.ts"
import { recordedTail } from "./manifest/Manifest.ts"
import { readManifest } from "./manifest/ManifestStore.ts"
import { SparseIndex } from "./manifest/SparseIndex.ts"
import type { EpochSpan, LogView } from "./read/LogView.ts"
import { ObjectStore } from "./store/ObjectStore.ts"
import { ConfigError, ManifestMissing, ManifestVanished, type ReadError, type WalOpenError } from "./WalError.ts"
import type { LogReads } from "./WalService.ts"

/** What a reader is made with: the identity of the log, and how it looks at it. */
export interface WalReaderOptions extends LookOptions {
  /** How often a live read looks for more, while there is none, at least 1 ms. Default 1 s; each look is two to four requests. */
  readonly pollInterval?: Duration.Input
}

/** The log as a reader saw it last. */
export interface ReaderStatus {
  readonly logId: string
  /** The newest epoch that was claimed. */
  readonly epoch: number
  readonly host: string
  /** Everything up to this number was durable. */
  readonly durable: number
  readonly trimmedTo: number
  readonly cursors: Readonly<Record<string, number>>
}

/** Reads as those of the log's own writer; a replay acknowledges nothing. */
export interface WalReaderService extends LogReads {
  /** Looks at the store and answers what the log is now. */
  readonly status: Effect.Effect<ReaderStatus, ReadError>
}

interface Snapshot {
  readonly manifest: Manifest
  readonly spans: ReadonlyArray<EpochSpan>
  readonly durable: Boundary
  readonly cursors: CursorSet
  readonly index: SparseIndex
}

/** What a manifest leads to. */
const follow = Effect.fnUntraced(function*(context: LookContext, manifest: Manifest) {
  const ends = yield* allEnds(context, manifest)
  const spans = ends.map((end): EpochSpan => ({ epoch: end.epoch, end: end.slot }))
  const index = new SparseIndex([...manifest.index, ...ends], Number.MAX_SAFE_INTEGER)
  if (manifest.live === 0) {
    return { manifest, spans, durable: recordedTail(manifest), cursors: manifest.cursors, index } satisfies Snapshot
  }
  const { cursors, end } = yield* observeLiveEpoch(context, manifest)
  return {
    manifest,
    spans: [...spans, { epoch: manifest.live, end: end.slot }],
    durable: end,
    cursors,
    index
  } satisfies Snapshot
})

/** One look at the store; and another, where a writer may have deleted meanwhile what the manifest led to. */
const takeSnapshot = Effect.fnUntraced(function*(context: LookContext, streamId: string) {
  const access = {
    key: manifestKey(context.prefix),
    streamId,
    backoff: context.backoff,
    readAttempts: context.attempts
  }
  let failedAt: Boundary | undefined
  for (;;) {
    const held = yield* readManifest(access)
    if (held === undefined) return yield* new ManifestMissing({ key: access.key, found: "no log here" })
    const followed = yield* Effect.result(follow(context, held.manifest))
    if (Result.isSuccess(followed)) return followed.success
    const { trim } = held.manifest
    const isDamage = failedAt !== undefined && compareBoundaries(trim, failedAt) === 0
    if (followed.failure._tag !== "SegmentMissing" || isDamage) return yield* followed.failure
    failedAt = trim
  }
})

type LookError = Effect.Error<ReturnType<typeof takeSnapshot>>

/** The log was there when it was opened: a manifest that is not there any more was deleted. */
const asReadError = (error: LookError): ReadError =>
  error._tag === "ManifestMissing" ? new ManifestVanished({ key: error.key }) : error

/** A pause, so that a reader never asks without one. */
const pollDuration = (input: Duration.Input): Effect.Effect<Duration.Duration, ConfigError> => {
  const duration = Option.getOrElse(Duration.fromInput(input), () => Duration.zero)
  if (Duration.toMillis(duration) >= 1) return Effect.succeed(duration)
  const problem = { path: "pollInterval", value: String(input), rule: "must be a duration of at least 1 ms" }
  return Effect.fail(new ConfigError({ source: "options", problems: [problem] }))
}

const makeReader = Effect.fnUntraced(function*(options: WalReaderOptions) {
  const { pollInterval = "1 second", ...logOptions } = options
  const { options: _, ...context } = yield* lookContext(logOptions)
  const interval = yield* pollDuration(pollInterval)
  const store = yield* ObjectStore
  const look = takeSnapshot(context, context.streamId).pipe(Effect.provideService(ObjectStore, store))
  const { manifest } = yield* look
  return makeService({
    ...context,
    logId: manifest.log_id,
    store,
    interval,
    look: Effect.mapError(look, asReadError)
  })
})

interface ReaderParts
  extends
    Pick<LogView, "backoff" | "compression" | "digest" | "logId" | "maxSegmentBytes" | "prefetch" | "prefix" | "store">
{
  readonly interval: Duration.Duration
  readonly look: Effect.Effect<Snapshot, ReadError>
}

/**
 * The log as one stream sees it, from a snapshot on. Each stream has its own: of two looks that are under way together the
 * older one can end last, and what it has not seen yet would look lost to who was reading it.
 */
const viewFrom = (parts: ReaderParts, first: Snapshot): LogView => {
  let snapshot = first
  const refresh = Effect.map(parts.look, (next) => {
    snapshot = next
    return next
  })
  const view: LogView = {
    ...parts,
    trim: () => snapshot.manifest.trim,
    durable: () => snapshot.durable,
    epochs: () => snapshot.spans,
    get index() {
      return snapshot.index
    },
    refresh: Effect.asVoid(refresh),
    beyond: (seq) =>
      Effect.suspend(() =>
        snapshot.durable.seq > seq
          ? Effect.void
          : Effect.flatMap(
            refresh,
            (next) =>
              next.durable.seq > seq ? Effect.void : Effect.andThen(Effect.sleep(parts.interval), view.beyond(seq))
          )
      )
  }
  return view
}

/** What a replay is made of. It acknowledges nothing. */
const replayParts = (view: LogView, { marks }: CursorSet): ReplayParts => ({
  view,
  metrics: { put: () => undefined, recovery: () => undefined },
  // A name such as `constructor` is also a property of every object.
  mark: (cursor) => Object.hasOwn(marks, cursor) ? marks[cursor] : undefined,
  onLost: () => Effect.void
})

const makeService = (parts: ReaderParts): WalReaderService => {
  const { look } = parts
  const fresh = <A>(read: (view: LogView, cursors: CursorSet) => Stream.Stream<A, ReadError>) =>
    Stream.unwrap(Effect.map(look, (snapshot) => read(viewFrom(parts, snapshot), snapshot.cursors)))
  return {
    ...makeReads({
      replay: (options) => fresh((view, cursors) => replayFrom(replayParts(view, cursors), options)),
      read: (options) => fresh((view) => readFrom(view, options))
    }),
    status: Effect.map(look, ({ cursors, durable, manifest }) => ({
      logId: manifest.log_id,
      epoch: manifest.epoch,
      host: manifest.host,
      durable: durable.seq,
      trimmedTo: manifest.trim.seq,
      cursors: cursors.marks
    }))
  }
}

/** Reads a log without writing; see `WalReader.make`. */
export class WalReader extends Context.Service<WalReader, WalReaderService>()("@effect-wal/core/WalReader") {
  /**
   * Opens a log for reading. Fails `ConfigError` and `InvalidId` before any request, `ManifestMissing` where there is no
   * log, and what the store and the data answer.
   */
  static readonly make = makeReader

  /** Opens the log for reading, for the life of the layer. */
  static readonly layer = (options: WalReaderOptions): Layer.Layer<WalReader, WalOpenError, ObjectStore> =>
    Layer.effect(WalReader, makeReader(options))
}
