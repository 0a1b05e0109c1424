/**
 * The files of an open journal and where its frames are: a summary of each file, and the dense indexes of the one that is
 * written to and of a few that were looked into lately.
 *
 * Invariants: files are ascending and only the last one grows · the newest frame of a slot is the one that counts · a
 * removal is known to this process only: what was removed shows again in the next one, as long as its file is there.
 */
import { Effect, Semaphore } from "effect"
import type { DigestService } from "../../codec/Digest.ts"
import { compareBoundaries } from "../../format/Boundary.ts"
import type { SlotName } from "../../format/ObjectKey.ts"
import { isAbsent } from "../directory/DiskAnswer.ts"
import type { DiskFileService } from "../DiskFile.ts"
import type { FileState, Removals } from "./FileState.ts"
import type { FrameEntry } from "./FrameIndex.ts"
import { FrameIndex } from "./FrameIndex.ts"
import { scanFrames } from "./FrameScan.ts"
import type { JournalError } from "./JournalError.ts"
import { failedError } from "./JournalError.ts"
import { fileHeaderBytes } from "./JournalFile.ts"
import { bindFrames } from "./JournalFrame.ts"

/** Indexes of closed files that are kept in memory; the one of the file that is written to comes on top. */
export const maxIndexes = 4

/** What does not change while a journal is open. */
export interface JournalPlace {
  readonly disk: DiskFileService
  readonly digest: DigestService
  /** The directory. */
  readonly path: string
  /** 32 hexadecimal digits. */
  readonly id: string
}

/** A frame and the file that holds it. */
export interface Located {
  readonly file: FileState
  readonly entry: FrameEntry
}

const nowhere = Effect.succeed(undefined)

const lower = (left: SlotName | undefined, right: SlotName | undefined): SlotName | undefined =>
  left === undefined || right !== undefined && compareBoundaries(right, left) < 0 ? right : left

const higher = (left: SlotName | undefined, right: SlotName | undefined): SlotName | undefined =>
  left === undefined || right !== undefined && compareBoundaries(right, left) > 0 ? right : left

export class JournalFiles {
  readonly place: JournalPlace
  readonly files: Array<FileState> = []
  /** The file that is written to, with its index. */
  growing: { readonly file: FileState; readonly index: FrameIndex } | undefined = undefined
  private readonly indexes = new Map<FileState, FrameIndex>()
  private readonly loading = Semaphore.makeUnsafe(1)
  private removedTo: SlotName | undefined = undefined
  private droppedThrough: SlotName | undefined = undefined
  private nextNumber = 1

  constructor(place: JournalPlace) {
    this.place = place
  }

  /** The real sizes of all files together. */
  get usedBytes(): number {
    return this.files.reduce((sum, file) => sum + file.sizeBytes, 0)
  }

  get removals(): Removals {
    return { highest: this.removedTo, through: this.droppedThrough }
  }

  /** How many indexes of closed files are in memory. */
  get loadedIndexes(): number {
    return this.indexes.size
  }

  /** The file is on the disk, whatever is in it: its number is never used again. */
  seenNumber(number: number): void {
    this.nextNumber = Math.max(this.nextNumber, number + 1)
  }

  /** A number for a new file. One whose making failed may exist all the same, so it is not tried again under its number. */
  takeNumber(): number {
    return this.nextNumber++
  }

  /** The file is not written to any more; its index can be forgotten. */
  closeGrowing(): void {
    if (this.growing === undefined) return
    this.keep(this.growing.file, this.growing.index)
    this.growing = undefined
  }

  /** Forgets a file that is gone from the disk. */
  forget(file: FileState): void {
    const index = this.files.indexOf(file)
    if (index !== -1) this.files.splice(index, 1)
    this.indexes.delete(file)
  }

  /** The newest frame of the slot that was not removed. Fails `failed` when a file can't be read. */
  locate(name: SlotName): Effect.Effect<Located | undefined, JournalError> {
    return Effect.suspend(() => this.isDropped(name) ? nowhere : this.locateBelow(this.files.length, name))
  }

  /** From the back, where files that go meanwhile change nothing. */
  private locateBelow(end: number, name: SlotName): Effect.Effect<Located | undefined, JournalError> {
    const at = this.files.findLastIndex((one, index) => index < end && one.covers(name))
    const file = this.files[at]
    if (file === undefined) return nowhere
    return Effect.flatMap(this.indexOf(file), (index) => {
      const entry = index.find(name)
      if (entry === undefined) return this.locateBelow(at, name)
      return file.isRemoved(name) ? nowhere : Effect.succeed({ file, entry })
    })
  }

  /** Up to `limit` slots at or after `from` that were not removed, ascending. Fails `failed` when a file can't be read. */
  readonly list = Effect.fnUntraced(
    function*(
      this: JournalFiles,
      from: SlotName,
      limit: number
    ): Effect.fn.Return<ReadonlyArray<Located>, JournalError> {
      const ahead = this.files
        .filter((file) => file.summary.highest !== undefined && compareBoundaries(file.summary.highest, from) >= 0)
        .sort((left, right) =>
          compareBoundaries(left.summary.lowest ?? from, right.summary.lowest ?? from) || left.number - right.number
        )
      let found: ReadonlyArray<Located> = []
      for (const file of ahead) {
        const last = found[limit - 1]
        // What is in this file, and in those after it, sorts behind a page that is full.
        if (last !== undefined && compareBoundaries(file.summary.lowest ?? from, last.entry) > 0) break
        found = mergePages(found, this.live(file, yield* this.indexOf(file), from, limit), limit)
      }
      return found
    }
  )

  /** Takes the slots out; those that are not there count as removed. Fails `failed` when a file can't be read. */
  readonly remove = Effect.fnUntraced(
    function*(this: JournalFiles, names: ReadonlyArray<SlotName>): Effect.fn.Return<void, JournalError> {
      for (const name of names) {
        // A slot that came again has frames in several files; none of them may show when the newest is gone.
        for (const file of this.files.filter((one) => one.covers(name))) {
          const entry = (yield* this.indexOf(file)).find(name)
          if (entry !== undefined) file.remove(entry)
        }
        this.removedTo = higher(this.removedTo, name)
      }
    }
  )

  /** Takes everything out that is at or below the slot, for good. */
  dropThrough(name: SlotName): void {
    this.droppedThrough = higher(this.droppedThrough, name)
  }

  private isDropped(name: SlotName): boolean {
    return this.droppedThrough !== undefined && compareBoundaries(name, this.droppedThrough) <= 0
  }

  /** The index of a file; read from the disk when it is not in memory. Of a file that is gone: nothing. */
  readonly indexOf = (file: FileState): Effect.Effect<FrameIndex, JournalError> => {
    const known = this.growing?.file === file ? this.growing.index : this.indexes.get(file)
    if (known === undefined) return this.loading.withPermit(Effect.suspend(() => this.loaded(file)))
    if (this.growing?.file !== file) this.keep(file, known)
    return Effect.succeed(known)
  }

  private readonly loaded = (file: FileState): Effect.Effect<FrameIndex, JournalError> => {
    const known = this.indexes.get(file)
    return known === undefined ? this.load(file) : Effect.succeed(known)
  }

  private readonly load = Effect.fnUntraced(function*(this: JournalFiles, file: FileState) {
    const { digest, disk, id } = this.place
    const index = new FrameIndex()
    const scanned = yield* Effect.scoped(Effect.gen(function*() {
      const handle = yield* disk.open(file.path, "read")
      const { sizeBytes } = yield* handle.stat
      const scan = yield* scanFrames({
        file: handle,
        binding: bindFrames(digest, id, file.number),
        from: fileHeaderBytes,
        to: Math.min(file.goodBytes, sizeBytes),
        bodies: false,
        onFrame: (frame) => index.add(frame)
      })
      return { bad: scan.bad, missingBytes: Math.max(0, file.goodBytes - sizeBytes) }
    })).pipe(
      Effect.catchIf(isAbsent, () => Effect.succeed({ bad: [], missingBytes: file.goodBytes })),
      Effect.mapError((error) => failedError(error))
    )
    this.keep(file, index)
    if (this.files.includes(file)) {
      yield* this.compareSummary(file, index, scanned.bad.length + scanned.missingBytes > 0)
    }
    return index
  })

  /** What the file holds, against what the file after it says about it. */
  private readonly compareSummary = Effect.fnUntraced(
    function*(this: JournalFiles, file: FileState, index: FrameIndex, isBad: boolean) {
      const { highest, lowest, slots } = file.summary
      const found = index.summary
      file.summary = { ...found, lowest: lower(found.lowest, lowest), highest: higher(found.highest, highest) }
      if (file.damaged || !isBad && found.slots === slots) return
      file.damaged = true
      yield* Effect.logError(
        `${file.path} is damaged: ${found.slots} of ${slots} slots can be read; the others answer as not found`
      )
    }
  )

  /** Keeps the index among those used last. */
  private keep(file: FileState, index: FrameIndex): void {
    this.indexes.delete(file)
    this.indexes.set(file, index)
    const [oldest] = this.indexes.keys()
    if (this.indexes.size > maxIndexes && oldest !== undefined) this.indexes.delete(oldest)
  }

  /** The rows of one file, at or after `from`, that are not removed. */
  private live(file: FileState, index: FrameIndex, from: SlotName, limit: number): ReadonlyArray<Located> {
    const rows: Array<Located> = []
    for (let row = index.lowerBound(from); rows.length < limit; row++) {
      const entry = index.at(row)
      if (entry === undefined) break
      if (!this.isDropped(entry) && !file.isRemoved(entry)) rows.push({ file, entry })
    }
    return rows
  }
}

/** The first `limit` of both, each slot once and from the newer file. */
const mergePages = (
  left: ReadonlyArray<Located>,
  right: ReadonlyArray<Located>,
  limit: number
): ReadonlyArray<Located> => {
  const merged: Array<Located> = []
  const all = [...left, ...right].sort((one, other) =>
    compareBoundaries(one.entry, other.entry) || other.file.number - one.file.number
  )
  for (const one of all) {
    const last = merged.at(-1)
    if (last === undefined || compareBoundaries(last.entry, one.entry) !== 0) merged.push(one)
  }
  return merged.slice(0, limit)
}
