/**
 * The manifest coordinator: the one fiber that replaces the manifest of an open log.
 *
 * Owns: the held manifest, when it is written, what its next body says. Does not own: segments, deletion, cursors; it
 * takes snapshots of them.
 *
 * Invariants: one compare-and-swap is in flight at a time · a batch that could not be placed stays and is tried again · a
 * checkpoint never lies above the watermark · the trim point is told to the collector only once its body is stored.
 */
import { Deferred, Effect, Exit, Random, Result } from "effect"
import type { Boundary } from "../format/Boundary.ts"
import type { CursorSet } from "../format/CursorSet.ts"
import type { Manifest } from "../format/ManifestCodec.ts"
import { monotonicNow } from "../internal/Monotonic.ts"
import type { LogStats } from "../observe/LogStats.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { backoffMillis, pauseBeforeRetry } from "../store/StoreRetry.ts"
import { ManifestContention, type WalEnd, type WriterFenced } from "../WalError.ts"
import type { LogFate } from "../write/LogFate.ts"
import { Signal } from "../write/Signal.ts"
import { advance, type Progress } from "./Manifest.ts"
import { decideCommit, type ManifestPolicySettings } from "./ManifestPolicy.ts"
import { checkOwner, type HeldManifest, type ManifestAccess, type SwapError, swapManifest } from "./ManifestStore.ts"

/** Tries of one batch before `ManifestContention`. */
const swapAttempts = 8

/** Who waits does so through a pause that doubled so often at most. */
const mostFailuresWaitedFor = 3

export interface CoordinatorSettings extends ManifestPolicySettings {
  readonly access: ManifestAccess
  readonly epoch: number
  readonly nonce: string
}

export interface CoordinatorParts {
  readonly fate: LogFate
  readonly store: ObjectStore["Service"]
  readonly stats: LogStats
  /** What the next body says, taken anew for each try. */
  readonly progress: (current: Manifest) => Progress
  readonly cursors: {
    readonly dirtySinceMillis: number | undefined
    readonly unstoredRecords: number
    readonly stored: (set: CursorSet) => void
  }
  readonly carrierDueMillis: (nowMillis: number) => number | undefined
  /** A body with this trim point is stored. */
  readonly onTrimmed: (trim: Boundary) => void
  /** A newer writer owns the manifest. */
  readonly onFenced: (error: WriterFenced) => void
}

export class ManifestCoordinator {
  private readonly settings: CoordinatorSettings
  private readonly parts: CoordinatorParts
  private held: HeldManifest
  private readonly events = new Signal()
  private pendingSegments = 0
  private pendingSince: number | undefined = undefined
  /** Commits that were asked for and that nobody waits for: all so far, and those that are stored. */
  private wants = 0
  private storedWants = 0
  private notBefore = 0
  private failures = 0
  /** A newer writer was seen: nothing is written any more, whatever is still asked for. */
  private fenced = false
  /** Who has asked for a commit and still waits. */
  private readonly waiters = new Set<Deferred.Deferred<void, WalEnd>>()

  constructor(settings: CoordinatorSettings, parts: CoordinatorParts, held: HeldManifest) {
    this.settings = settings
    this.parts = parts
    this.held = held
    parts.fate.onEnd((error) => this.answer([...this.waiters], Exit.fail(error)))
  }

  /** The manifest as it was last known to be stored. */
  get current(): Manifest {
    return this.held.manifest
  }

  /** One more segment is durable. */
  segmentDurable(nowMillis: number): void {
    this.pendingSegments++
    this.pendingSince ??= nowMillis
    if (this.pendingSegments === 1 || this.pendingSegments >= this.settings.maxSegments) this.events.wake()
  }

  /** A cursor has changed. */
  cursorChanged(): void {
    this.events.wake()
  }

  /** Writes the manifest as soon as the store takes it; nobody waits for that. */
  want(): void {
    this.wants++
    this.events.wake()
  }

  /** Writes the manifest now and waits until it is stored; tries go on until then or until the log ends. */
  get commit(): Effect.Effect<void, WalEnd> {
    return Effect.suspend(() => {
      if (this.parts.fate.ended !== undefined) return Effect.fail(this.parts.fate.ended)
      const waiter = Deferred.makeUnsafe<void, WalEnd>()
      this.waiters.add(waiter)
      this.events.wake()
      return Effect.ensuring(Deferred.await(waiter), Effect.sync(() => this.waiters.delete(waiter)))
    })
  }

  /** Fails `WriterFenced`, and ends the log, where the manifest is another writer's by now. */
  get checkOwner(): Effect.Effect<void, SwapError> {
    return checkOwner(this.settings.access, this.settings).pipe(
      Effect.tapErrorTag("WriterFenced", (error) => this.fence(error)),
      Effect.provideService(ObjectStore, this.parts.store)
    )
  }

  /** Writes by time and demand, until interrupted. */
  get run(): Effect.Effect<never> {
    return Effect.forever(Effect.suspend(() => this.step())).pipe(
      Effect.provideService(ObjectStore, this.parts.store)
    )
  }

  private readonly step = Effect.fnUntraced(function*(this: ManifestCoordinator) {
    const nowMillis = yield* monotonicNow
    const decision = decideCommit(this.settings, {
      nowMillis,
      pendingSegments: this.pendingSegments,
      pendingSinceMillis: this.pendingSince,
      requested: this.waiters.size > 0,
      wanted: this.wants > this.storedWants,
      cursorDirtySinceMillis: this.parts.cursors.dirtySinceMillis,
      cursorUnstoredRecords: this.parts.cursors.unstoredRecords,
      carrierDueMillis: this.parts.carrierDueMillis(nowMillis),
      notBeforeMillis: this.notBefore
    })
    if (this.fenced || this.parts.fate.ended !== undefined) return yield* Effect.never
    if (decision._tag === "Wait") return yield* this.events.wait
    if (decision._tag === "WaitUntil") return yield* this.events.waitAtMost(decision.atMillis - nowMillis)
    yield* Effect.withSpan(this.write(), "wal.manifest", { captureStackTrace: false })
  })

  /** One batch. Who asks after it has started waits for the next one. */
  private readonly write = Effect.fnUntraced(function*(this: ManifestCoordinator) {
    const waiters = [...this.waiters]
    const segments = this.pendingSegments
    const { wants } = this
    const startedAt = yield* monotonicNow
    const swapped = yield* Effect.result(
      swapManifest(this.settings.access, this.held, {
        attempts: swapAttempts,
        owner: { epoch: this.settings.epoch, nonce: this.settings.nonce },
        next: (current, commitId) => advance(current, this.parts.progress(current), commitId),
        onConflict: () =>
          Effect.sync(() => {
            this.parts.stats.manifestConflicts++
          })
      })
    )
    if (Result.isFailure(swapped)) return yield* this.failed(swapped.failure)
    if ("_tag" in swapped.success) {
      const { held, last } = swapped.success
      this.held = held
      this.parts.stats.manifestContentions++
      const contention = new ManifestContention({
        key: this.settings.access.key,
        attempts: swapAttempts,
        last: last.message
      })
      return yield* this.later(contention.message)
    }
    this.held = swapped.success
    this.failures = 0
    this.notBefore = 0
    this.pendingSegments -= segments
    this.pendingSince = this.pendingSegments > 0 ? startedAt : undefined
    this.storedWants = wants
    this.parts.stats.manifestCommits++
    this.parts.cursors.stored(this.held.manifest.cursors)
    this.parts.onTrimmed(this.held.manifest.trim)
    this.answer(waiters, Exit.void)
  })

  private failed(error: SwapError): Effect.Effect<void> {
    switch (error._tag) {
      case "WriterFenced":
        return this.fence(error)
      case "ManifestVanished":
      case "ManifestCorrupt":
      case "ManifestTooNew":
        return Effect.sync(() => {
          this.parts.fate.end(error)
        })
      default:
        return this.later(error.message)
    }
  }

  private fence(error: WriterFenced): Effect.Effect<void> {
    return Effect.sync(() => {
      this.fenced = true
      this.parts.onFenced(error)
    })
  }

  /**
   * The batch stays; it is tried again after a pause, sooner where somebody waits. Nobody waits longer than the short pause,
   * also who comes in the middle of a long one.
   */
  private readonly later = Effect.fnUntraced(function*(this: ManifestCoordinator, reason: string) {
    yield* Effect.logWarning(`manifest not written: ${reason}; it is tried again`)
    const attempt = this.failures++
    const { access: { backoff }, maxDelayMillis } = this.settings
    if (this.waiters.size === 0) {
      const pauseMillis = backoffMillis(backoff, { attempt, random: yield* Random.next })
      this.notBefore = (yield* monotonicNow) + Math.max(maxDelayMillis, pauseMillis)
    }
    yield* pauseBeforeRetry(backoff, Math.min(attempt, mostFailuresWaitedFor))
  })

  private answer(waiters: ReadonlyArray<Deferred.Deferred<void, WalEnd>>, exit: Exit.Exit<void, WalEnd>): void {
    for (const waiter of waiters) this.waiters.delete(waiter)
    for (const waiter of waiters) Deferred.doneUnsafe(waiter, exit)
  }
}
