/**
 * The checks of a directory on a disk of this machine: may it be written, what kind of file system it is, free space, the
 * time of a sync, and who has the log in it open.
 *
 * What is written is one file, which is removed; a directory that does not exist is not made.
 */
import { DiskFile } from "@effect-wal/core/node"
import { networkFileSystemOf } from "@effect-wal/core/node/directory/NetworkFileSystem"
import { NonceSource } from "@effect-wal/core/Nonce"
import { Effect, Result } from "effect"
import { statfs } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { humanBytes, humanMillis } from "../HumanText.ts"
import { measured } from "../Measure.ts"
import { type Percentiles, percentilesOf } from "../Percentiles.ts"
import { type CheckResult, good, skipped, type Tell } from "./Check.ts"

/** A directory, and what it is for. */
export interface DiskCheckup {
  readonly path: string
  /** In the names of the checks: `disk`, `spool`. */
  readonly name: string
  /** The file whose lock says that a process has the log open; absent where there is no such lock. */
  readonly lockFile?: string
  /** Space that should be free, bytes. */
  readonly wantedBytes: number
  /** A network file system is allowed by the configuration. */
  readonly allowNetwork: boolean
  readonly tell: Tell
  readonly tries: number
}

type DiskError = DiskFile.DiskError

/** File systems in memory, as Linux numbers them: tmpfs, ramfs. */
const memoryFileSystems: ReadonlySet<number> = new Set([0x01021994, 0x858458f6])

/** One write of a sync test. */
const blockBytes = 4_096

/** Slower than this, each acknowledgement of a local log waits noticeably. */
const slowSyncMillis = 50
/** Quicker than this, no disk was asked. */
const impossibleSyncMillis = 0.02

/** The path, or the nearest directory above it that exists. */
const existing = Effect.fnUntraced(function*(path: string) {
  const disk = yield* DiskFile.DiskFile
  let at = resolve(path)
  for (;;) {
    const stat = yield* Effect.result(disk.stat(at))
    if (Result.isSuccess(stat)) return { at, stat: stat.success }
    const parent = dirname(at)
    if (stat.failure.code !== "ENOENT" || parent === at) return yield* stat.failure
    at = parent
  }
})

const diskNext: Readonly<Record<string, string>> = {
  EACCES: "Give the user of this process the right to write there, or name another path.",
  EPERM: "Give the user of this process the right to write there, or name another path.",
  EROFS: "Mount the file system for writing, or name another path.",
  ENOSPC: "Make room on the disk.",
  EDQUOT: "Raise the quota of this user, or make room."
}

const refusedRow = (check: string, error: DiskError): CheckResult => ({
  check,
  status: "failed",
  found: error.message,
  means: "nothing can be kept there",
  next: diskNext[error.code] ?? "Check the path and the disk; the log of the kernel may say more."
})

const times = ({ max, p50, p99 }: Percentiles): string =>
  `p50 ${humanMillis(p50)}, p99 ${humanMillis(p99)}, max ${humanMillis(max)}`

/** The row of the times of syncs; `isMemory` where there is no disk below. */
export const syncRow = (check: string, millis: ReadonlyArray<number>, isMemory: boolean): CheckResult => {
  const found = percentilesOf(millis)
  const values = { p50_ms: found.p50, p99_ms: found.p99, max_ms: found.max }
  const row = { check, found: `${times(found)} (${millis.length} of ${humanBytes(blockBytes)})`, values }
  if (isMemory || found.p50 < impossibleSyncMillis) {
    return {
      ...row,
      status: "warning",
      means: isMemory
        ? "the file system is in memory: what is called durable there is lost with the machine's power"
        : "no disk is that quick: syncs end in a cache, and are lost with the machine's power",
      next: "Name a path on a real disk, whose cache is written through or kept by a battery."
    }
  }
  if (found.p99 <= slowSyncMillis) return { ...row, status: "ok" }
  return {
    ...row,
    status: "warning",
    means: `a sync takes longer than ${slowSyncMillis} ms at times: who waits for durability waits so long`,
    next: "Use a quicker disk, or one that is not busy with something else."
  }
}

/** Writes and syncs a file in the directory; answers the times. */
const timeSyncs = Effect.fnUntraced(function*(directory: string, tries: number) {
  const disk = yield* DiskFile.DiskFile
  const path = join(directory, `.effect-wal-doctor-${yield* yield* NonceSource}`)
  const block = new Uint8Array(blockBytes)
  return yield* Effect.gen(function*() {
    const file = yield* disk.open(path, "create")
    yield* Effect.addFinalizer(() => Effect.ignore(disk.unlink(path)))
    return yield* Effect.forEach(Array.from({ length: tries }, (_, index) => index), (index) =>
      Effect.map(
        measured(Effect.andThen(file.write(block, index * blockBytes), file.syncData)),
        ({ millis }) => millis
      ))
  }).pipe(Effect.scoped)
})

const checkFileSystem = Effect.fnUntraced(function*(at: string, { allowNetwork, name, tell }: DiskCheckup) {
  const disk = yield* DiskFile.DiskFile
  const network = yield* networkFileSystemOf(disk, at)
  const check = `${name} file system`
  yield* tell(
    network === undefined
      ? good(check, "of this machine")
      : {
        check,
        status: allowNetwork ? "warning" : "failed",
        found: network,
        means: "locks, links and syncs of a network file system may not do what they say, so the log refuses it",
        next: "Name a path on a disk of this machine, or keep the log in an object store."
      }
  )
})

const freeBytes = (at: string): Effect.Effect<number, { readonly message: string }> =>
  Effect.tryPromise({
    try: () => statfs(at).then(({ bavail, bsize }) => bavail * bsize),
    catch: (cause) => ({ message: cause instanceof Error ? cause.message : String(cause) })
  })

/** The row of free space. */
export const spaceRow = (check: string, free: number, wanted: number): CheckResult => {
  const values = { free_bytes: free }
  if (free >= wanted) return good(check, `${humanBytes(free)} free`, values)
  return {
    check,
    status: free === 0 ? "failed" : "warning",
    found: `${humanBytes(free)} free, ${humanBytes(wanted)} are wanted`,
    means: "when the disk is full, appends wait or fail until there is room; nothing that was durable is lost",
    next: "Make room, use a larger disk, or lower what may be kept there.",
    values
  }
}

const checkLock = Effect.fnUntraced(function*({ lockFile, name, tell }: DiskCheckup) {
  if (lockFile === undefined) return
  const disk = yield* DiskFile.DiskFile
  const check = `${name} lock`
  const there = yield* Effect.result(disk.stat(lockFile))
  if (Result.isFailure(there)) {
    // Any other answer says nothing about the lock.
    if (there.failure.code !== "ENOENT") return yield* there.failure
    return yield* tell(good(check, "free: there is no log yet"))
  }
  const isFree = yield* Effect.scoped(disk.lock(lockFile))
  yield* tell(
    isFree ? good(check, "free") : {
      check,
      status: "warning",
      found: "held by another process",
      means: "that process has the log open; another one that wants it waits, or fails DirectoryLocked",
      next: "Nothing, if it is the server that should run. Else end it: the lock ends with its holder."
    }
  )
})

/** Runs all of them, one after the other. */
export const diskChecks = Effect.fnUntraced(function*(checkup: DiskCheckup) {
  const { name, path, tell, tries, wantedBytes } = checkup
  const found = yield* Effect.result(existing(path))
  if (Result.isFailure(found)) return yield* tell(refusedRow(`${name} directory`, found.failure))
  const { at, stat } = found.success
  if (stat.kind !== "directory") {
    return yield* tell({
      check: `${name} directory`,
      status: "failed",
      found: `${at} is not a directory`,
      means: "nothing can be kept there",
      next: "Name another path, or move the file away."
    })
  }
  yield* tell(good(`${name} directory`, at === resolve(path) ? at : `${path} does not exist yet; it is made in ${at}`))
  const disk = yield* DiskFile.DiskFile
  const type = yield* Effect.result(disk.fileSystemType(at))
  const syncs = yield* Effect.result(timeSyncs(at, tries))
  yield* tell(
    Result.isFailure(syncs)
      ? refusedRow(`${name} write`, syncs.failure)
      : good(`${name} write`, "a file could be written, synced and removed")
  )
  yield* tell(
    Result.isFailure(syncs)
      ? skipped(`${name} sync`, "nothing could be written")
      : syncRow(`${name} sync`, syncs.success, Result.isSuccess(type) && memoryFileSystems.has(type.success))
  )
  yield* checkFileSystem(at, checkup).pipe(
    Effect.catch((error) => tell(refusedRow(`${name} file system`, error)))
  )
  yield* freeBytes(at).pipe(
    Effect.matchEffect({
      onFailure: ({ message }) => tell(skipped(`${name} space`, message)),
      onSuccess: (free) => tell(spaceRow(`${name} space`, free, wantedBytes))
    })
  )
  yield* checkLock(checkup).pipe(Effect.catch((error) => tell(refusedRow(`${name} lock`, error))))
})
