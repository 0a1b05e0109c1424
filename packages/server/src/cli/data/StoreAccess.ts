/**
 * The store of a configured stream, as a command opens it: to read it without changing a byte, or to repair it.
 */
import { logPrefix } from "@effect-wal/core/LogId"
import { DirectoryObjectStore, DiskFile, LocalObjectStore, StoreLayout } from "@effect-wal/core/node"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ConfigError, DirectoryLocked, StoreUnavailable, SyncFailed } from "@effect-wal/core/WalError"
import { S3ObjectStore } from "@effect-wal/s3"
import { Effect, type Scope } from "effect"
import { s3Options } from "../../config/S3Settings.ts"
import type { StreamConfig } from "../../config/ServerConfig.ts"
import { CommandFailed } from "../Failure.ts"
import { viewDisk } from "./ViewDisk.ts"

/** Why a store could not be opened. */
export type StoreAccessError = ConfigError | DirectoryLocked | StoreUnavailable | SyncFailed | CommandFailed

/** Nothing is made where there is nothing: a path that was mistyped would become an empty store. */
const mustExist = (path: string): Effect.Effect<void, CommandFailed> =>
  Effect.flatMap(DiskFile.DiskFile, (disk) => disk.stat(path)).pipe(
    Effect.asVoid,
    Effect.mapError((error) =>
      new CommandFailed({
        code: "log_not_found",
        message: `there is no log: ${error.message}`,
        next: "Check the path with `effect-wal config print`; a relative one starts at the current directory.",
        exit: "notFound"
      })
    )
  )

/** Opens the store as it is: the log's own program does so too. */
const openStore = Effect.fnUntraced(function*({ options, store }: StreamConfig): Effect.fn.Return<
  ObjectStore["Service"],
  StoreAccessError,
  Scope.Scope
> {
  if (store.type === "s3") return yield* S3ObjectStore.make(s3Options(store))
  const prefix = logPrefix(options)
  yield* mustExist(store.path)
  yield* StoreLayout.refuseOtherLayout(store.type === "local" ? "local" : "directory", store.path, prefix)
  if (store.type === "directory") {
    return yield* DirectoryObjectStore.make({
      path: store.path,
      allowNetworkFileSystem: store.allowNetworkFileSystem
    })
  }
  yield* mustExist(`${store.path}/${prefix}`)
  return yield* LocalObjectStore.make({ path: store.path, prefix, maxFileBytes: store.maxFileBytes })
})

/**
 * The store of the stream, to read from: nothing on a disk is changed, not even a file's name. A local log that a process
 * has open fails `DirectoryLocked`: what is durable in it, only that process knows.
 */
export const openForReading = (
  stream: StreamConfig
): Effect.Effect<ObjectStore["Service"], StoreAccessError, Scope.Scope> =>
  Effect.suspend(() => openStore(stream).pipe(Effect.provideService(DiskFile.DiskFile, viewDisk())))

/** The store of the stream, to write to: for a repair, which opens no log. */
export const openForRepair = openStore
