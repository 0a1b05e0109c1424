/**
 * A log on this machine's disk: the one engine, over a store of append-only files.
 *
 * **Owns** the order of opening (options, what lies in the directory, the lock, the log) and that closing the log gives
 * its directory free. **Does not own** the files (`LocalObjectStore.ts`) and the log itself.
 */
import { Effect, Exit, Layer, Scope } from "effect"
import { join, resolve } from "node:path"
import type { LocalSettings } from "../config/Resolve.ts"
import { resolveLocalOptions, sayNotices } from "../config/ResolveOptions.ts"
import { claimIdentity } from "../log/OpenLog.ts"
import { identityProblem, logPrefix } from "../LogId.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { makeResolved, makeSwitchedOff, Wal, type WalLocalOptions } from "../Wal.ts"
import type { WalOpenError } from "../WalError.ts"
import type { WalOptions } from "../WalOptions.ts"
import type { WalService } from "../WalService.ts"
import { DiskFile } from "./DiskFile.ts"
import * as LocalObjectStore from "./LocalObjectStore.ts"
import { refuseOtherLayout } from "./StoreLayout.ts"

/** An open log, and the store that it is kept in: for what is looked up beside the log. */
export interface OpenLocalLog {
  readonly log: WalService
  readonly store: ObjectStore["Service"]
}

/** The directory by its one name. Where it has none yet, or cannot be asked, whoever opens it says what is wrong. */
const realPath = Effect.fnUntraced(function*(path: string) {
  const disk = yield* DiskFile
  const absolute = resolve(path)
  return yield* Effect.catch(disk.realPath(absolute), () => Effect.succeed(absolute))
})

const openIn = Effect.fnUntraced(function*(scope: Scope.Closeable, options: WalOptions, settings: LocalSettings) {
  const problem = identityProblem(options)
  if (problem !== undefined) return yield* problem
  const prefix = logPrefix(options)
  // The lock cannot tell this process from another one; whoever made the mistake should hear which it was.
  yield* claimIdentity(join(yield* realPath(settings.path), prefix))
  yield* refuseOtherLayout("local", settings.path, prefix)
  const store = yield* LocalObjectStore.make({ path: settings.path, prefix, maxFileBytes: settings.maxFileBytes })
  const log = yield* Effect.provideService(makeResolved(options), ObjectStore, store)
  const close = Effect.uninterruptible(Effect.tap(log.close, () => Scope.close(scope, Exit.void)))
  return { log: { ...log, close }, store }
}, (effect, scope) => Scope.provide(effect, scope))

/**
 * Opens a log with options that are resolved already, as those of a configuration file. The directory is locked until
 * the log is closed. Fails as `make` does.
 */
export const open = Effect.fnUntraced(
  function*(
    options: WalOptions,
    settings: LocalSettings
  ): Effect.fn.Return<OpenLocalLog, WalOpenError, Scope.Scope> {
    // A scope of its own: an opening that fails, and a log that is closed, hold no lock in one that lives on.
    const scope = yield* Scope.fork(yield* Effect.scope)
    return yield* Effect.onError(openIn(scope, options, settings), (cause) => Scope.close(scope, Exit.failCause(cause)))
  }
)

/**
 * Opens a log on this machine's disk; it is closed when the scope ends, and its directory is free then.
 *
 * Fails `ConfigError` for options that break a rule, and for a directory that cannot be used or that holds this log as the
 * directory store keeps it; `AlreadyOpen` when this process has the log, `DirectoryLocked` at once when another one has
 * it; and as every log for what is stored.
 */
export const make = Effect.fnUntraced(
  function*(given: WalLocalOptions): Effect.fn.Return<WalService, WalOpenError, Scope.Scope> {
    const { enabled = true, ...input } = given
    const { options, settings } = yield* resolveLocalOptions(input)
    yield* sayNotices(input, options)
    if (!enabled) return yield* makeSwitchedOff(options)
    return (yield* open(options, settings)).log
  }
)

/** `make` as a layer; `Wal.layerLocal` is the same and loads this file when it is needed. */
export const layer = (options: WalLocalOptions): Layer.Layer<Wal, WalOpenError> => Layer.effect(Wal, make(options))
