/**
 * A journal: named byte strings in append-only files of one directory, durable when they are answered.
 *
 * A name is (epoch, slot). A name that is appended again is answered with the newer bytes. One process has a journal open:
 * a kernel lock on the file `lock` of the directory, which ends with its holder.
 */
import { Effect, Exit, Scope, Semaphore } from "effect"
import { join, resolve } from "node:path"
import { Digest } from "../../codec/Digest.ts"
import type { SlotName } from "../../format/ObjectKey.ts"
import { NonceSource } from "../../Nonce.ts"
import { DirectoryLocked } from "../../WalError.ts"
import { isAbsent } from "../directory/DiskAnswer.ts"
import { makeDirectories } from "../directory/MakeDirectories.ts"
import { DiskFile } from "../DiskFile.ts"
import type { FrameEntry } from "./FrameIndex.ts"
import { failedError, type JournalError, journalError, syncError } from "./JournalError.ts"
import type { JournalFiles, Located } from "./JournalFiles.ts"
import { bindFrames, decodeFrameHeader, frameHeaderBytes } from "./JournalFrame.ts"
import type { NewFrame } from "./JournalWriter.ts"
import { JournalWriter } from "./JournalWriter.ts"
import type { DamagedRange, OpenedJournal, TornTail } from "./OpenJournal.ts"
import { openFiles } from "./OpenJournal.ts"

export interface JournalOptions {
  /** Created when it is not there, with those above it. */
  readonly directory: string
  /** A file is not made longer, but for the frames of one append that are longer by themselves. Default 64 MiB. */
  readonly maxFileBytes?: number
}

/** The bytes of a name. */
export interface JournalBody {
  /** All of it, or as much as was asked for. */
  readonly body: Uint8Array
  /** False when the bytes are not those that were appended: the disk has damaged them. Of a part only the header is checked. */
  readonly intact: boolean
}

export interface Journal {
  /** 32 hexadecimal digits that no other journal has. */
  readonly id: string
  /** The directory, absolute and without symbolic links. */
  readonly path: string
  /** What was torn in the last file when it was opened, and dropped. It is told once: the next opening does not see it. */
  readonly tornTail: TornTail | undefined
  /** What was found damaged at opening in files that nobody had closed. */
  readonly damage: ReadonlyArray<DamagedRange>
  /**
   * Appends the frames; done when they are durable. All frames of one call stand in one file, but a crash can leave a part
   * of them. Calls that wait at the same time share one write and one sync. Fails `full` (nothing was stored),
   * `sync-failed` or `failed` (unknown); each can be repeated, and all bytes are written again.
   */
  readonly append: (frames: ReadonlyArray<NewFrame>) => Effect.Effect<void, JournalError>
  /** Whether the name is there. Fails `failed`. */
  readonly has: (name: SlotName) => Effect.Effect<boolean, JournalError>
  /** The bytes of the name, or the first of them; `undefined` when it is not there. Fails `failed`. */
  readonly read: (
    name: SlotName,
    request?: { readonly firstBytes?: number }
  ) => Effect.Effect<JournalBody | undefined, JournalError>
  /**
   * Up to `limit` names at or after `from`, ascending. Fewer than `limit`: there are no more. Go on behind the last one.
   * Fails `failed`.
   */
  readonly list: (from: SlotName, limit: number) => Effect.Effect<ReadonlyArray<FrameEntry>, JournalError>
  /**
   * Removes the names; one that is not there counts as removed. Files go from the front, whole, once all their names are
   * removed; a name whose file is still there shows again when the journal is opened again. Fails `failed`.
   */
  readonly remove: (names: ReadonlyArray<SlotName>) => Effect.Effect<void, JournalError>
  /** Removes everything at or below the name, also what is appended there later. Files go as with `remove`. Fails `failed`. */
  readonly dropThrough: (name: SlotName) => Effect.Effect<void, JournalError>
  /** The real sizes of all files together, as of now. */
  readonly usedBytes: () => number
  /** How many indexes of closed files are in memory. */
  readonly loadedIndexes: () => number
}

const defaultMaxFileBytes = 67_108_864

/** A file that is written to and holds nothing any more is left behind once it has this part of its greatest length. */
const deadPart = 4

const readFrame = Effect.fnUntraced(function*(files: JournalFiles, located: Located, firstBytes: number | undefined) {
  const { digest, disk, id } = files.place
  const { entry, file } = located
  const length = Math.min(entry.bodyBytes, firstBytes ?? entry.bodyBytes)
  const bytes = yield* Effect.flatMap(
    disk.open(file.path, "read"),
    (handle) => handle.read(frameHeaderBytes + length, entry.offset)
  )
  const header = decodeFrameHeader(bindFrames(digest, id, file.number), bytes, entry.offset)
  const body = bytes.subarray(frameHeaderBytes)
  const isWhole = body.length === entry.bodyBytes
  const intact = header !== undefined && body.length === length && (!isWhole || digest.crc32(body) === header.bodyCrc)
  return { body, intact } satisfies JournalBody
}, Effect.scoped)

const read = Effect.fnUntraced(
  function*(files: JournalFiles, name: SlotName, firstBytes?: number): Effect.fn.Return<
    JournalBody | undefined,
    JournalError
  > {
    const located = yield* files.locate(name)
    if (located === undefined) return undefined
    return yield* readFrame(files, located, firstBytes).pipe(
      // The file was dropped since it was looked up.
      Effect.catchIf(
        (error) => isAbsent(error) && !files.files.includes(located.file),
        () => Effect.succeed(undefined)
      ),
      Effect.mapError((error) => failedError(error))
    )
  }
)

/**
 * Unlinks dead files from the front, one after the other: were two names to go at once, a crash could bring back the older
 * one only, and the journal would look as if it had a hole. The last file stays: it holds the id.
 */
const dropDead = Effect.fnUntraced(function*(files: JournalFiles) {
  const { disk, path } = files.place
  for (let file = files.files[0]; file !== undefined && files.files.length > 1; file = files.files[0]) {
    const dead = file
    if (!dead.isDead(files.removals)) return
    files.forget(dead)
    yield* disk.unlink(dead.path).pipe(
      Effect.catchIf(isAbsent, () => Effect.void),
      Effect.tapError(() => Effect.sync(() => files.files.unshift(dead))),
      Effect.mapError((error) => failedError(error))
    )
    yield* Effect.mapError(disk.syncDirectory(path), (error) => syncError(error))
  }
}, Effect.uninterruptible)

const dropFiles = Effect.fnUntraced(function*(files: JournalFiles, writer: JournalWriter, deadBytes: number) {
  yield* dropDead(files)
  const file = files.growing?.file
  if (file === undefined || file.sizeBytes < deadBytes || !file.isDead(files.removals)) return
  yield* writer.freshFile
  yield* dropDead(files)
})

const lockDirectory = Effect.fnUntraced(function*(path: string) {
  const disk = yield* DiskFile
  yield* makeDirectories(disk, path)
  const real = yield* disk.realPath(path)
  if (!(yield* disk.lock(join(real, "lock")))) return yield* new DirectoryLocked({ path: real })
  return real
})

interface Opened {
  readonly opened: OpenedJournal
  readonly writer: JournalWriter
}

const openUnlocked = Effect.fnUntraced(
  function*(
    options: Required<JournalOptions>
  ): Effect.fn.Return<Opened, JournalError | DirectoryLocked, Scope.Scope> {
    const { directory, maxFileBytes } = options
    const disk = yield* DiskFile
    const digest = yield* yield* Digest
    const nonce = yield* NonceSource
    const path = yield* lockDirectory(resolve(directory)).pipe(
      Effect.catchTag("DiskError", (error) => Effect.fail(journalError(error)))
    )
    // In one step: a file that was opened must be closed, whenever the opening is interrupted.
    return yield* Effect.acquireRelease(
      Effect.flatMap(openFiles({ disk, digest, path }, nonce), (opened) => {
        const writer = new JournalWriter(opened.files, opened.open, maxFileBytes)
        return Effect.as(Effect.forkDetach(writer.run, { startImmediately: true }), { opened, writer })
      }),
      ({ writer }) => writer.close
    )
  }
)

/**
 * Opens the journal; it is closed, and its directory unlocked, with the scope. An opening that fails holds no lock.
 *
 * Fails `DirectoryLocked` at once when somebody has it open, and `JournalError`: `full` or `sync-failed` when what must be
 * written to go on could not be, `failed` when the directory can't be used or holds what this program can't read.
 */
export const open = Effect.fnUntraced(
  function*(options: JournalOptions): Effect.fn.Return<Journal, JournalError | DirectoryLocked, Scope.Scope> {
    const { directory, maxFileBytes = defaultMaxFileBytes } = options
    const scope = yield* Scope.fork(yield* Effect.scope)
    const { opened, writer } = yield* Effect.onError(
      Scope.provide(openUnlocked({ directory, maxFileBytes }), scope),
      (cause) => Scope.close(scope, Exit.failCause(cause))
    )
    const { damage, files, tornTail } = opened
    const drop = Semaphore.makeUnsafe(1).withPermit(dropFiles(files, writer, maxFileBytes / deadPart))
    return {
      id: files.place.id,
      path: files.place.path,
      tornTail,
      damage,
      append: (frames) => writer.append(frames),
      has: (name) => Effect.map(files.locate(name), (located) => located !== undefined),
      read: (name, request) => read(files, name, request?.firstBytes),
      list: (from, limit) => Effect.map(files.list(from, limit), (page) => page.map((located) => located.entry)),
      remove: (names) => Effect.andThen(files.remove(names), drop),
      dropThrough: (name) =>
        Effect.suspend(() => {
          files.dropThrough(name)
          return drop
        }),
      usedBytes: () => files.usedBytes,
      loadedIndexes: () => files.loadedIndexes
    }
  }
)
