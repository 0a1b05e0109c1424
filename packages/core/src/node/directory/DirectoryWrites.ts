/**
 * Create, replace and remove on a directory.
 *
 * Why a replace is a true compare-and-swap, across processes and without a lock: the version after `n` is created under a
 * name that only one can create. That name can be free a second time once old versions were removed, for a writer that
 * slept since it looked. So it looks again afterwards: as the highest number never goes down and `keptVersions` below it
 * are never removed, a highest number within that distance proves that the name had never been used; otherwise the answer
 * is `Conflict`, whose outcome is unknown.
 */
import { Effect } from "effect"
import { join } from "node:path"
import type { RemoveFailure, Tag, WriteOptions } from "../../store/ObjectStore.ts"
import type { Operation, Reason } from "../../store/ObjectStoreError.ts"
import { ObjectStoreError } from "../../store/ObjectStoreError.ts"
import type { Directory } from "./Directory.ts"
import { checkKey, commit, currentVersion, versionsOf } from "./Directory.ts"
import { afterCommit, beforeCommit, isAbsent } from "./DiskAnswer.ts"
import {
  firstVersion,
  journalName,
  keptVersions,
  parentOf,
  tagOf,
  temporaryName,
  versionName,
  versionOfTag,
  versionsSuffix
} from "./Layout.ts"

const maxBatch = 1_000

const answer = (operation: Operation, key: string, reason: Reason, detail: string) =>
  new ObjectStoreError({ operation, key, reason, detail })

const checkBody = (directory: Directory, operation: Operation, key: string, body: Uint8Array, options?: WriteOptions) =>
  options?.crc32 === undefined || options.crc32 === directory.digest.crc32(body)
    ? Effect.void
    : Effect.fail(answer(operation, key, "UnexpectedResponse", "the body has another CRC-32 than the caller says"))

/** The prefix of the log whose slot the key is; `undefined` for other keys. */
const logOf = (key: string): string | undefined => /^(.*)segments\/\d+\/\d+\.seg$/.exec(key)?.[1]

/**
 * Fails for a slot of a log that is kept in append-only files here: this store sees none of its slots, and would end it as
 * an empty one.
 */
const refuseLocalLog = Effect.fnUntraced(function*(directory: Directory, key: string) {
  const prefix = logOf(key)
  // Where this process has a slot already, no local log was: one that starts later refuses what it finds.
  if (prefix === undefined || directory.durable.has(parentOf(key))) return
  const isThere = yield* directory.disk.stat(join(directory.root, prefix, journalName)).pipe(
    Effect.as(true),
    Effect.catchIf(isAbsent, () => Effect.succeed(false)),
    Effect.mapError(beforeCommit("create", key))
  )
  if (!isThere) return
  const detail = `${join(directory.root, prefix)} holds a log of the local backend; open it as one`
  return yield* answer("create", key, "UnexpectedResponse", detail)
})

/** Writes the object if the key is free. */
export const create = Effect.fnUntraced(
  function*(directory: Directory, key: string, body: Uint8Array, options?: WriteOptions) {
    yield* checkKey("create", key)
    yield* checkBody(directory, "create", key, body, options)
    yield* refuseLocalLog(directory, key)
    const request = { operation: "create" as const, key, fileName: key, directoryName: parentOf(key), body }
    if (yield* commit(directory, request)) return tagOf(firstVersion)
    const there = yield* directory.disk.stat(join(directory.root, key)).pipe(
      Effect.map((stat) => stat.kind),
      Effect.catchIf(isAbsent, () => Effect.succeed(undefined)),
      Effect.mapError(beforeCommit("create", key))
    )
    return there === "directory"
      ? yield* answer("create", key, "UnexpectedResponse", "the key is a directory of other objects")
      : yield* answer("create", key, "AlreadyExists", "the file exists")
  }
)

/** Old versions that can't be removed now are removed after the next replace. */
const removeOld = (directory: Directory, key: string, versions: ReadonlyArray<number>, highest: number) =>
  Effect.forEach(
    versions.filter((version) => version < highest - keptVersions),
    (version) =>
      directory.disk.unlink(join(directory.root, key + versionsSuffix, versionName(version))).pipe(
        Effect.catchIf(isAbsent, () => Effect.void),
        Effect.catch((error) => Effect.logWarning("an old version could not be removed", error))
      ),
    { discard: true }
  )

/** Replaces the object if its version still is the one of the tag. */
export const replace = Effect.fnUntraced(
  function*(directory: Directory, key: string, body: Uint8Array, expected: Tag, options?: WriteOptions) {
    yield* checkKey("replace", key)
    yield* checkBody(directory, "replace", key, body, options)
    const current = yield* Effect.mapError(currentVersion(directory, key), beforeCommit("replace", key))
    if (current === undefined) return yield* answer("replace", key, "NotFound", "no such file")
    if (current !== versionOfTag(expected)) {
      return yield* answer("replace", key, "PreconditionFailed", `the version is ${current}`)
    }
    const next = current + 1
    const directoryName = key + versionsSuffix
    const fileName = `${directoryName}/${versionName(next)}`
    if (!(yield* commit(directory, { operation: "replace", key, fileName, directoryName, body }))) {
      return yield* answer("replace", key, "PreconditionFailed", `version ${next} exists`)
    }
    // One readdir of a handful of names is one step of the kernel on a local file system.
    const versions = yield* Effect.mapError(versionsOf(directory, key), afterCommit("replace", key))
    const highest = versions.at(-1) ?? 0
    if (highest < next || highest > next + keptVersions) {
      return yield* answer("replace", key, "Conflict", `others went from version ${next} to ${highest} meanwhile`)
    }
    yield* removeOld(directory, key, versions, highest)
    return tagOf(next)
  }
)

/**
 * Versions first, by one rename, then the name: never leaves versions without their object. A replaced object that is
 * being removed can show its first version for that moment; the log never removes one.
 */
const removeOne = Effect.fnUntraced(function*(directory: Directory, key: string) {
  const { disk, root } = directory
  const doomed = join(root, temporaryName, yield* directory.nonce)
  const hadVersions = yield* disk.rename(join(root, key + versionsSuffix), doomed).pipe(
    Effect.as(true),
    Effect.catchIf(isAbsent, () => Effect.succeed(false))
  )
  directory.durable.delete(key + versionsSuffix)
  yield* disk.unlink(join(root, key)).pipe(
    // EISDIR: the key is a directory of other objects, so there is no such object.
    Effect.catchIf((error) => isAbsent(error) || error.code === "EISDIR", () => Effect.void)
  )
  if (hadVersions) yield* disk.removeTree(doomed)
})

/** Removes the objects; a key that is not there counts as removed. The removal is durable when this answers. */
export const remove = Effect.fnUntraced(function*(directory: Directory, keys: ReadonlyArray<string>) {
  if (keys.length > maxBatch) {
    return yield* answer(
      "remove",
      keys[0] ?? "",
      "UnexpectedResponse",
      `${keys.length} keys, at most ${maxBatch} go in one call`
    )
  }
  const failures: Array<RemoveFailure> = []
  yield* Effect.forEach(keys, (key) =>
    checkKey("remove", key).pipe(
      Effect.mapError((error) => ({ key, code: error.reason })),
      Effect.andThen(Effect.mapError(removeOne(directory, key), (error) => ({ key, code: error.code }))),
      Effect.catch((failure) => Effect.sync(() => failures.push(failure))),
      Effect.uninterruptible
    ), { concurrency: 16, discard: true })
  const parents = new Set(keys.filter((key) => !failures.some((failure) => failure.key === key)).map(parentOf))
  yield* Effect.forEach(parents, (parent) =>
    directory.disk.syncDirectory(join(directory.root, parent)).pipe(
      Effect.catchIf(isAbsent, () => Effect.void),
      Effect.mapError(afterCommit("remove", parent))
    ), { concurrency: 16, discard: true })
  return failures
})
