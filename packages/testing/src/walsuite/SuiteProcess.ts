/**
 * One process of the log suite: a log that is open in it, a handle on the store that can misbehave, and its two ends, in
 * order or as a crash.
 */
import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import type { CloseReport, WalService } from "@effect-wal/core/Wal"
import { Deferred, Duration, Effect, Exit, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as FaultyObjectStore from "../FaultyObjectStore.ts"
import type { TaggedFailure, WalPlace } from "./SuiteBackend.ts"
import { arrive, drive } from "./SuiteTime.ts"

/** Options of a log of the suite; ids and prefix are given. */
export type Options = Partial<WalOptionsInput>

export interface Process {
  readonly wal: WalService
  /** Rules for what this process asks of the store, and what it asked. */
  readonly faults: FaultyObjectStore.FaultyHandles
  /** The store without its rules. */
  readonly store: ObjectStore["Service"]
  /**
   * Lets so much time pass for the log, in steps of a second at most; the store answers within each, as one does that is
   * quick beside the log's own deadlines.
   */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>
  /** Closes the log and frees what the process held. */
  readonly close: Effect.Effect<CloseReport>
  /** Ends the scope of the log, as a program that ends, and frees what the process held. */
  readonly end: Effect.Effect<void>
  /**
   * As `kill -9`: nothing that was not sent yet is sent, nothing is answered. Done when what was under way is over and the
   * locks of the process are free.
   */
  readonly crash: Effect.Effect<void>
}

/** Where the keys of the log at this place start. */
export const logPrefixAt = (place: WalPlace): string =>
  `${place.prefix === undefined ? "" : `${place.prefix}/`}node/log/`

/** Ten records a segment, sealed as soon as somebody waits; nothing is written or deleted by the clock. */
const defaults: Options = {
  manifest: { maxSegments: 10_000, maxDelay: "1h" },
  cursor: { interval: "1h", maxEntries: 1_000_000 },
  retention: { policy: "keep" },
  retry: { base: "1ms", cap: "20ms" },
  openTimeout: "1h"
}

const inputOf = (place: WalPlace, options: Options): WalOptionsInput => ({
  nodeId: "node",
  streamId: "log",
  ...(place.prefix === undefined ? {} : { prefix: place.prefix }),
  ...defaults,
  ...options,
  segment: { maxEntries: 10, linger: "0ms", flushInterval: "1h", ...options.segment }
})

/** The longest step of the clock while requests may begin. */
const stepMillis = 1_000

/** The requests under way: a process is not gone before the kernel has done what it was asked for. */
class Flights {
  private count = 0
  private total = 0
  private waiting: Deferred.Deferred<void> | undefined = undefined

  readonly fly = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      this.count++
      this.total++
      return Effect.ensuring(effect, Effect.sync(() => this.landed()))
    })

  readonly over: Effect.Effect<void> = Effect.suspend(() => {
    if (this.count === 0) return Effect.void
    this.waiting ??= Deferred.makeUnsafe<void>()
    return Deferred.await(this.waiting)
  })

  /** Nothing is under way, also not a moment later. */
  readonly quiet: Effect.Effect<void> = Effect.suspend(() => {
    const before = this.total
    return Effect.andThen(this.over, arrive).pipe(
      Effect.andThen(Effect.suspend(() => this.count === 0 && this.total === before ? Effect.void : this.quiet))
    )
  })

  private landed(): void {
    if (--this.count > 0 || this.waiting === undefined) return
    Deferred.doneUnsafe(this.waiting, Exit.void)
    this.waiting = undefined
  }
}

const watched = (store: ObjectStore["Service"], { fly }: Flights): ObjectStore["Service"] => ({
  ...store,
  get: (key, request) => fly(store.get(key, request)),
  create: (key, body, options) => fly(store.create(key, body, options)),
  replace: (key, body, tag, options) => fly(store.replace(key, body, tag, options)),
  list: (request) => fly(store.list(request)),
  remove: (keys) => fly(store.remove(keys)),
  advice: (prefix) => fly(store.advice(prefix))
})

export interface OpenParts {
  /** Told of the handle before anything is asked through it. */
  readonly onFaults?: (faults: FaultyObjectStore.FaultyHandles) => void
  /** The store is probed first, as the first log of a process does; default: it is known already. */
  readonly probes?: boolean
}

/** Opens the log at a place, as a process of its own. It crashes at the end of the test, where nothing ended it before. */
export const open = (
  place: WalPlace,
  options: Options = {},
  parts: OpenParts = {}
): Effect.Effect<Process, TaggedFailure, Scope.Scope> =>
  Effect.gen(function*() {
    const connection = yield* Scope.fork(yield* Effect.scope)
    const store = yield* place.connect.pipe(Scope.provide(connection))
    const flights = new Flights()
    const faults = FaultyObjectStore.make(watched(store, flights))
    parts.onFaults?.(faults)
    const registry = new ProcessRegistryState()
    if (parts.probes !== true) registry.probed.add(store.id)
    const crash = Effect.suspend(() => {
      faults.crash()
      return Effect.andThen(flights.over, Scope.close(connection, Exit.void))
    })
    yield* Scope.addFinalizer(
      connection,
      Effect.suspend(() => {
        faults.crash()
        return flights.over
      })
    )
    // Not a part of the test's scope: a process that crashes closes nothing.
    const life = yield* Scope.make()
    const wal = yield* Wal.make(inputOf(place, options)).pipe(
      // What the store says of itself stays; what is asked of it goes through the rules.
      Effect.provideService(ObjectStore, faults.store),
      Effect.provideService(ProcessRegistry, registry),
      Effect.provideService(References.MinimumLogLevel, "None"),
      Scope.provide(life),
      Effect.onError(() => Effect.andThen(Scope.close(life, Exit.void), crash))
    )
    const pass = Effect.fnUntraced(function*(duration: Duration.Input) {
      for (let left = Duration.toMillis(duration); left > 0; left -= stepMillis) {
        yield* flights.quiet
        yield* TestClock.adjust(Math.min(left, stepMillis))
      }
      yield* flights.quiet
    })
    const end = Effect.andThen(drive(Scope.close(life, Exit.void)), crash)
    return { wal, faults, store, pass, crash, end, close: Effect.tap(drive(wal.close), () => end) }
  }).pipe(drive)
