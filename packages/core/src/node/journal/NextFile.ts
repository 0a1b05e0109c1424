/**
 * Makes the next file of a journal: header, frames that are copied from the file before, sync, rename, sync of the
 * directory. Only then it exists; whatever fails before that leaves nothing that counts.
 *
 * The file before must be closed for good: what the header says about it is never corrected.
 */
import { Clock, Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import { isAbsent } from "../directory/DiskAnswer.ts"
import type { DiskError, DiskHandle } from "../DiskFile.ts"
import { FileState } from "./FileState.ts"
import { FrameIndex } from "./FrameIndex.ts"
import type { ScannedFrame } from "./FrameScan.ts"
import { JournalError, journalError, syncError } from "./JournalError.ts"
import { encodeFileHeader, fileHeaderBytes, fileName, maxFileNumber, temporarySuffix } from "./JournalFile.ts"
import type { JournalFiles, JournalPlace } from "./JournalFiles.ts"
import type { FrameBinding } from "./JournalFrame.ts"
import { bindFrames, encodeFrameHeader, frameHeaderBytes } from "./JournalFrame.ts"

/** Frames of a file that nobody closed: they may be in the page cache only. */
export interface CopiedFrames {
  readonly path: string
  readonly frames: ReadonlyArray<ScannedFrame>
}

/** The file that is written to. */
export interface OpenFile {
  readonly file: FileState
  readonly index: FrameIndex
  readonly handle: DiskHandle
  readonly binding: FrameBinding
  /** Closes the handle. */
  readonly close: (exit: Exit.Exit<unknown, unknown>) => Effect.Effect<void>
}

/** Bytes that are copied with one write, but for larger frames. */
const copyBytes = 1_048_576

/** Copies the frames behind the header; answers where they end. */
const copyFrames = Effect.fnUntraced(
  function*(
    place: JournalPlace,
    source: CopiedFrames,
    target: OpenFile
  ): Effect.fn.Return<number, DiskError, Scope.Scope> {
    const from = yield* place.disk.open(source.path, "read")
    let parts: Array<Uint8Array> = []
    let start = fileHeaderBytes
    let end = start
    for (const frame of source.frames) {
      const header = encodeFrameHeader(target.binding, { ...frame, syncedThrough: fileHeaderBytes }, end)
      parts.push(header, yield* from.read(frame.bodyBytes, frame.offset + frameHeaderBytes))
      target.file.append({ ...frame, offset: end }, target.index)
      end += frameHeaderBytes + frame.bodyBytes
      if (end - start < copyBytes) continue
      yield* target.handle.writeMany(parts, start)
      parts = []
      start = end
    }
    if (parts.length > 0) yield* target.handle.writeMany(parts, start)
    return end
  },
  Effect.scoped
)

const unlink = (place: JournalPlace, path: string) =>
  place.disk.unlink(path).pipe(Effect.catchIf(isAbsent, () => Effect.void))

/** What a failed attempt left: nothing in it counts, so it is only told when it stays. */
const tidy = (place: JournalPlace, path: string) =>
  Effect.andThen(unlink(place, path + temporarySuffix), unlink(place, path)).pipe(
    Effect.catch((error) => Effect.logWarning("a file of a journal that was not finished could not be removed", error))
  )

/** Files at the end that hold nothing: the new one stands in their place. */
const removeEmpty = Effect.fnUntraced(function*(files: JournalFiles, empty: ReadonlyArray<FileState>) {
  if (empty.length === 0) return
  for (const file of empty) {
    yield* unlink(files.place, file.path)
    files.forget(file)
  }
  yield* files.place.disk.syncDirectory(files.place.path)
})

const publish = Effect.fnUntraced(function*(place: JournalPlace, open: OpenFile) {
  const { path } = open.file
  yield* Effect.mapError(open.handle.sync, (error) => syncError(error, path))
  yield* Effect.mapError(place.disk.rename(path + temporarySuffix, path), (error) => journalError(error, path))
  yield* Effect.mapError(place.disk.syncDirectory(place.path), (error) => syncError(error))
})

/** A file whose name the next opening would not know for one of the journal's must not be made. */
const nextNumber = Effect.fnUntraced(function*(files: JournalFiles): Effect.fn.Return<number, JournalError> {
  const number = files.takeNumber()
  if (number <= maxFileNumber) return number
  return yield* new JournalError({
    reason: "failed",
    path: files.place.path,
    detail: `file ${number - 1} has the last number there is; nothing more can be written here`
  })
})

/** Makes the file and everything in it durable. Its handle is open until `close`. */
export const makeNextFile = Effect.fnUntraced(
  function*(files: JournalFiles, copies?: CopiedFrames): Effect.fn.Return<OpenFile, JournalError> {
    const { place } = files
    const number = yield* nextNumber(files)
    const path = join(place.path, fileName(number))
    const before = files.files.findLast((file) => file.summary.slots > 0 || file.damaged)
    const empty = files.files.filter((file) => file.number > (before?.number ?? 0))
    const scope = yield* Scope.make()
    const make = Effect.gen(function*() {
      const handle = yield* Scope.provide(place.disk.open(path + temporarySuffix, "create"), scope)
      const header = encodeFileHeader({
        id: place.id,
        number,
        previous: before && { number: before.number, goodBytes: before.goodBytes, ...before.summary },
        createdAtMillis: yield* Clock.currentTimeMillis
      }, place.digest)
      yield* handle.write(header, 0)
      const file = new FileState({ number, path, goodBytes: fileHeaderBytes, sizeBytes: fileHeaderBytes })
      const binding = bindFrames(place.digest, place.id, number)
      const close: OpenFile["close"] = (exit) => Scope.close(scope, exit)
      const open: OpenFile = { file, index: new FrameIndex(), handle, binding, close }
      file.goodBytes = copies === undefined ? fileHeaderBytes : yield* copyFrames(place, copies, open)
      file.sizeBytes = file.goodBytes
      return open
    })
    const open = yield* Effect.mapError(make, (error) => journalError(error, path)).pipe(
      Effect.tap((made) => publish(place, made)),
      Effect.onError((cause) =>
        Effect.andThen(tidy(place, path), Effect.suspend(() => Scope.close(scope, Exit.failCause(cause))))
      )
    )
    files.files.push(open.file)
    files.growing = open
    yield* removeEmpty(files, empty).pipe(
      Effect.catch((error) => Effect.logWarning("an empty file of a journal could not be removed", error))
    )
    return open
  },
  Effect.uninterruptible
)
