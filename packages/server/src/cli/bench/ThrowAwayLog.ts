/**
 * A log for a benchmark: the settings of a configured stream under an id that nobody has, and nothing left of it at the end.
 *
 * It has no spool: that is for outages, and would leave files behind where one comes.
 */
import { logPrefix } from "@effect-wal/core/LogId"
import { DirectoryObjectStore, DiskFile, LocalLog } from "@effect-wal/core/node"
import { NonceSource } from "@effect-wal/core/Nonce"
import { type ListPage, ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { makeResolved } from "@effect-wal/core/Wal"
import type { ConfigError, StoreUnavailable, WalOpenError } from "@effect-wal/core/WalError"
import type { WalOptions } from "@effect-wal/core/WalOptions"
import type { WalService } from "@effect-wal/core/WalService"
import { S3ObjectStore } from "@effect-wal/s3"
import { Effect, type Scope } from "effect"
import { join } from "node:path"
import { s3Options } from "../../config/S3Settings.ts"
import type { StreamConfig } from "../../config/ServerConfig.ts"
import { removeObjects } from "../RemoveObjects.ts"

/** The settings of the stream, for a log of its own. */
const throwAwayOptions = (options: WalOptions, nonce: string): WalOptions => ({
  ...options,
  streamId: `bench-${nonce}`
})

const makeStore = (
  store: Exclude<StreamConfig["store"], { readonly type: "local" }>
): Effect.Effect<ObjectStore["Service"], ConfigError | StoreUnavailable, Scope.Scope> =>
  store.type === "s3"
    ? S3ObjectStore.make(s3Options(store))
    : DirectoryObjectStore.make({ path: store.path, allowNetworkFileSystem: store.allowNetworkFileSystem })

/** All keys below the prefix, page by page. */
const keysBelow = Effect.fnUntraced(function*(store: ObjectStore["Service"], prefix: string) {
  const keys: Array<string> = []
  let page: string | undefined
  do {
    const answer: ListPage = yield* store.list({ prefix, ...page === undefined ? {} : { page } })
    for (const { key } of answer.objects) keys.push(key)
    page = answer.next
  } while (page !== undefined)
  return keys
})

/** Removes every object below the prefix: the log is closed, and nobody else has ever had its id. Answers what stays. */
const removeBelow = Effect.fnUntraced(function*(store: ObjectStore["Service"], prefix: string) {
  const refused = yield* removeObjects(store, yield* keysBelow(store, prefix))
  const refusals = new Map(refused.map(({ code, key }) => [key, code]))
  return (yield* keysBelow(store, prefix)).map((key) => `${key}: ${refusals.get(key) ?? "still listed"}`)
})

const removeDirectory = Effect.fnUntraced(function*(path: string, prefix: string) {
  const disk = yield* DiskFile.DiskFile
  yield* disk.removeTree(join(path, prefix))
  const none: ReadonlyArray<string> = []
  return none
})

/** How the log is opened, and how what it has left is removed. */
interface Place {
  readonly open: Effect.Effect<WalService, WalOpenError, Scope.Scope>
  readonly remove: Effect.Effect<ReadonlyArray<string>, { readonly message: string }>
}

const placeOf = Effect.fnUntraced(function*(settings: StreamConfig["store"], options: WalOptions) {
  const prefix = logPrefix(options)
  if (settings.type === "local") {
    return {
      open: Effect.map(LocalLog.open(options, settings), ({ log }) => log),
      remove: removeDirectory(settings.path, prefix)
    } satisfies Place as Place
  }
  const store = yield* makeStore(settings)
  const remove = removeBelow(store, prefix)
  return {
    open: Effect.provideService(makeResolved(options), ObjectStore, store),
    remove: settings.type === "s3"
      ? remove
      : Effect.tap(remove, () => Effect.ignore(removeDirectory(settings.path, prefix)))
  } satisfies Place as Place
})

/**
 * Opens it in the scope. When that ends, however it does, the log is closed and what it has stored is removed; `onLeft` is
 * told what stays.
 */
export const openThrowAway = Effect.fnUntraced(
  function*({ options: given, store }: StreamConfig, onLeft: (left: ReadonlyArray<string>) => void) {
    const options = throwAwayOptions(given, (yield* yield* NonceSource).slice(0, 12))
    const prefix = logPrefix(options)
    const place = yield* placeOf(store, options)
    // Before the log is opened, so that it runs after the log is closed, also where opening it breaks off.
    yield* Effect.addFinalizer(() =>
      place.remove.pipe(
        Effect.catch((error) => Effect.succeed([`what lies below ${prefix}: ${error.message}`])),
        Effect.map(onLeft)
      )
    )
    return yield* place.open
  }
)
