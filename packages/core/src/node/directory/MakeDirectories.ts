/**
 * Directories whose names last.
 */
import { Effect } from "effect"
import { dirname } from "node:path"
import type { DiskError, DiskFileService } from "../DiskFile.ts"

const notForUs = ["EACCES", "EPERM", "EINVAL"]

/**
 * Creates the directory and those above it; all their names are durable afterwards. Those that are there already too: who
 * made one may have died before it came to that. Fails with the disk's error.
 */
export const makeDirectories = (disk: DiskFileService, path: string): Effect.Effect<void, DiskError> => {
  const parent = dirname(path)
  if (parent === path) return Effect.void
  return makeDirectories(disk, parent).pipe(
    Effect.andThen(disk.makeDirectory(path)),
    Effect.flatMap((created) =>
      disk.syncDirectory(parent).pipe(
        // Where the parent can't be opened or synced, the directory was made by somebody else, long before.
        Effect.catchIf((error) => !created && notForUs.includes(error.code), () => Effect.void)
      )
    )
  )
}
