/**
 * Opens the logs of the configured streams: the one place that chooses between the stores.
 *
 * Streams with the same store settings share one store, with its connections.
 */
import { BufferBudget, BufferBudgetState } from "@effect-wal/core/BufferBudget"
import type { DirectorySettings, LocalSettings, S3Settings, SpoolSettings } from "@effect-wal/core/config/Resolve"
import { logPrefix } from "@effect-wal/core/LogId"
import { DirectoryObjectStore, LocalLog, SpoolDirectory, StoreLayout } from "@effect-wal/core/node"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Spool } from "@effect-wal/core/store/Spool"
import { makeResolved } from "@effect-wal/core/Wal"
import type { ConfigError, StoreUnavailable } from "@effect-wal/core/WalError"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import { S3ObjectStore } from "@effect-wal/s3"
import { Duration, Effect, Layer, Scope, Semaphore } from "effect"
import { makeAbandonedWatch } from "./AbandonedWatch.ts"
import { s3Options } from "./config/S3Settings.ts"
import type { StreamConfig } from "./config/ServerConfig.ts"
import { LogOpener, type StreamSetup } from "./LogOpener.ts"
import { tracedLog } from "./observe/TracedLog.ts"
import { tracedStore } from "./observe/TracedStore.ts"
import { type TraceLinks, traceLinks } from "./observe/TraceLinks.ts"
import { Settings } from "./Settings.ts"
import { closeBudget } from "./Shutdown.ts"

/** Stores that streams can share; the files of a local log are that log's alone. */
type ObjectStoreSettings = S3Settings | DirectorySettings

const makeStore = (
  settings: ObjectStoreSettings
): Effect.Effect<ObjectStore["Service"], ConfigError | StoreUnavailable, Scope.Scope> =>
  settings.type === "s3"
    ? S3ObjectStore.make(s3Options(settings))
    : DirectoryObjectStore.make({ path: settings.path, allowNetworkFileSystem: settings.allowNetworkFileSystem })

/**
 * Makes each store once, when it is first needed; one that could not be made is tried again. No store waits for another: a
 * directory on a mount that hangs must not keep the streams of others from opening.
 */
const sharedStores = Effect.fnUntraced(function*(links: TraceLinks | undefined) {
  const scope = yield* Effect.scope
  const turns = new Map<ObjectStoreSettings, Semaphore.Semaphore>()
  const turnOf = (settings: ObjectStoreSettings): Semaphore.Semaphore => {
    const turn = turns.get(settings) ?? Semaphore.makeUnsafe(1)
    turns.set(settings, turn)
    return turn
  }
  const made = new Map<ObjectStoreSettings, ObjectStore["Service"]>()
  return (settings: ObjectStoreSettings) =>
    Effect.suspend(() => {
      const known = made.get(settings)
      if (known !== undefined) return Effect.succeed(known)
      return Scope.provide(makeStore(settings), scope).pipe(
        Effect.flatMap((store) => links === undefined ? Effect.succeed(store) : tracedStore(store, links)),
        Effect.tap((store) =>
          Effect.sync(() => {
            made.set(settings, store)
          })
        )
      )
    }).pipe(turnOf(settings).withPermits(1))
})

/** One object for equal settings, so that a Map finds it. Secrets do not show in the text: then streams do not share. */
const canonical = (streams: ReadonlyArray<StreamConfig>): ReadonlyMap<string, ObjectStoreSettings | LocalSettings> => {
  const byText = new Map<string, ObjectStoreSettings>()
  return new Map(streams.map(({ id, store }): [string, ObjectStoreSettings | LocalSettings] => {
    if (store.type === "local") return [id, store]
    const inline = store.type === "s3" && store.credentials !== undefined
    const text = inline ? `${id} ` : JSON.stringify(store)
    const settings = byText.get(text) ?? store
    byText.set(text, settings)
    return [id, settings]
  }))
}

/** A log must have given up, with its exact report, before the process does. */
const withinBudget = (options: WalOptions, budget: Duration.Duration): WalOptions => ({
  ...options,
  parallelPut: { ...options.parallelPut, shutdownTimeout: Duration.min(options.parallelPut.shutdownTimeout, budget) }
})

/** Without a spool, what an earlier configuration has left in one is found all the same. */
const spoolOf = (spool: SpoolSettings | undefined) =>
  spool === undefined ? SpoolDirectory.left : SpoolDirectory.make(spool)

/** Opens one log in a store that its prefix is not alone in. */
const openInStore = Effect.fnUntraced(
  function*(
    { options, spool }: Pick<StreamConfig, "options" | "spool">,
    settings: ObjectStoreSettings,
    makeOnce: ReturnType<typeof makeStore>
  ) {
    if (settings.type === "directory") {
      yield* StoreLayout.refuseOtherLayout("directory", settings.path, logPrefix(options))
    }
    const store = yield* makeOnce
    const log = yield* makeResolved(options).pipe(
      Effect.provideService(ObjectStore, store),
      Effect.provideService(Spool, spoolOf(spool))
    )
    return { log, store }
  }
)

/** Opens the logs of these streams. */
export const layer = (streams: ReadonlyArray<StreamConfig>) =>
  Layer.effect(
    LogOpener,
    Effect.gen(function*() {
      const server = yield* Settings
      const closing = closeBudget(server)
      const buffers = new BufferBudgetState(server.limits.maxBufferedBytes)
      const scope = yield* Effect.scope
      const lookForAbandoned = yield* makeAbandonedWatch
      const links = yield* traceLinks
      const storeOf = yield* sharedStores(links)
      const settingsOf = canonical(streams)
      const open = Effect.fnUntraced(function*(id: string) {
        const stream = streams.find((each) => each.id === id)
        const settings = settingsOf.get(id)
        if (stream === undefined || settings === undefined) {
          return yield* Effect.die(new Error(`stream ${id} is not configured`))
        }
        const options = withinBudget(stream.options, closing)
        const isLocal = settings.type === "local"
        const opening = isLocal
          ? LocalLog.open(options, settings)
          : openInStore({ options, spool: stream.spool }, settings, storeOf(settings))
        const { log, store } = yield* Effect.provideService(opening, BufferBudget, buffers)
        // The files of a local log go with its scope, and so does whoever looks through them.
        const watchedIn = isLocal ? yield* Effect.scope : scope
        yield* Effect.forkIn(lookForAbandoned(store, stream.options), watchedIn)
        return links === undefined ? log : yield* tracedLog(log, links)
      })
      const setup = (id: string): StreamSetup | undefined => {
        const stream = streams.find((each) => each.id === id)
        return stream === undefined ? undefined : { options: stream.options, store: stream.store.type }
      }
      return LogOpener.of({ open, setup })
    })
  )
