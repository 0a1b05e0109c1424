/**
 * Disks that break a promise, to prove that a test of durability would notice a program that does not ask for it.
 *
 * Each wraps another disk, such as a `PowerLossDisk`, and answers with success where nothing was made durable.
 */
import type { DiskError, DiskFileService, DiskHandle } from "@effect-wal/core/node/DiskFile"
import { Effect } from "effect"

const withHandles = (disk: DiskFileService, change: (handle: DiskHandle) => DiskHandle): DiskFileService => ({
  ...disk,
  open: (path, mode) => Effect.map(disk.open(path, mode), change)
})

/** `sync` and `syncData` of files do nothing. */
export const withoutSyncData = (disk: DiskFileService): DiskFileService =>
  withHandles(disk, (handle) => ({ ...handle, sync: Effect.void, syncData: Effect.void }))

/** `syncDirectory` does nothing. */
export const withoutSyncDirectory = (disk: DiskFileService): DiskFileService => ({
  ...disk,
  syncDirectory: () => Effect.void
})

/**
 * Each sync of a file or directory answers at once and happens before the next call that changes something; what it answers
 * then is lost.
 */
export const lazySync = (disk: DiskFileService): DiskFileService => {
  const owed: Array<Effect.Effect<void, DiskError>> = []
  const later = (sync: Effect.Effect<void, DiskError>) => Effect.sync(() => void owed.push(sync))
  const pay = Effect.suspend(() => Effect.forEach(owed.splice(0), Effect.exit, { discard: true }))
  const after = <A, R>(call: Effect.Effect<A, DiskError, R>) => Effect.andThen(pay, call)
  return {
    ...disk,
    open: (path, mode) =>
      Effect.map(mode === "create" ? after(disk.open(path, mode)) : disk.open(path, mode), (handle) => ({
        ...handle,
        write: (bytes, position) => after(handle.write(bytes, position)),
        writeMany: (parts, position) => after(handle.writeMany(parts, position)),
        truncate: (length) => after(handle.truncate(length)),
        sync: later(handle.sync),
        syncData: later(handle.syncData)
      })),
    makeDirectory: (path) => after(disk.makeDirectory(path)),
    syncDirectory: (path) => later(disk.syncDirectory(path)),
    link: (from, to) => after(disk.link(from, to)),
    rename: (from, to) => after(disk.rename(from, to)),
    unlink: (path) => after(disk.unlink(path)),
    removeTree: (path) => after(disk.removeTree(path))
  }
}
