/**
 * The log as a service: `Wal.make` opens one, `Wal.layer` provides it, `Wal.Tag` names several in one program.
 */
import { Clock, Context, Effect, Exit, Layer, Scope } from "effect"
import { Digest } from "./codec/Digest.ts"
import { type LocalOptionsInput, resolveOptions, sayNotices, type WalOptionsInput } from "./config/ResolveOptions.ts"
import { closeLog } from "./log/CloseLog.ts"
import { makeEngine } from "./log/LogEngine.ts"
import { makeService } from "./log/LogService.ts"
import { statusOf } from "./log/LogStatus.ts"
import { openLog } from "./log/OpenLog.ts"
import { makePassThrough } from "./log/PassThrough.ts"
import { emptySpools } from "./log/SpoolRecovery.ts"
import { registerMetrics } from "./observe/WalMetrics.ts"
import type { ObjectStore } from "./store/ObjectStore.ts"
import { WalClosed, type WalOpenError } from "./WalError.ts"
import type { WalOptions } from "./WalOptions.ts"
import type { WalService } from "./WalService.ts"

export type * from "./WalService.ts"

const openIn = Effect.fnUntraced(function*(scope: Scope.Closeable, options: WalOptions) {
  const opened = yield* openLog(options)
  const engine = yield* makeEngine(options, opened)
  const metrics = yield* registerMetrics(
    { stream: options.streamId, node: options.nodeId },
    engine.stats,
    () => statusOf(engine)
  )
  engine.onStored = (stored) => metrics.put(stored.millis / 1_000, stored.objectBytes)
  // Given up half-way, it ends at once: what it was about to append again is still in the spool.
  yield* Effect.onError(
    emptySpools({
      context: opened.context,
      opened: opened.opened,
      left: opened.leftSpools,
      own: opened.spool,
      segmenter: engine.segmenter,
      copies: engine.copies,
      stats: engine.stats,
      onComplete: () => engine.spooler?.poke(),
      durable: (seq) => Effect.andThen(engine.watermark.beyond(seq - 1), engine.coordinator.commit)
    }),
    () => Effect.sync(() => engine.fate.end(new WalClosed({ streamId: options.streamId })))
  )
  const drained = yield* Effect.cached(Effect.uninterruptible(closeLog(engine)))
  // The last finalizer to be added is the first to run: the log drains while its fibers still live.
  yield* Effect.addFinalizer(() => drained)
  yield* Effect.logInfo(
    `log ${options.streamId} open: epoch ${engine.epoch}, durable up to ${engine.ledger.durable.seq}, ${opened.openMillis}ms`
  )
  return makeService(engine, metrics, Effect.uninterruptible(Effect.tap(drained, () => Scope.close(scope, Exit.void))))
}, (effect, scope) => Scope.provide(effect, scope))

/** Opens a log with options that are resolved already, as those of a configuration file. */
export const makeResolved = Effect.fnUntraced(function*(options: WalOptions) {
  // A scope of its own: an opening that fails, and a log that is closed, leave nothing behind in one that lives on.
  const scope = yield* Scope.fork(yield* Effect.scope)
  return yield* Effect.onError(openIn(scope, options), (cause) => Scope.close(scope, Exit.failCause(cause)))
})

/** A log that is switched off, and says so. */
export const makeSwitchedOff = Effect.fnUntraced(function*(options: WalOptions) {
  yield* Effect.logWarning(`log ${options.streamId} is switched off: nothing that is appended is kept`)
  const service = makePassThrough(options, { digest: yield* yield* Digest, clock: yield* Clock.Clock })
  yield* Effect.addFinalizer(() => service.close)
  return service
})

/** Options of a log of the library. */
export interface WalMakeOptions extends WalOptionsInput {
  /** `false`: records pass through, nothing is kept and no store is asked. Default `true`. */
  readonly enabled?: boolean
}

/**
 * Opens a log for writing, taking it over from whoever had it; it is closed when the scope ends.
 *
 * Fails `ConfigError` and `InvalidId` before any request; `AlreadyOpen` when this process has it; `OpenTimeout`; what the
 * store and the data answer. Nothing is half-done after a failure: opening again is safe.
 */
const make = Effect.fnUntraced(function*(given: WalMakeOptions) {
  const { enabled = true, ...input } = given
  const options = yield* resolveOptions(input)
  yield* sayNotices(input, options)
  return enabled ? yield* makeResolved(options) : yield* makeSwitchedOff(options)
})

/** Options of a log on this machine's disk. */
export interface WalLocalOptions extends LocalOptionsInput {
  /** `false`: records pass through, nothing is kept and no directory is made. Default `true`. */
  readonly enabled?: boolean
}

/** Loads what needs Node only now: a program with another store runs without it. */
const makeLocal = (options: WalLocalOptions): Effect.Effect<WalService, WalOpenError, Scope.Scope> =>
  Effect.flatMap(Effect.promise(() => import("./node/LocalLog.ts")), (local) => local.make(options))

/** One of several logs of a program: a service class with a layer of its own. */
export interface NamedWal<Self> extends Context.ServiceClass<Self, string, WalService> {
  /** Opens the log for the life of the layer. */
  readonly layer: (options: WalMakeOptions) => Layer.Layer<Self, WalOpenError, ObjectStore>
  /** The same on this machine's disk. */
  readonly layerLocal: (options: WalLocalOptions) => Layer.Layer<Self, WalOpenError>
}

/** The log of a program that has one. */
export class Wal extends Context.Service<Wal, WalService>()("@effect-wal/core/Wal") {
  /** Opens the log for the life of the scope. */
  static readonly make = make

  /** Opens the log for the life of the layer. */
  static readonly layer = (options: WalMakeOptions): Layer.Layer<Wal, WalOpenError, ObjectStore> =>
    Layer.effect(Wal, make(options))

  /** Opens a log on this machine's disk for the life of the layer: files of its own, and no store beside it. */
  static readonly layerLocal = (options: WalLocalOptions): Layer.Layer<Wal, WalOpenError> =>
    Layer.effect(Wal, makeLocal(options))

  /**
   * A base class for one of several logs of a program: `class Orders extends Wal.Tag("orders")<Orders>() {}`, then
   * `Orders.layer(options)`.
   */
  static readonly Tag = (name: string) => <Self>(): NamedWal<Self> => {
    const service = Context.Service<Self, WalService>()(`@effect-wal/core/Wal/${name}`)
    const layer: NamedWal<Self>["layer"] = (options) => Layer.effect(service, make(options))
    const layerLocal: NamedWal<Self>["layerLocal"] = (options) => Layer.effect(service, makeLocal(options))
    return Object.assign(service, { layer, layerLocal })
  }
}
