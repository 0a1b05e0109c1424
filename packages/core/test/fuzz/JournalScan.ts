/** What holds for the files of a journal when they are only looked at: headers, frames, bad ranges, tails. */
import { finding, type FuzzFinding } from "@effect-wal/testing/fuzz/FuzzTarget"
import { Effect } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { DiskHandle } from "../../src/node/DiskFile.ts"
import { chainFiles } from "../../src/node/journal/FileChain.ts"
import { FrameIndex } from "../../src/node/journal/FrameIndex.ts"
import { type ByteRange, scanFrames, type ScannedFrame } from "../../src/node/journal/FrameScan.ts"
import {
  decodeFileHeader,
  encodeFileHeader,
  type FileHeader,
  fileHeaderBytes,
  fileNumberOf
} from "../../src/node/journal/JournalFile.ts"
import { bindFrames, frameHeaderBytes } from "../../src/node/journal/JournalFrame.ts"
import { decideTail } from "../../src/node/journal/TailDecision.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { FoundFile } from "./JournalInput.ts"

const rule = (holds: boolean, problem: string): Effect.Effect<void, FuzzFinding> =>
  holds ? Effect.void : Effect.fail(finding(problem))

/** A file in memory that is only read. */
const handleOf = (content: Uint8Array, onRead: (length: number) => void): Pick<DiskHandle, "read"> => ({
  read: (length, position) =>
    Effect.sync(() => {
      onRead(length)
      return content.slice(position, position + length)
    })
})

const unused = Effect.die(new Error("a scan only reads"))

const readOnly = (handle: Pick<DiskHandle, "read">): DiskHandle => ({
  ...handle,
  write: () => unused,
  writeMany: () => unused,
  stat: unused,
  sync: unused,
  syncData: unused,
  truncate: () => unused
})

/** Whole frames and bad ranges, one behind the other, are the file: nothing is counted twice, nothing left out. */
const tiles = (frames: ReadonlyArray<ScannedFrame>, bad: ReadonlyArray<ByteRange>, size: number): boolean => {
  const parts = [
    ...frames.filter(({ intact }) => intact).map((frame) => ({
      from: frame.offset,
      to: frame.offset + frameHeaderBytes + frame.bodyBytes
    })),
    ...bad
  ].sort((one, other) => one.from - other.from)
  let at = fileHeaderBytes
  for (const { from, to } of parts) {
    if (from !== at || to <= from) return false
    at = to
  }
  return at === size || size < fileHeaderBytes && parts.length === 0
}

const checkIndex = (frames: ReadonlyArray<ScannedFrame>): Effect.Effect<void, FuzzFinding> => {
  const index = new FrameIndex()
  for (const frame of frames) index.add(frame)
  const last = new Map(frames.map((frame) => [`${frame.epoch}/${frame.slot}`, frame]))
  const agrees = [...last.values()].every((frame) => index.find(frame)?.offset === frame.offset)
  return rule(agrees && index.size === last.size && index.summary.slots === last.size, "the index has other frames")
}

const checkHeader = (header: FileHeader): Effect.Effect<void, FuzzFinding> =>
  rule(
    isDeepStrictEqual(decodeFileHeader(encodeFileHeader(header, nodeDigest), nodeDigest), header),
    "the header of a file that was encoded again is another one"
  )

const checkFile = Effect.fnUntraced(function*(content: Uint8Array, id: string, number: number) {
  const frames: Array<ScannedFrame> = []
  let reads = 0
  let largest = 0
  const file = readOnly(handleOf(content, (length) => {
    reads++
    largest = Math.max(largest, length)
  }))
  const binding = bindFrames(nodeDigest, id, number)
  const request = { file, binding, from: fileHeaderBytes, to: content.length, bodies: true }
  const scan = yield* scanFrames({ ...request, onFrame: (frame) => frames.push(frame) }).pipe(
    Effect.mapError((error) => finding(error.message))
  )
  yield* rule(tiles(frames, scan.bad, content.length), "frames and bad ranges do not make up the file")
  yield* rule(
    frames.every(({ offset, syncedThrough }) => syncedThrough <= offset) && scan.syncedThrough <= content.length,
    "a frame says that more was synced than stood before it"
  )
  // Each frame, and each search for the next one, begins at most with one read; bodies are within the same pieces.
  yield* rule(reads <= 4 * (frames.length + scan.bad.length + 2), `${reads} reads for ${frames.length} frames`)
  yield* checkIndex(frames)
  const sizeBytes = content.length
  const tail = decideTail(scan, { startBytes: fileHeaderBytes, sizeBytes })
  yield* rule(
    fileHeaderBytes <= tail.syncedBytes && tail.syncedBytes <= tail.goodBytes &&
      tail.goodBytes <= Math.max(sizeBytes, fileHeaderBytes) &&
      tail.droppedBytes === Math.max(0, sizeBytes - tail.goodBytes),
    "the tail is cut outside of the file"
  )
  yield* rule(
    tail.damage.every(({ from, to }) => from < to && to <= tail.syncedBytes) &&
      frames.every((one) => one.intact || one.offset < tail.syncedBytes || one.offset >= tail.goodBytes),
    "what is bad counts as good"
  )
  return largest
})

/** Looks at all files; answers how many bytes were asked for at once. */
export const checkFiles = Effect.fnUntraced(function*(files: ReadonlyArray<FoundFile>) {
  const found: Array<{ readonly number: number; readonly header: FileHeader | undefined }> = []
  let largest = 0
  for (const { content, name } of files) {
    const number = fileNumberOf(name)
    if (number === undefined) continue
    const decoded = decodeFileHeader(content, nodeDigest)
    const header = "id" in decoded ? decoded : undefined
    if (header !== undefined) yield* checkHeader(header)
    found.push({ number, header })
    largest = Math.max(largest, yield* checkFile(content, header?.id ?? "e".repeat(32), number))
  }
  const chain = chainFiles(found.sort((one, other) => one.number - other.number))
  const numbers = chain.files.map(({ file }) => file.number)
  yield* rule(
    numbers.every((number, index) => index === 0 || (numbers[index - 1] ?? number) < number) &&
      new Set([...numbers, ...chain.superseded.map(({ number }) => number)]).size <= found.length,
    "the chain has a file twice, or not in order"
  )
  yield* rule(numbers.at(-1) === found.at(-1)?.number, "the newest file is not in the chain")
  return largest
})
