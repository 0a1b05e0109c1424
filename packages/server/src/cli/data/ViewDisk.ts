/**
 * The disk as a reading command sees it: everything is read from the real one, nothing on it is changed.
 *
 * The stores of a disk tidy up when they are opened, and a local log begins a new file. Here files that are made live in
 * memory, names that are removed are only hidden, and a directory that is made is one that nobody sees.
 */
import { DiskFile } from "@effect-wal/core/node"
import { Effect } from "effect"
import { basename, dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"

type Disk = typeof DiskFile.nodeDisk

/** A file that was made here. */
interface MemoryFile {
  bytes: Uint8Array
}

const refuse = (call: string, path: string, code: string, detail: string) =>
  Effect.fail(new DiskFile.DiskError({ call, path, code, detail }))

const readOnly = (call: string, path: string) => refuse(call, path, "EROFS", "this command changes nothing on the disk")

const absent = (call: string, path: string) => refuse(call, path, "ENOENT", "no such file or directory")

const writeInto = (file: MemoryFile, parts: ReadonlyArray<Uint8Array>, position: number): void => {
  const end = parts.reduce((sum, part) => sum + part.length, position)
  if (end > file.bytes.length) {
    const grown = new Uint8Array(end)
    grown.set(file.bytes)
    file.bytes = grown
  }
  let at = position
  for (const part of parts) {
    file.bytes.set(part, at)
    at += part.length
  }
}

const statOf = (file: MemoryFile): DiskFile.DiskStat => ({
  kind: "file",
  sizeBytes: file.bytes.length,
  modifiedMillis: 0,
  identity: "memory",
  names: 1
})

const handleOf = (file: MemoryFile): DiskFile.DiskHandle => ({
  write: (bytes, position) => Effect.sync(() => writeInto(file, [bytes], position)),
  writeMany: (parts, position) => Effect.sync(() => writeInto(file, parts, position)),
  read: (length, position) => Effect.sync(() => file.bytes.slice(position, position + length)),
  stat: Effect.sync(() => statOf(file)),
  sync: Effect.void,
  syncData: Effect.void,
  truncate: (length) =>
    Effect.sync(() => {
      file.bytes = file.bytes.slice(0, length)
    })
})

const isAbsent = (error: DiskFile.DiskError): boolean => error.code === "ENOENT"

/** SQLite's answer when somebody else holds the lock. */
const sqliteBusy = 5

const lockError = (path: string, cause: unknown) =>
  new DiskFile.DiskError({
    call: "lock",
    path,
    code: "UNKNOWN",
    detail: cause instanceof Error ? cause.message : String(cause)
  })

/**
 * The lock of a writer, shared: it is free where no writer has it, keeps one from starting meanwhile, and writes nothing.
 * A writer's own way of taking it removes what one that was killed has left beside it.
 */
const sharedLock: Disk["lock"] = (path) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const database = new DatabaseSync(path, { readOnly: true, timeout: 0 })
        try {
          database.exec("BEGIN")
          database.prepare("SELECT count(*) FROM sqlite_master").get()
          return database
        } catch (cause) {
          database.close()
          if (cause instanceof Error && "errcode" in cause && cause.errcode === sqliteBusy) return undefined
          throw cause
        }
      },
      catch: (cause) => lockError(path, cause)
    }),
    (database) => Effect.sync(() => database?.close())
  ).pipe(Effect.map((database) => database !== undefined))

/** A view of `disk`; what is made in it is gone with it. */
export const viewDisk = (disk: Disk = DiskFile.nodeDisk): Disk => {
  const made = new Map<string, MemoryFile>()
  const hidden = new Set<string>()
  const open: Disk["open"] = (path, mode) =>
    Effect.suspend(() => {
      const file = made.get(path)
      if (mode === "create") {
        if (file !== undefined) return refuse("open", path, "EEXIST", "file already exists")
        const fresh: MemoryFile = { bytes: new Uint8Array(0) }
        made.set(path, fresh)
        return Effect.succeed(handleOf(fresh))
      }
      if (file !== undefined) return Effect.succeed(handleOf(file))
      if (hidden.has(path)) return absent("open", path)
      return mode === "read" ? disk.open(path, mode) : readOnly("open", path)
    })
  const hide = (path: string) =>
    Effect.sync(() => {
      if (!made.delete(path)) hidden.add(path)
    })
  return {
    open,
    makeDirectory: (path) =>
      disk.stat(path).pipe(
        Effect.as(false),
        Effect.catchIf(isAbsent, () => Effect.succeed(true))
      ),
    syncDirectory: (path) => Effect.catchIf(disk.syncDirectory(path), isAbsent, () => Effect.void),
    link: (from) => readOnly("link", from),
    rename: (from, to) =>
      Effect.suspend(() => {
        const file = made.get(from)
        if (file === undefined) return readOnly("rename", from)
        made.delete(from)
        made.set(to, file)
        return Effect.void
      }),
    unlink: hide,
    removeTree: hide,
    list: (path) =>
      disk.list(path).pipe(
        Effect.catchIf(isAbsent, () => Effect.succeed([])),
        Effect.map((entries) => [
          ...entries.filter(({ name }) => !hidden.has(`${path}/${name}`)),
          ...[...made.keys()].flatMap((file): ReadonlyArray<DiskFile.DiskEntry> =>
            dirname(file) === path ? [{ name: basename(file), kind: "file" }] : []
          )
        ])
      ),
    stat: (path) =>
      Effect.suspend(() => {
        const file = made.get(path)
        if (file !== undefined) return Effect.succeed(statOf(file))
        return hidden.has(path) ? absent("stat", path) : disk.stat(path)
      }),
    realPath: (path) => disk.realPath(path),
    lock: sharedLock,
    fileSystemType: (path) => disk.fileSystemType(path)
  }
}
