/**
 * The disk, as the few operations that durable storage is made of; every access of this package to a file goes through it.
 *
 * A reference with `node:fs` as its default, so that a test can put a disk that fails or loses power in its place. Nothing
 * is durable by itself: the bytes of a file are after `sync` of its handle, its name is after `syncDirectory` of the
 * directory that holds it. A call in flight can't be taken back, so each runs to its end when its fiber is interrupted.
 */
import { Context, Effect, Schema } from "effect"
import type { Scope } from "effect"
import * as fs from "node:fs/promises"
import { DatabaseSync } from "node:sqlite"

/** A call of the operating system that failed. `code` is its name for the reason, as in `ENOSPC`. */
export class DiskError extends Schema.TaggedError<DiskError>()("DiskError", {
  /** The system call, as in `fsync`. */
  call: Schema.String,
  path: Schema.String,
  code: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.call} ${this.path}: ${this.detail}`
  }
}

/** What the system knows of a file. */
export interface DiskStat {
  readonly kind: DiskKind
  readonly sizeBytes: number
  readonly modifiedMillis: number
  /** Device and inode: equal for two names of one file. */
  readonly identity: string
  /** How many names the file has. */
  readonly names: number
}

/** `other`: symbolic links (in listings), sockets, devices. */
export type DiskKind = "file" | "directory" | "other"

/** A name in a directory. */
export interface DiskEntry {
  readonly name: string
  readonly kind: DiskKind
}

/** `create`: the file must not exist. */
export type OpenMode = "read" | "modify" | "create"

const openFlags: Readonly<Record<OpenMode, string>> = { read: "r", modify: "r+", create: "wx+" }

/** An open file; closed with the scope that it was opened in. */
export interface DiskHandle {
  /** Writes all of `bytes` from byte `position` on. */
  readonly write: (bytes: Uint8Array, position: number) => Effect.Effect<void, DiskError>
  /** Writes all of the parts, one behind the other, from byte `position` on, as one call where the system takes it. */
  readonly writeMany: (parts: ReadonlyArray<Uint8Array>, position: number) => Effect.Effect<void, DiskError>
  /** Up to `length` bytes from byte `position` on; fewer only at the end of the file. */
  readonly read: (length: number, position: number) => Effect.Effect<Uint8Array, DiskError>
  readonly stat: Effect.Effect<DiskStat, DiskError>
  /** Makes all bytes written so far durable. After a failure the state of the file is unknown: do not go on with it. */
  readonly sync: Effect.Effect<void, DiskError>
  /** As `sync`, without what readers do not need, as the times of the file: bytes and length are durable. */
  readonly syncData: Effect.Effect<void, DiskError>
  /** Cuts the file to so many bytes. */
  readonly truncate: (length: number) => Effect.Effect<void, DiskError>
}

/** All access to a disk that the log makes. Errors carry the code of the system, the call and the path. */
export interface DiskFileService {
  /**
   * Opens an existing file to read it (`read`) or to read and write it (`modify`), or creates one that must not exist
   * (`create`, else `EEXIST`) to write and read it.
   */
  readonly open: (path: string, mode: OpenMode) => Effect.Effect<DiskHandle, DiskError, Scope.Scope>
  /** Creates one directory; its parent must exist. Answers false when it is there already. */
  readonly makeDirectory: (path: string) => Effect.Effect<boolean, DiskError>
  /** Makes the names in the directory durable. */
  readonly syncDirectory: (path: string) => Effect.Effect<void, DiskError>
  /** Gives the file `from` a second name; `EEXIST` when that is taken, by whatever. */
  readonly link: (from: string, to: string) => Effect.Effect<void, DiskError>
  /** Gives the file another name; a file that has it is replaced. Durable once the directories are synced. */
  readonly rename: (from: string, to: string) => Effect.Effect<void, DiskError>
  /** Removes a name. Durable once its directory is synced. */
  readonly unlink: (path: string) => Effect.Effect<void, DiskError>
  /** Removes a directory with everything in it, or a file; fine when it is not there. */
  readonly removeTree: (path: string) => Effect.Effect<void, DiskError>
  /** The names in a directory, in no order. */
  readonly list: (path: string) => Effect.Effect<ReadonlyArray<DiskEntry>, DiskError>
  /** Follows symbolic links. */
  readonly stat: (path: string) => Effect.Effect<DiskStat, DiskError>
  /** The absolute path without symbolic links. */
  readonly realPath: (path: string) => Effect.Effect<string, DiskError>
  /**
   * Takes a lock on the file, which is created when it is not there; false when another process, or another scope of this
   * one, holds it. The kernel drops it when its holder ends, however that happens; the file stays. Its holder must not open
   * the file by another way: closing it there drops the lock (fcntl(2), on record locks). Fails for a file that this
   * process may only read, as nobody is kept out by that.
   */
  readonly lock: (path: string) => Effect.Effect<boolean, DiskError, Scope.Scope>
  /** The magic number of the file system that holds the path, as Linux numbers them. */
  readonly fileSystemType: (path: string) => Effect.Effect<number, DiskError>
}

const diskError = (call: string, path: string, cause: unknown): DiskError => {
  const code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : "UNKNOWN"
  const message = cause instanceof Error ? cause.message : String(cause)
  // Node ends its messages with the call and the path, which stand in fields of their own here.
  return new DiskError({ call, path, code, detail: message.replace(/, \w+ '.*'$/, "") })
}

const attempt = <A>(call: string, path: string, run: () => Promise<A>): Effect.Effect<A, DiskError> =>
  Effect.uninterruptible(Effect.tryPromise({ try: run, catch: (cause) => diskError(call, path, cause) }))

/** Parts of one vectored write: the least that POSIX allows a system to set (IOV_MAX) is 16, Linux and macOS take 1,024. */
const maxParts = 1_024

interface NodeStat {
  readonly isFile: () => boolean
  readonly isDirectory: () => boolean
}

const kindOf = (entry: NodeStat): DiskKind => entry.isFile() ? "file" : entry.isDirectory() ? "directory" : "other"

const toStat = (stat: NodeStat & Record<"size" | "mtimeMs" | "dev" | "ino" | "nlink", bigint>): DiskStat => ({
  kind: kindOf(stat),
  sizeBytes: Number(stat.size),
  modifiedMillis: Number(stat.mtimeMs),
  identity: `${stat.dev}:${stat.ino}`,
  names: Number(stat.nlink)
})

const writeAll = Effect.fnUntraced(function*(file: fs.FileHandle, path: string, bytes: Uint8Array, position: number) {
  let done = 0
  while (done < bytes.length) {
    const from = done
    // A write can be short, on a disk that is nearly full for one.
    done += yield* attempt(
      "write",
      path,
      () => file.write(bytes, from, bytes.length - from, position + from).then((written) => written.bytesWritten)
    )
  }
})

const readUpTo = Effect.fnUntraced(function*(file: fs.FileHandle, path: string, length: number, position: number) {
  const bytes = new Uint8Array(length)
  let done = 0
  while (done < length) {
    const from = done
    const count = yield* attempt(
      "read",
      path,
      () => file.read(bytes, from, length - from, position + from).then((read) => read.bytesRead)
    )
    if (count === 0) break
    done += count
  }
  return done === length ? bytes : bytes.slice(0, done)
})

/** Writes part by part what is left of the parts after so many bytes of them. */
const writeRest = Effect.fnUntraced(
  function*(file: fs.FileHandle, path: string, parts: ReadonlyArray<Uint8Array>, position: number, done: number) {
    let at = position
    let written = done
    for (const part of parts) {
      const there = Math.min(written, part.length)
      if (there < part.length) yield* writeAll(file, path, part.subarray(there), at + there)
      written -= there
      at += part.length
    }
  }
)

const writeParts = (
  file: fs.FileHandle,
  path: string,
  parts: ReadonlyArray<Uint8Array>,
  position: number
): Effect.Effect<void, DiskError> => {
  const some = parts.slice(0, maxParts)
  const length = some.reduce((sum, part) => sum + part.length, 0)
  const write = attempt("writev", path, () => file.writev(some, position).then((written) => written.bytesWritten))
  return Effect.flatMap(write, (done) => {
    const rest = done < length ? writeRest(file, path, some, position, done) : Effect.void
    if (parts.length <= maxParts) return rest
    return Effect.andThen(rest, Effect.suspend(() => writeParts(file, path, parts.slice(maxParts), position + length)))
  })
}

const toHandle = (file: fs.FileHandle, path: string): DiskHandle => ({
  write: (bytes, position) => writeAll(file, path, bytes, position),
  writeMany: (parts, position) => writeParts(file, path, parts, position),
  read: (length, position) => readUpTo(file, path, length, position),
  stat: Effect.map(attempt("fstat", path, () => file.stat({ bigint: true })), toStat),
  sync: attempt("fsync", path, () => file.sync()),
  syncData: attempt("fdatasync", path, () => file.datasync()),
  truncate: (length) => attempt("ftruncate", path, () => file.truncate(length))
})

/** Closing loses nothing: what must last was synced before. So a failure is only told. */
const close = (file: fs.FileHandle, path: string) =>
  attempt("close", path, () => file.close()).pipe(
    Effect.catch((error) => Effect.logWarning("closing a file failed", error))
  )

const open = (path: string, flags: string) =>
  Effect.acquireRelease(attempt("open", path, () => fs.open(path, flags)), (file) => close(file, path))

/** SQLite's answers when somebody else holds the lock, and for a file of others (https://sqlite.org/rescode.html). */
const sqliteBusy = 5
const sqliteReadOnly = 8

const isFromSqlite = (cause: unknown, code: number): boolean =>
  cause instanceof Error && "errcode" in cause && cause.errcode === code

const lockError = (path: string, cause: unknown): DiskError =>
  isFromSqlite(cause, sqliteReadOnly)
    ? new DiskError({ call: "lock", path, code: "EACCES", detail: "EACCES: this process may only read the file" })
    : diskError("lock", path, cause)

/**
 * What takes the lock. SQLite opens a file that this process must not write for reading only, and begins a reading
 * transaction on it then, which any number of processes can hold; setting a number in the header is refused there.
 */
const takeLock = "BEGIN EXCLUSIVE; PRAGMA user_version = 0"

/**
 * A lock by an exclusive transaction on an empty database: the kernel's record lock on the file, which ends with its
 * holder and does not depend on a process id. SQLite also knows the locks of this very process, which the kernel does not
 * tell apart.
 */
const lock = (path: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const database = new DatabaseSync(path, { timeout: 0 })
        try {
          database.exec(takeLock)
          return database
        } catch (cause) {
          database.close()
          if (isFromSqlite(cause, sqliteBusy)) return undefined
          throw cause
        }
      },
      catch: (cause) => lockError(path, cause)
    }),
    (database) => Effect.sync(() => database?.close())
  ).pipe(Effect.map((database) => database !== undefined))

/** The disk of this machine. */
export const nodeDisk: DiskFileService = {
  open: (path, mode) => Effect.map(open(path, openFlags[mode]), (file) => toHandle(file, path)),
  makeDirectory: (path) =>
    attempt("mkdir", path, () => fs.mkdir(path)).pipe(
      Effect.as(true),
      Effect.catchIf((error) => error.code === "EEXIST", () => Effect.succeed(false))
    ),
  syncDirectory: (path) =>
    Effect.scoped(Effect.flatMap(open(path, "r"), (file) => attempt("fsync", path, () => file.sync()))),
  link: (from, to) => attempt("link", to, () => fs.link(from, to)),
  rename: (from, to) => attempt("rename", from, () => fs.rename(from, to)),
  unlink: (path) => attempt("unlink", path, () => fs.unlink(path)),
  removeTree: (path) => attempt("rm", path, () => fs.rm(path, { recursive: true, force: true })),
  list: (path) =>
    Effect.map(
      attempt("readdir", path, () => fs.readdir(path, { withFileTypes: true })),
      (entries) => entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    ),
  stat: (path) => Effect.map(attempt("stat", path, () => fs.stat(path, { bigint: true })), toStat),
  realPath: (path) => attempt("realpath", path, () => fs.realpath(path)),
  lock,
  // Some magic numbers have the top bit set; node answers them signed on some platforms.
  fileSystemType: (path) => Effect.map(attempt("statfs", path, () => fs.statfs(path)), (stat) => stat.type >>> 0)
}

/** Yields the disk in use: `const disk = yield* DiskFile`. */
export const DiskFile = Context.Reference<DiskFileService>("@effect-wal/core/DiskFile", {
  defaultValue: () => nodeDisk
})
