/**
 * Writes the frames of a journal: what waits together is written together, and one sync makes it durable.
 *
 * **Owns** the file that is written to, the order of writes, rotation, and what follows when a write or a sync fails.
 * **Does not own** the making of files (`NextFile.ts`), reading, and when files go.
 *
 * Invariants: an append is answered with success only after a sync that came after its last byte · bytes whose sync failed
 * are never answered with success, not even by a later sync: they are written again elsewhere · a file that was given up or
 * left behind is never written to again.
 */
import { Deferred, Effect, Exit, Result } from "effect"
import type { SlotName } from "../../format/ObjectKey.ts"
import { Signal } from "../../write/Signal.ts"
import type { DiskError } from "../DiskFile.ts"
import { failedError, isNoRoom, JournalError, journalError, syncError } from "./JournalError.ts"
import { fileHeaderBytes } from "./JournalFile.ts"
import type { JournalFiles } from "./JournalFiles.ts"
import { encodeFrameHeader, frameHeaderBytes } from "./JournalFrame.ts"
import { reportSyncFailure } from "./JournalMetrics.ts"
import type { OpenFile } from "./NextFile.ts"
import { makeNextFile } from "./NextFile.ts"

/** A frame to be appended. */
export interface NewFrame extends SlotName {
  /** Must not change until the append is done. */
  readonly body: Uint8Array
  /** CRC-32 of the body, where the caller has it. */
  readonly crc32?: number
  /** The frame does not keep its file from being dropped; default false. */
  readonly passive?: boolean
}

/** The frames of one call: they stand in one file. */
interface Unit {
  readonly frames: ReadonlyArray<NewFrame>
  readonly bytes: number
  readonly done: Deferred.Deferred<void, JournalError>
}

export class JournalWriter {
  private readonly files: JournalFiles
  /** A file is not made longer, but for a unit that is longer by itself. */
  private readonly maxFileBytes: number
  private open: OpenFile | undefined
  private pending: Array<Unit> = []
  private writing: ReadonlyArray<Unit> = []
  /** There is something to do. */
  private readonly work = new Signal()
  /** Done when nothing is written any more. */
  private readonly stopped = Deferred.makeUnsafe<void>()
  /** Set while somebody wants the file to be left behind; done when it is. */
  private fresh: Deferred.Deferred<void, JournalError> | undefined = undefined
  private end: Exit.Exit<never, JournalError> | undefined = undefined

  constructor(files: JournalFiles, open: OpenFile, maxFileBytes: number) {
    this.files = files
    this.open = open
    this.maxFileBytes = maxFileBytes
  }

  /**
   * Appends the frames; done when they are durable. An interruption takes back what is not being written yet, and waits for
   * what is.
   */
  append(frames: ReadonlyArray<NewFrame>): Effect.Effect<void, JournalError> {
    return Effect.suspend(() => {
      if (this.end !== undefined) return this.end
      if (frames.length === 0) return Effect.void
      const bytes = frames.reduce((sum, frame) => sum + frameHeaderBytes + frame.body.length, 0)
      const unit: Unit = { frames, bytes, done: Deferred.makeUnsafe() }
      this.pending.push(unit)
      this.work.wake()
      return Effect.onInterrupt(
        Deferred.await(unit.done),
        () => this.withdraw(unit) ? Effect.void : Effect.exit(Deferred.await(unit.done))
      )
    })
  }

  /** Leaves the file that is written to behind, so that it can be dropped. Fails as an append does. */
  get freshFile(): Effect.Effect<void, JournalError> {
    return Effect.suspend(() => {
      if (this.end !== undefined) return this.end
      const fresh = this.fresh ??= Deferred.makeUnsafe<void, JournalError>()
      this.work.wake()
      return Deferred.await(fresh)
    })
  }

  /** Writes what waits, then closes the file. Later appends fail `failed`. */
  get close(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const detail = "the journal is closed"
      this.end ??= Exit.fail(new JournalError({ reason: "failed", path: this.files.place.path, detail }))
      this.work.wake()
      return Effect.andThen(Deferred.await(this.stopped), Effect.suspend(() => this.leave()))
    })
  }

  private withdraw(unit: Unit): boolean {
    const index = this.pending.indexOf(unit)
    if (index !== -1) this.pending.splice(index, 1)
    return index !== -1
  }

  /** Writes until it is closed. Whoever appends can be interrupted; nobody interrupts this. */
  get run(): Effect.Effect<void> {
    return Effect.uninterruptible(Effect.onExit(this.writeAll(), (exit) => Effect.sync(() => this.stop(exit))))
  }

  private stop(exit: Exit.Exit<void>): void {
    if (Exit.isFailure(exit)) {
      // Only a defect comes here. What state the file is in nobody knows, so nothing is written any more.
      this.end = Exit.failCause(exit.cause)
      this.failAll(this.end)
    }
    Deferred.doneUnsafe(this.stopped, Exit.void)
  }

  private failAll(end: Exit.Exit<never, JournalError>): void {
    for (const unit of [...this.writing, ...this.pending.splice(0)]) Deferred.doneUnsafe(unit.done, end)
    if (this.fresh !== undefined) Deferred.doneUnsafe(this.fresh, end)
  }

  private readonly writeAll = Effect.fnUntraced(function*(this: JournalWriter) {
    for (;;) {
      if (this.fresh !== undefined) yield* this.startFreshFile(this.fresh)
      else if (this.pending.length > 0) this.finish(yield* Effect.exit(Effect.suspend(() => this.writeSome())))
      else if (this.end !== undefined) return
      // Those that are about to append at this moment run first, so that they share the write.
      else yield* Effect.andThen(this.work.wait, Effect.yieldNow)
    }
  })

  private finish(exit: Exit.Exit<void, JournalError>): void {
    for (const unit of this.writing) Deferred.doneUnsafe(unit.done, exit)
    this.writing = []
  }

  private readonly startFreshFile = Effect.fnUntraced(
    function*(this: JournalWriter, fresh: Deferred.Deferred<void, JournalError>) {
      yield* this.leave()
      const exit = yield* Effect.exit(this.nextFile())
      this.fresh = undefined
      Deferred.doneUnsafe(fresh, Exit.asVoid(exit))
    }
  )

  /** Writes as much of what waits as one file takes, and syncs it. */
  private writeSome(): Effect.Effect<void, JournalError> {
    // Until a file is there, all that waits shares its fate.
    this.writing = this.pending
    this.pending = []
    return Effect.flatMap(this.fileFor(this.writing[0]?.bytes ?? 0), (open) => {
      const room = this.maxFileBytes - open.file.goodBytes
      let bytes = 0
      const count = this.writing.findIndex((unit, index) => (bytes += unit.bytes) > room && index > 0)
      if (count !== -1) {
        this.pending = [...this.writing.slice(count), ...this.pending]
        this.writing = this.writing.slice(0, count)
      }
      return this.write(open, this.writing.flatMap((unit) => unit.frames))
    })
  }

  private fileFor(bytes: number): Effect.Effect<OpenFile, JournalError> {
    const { open } = this
    const fits = open !== undefined &&
      (open.file.goodBytes + bytes <= this.maxFileBytes || open.file.goodBytes === fileHeaderBytes)
    if (fits) return Effect.succeed(open)
    // Left before the next one is made: from then on, the header of that one tells how much of this one counts.
    return Effect.andThen(this.leave(), this.nextFile())
  }

  private readonly nextFile = Effect.fnUntraced(function*(this: JournalWriter) {
    const open = yield* Effect.tapError(
      makeNextFile(this.files),
      (error) => error.reason === "sync-failed" ? reportSyncFailure(error.path, error.detail) : Effect.void
    )
    this.open = open
    return open
  })

  private write(open: OpenFile, frames: ReadonlyArray<NewFrame>): Effect.Effect<void, JournalError> {
    return Effect.clockWith((clock) => {
      const { file, handle, index } = open
      const { end, entries, parts } = this.layOut(open, frames, clock.currentTimeMillisUnsafe())
      return handle.writeMany(parts, file.goodBytes).pipe(
        Effect.catch((error) => this.afterFailedWrite(open, error)),
        Effect.andThen(Effect.catch(handle.syncData, (error) => this.afterFailedSync(open, error))),
        Effect.andThen(Effect.sync(() => {
          file.goodBytes = end
          file.sizeBytes = end
          for (const entry of entries) file.append(entry, index)
        }))
      )
    })
  }

  /** Where the frames go in the file, and the bytes of all of them. */
  private layOut({ binding, file }: OpenFile, frames: ReadonlyArray<NewFrame>, writtenAtMillis: number) {
    const { digest } = this.files.place
    const syncedThrough = file.goodBytes
    const parts: Array<Uint8Array> = []
    let end = syncedThrough
    const entries = frames.map(({ body, crc32 = digest.crc32(body), epoch, passive = false, slot }) => {
      const entry = { epoch, slot, offset: end, bodyBytes: body.length, writtenAtMillis, passive }
      parts.push(encodeFrameHeader(binding, { ...entry, bodyCrc: crc32, syncedThrough }, end), body)
      end += frameHeaderBytes + body.length
      return entry
    })
    return { end, entries, parts }
  }

  /** Where the disk is full, the file is cut back and stays in use; else it is given up. */
  private readonly afterFailedWrite = Effect.fnUntraced(
    function*(this: JournalWriter, open: OpenFile, error: DiskError) {
      if (!isNoRoom(error)) {
        yield* this.giveUp(open)
        return yield* failedError(error, open.file.path)
      }
      // Synced, so that a loss of power can't bring back what is answered as not stored.
      const cut = Effect.andThen(open.handle.truncate(open.file.goodBytes), open.handle.sync)
      yield* Effect.catch(
        cut,
        (cause) => Effect.andThen(this.giveUp(open), Effect.fail(failedError(cause, open.file.path)))
      )
      return yield* journalError(error, open.file.path)
    }
  )

  private readonly afterFailedSync = Effect.fnUntraced(
    function*(this: JournalWriter, open: OpenFile, error: DiskError) {
      yield* this.giveUp(open)
      const failure = syncError(error, open.file.path)
      yield* reportSyncFailure(failure.path, failure.detail)
      return yield* failure
    }
  )

  /** The file ends where it is known to be durable; what lies behind takes room until the file goes. */
  private readonly giveUp = Effect.fnUntraced(function*(this: JournalWriter, open: OpenFile) {
    const stat = yield* Effect.result(open.handle.stat)
    if (Result.isSuccess(stat)) open.file.sizeBytes = stat.success.sizeBytes
    yield* this.leave()
  })

  private readonly leave = Effect.fnUntraced(function*(this: JournalWriter) {
    const { open } = this
    this.open = undefined
    this.files.closeGrowing()
    if (open !== undefined) yield* open.close(Exit.void)
  })
}
