/** The root directory of what keeps files below it: made where it is not there, by its one name, on a disk of this machine. */
import { Effect } from "effect"
import { type ConfigError, StoreUnavailable } from "../../WalError.ts"
import { DiskError, DiskFile } from "../DiskFile.ts"
import { isNoRoom } from "../journal/JournalError.ts"
import { makeDirectories } from "./MakeDirectories.ts"
import { networkFileSystemOf } from "./NetworkFileSystem.ts"

export interface RootRules {
  /** The error that names the option that the path came from. */
  readonly problem: (rule: string) => ConfigError
  /** What to do about a network file system, for people; `undefined`: one is allowed. */
  readonly networkAdvice: string | undefined
}

/** A full disk is nobody's mistake and passes: it can be tried again. */
const unusable = (rules: RootRules, error: DiskError): ConfigError | StoreUnavailable =>
  isNoRoom(error)
    ? new StoreUnavailable({ operation: "open", key: error.path, detail: error.message })
    : rules.problem(`can't be used: ${error.message}`)

/**
 * The absolute path without symbolic links, and what `prepare` makes below it. Fails as `problem` says for a path that can't
 * be made or used, is no directory, or is on a network file system, and `StoreUnavailable` for a disk without room.
 */
export const prepareRoot = <A>(
  path: string,
  rules: RootRules,
  prepare: (root: string) => Effect.Effect<A, DiskError>
): Effect.Effect<A, ConfigError | StoreUnavailable> =>
  Effect.gen(function*() {
    const disk = yield* DiskFile
    yield* makeDirectories(disk, path)
    const root = yield* disk.realPath(path)
    if ((yield* disk.stat(root)).kind !== "directory") return yield* rules.problem("is not a directory")
    const network = rules.networkAdvice === undefined ? undefined : yield* networkFileSystemOf(disk, root)
    if (network !== undefined) {
      return yield* rules.problem(`is on ${network}, a network file system; ${rules.networkAdvice}`)
    }
    return yield* prepare(root)
  }).pipe(Effect.catchIf((error) => error instanceof DiskError, (error) => Effect.fail(unusable(rules, error))))
