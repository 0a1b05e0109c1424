/**
 * Opens what lies in the directory of a journal: headers, the tail of the last file, and the new file that goes on.
 *
 * Nothing is overwritten or cut: the new file's header says how much of the last one counts, and holds what of it could be
 * lost still. So opening can stop at any point and begin anew.
 */
import { Effect } from "effect"
import { join } from "node:path"
import type { DigestService } from "../../codec/Digest.ts"
import type { Nonce } from "../../Nonce.ts"
import { isAbsent } from "../directory/DiskAnswer.ts"
import type { DiskFileService } from "../DiskFile.ts"
import { chainFiles } from "./FileChain.ts"
import type { ChainedFile, FoundFile } from "./FileChain.ts"
import { FileState } from "./FileState.ts"
import type { ByteRange, ScannedFrame } from "./FrameScan.ts"
import { scanFrames } from "./FrameScan.ts"
import { failedError, JournalError, journalError } from "./JournalError.ts"
import type { FileHeader } from "./JournalFile.ts"
import { decodeFileHeader, fileHeaderBytes, fileName, fileNumberOf, temporarySuffix } from "./JournalFile.ts"
import type { JournalPlace } from "./JournalFiles.ts"
import { JournalFiles } from "./JournalFiles.ts"
import { bindFrames, frameHeaderBytes } from "./JournalFrame.ts"
import { countTornTail, reportSyncFailure } from "./JournalMetrics.ts"
import type { OpenFile } from "./NextFile.ts"
import { makeNextFile } from "./NextFile.ts"
import { decideTail, type TailDecision } from "./TailDecision.ts"

/** The end of the last file that its writer did not finish; nothing in it was ever answered. */
export interface TornTail {
  readonly path: string
  /** Whole frames before the tear, in this file. */
  readonly framesKept: number
  readonly droppedBytes: number
}

/** Bytes that were durable and can't be read any more. */
export interface DamagedRange extends ByteRange {
  readonly path: string
}

export interface OpenedJournal {
  readonly files: JournalFiles
  readonly open: OpenFile
  readonly tornTail: TornTail | undefined
  readonly damage: ReadonlyArray<DamagedRange>
}

interface HeaderFile extends FoundFile {
  readonly path: string
  readonly sizeBytes: number
}

interface Medium {
  readonly disk: DiskFileService
  readonly digest: DigestService
  readonly path: string
}

const failed = (path: string, detail: string) => new JournalError({ reason: "failed", path, detail })

const readHeader = Effect.fnUntraced(
  function*(medium: Medium, number: number): Effect.fn.Return<HeaderFile, JournalError> {
    const path = join(medium.path, fileName(number))
    const read = Effect.gen(function*() {
      const handle = yield* medium.disk.open(path, "read")
      return { bytes: yield* handle.read(fileHeaderBytes, 0), sizeBytes: (yield* handle.stat).sizeBytes }
    })
    const { bytes, sizeBytes } = yield* Effect.mapError(Effect.scoped(read), (error) => failedError(error))
    const header = decodeFileHeader(bytes, medium.digest)
    if ("id" in header) return { number, path, sizeBytes, header: header.number === number ? header : undefined }
    if (header._tag === "Damaged") return { number, path, sizeBytes, header: undefined }
    return yield* failed(path, `is of version ${header.version}, which this program does not know; upgrade the program`)
  }
)

/** The id of the journal: that of its newest file, and of all others. A journal without files gets a new one. */
const idOf = Effect.fnUntraced(
  function*(medium: Medium, found: ReadonlyArray<HeaderFile>, nonce: Effect.Effect<Nonce>) {
    const headers = found.flatMap((file): ReadonlyArray<FileHeader> => file.header === undefined ? [] : [file.header])
    const id = headers.at(-1)?.id
    if (id === undefined) {
      return found.length === 0 ? yield* nonce : yield* failed(medium.path, "no file has a header that can be read")
    }
    const stranger = headers.find((header) => header.id !== id)
    if (stranger === undefined) return id
    return yield* failed(
      join(medium.path, fileName(stranger.number)),
      "belongs to another journal; nothing was changed"
    )
  }
)

/** Reads the names; what an opening or a rotation left unfinished is removed. */
const listFiles = Effect.fnUntraced(function*(medium: Medium): Effect.fn.Return<ReadonlyArray<number>, JournalError> {
  const entries = yield* Effect.mapError(medium.disk.list(medium.path), (error) => failedError(error))
  for (const { name } of entries) {
    const isOurs = name.endsWith(temporarySuffix) && fileNumberOf(name.slice(0, -temporarySuffix.length)) !== undefined
    if (!isOurs) continue
    yield* medium.disk.unlink(join(medium.path, name)).pipe(
      Effect.catchIf(isAbsent, () => Effect.void),
      Effect.mapError((error) => journalError(error))
    )
  }
  return entries.flatMap((entry) => fileNumberOf(entry.name) ?? []).sort((left, right) => left - right)
})

interface Examined {
  readonly state: FileState
  /** Whole, and to be written again: perhaps not durable, or of a file that goes. */
  readonly copies: ReadonlyArray<ScannedFrame>
  readonly droppedBytes: number
  readonly damage: ReadonlyArray<DamagedRange>
}

/** A longer file stays whatever is in it, so that an opening has little to copy. */
const shortBytes = 1_048_576

/** Nothing keeps the file: all that is known to be durable in it is whole and passive. */
const isUnkept = (frames: ReadonlyArray<ScannedFrame>, { damage, syncedBytes }: TailDecision): boolean =>
  damage.length === 0 && frames.every((frame) => frame.passive || frame.offset >= syncedBytes)

/**
 * Scans a file that no other one tells about. Where it `mayGo`, is short and nothing keeps it, it is treated as if nothing in
 * it were durable: all of it is copied, and the new file stands in its place. Else each restart of an idle log would leave
 * a file, for the end marker of the writer before.
 */
const examine = Effect.fnUntraced(
  function*(place: JournalPlace, file: HeaderFile, mayGo: boolean): Effect.fn.Return<Examined, JournalError> {
    const isShort = mayGo && file.sizeBytes <= shortBytes
    let synced = 0
    let unsynced: Array<ScannedFrame> = []
    const onFrame = (frame: ScannedFrame) => {
      if (frame.syncedThrough > synced) {
        synced = frame.syncedThrough
        if (!isShort) unsynced = unsynced.filter((one) => one.offset >= synced)
      }
      unsynced.push(frame)
    }
    const scan = Effect.flatMap(place.disk.open(file.path, "read"), (handle) =>
      scanFrames({
        file: handle,
        binding: bindFrames(place.digest, place.id, file.number),
        from: fileHeaderBytes,
        to: file.sizeBytes,
        bodies: true,
        onFrame
      }))
    const { path, number, sizeBytes } = file
    const found = decideTail(yield* Effect.mapError(Effect.scoped(scan), (error) => failedError(error)), {
      startBytes: fileHeaderBytes,
      sizeBytes
    })
    const tail = isShort && isUnkept(unsynced, found) ? { ...found, syncedBytes: fileHeaderBytes } : found
    const state = new FileState({ number, path, sizeBytes, goodBytes: tail.syncedBytes })
    state.damaged = file.header === undefined || tail.damage.length > 0
    return {
      state,
      copies: unsynced.filter((frame) => frame.offset >= tail.syncedBytes && frame.offset < tail.goodBytes),
      droppedBytes: tail.droppedBytes,
      damage: tail.damage.map((range) => ({ path, ...range }))
    }
  }
)

/** A file in the middle: known by the header behind it, else examined, and all that is whole in it counts. */
const middleFile = Effect.fnUntraced(function*(place: JournalPlace, { closed, file }: ChainedFile<HeaderFile>) {
  if (closed === undefined) {
    const { copies, damage, state } = yield* examine(place, file, false)
    const last = copies.at(-1)
    state.damaged = true
    if (last !== undefined) state.goodBytes = endOf(last)
    return { state, damage }
  }
  const { goodBytes, number, ...summary } = closed
  const state = new FileState({ number, path: file.path, goodBytes, sizeBytes: file.sizeBytes })
  state.summary = summary
  state.damaged = file.header === undefined
  return { state, damage: [] }
})

const endOf = (frame: ScannedFrame): number => frame.offset + frameHeaderBytes + frame.bodyBytes

const reportTornTail = (tornTail: TornTail) =>
  Effect.andThen(
    countTornTail,
    Effect.logWarning(
      `${tornTail.path} has a torn tail: ${tornTail.framesKept} frames are kept, ${tornTail.droppedBytes} bytes ` +
        "behind them were never confirmed and are dropped"
    )
  )

/** Puts the files in memory; answers what is left to do for the last one. */
const adopt = Effect.fnUntraced(function*(files: JournalFiles, chain: ReadonlyArray<ChainedFile<HeaderFile>>) {
  const damage: Array<DamagedRange> = []
  for (const link of chain.slice(0, -1)) {
    const known = yield* middleFile(files.place, link)
    for (const range of known.damage) damage.push(range)
    if (link.closed === undefined) known.state.summary = (yield* files.indexOf(known.state)).summary
    files.files.push(known.state)
  }
  const last = chain.at(-1)
  if (last === undefined) return { damage, last: undefined }
  const before = chain.at(-2)
  // Its header is all that still tells of a file before it that is lost; and one that is damaged itself stays as it is.
  const mayGo = last.file.header !== undefined && (before === undefined || before.closed !== undefined)
  const examined = yield* examine(files.place, last.file, mayGo)
  for (const range of examined.damage) damage.push(range)
  examined.state.summary = (yield* files.indexOf(examined.state)).summary
  files.files.push(examined.state)
  return { damage, last: examined }
})

const tornTailOf = (last: Examined): TornTail => ({
  path: last.state.path,
  framesKept: last.state.summary.slots + last.copies.length,
  droppedBytes: last.droppedBytes
})

const removeSuperseded = Effect.fnUntraced(function*(medium: Medium, superseded: ReadonlyArray<HeaderFile>) {
  if (superseded.length === 0) return
  for (const file of superseded) yield* medium.disk.unlink(file.path)
  yield* medium.disk.syncDirectory(medium.path)
})

/** Opens the files of the directory, which is there and locked. Fails `full`, `sync-failed` or `failed`. */
export const openFiles = Effect.fnUntraced(
  function*(medium: Medium, nonce: Effect.Effect<Nonce>): Effect.fn.Return<OpenedJournal, JournalError> {
    const numbers = yield* listFiles(medium)
    const found = yield* Effect.forEach(numbers, (number) => readHeader(medium, number), { concurrency: 16 })
    const files = new JournalFiles({ ...medium, id: yield* idOf(medium, found, nonce) })
    for (const { number } of found) files.seenNumber(number)
    const chain = chainFiles(found)
    for (const problem of chain.problems) yield* Effect.logError(`${medium.path}: ${problem}; go on with what is there`)
    const { damage, last } = yield* adopt(files, chain.files)
    for (const one of damage) {
      yield* Effect.logError(`${one.path} is damaged from byte ${one.from} to ${one.to}; it is left as it is`)
    }
    const copies = last && { path: last.state.path, frames: last.copies }
    const open = yield* Effect.tapError(
      makeNextFile(files, copies),
      (error) => error.reason === "sync-failed" ? reportSyncFailure(error.path, error.detail) : Effect.void
    )
    const tornTail = last !== undefined && last.droppedBytes > 0 ? tornTailOf(last) : undefined
    if (tornTail !== undefined) yield* reportTornTail(tornTail)
    yield* removeSuperseded(medium, chain.superseded).pipe(
      Effect.catch((error) => Effect.logWarning("a file that holds nothing could not be removed", error))
    )
    return { files, open, tornTail, damage }
  }
)
