/** The rows of the errors of local disks, for `ErrorTable.ts`. */
import type * as DiskErrors from "./DiskErrors.ts"
import { entry, type ErrorEntry } from "./ErrorEntry.ts"

type Tag = (
  | DiskErrors.DiskFull
  | DiskErrors.DirectoryLocked
  | DiskErrors.SyncFailed
  | DiskErrors.SpoolUndecided
)["_tag"]

export const diskErrors: Readonly<Record<Tag, ErrorEntry>> = {
  DiskFull: entry(
    "disk_full",
    507,
    "not-durable",
    true,
    "the disk below the log has no room",
    "Make room. Nothing of the call was appended. What was accepted before waits in memory and is stored then; appends go on "
      + "without a restart."
  ),
  DirectoryLocked: entry(
    "directory_locked",
    409,
    "not-durable",
    true,
    "another process, or another log of this one, has the directory open",
    "End the other one, or give this log a directory of its own. A lock never outlives the process that holds it."
  ),
  SyncFailed: entry(
    "sync_failed",
    503,
    "not-durable",
    true,
    "the disk did not confirm that what was written while opening is durable",
    "Check the disk and its file system, then open again; nothing was built on those bytes."
  ),
  SpoolUndecided: entry(
    "spool_undecided",
    503,
    "unknown",
    false,
    "the spool holds records of an epoch, and nothing in the store says how that epoch ended",
    "Bring back the store that the spool belongs to. Where it is gone for good, move the spool's directory away: its records are not in the log."
  )
}
