/**
 * One process of the log: what it is made of, its log once it is open, and who waits in it for an answer.
 */
import { BufferBudget, BufferBudgetState } from "@effect-wal/core/BufferBudget"
import { Compression } from "@effect-wal/core/codec/Compression"
import { Digest, type DigestService } from "@effect-wal/core/codec/Digest"
import { DiskFile } from "@effect-wal/core/node/DiskFile"
import { NonceSource } from "@effect-wal/core/Nonce"
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Spool } from "@effect-wal/core/store/Spool"
import { makeResolved } from "@effect-wal/core/Wal"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import type { WalService, WalStatus } from "@effect-wal/core/WalService"
import { Cause, Context, Effect, Exit, type Fiber, Metric, Option, Predicate, Random, References, Scope } from "effect"
import { AckedAhead } from "./AckedAhead.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import type { SimHost } from "./SimHost.ts"
import type { SimProcess } from "./SimProcess.ts"
import { StoreMeter } from "./StoreMeter.ts"
import { syncCompression } from "./SyncCompression.ts"
import type { Trace } from "./Trace.ts"
import type { Violations } from "./Violations.ts"

export interface WriterParts {
  readonly process: SimProcess
  readonly host: SimHost
  readonly store: ObjectStore["Service"]
  readonly digest: DigestService
  readonly random: SeededRandom
  readonly violations: Violations
  readonly trace: Trace
  readonly options: WalOptions
  readonly probes: boolean
  /** Nothing that is stored is damaged, and nothing else answers in its place. */
  readonly isWhole: boolean
}

/** All randomness of the process comes from the seed. */
const randomOf = (random: SeededRandom) => ({
  nextDoubleUnsafe: () => random.next(),
  nextIntUnsafe: () => random.between(Number.MIN_SAFE_INTEGER / 2, Number.MAX_SAFE_INTEGER / 2)
})

/** What says that stored data is damaged or gone. */
const damageTags: ReadonlySet<string> = new Set([
  "EndMarkerLost",
  "ManifestCorrupt",
  "ManifestMissing",
  "ManifestTooNew",
  "ManifestVanished",
  "SegmentConflict",
  "SegmentCorrupt",
  "SegmentMissing",
  "SegmentTooNew",
  "SequenceGap",
  "SpoolUndecided"
])

const contextOf = ({ digest, host, probes, random }: WriterParts, store: ObjectStore["Service"]) => {
  const registry = new ProcessRegistryState()
  if (!probes) registry.probed.add(store.id)
  return Context.make(ObjectStore, store).pipe(
    Context.add(ProcessRegistry, registry),
    Context.add(Spool, host.spool),
    Context.add(DiskFile, host.disk.disk),
    Context.add(Digest, Effect.succeed(digest)),
    Context.add(Compression, Effect.succeed(syncCompression)),
    Context.add(NonceSource, Effect.sync(() => random.hex128())),
    Context.add(Random.Random, randomOf(random)),
    Context.add(BufferBudget, new BufferBudgetState(Number.POSITIVE_INFINITY)),
    Context.add(Metric.MetricRegistry, new Map()),
    Context.add(References.MinimumLogLevel, "None")
  )
}

/** Tag of the typed error. */
const reasonOf = <E>(cause: Cause.Cause<E>): string => {
  const error = Cause.findErrorOption(cause)
  return Option.isSome(error) && Predicate.hasProperty(error.value, "_tag") ? String(error.value._tag) : "failed"
}

export class SimWriter {
  readonly process: SimProcess
  readonly host: SimHost
  wal: WalService | undefined
  /** The opening has failed, or the log was closed by a caller. */
  isOver = false
  /** Why it was not opened. */
  problem = ""
  /** The last status that was looked at. */
  lastStatus: WalStatus | undefined
  /** How far the log was trimmed when it was opened. */
  trimmedBefore = 0
  /** What of the cursor that always exists it was told to be done. */
  readonly ahead = new AckedAhead()
  /** What callers of this process wait for. */
  readonly waiting = new Set<string>()
  /** What it asks of the store. */
  readonly meter: StoreMeter
  private readonly options: WalOptions
  private readonly context: ReturnType<typeof contextOf>
  private readonly violations: Violations
  private readonly trace: Trace
  private readonly isWhole: boolean

  constructor(parts: WriterParts) {
    this.process = parts.process
    this.host = parts.host
    this.violations = parts.violations
    this.trace = parts.trace
    this.options = { ...parts.options, host: parts.host.name }
    this.isWhole = parts.isWhole
    this.meter = new StoreMeter(parts.violations)
    this.context = contextOf(parts, this.meter.watch(parts.store))
  }

  get isAlive(): boolean {
    return this.process.state !== "dead" && !this.isOver
  }

  /** Names this process in what callers tell of it. */
  get name(): string {
    return `p${this.process.id}`
  }

  /** Its log is open and takes calls now. */
  get isOpen(): boolean {
    return this.process.state === "running" && !this.isOver && this.wal !== undefined
  }

  open(onOpen: (wal: WalService) => void): void {
    const opening = Effect.flatMap(
      Scope.make(),
      (scope) => Effect.provideService(makeResolved(this.options), Scope.Scope, scope)
    )
    this.run("open", opening, (exit) => {
      if (Exit.isFailure(exit)) {
        this.isOver = true
        this.problem = Cause.pretty(exit.cause)
        return
      }
      this.wal = exit.value
      onOpen(exit.value)
    })
  }

  /** Starts something that a caller of this process waits for. A defect is a violation, whatever it was. */
  run<A, E>(
    what: string,
    effect: Effect.Effect<A, E, ObjectStore>,
    done: (exit: Exit.Exit<A, E>) => void = () => undefined
  ): Fiber.Fiber<A, E> {
    this.waiting.add(what)
    return this.watch(what, effect, (exit) => {
      this.waiting.delete(what)
      done(exit)
    })
  }

  /** As `run`, of something that need not end while the log is open. */
  watch<A, E>(
    what: string,
    effect: Effect.Effect<A, E, ObjectStore>,
    done: (exit: Exit.Exit<A, E>) => void
  ): Fiber.Fiber<A, E> {
    this.trace.add(`p${this.process.id} ${what}`)
    const fiber = this.process.fork(effect, this.context)
    fiber.addObserver((exit) => {
      this.trace.add(`p${this.process.id} ${what}: ${Exit.isSuccess(exit) ? "done" : reasonOf(exit.cause)}`)
      if (Exit.isFailure(exit)) this.noteFailure(what, exit.cause)
      done(exit)
    })
    return fiber
  }

  /** How the log is, asked without a step of its process. */
  status(): WalStatus | undefined {
    const { wal } = this
    if (wal === undefined) return undefined
    return Effect.runSyncWith(this.process.services)(wal.status)
  }

  private noteFailure<E>(what: string, cause: Cause.Cause<E>): void {
    if (Cause.hasDies(cause)) this.violations.add(`a defect: ${what}: ${Cause.pretty(cause)}`)
    const reason = reasonOf(cause)
    if (this.isWhole && damageTags.has(reason)) {
      this.violations.add(`a log is called damaged that is whole: ${what}: ${reason}`)
    }
  }
}
