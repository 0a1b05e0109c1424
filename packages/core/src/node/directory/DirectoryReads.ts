/**
 * Get and list on a directory.
 */
import { Effect } from "effect"
import { dirname, join } from "node:path"
import type { GetRequest, ListedObject, ListPage, ListRequest, StoredObject } from "../../store/ObjectStore.ts"
import { ObjectStoreError } from "../../store/ObjectStoreError.ts"
import type { DiskEntry, DiskError } from "../DiskFile.ts"
import type { Directory } from "./Directory.ts"
import { checkKey, currentVersion } from "./Directory.ts"
import { beforeCommit, isAbsent } from "./DiskAnswer.ts"
import { firstVersion, isReservedName, tagOf, versionName, versionsSuffix } from "./Layout.ts"

const maxPage = 1_000

/** How often a version may go while it is being opened; each time `keptVersions` newer ones were written meanwhile. */
const maxLooks = 16

const pathOf = (directory: Directory, key: string, version: number): string =>
  version === firstVersion
    ? join(directory.root, key)
    : join(directory.root, key + versionsSuffix, versionName(version))

/** The bytes; `undefined` when the file is gone. A file that still has its temporary name is made durable first. */
const readFile = (directory: Directory, path: string, firstBytes: number | undefined) =>
  Effect.scoped(Effect.gen(function*() {
    const file = yield* directory.disk.open(path, "read")
    const stat = yield* file.stat
    if (stat.kind === "directory") return undefined
    if (stat.names > 1) yield* directory.disk.syncDirectory(dirname(path))
    return yield* file.read(Math.min(stat.sizeBytes, firstBytes ?? stat.sizeBytes), 0)
  })).pipe(Effect.catchIf(isAbsent, () => Effect.succeed(undefined)))

const notFound = (key: string) =>
  new ObjectStoreError({ operation: "get", key, reason: "NotFound", detail: "no such file" })

/** The object, or its first bytes. What is shown is durable. */
export const get = Effect.fnUntraced(
  function*(directory: Directory, key: string, request?: GetRequest): Effect.fn.Return<StoredObject, ObjectStoreError> {
    yield* checkKey("get", key)
    for (let look = 0; look < maxLooks; look++) {
      const version = yield* Effect.mapError(currentVersion(directory, key), beforeCommit("get", key))
      if (version === undefined) return yield* notFound(key)
      const body = yield* readFile(directory, pathOf(directory, key, version), request?.firstBytes).pipe(
        Effect.mapError(beforeCommit("get", key))
      )
      if (body !== undefined) return { body, tag: tagOf(version) }
    }
    return yield* new ObjectStoreError({
      operation: "get",
      key,
      reason: "Unavailable",
      detail: `the current version was replaced ${maxLooks} times while it was being opened`
    })
  }
)

interface Walk {
  readonly directory: Directory
  readonly prefix: string
  /** Only keys after this one. */
  readonly after: string
  /** How many keys to find. */
  readonly wanted: number
  readonly found: Array<string>
}

/** A directory counts as its name with a slash, which is how its keys sort among the others. */
interface Branch {
  readonly key: string
  readonly isDirectory: boolean
}

const toBranch = Effect.fnUntraced(function*(walk: Walk, above: string, entry: DiskEntry) {
  const key = above + entry.name
  // A symbolic link counts as what it points to, so that listing and reading see the same objects.
  const kind = entry.kind === "other"
    ? yield* walk.directory.disk.stat(join(walk.directory.root, key)).pipe(
      Effect.map((stat) => stat.kind),
      Effect.catchIf(isAbsent, () => Effect.succeed(entry.kind))
    )
    : entry.kind
  return kind === "directory" ? { key: `${key}/`, isDirectory: true } : { key, isDirectory: false }
})

const isWanted = (walk: Walk, branch: Branch): boolean =>
  branch.isDirectory
    ? (branch.key.startsWith(walk.prefix) || walk.prefix.startsWith(branch.key)) &&
      (branch.key > walk.after || walk.after.startsWith(branch.key))
    : branch.key.startsWith(walk.prefix) && branch.key > walk.after

/** Collects keys in order, depth first, and reads no directory that can't hold one. `above` is empty or ends with a slash. */
const collect = (walk: Walk, above: string): Effect.Effect<void, DiskError> =>
  Effect.gen(function*() {
    const entries = yield* walk.directory.disk.list(join(walk.directory.root, above)).pipe(
      Effect.catchIf(isAbsent, () => Effect.succeed([]))
    )
    const mine = entries.filter((entry) => !isReservedName(entry.name, above === ""))
    const branches = yield* Effect.forEach(mine, (entry) => toBranch(walk, above, entry))
    const wanted = branches.filter((branch) => isWanted(walk, branch)).sort((left, right) =>
      left.key < right.key ? -1 : 1
    )
    for (const branch of wanted) {
      if (walk.found.length >= walk.wanted) return
      if (branch.isDirectory) yield* collect(walk, branch.key)
      else walk.found.push(branch.key)
    }
  })

/**
 * `undefined` for a file that went since it was listed. One that still has its temporary name is made durable first, as when
 * it is read.
 */
const describe = Effect.fnUntraced(
  function*(directory: Directory, key: string): Effect.fn.Return<ListedObject | undefined, DiskError> {
    for (let look = 0; look < maxLooks; look++) {
      const version = yield* currentVersion(directory, key)
      if (version === undefined) return undefined
      const path = pathOf(directory, key, version)
      const stat = yield* directory.disk.stat(path).pipe(
        Effect.tap(({ kind, names }) =>
          kind === "file" && names > 1 ? directory.disk.syncDirectory(dirname(path)) : Effect.void
        ),
        Effect.catchIf(isAbsent, () => Effect.succeed(undefined))
      )
      if (stat !== undefined) return { key, sizeBytes: stat.sizeBytes, modifiedMillis: stat.modifiedMillis }
    }
    return undefined
  }
)

/** One page, in the order of the keys; what it shows is durable. The page token is the last key of the page before. */
export const list = Effect.fnUntraced(
  function*(directory: Directory, request: ListRequest): Effect.fn.Return<ListPage, ObjectStoreError> {
    const limit = Math.min(request.limit ?? maxPage, maxPage)
    const after = request.page ?? request.startAfter ?? ""
    const walk: Walk = { directory, prefix: request.prefix, after, wanted: limit + 1, found: [] }
    const start = request.prefix.slice(0, request.prefix.lastIndexOf("/") + 1)
    if (start.split("/").includes("..")) return { objects: [] }
    const described = yield* collect(walk, start).pipe(
      Effect.flatMap(() =>
        Effect.forEach(walk.found.slice(0, limit), (key) => describe(directory, key), { concurrency: 16 })
      ),
      Effect.mapError(beforeCommit("list", request.prefix))
    )
    const objects = described.filter((object) => object !== undefined)
    const last = walk.found[limit - 1]
    return walk.found.length > limit && last !== undefined ? { objects, next: last } : { objects }
  }
)
