/**
 * An object store in a directory of a local disk, with both conditional writes for real: between fibers and between
 * processes, without a lock file and without flock.
 *
 * An answer means durable: file and name were synced before. How objects lie on disk is told in `directory/Layout.ts`;
 * keys may use what the file system can hold (a file system that ignores case can't tell `a` from `A`). No call has a
 * deadline: the operating system does not give back a call that hangs.
 */
import { Clock, Effect, Layer } from "effect"
import { join, resolve } from "node:path"
import { Digest } from "../codec/Digest.ts"
import { NonceSource } from "../Nonce.ts"
import { ObjectStore } from "../store/ObjectStore.ts"
import { ConfigError, type StoreUnavailable } from "../WalError.ts"
import type { Directory } from "./directory/Directory.ts"
import { get, list } from "./directory/DirectoryReads.ts"
import { create, remove, replace } from "./directory/DirectoryWrites.ts"
import { isAbsent } from "./directory/DiskAnswer.ts"
import { temporaryName } from "./directory/Layout.ts"
import { prepareRoot } from "./directory/Root.ts"
import type { DiskError, DiskFileService } from "./DiskFile.ts"
import { DiskFile } from "./DiskFile.ts"

/** Where the store is. */
export interface DirectoryObjectStoreOptions {
  /** The directory; created when it is not there, with those above it. */
  readonly path: string
  /**
   * Allow a network or cluster file system or FUSE, default false. Only where hard links, exclusive creation and fsync are
   * known to hold between all machines that mount it: on NFS for one, a lost answer and a cached listing break them.
   */
  readonly allowNetworkFileSystem?: boolean
}

/** A temporary file that old has no writer any more: one that still had would only have to write again. */
const temporaryMaxAgeMillis = 3_600_000

const configError = (path: string, rule: string) =>
  new ConfigError({ source: "directory store", problems: [{ path: "directory.path", value: path, rule }] })

/**
 * Removes what crashed writers left behind. A file that also has its final name keeps the temporary one, by which readers
 * know that nobody may have made the final one durable. A failure here is told and does no harm.
 */
const cleanTemporary = Effect.fnUntraced(function*(disk: DiskFileService, path: string) {
  const now = yield* Clock.currentTimeMillis
  const entries = yield* disk.list(path)
  yield* Effect.forEach(entries, (entry) => {
    const file = join(path, entry.name)
    return disk.stat(file).pipe(
      Effect.flatMap((stat) =>
        now - stat.modifiedMillis > temporaryMaxAgeMillis && !(stat.kind === "file" && stat.names > 1)
          ? disk.removeTree(file)
          : Effect.void
      ),
      Effect.catchIf(isAbsent, () => Effect.void)
    )
  }, { discard: true })
})

const networkAdvice =
  "use a local disk, or set allowNetworkFileSystem where hard links, exclusive creation and fsync hold " +
  "between all machines that mount it"

/** The directory for temporary files, made and tidied up. */
const prepare = Effect.fnUntraced(function*(root: string): Effect.fn.Return<Directory, DiskError> {
  const disk = yield* DiskFile
  const temporary = join(root, temporaryName)
  yield* disk.makeDirectory(temporary)
  yield* cleanTemporary(disk, temporary).pipe(
    Effect.catch((error) => Effect.logWarning("old temporary files could not be removed", error))
  )
  return { disk, root, nonce: yield* NonceSource, digest: yield* yield* Digest, durable: new Set() }
})

/**
 * The store in the directory. Fails `ConfigError` when the directory can't be made or used, is no directory, or is on a
 * network file system; `StoreUnavailable` when the disk has no room for what has to be made first.
 */
export const make = Effect.fnUntraced(
  function*(
    options: DirectoryObjectStoreOptions
  ): Effect.fn.Return<ObjectStore["Service"], ConfigError | StoreUnavailable> {
    const rules = {
      problem: (rule: string) => configError(options.path, rule),
      networkAdvice: options.allowNetworkFileSystem === true ? undefined : networkAdvice
    }
    const directory = yield* prepareRoot(resolve(options.path), rules, prepare)
    return ObjectStore.of({
      id: `file://${directory.root}`,
      disk: directory.root,
      get: (key, request) => get(directory, key, request),
      create: (key, body, write) => create(directory, key, body, write),
      replace: (key, body, expected, write) => replace(directory, key, body, expected, write),
      list: (request) => list(directory, request),
      remove: (keys) => remove(directory, keys),
      advice: () => Effect.succeed([])
    })
  }
)

/** `make` as a layer. */
export const layer = (options: DirectoryObjectStoreOptions): Layer.Layer<ObjectStore, ConfigError | StoreUnavailable> =>
  Layer.effect(ObjectStore, make(options))
