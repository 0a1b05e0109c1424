/**
 * Which of the two stores of a disk has kept a log: objects as files (`DirectoryObjectStore.ts`) or append-only files
 * (`LocalObjectStore.ts`). Both keep the manifest in the same place, so that one would end the log of the other as an
 * empty one.
 */
import { Effect } from "effect"
import { join } from "node:path"
import { ConfigError } from "../WalError.ts"
import { isAbsent } from "./directory/DiskAnswer.ts"
import { journalName } from "./directory/Layout.ts"
import { DiskFile } from "./DiskFile.ts"

/** How a log lies on disk: `type: local`, or `type: object_store` with `directory`. */
export type StoreLayout = "local" | "directory"

/** The directory in which each layout has the segments, below the prefix of the log. */
const segmentsIn: Readonly<Record<StoreLayout, string>> = { local: journalName, directory: "segments" }

const advice: Readonly<Record<StoreLayout, string>> = {
  local:
    "a log that type: object_store with a directory block has written; write that (directory: { path: … }) to open " +
    "it, or name another path",
  directory: "a log that type: local has written; write that (local: { path: … }) to open it, or name another path"
}

const isThere = Effect.fnUntraced(function*(path: string) {
  const disk = yield* DiskFile
  return yield* disk.stat(path).pipe(
    Effect.as(true),
    Effect.catchIf(isAbsent, () => Effect.succeed(false))
  )
})

/**
 * Fails `ConfigError` when the other store has kept the log of this prefix in this directory, or when it cannot be looked
 * at. A directory that is not there, or empty, is right for both.
 */
export const refuseOtherLayout = Effect.fnUntraced(
  function*(layout: StoreLayout, path: string, prefix: string): Effect.fn.Return<void, ConfigError> {
    const problem = (rule: string) =>
      new ConfigError({
        source: layout === "local" ? "local log" : "directory store",
        problems: [{ path: `${layout}.path`, value: path, rule }]
      })
    const other = layout === "local" ? "directory" : "local"
    const found = yield* Effect.all([
      isThere(join(path, prefix, segmentsIn[layout])),
      isThere(join(path, prefix, segmentsIn[other]))
    ]).pipe(Effect.mapError((error) => problem(`can't be used: ${error.message}`)))
    const [own, foreign] = found
    if (foreign && !own) return yield* problem(`holds ${advice[layout]}`)
  }
)
