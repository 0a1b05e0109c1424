/**
 * What the operations of one directory store share, and the two steps that all writes are made of: directories whose names
 * are durable, and a file that appears whole under its final name or not at all.
 */
import { Effect } from "effect"
import { join } from "node:path"
import type { DigestService } from "../../codec/Digest.ts"
import type { Operation } from "../../store/ObjectStoreError.ts"
import { ObjectStoreError } from "../../store/ObjectStoreError.ts"
import type { DiskError, DiskFileService } from "../DiskFile.ts"
import { afterCommit, beforeCommit, isAbsent } from "./DiskAnswer.ts"
import { firstVersion, keyProblem, parentOf, temporaryName, versionOf, versionsSuffix } from "./Layout.ts"

export interface Directory {
  readonly disk: DiskFileService
  /** Absolute, without symbolic links. */
  readonly root: string
  readonly nonce: Effect.Effect<string>
  readonly digest: DigestService
  /** Directories below the root whose names this process has made durable already. */
  readonly durable: Set<string>
}

/** Fails `UnexpectedResponse` for a key that can't be a file of this store. */
export const checkKey = (operation: Operation, key: string): Effect.Effect<void, ObjectStoreError> => {
  const problem = keyProblem(key)
  return problem === undefined
    ? Effect.void
    : Effect.fail(new ObjectStoreError({ operation, key, reason: "UnexpectedResponse", detail: `the key ${problem}` }))
}

/**
 * Creates the directory `relative` and those above it, up to the root, and makes their names durable. One that is there
 * already is made durable too: who created it may have died before it came to that.
 */
export const ensureDirectory = (directory: Directory, relative: string): Effect.Effect<void, DiskError> =>
  relative === "" || directory.durable.has(relative)
    ? Effect.void
    : Effect.gen(function*() {
      const parent = parentOf(relative)
      yield* ensureDirectory(directory, parent)
      yield* directory.disk.makeDirectory(join(directory.root, relative))
      yield* directory.disk.syncDirectory(join(directory.root, parent))
      directory.durable.add(relative)
    })

const writeTemporary = (directory: Directory, path: string, body: Uint8Array) =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* directory.disk.open(path, "create").pipe(
      // Somebody tidied up: the directory for temporary files holds nothing that lasts.
      Effect.catchIf((error) => error.code === "ENOENT", () =>
        directory.disk.makeDirectory(join(directory.root, temporaryName)).pipe(
          Effect.andThen(directory.disk.open(path, "create"))
        ))
    )
    yield* file.write(body, 0)
    yield* file.sync
  }))

/** A left-over temporary file costs room until it is cleaned up, nothing else. */
const dropTemporary = (directory: Directory, path: string) =>
  directory.disk.unlink(path).pipe(
    Effect.catchIf((error) => error.code === "ENOENT", () => Effect.void),
    Effect.catch((error) => Effect.logWarning("a temporary file could not be removed", error))
  )

export interface CommitRequest {
  readonly operation: Operation
  readonly key: string
  /** Relative to the root, as is `directoryName`, which holds it. */
  readonly fileName: string
  readonly directoryName: string
  readonly body: Uint8Array
}

/** After an odd answer of `link`: whether the name is the temporary file all the same. */
const linkedAnyway = Effect.fnUntraced(
  function*(directory: Directory, request: CommitRequest, temporary: string, cause: DiskError) {
    const { key, operation } = request
    const mine = yield* Effect.mapError(directory.disk.stat(temporary), afterCommit(operation, key))
    const there = yield* directory.disk.stat(join(directory.root, request.fileName)).pipe(
      Effect.map((stat) => stat.identity),
      Effect.catchIf(isAbsent, () => Effect.succeed(undefined)),
      Effect.mapError(afterCommit(operation, key))
    )
    if (there === mine.identity) return true
    // The directory may have been removed by somebody: what we know about it holds no longer.
    directory.durable.clear()
    return yield* Effect.fail(beforeCommit(operation, key)(cause))
  }
)

/**
 * Makes `body` appear under its final name, durably, if the name is free; answers whether it was. What a name shows is
 * durable already when this answers that it was taken.
 *
 * Order: bytes, fsync of the file, link, fsync of the directory, and only then the temporary name goes. So a file with one
 * name is known to be durable, and a reader that finds two names syncs the directory itself.
 */
export const commit = (directory: Directory, request: CommitRequest): Effect.Effect<boolean, ObjectStoreError> => {
  const { disk } = directory
  const { key, operation } = request
  const publish = Effect.fnUntraced(function*(temporary: string) {
    const linked = yield* disk.link(temporary, join(directory.root, request.fileName)).pipe(
      Effect.as(true),
      Effect.catchIf((error) => error.code === "EEXIST", () => Effect.succeed(false)),
      Effect.catch((error) => linkedAnyway(directory, request, temporary, error)),
      Effect.tapError(() => dropTemporary(directory, temporary))
    )
    if (!linked) yield* dropTemporary(directory, temporary)
    yield* Effect.mapError(disk.syncDirectory(join(directory.root, request.directoryName)), afterCommit(operation, key))
    if (linked) yield* dropTemporary(directory, temporary)
    return linked
  })
  return Effect.uninterruptible(Effect.gen(function*() {
    yield* Effect.mapError(ensureDirectory(directory, request.directoryName), beforeCommit(operation, key))
    const temporary = join(directory.root, temporaryName, yield* directory.nonce)
    yield* writeTemporary(directory, temporary, request.body).pipe(
      Effect.tapError(() => dropTemporary(directory, temporary)),
      Effect.mapError(beforeCommit(operation, key))
    )
    return yield* publish(temporary)
  }))
}

/** The versions in the object's directory, ascending; none when it was never replaced. */
export const versionsOf = (directory: Directory, key: string): Effect.Effect<ReadonlyArray<number>, DiskError> =>
  directory.disk.list(join(directory.root, key + versionsSuffix)).pipe(
    Effect.map((entries) =>
      entries.flatMap((entry) => versionOf(entry.name) ?? []).sort((left, right) => left - right)
    ),
    Effect.catchIf(isAbsent, () => Effect.succeed([]))
  )

/** The current version of the object; `undefined` when there is no such object. */
export const currentVersion = Effect.fnUntraced(function*(directory: Directory, key: string) {
  const versions = yield* versionsOf(directory, key)
  const exists = yield* directory.disk.stat(join(directory.root, key)).pipe(
    Effect.map((stat) => stat.kind !== "directory"),
    Effect.catchIf(isAbsent, () => Effect.succeed(false))
  )
  return exists ? versions.at(-1) ?? firstVersion : undefined
})
