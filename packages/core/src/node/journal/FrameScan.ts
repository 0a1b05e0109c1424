/**
 * Walks over the frames of a file. What is no frame is stepped over: the next valid header is looked for, byte by byte.
 */
import { Effect } from "effect"
import type { DiskError, DiskHandle } from "../DiskFile.ts"
import { FileWindow } from "./FileWindow.ts"
import type { FrameBinding, FrameHeader } from "./JournalFrame.ts"
import { decodeFrameHeader, frameHeaderBytes, frameMagic } from "./JournalFrame.ts"

export interface ScannedFrame extends FrameHeader {
  /** Where its header starts. */
  readonly offset: number
  /** False when the body is not the one that the header tells of; not looked at unless `bodies` is set. */
  readonly intact: boolean
}

/** Bytes of a file, `to` exclusive. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

export interface ScanRequest {
  readonly file: DiskHandle
  readonly binding: FrameBinding
  /** Where a frame, or something bad, starts. */
  readonly from: number
  /** Exclusive; at most the size of the file. */
  readonly to: number
  /** Read the bodies too and check them. */
  readonly bodies: boolean
  /** Told of each frame that lies within the range, in the order of the file. */
  readonly onFrame: (frame: ScannedFrame) => void
}

export interface ScanResult {
  /** What is no valid frame: ascending, not adjacent. A frame with a damaged body counts, up to the next valid header. */
  readonly bad: ReadonlyArray<ByteRange>
  /** The highest that any valid header says; 0 where there is none. */
  readonly syncedThrough: number
}

const headerChunkBytes = 65_536
const bodyChunkBytes = 1_048_576

/** Where the magic stands in `bytes`, from `start` on; -1 when nowhere. */
const indexOfMagic = (bytes: Uint8Array, start: number): number => {
  const [first = 0] = frameMagic
  const matches = (index: number) => frameMagic.every((byte, at) => bytes[index + at] === byte)
  for (let index = bytes.indexOf(first, start); index !== -1; index = bytes.indexOf(first, index + 1)) {
    if (matches(index)) return index
  }
  return -1
}

/** The offset of the first valid header at or after `from`; the end of the range when there is none. */
const findHeader = Effect.fnUntraced(function*(window: FileWindow, request: ScanRequest, from: number) {
  let offset = from
  while (offset + frameHeaderBytes <= request.to) {
    const bytes = yield* window.take(offset, Math.min(bodyChunkBytes, request.to - offset))
    if (bytes.length < frameHeaderBytes) break
    let index = indexOfMagic(bytes, 0)
    while (index !== -1 && index + frameHeaderBytes <= bytes.length) {
      if (decodeFrameHeader(request.binding, bytes.subarray(index), offset + index) !== undefined) return offset + index
      index = indexOfMagic(bytes, index + 1)
    }
    // A header can begin in the last bytes of one piece and end in the next.
    offset += bytes.length - frameHeaderBytes + 1
  }
  return request.to
})

const hasBody = Effect.fnUntraced(function*(window: FileWindow, request: ScanRequest, frame: FrameHeader, at: number) {
  let crc = 0
  let left = frame.bodyBytes
  for (let offset = at; left > 0;) {
    const bytes = yield* window.take(offset, Math.min(bodyChunkBytes, left))
    if (bytes.length === 0) return false
    crc = request.binding.digest.crc32(bytes, crc)
    offset += bytes.length
    left -= bytes.length
  }
  return crc === frame.bodyCrc
})

/** Scans a range of a file. Memory does not grow with it, but for the bad ranges. */
export const scanFrames = Effect.fnUntraced(function*(request: ScanRequest): Effect.fn.Return<ScanResult, DiskError> {
  const window = new FileWindow(request.file, request.bodies ? bodyChunkBytes : headerChunkBytes)
  const bad: Array<ByteRange> = []
  let syncedThrough = 0
  let offset = request.from
  const skip = (to: number) => {
    const last = bad.at(-1)
    if (last !== undefined && last.to === offset) bad[bad.length - 1] = { from: last.from, to }
    else bad.push({ from: offset, to })
    offset = to
  }
  while (offset < request.to) {
    const head = yield* window.take(offset, Math.min(frameHeaderBytes, request.to - offset))
    const header = decodeFrameHeader(request.binding, head, offset)
    if (header === undefined) {
      skip(yield* findHeader(window, request, offset + 1))
      continue
    }
    syncedThrough = Math.max(syncedThrough, header.syncedThrough)
    const bodyAt = offset + frameHeaderBytes
    const end = bodyAt + header.bodyBytes
    const isWhole = end <= request.to
    const intact = isWhole && (!request.bodies || (yield* hasBody(window, request, header, bodyAt)))
    if (isWhole) request.onFrame({ ...header, offset, intact })
    if (intact) offset = end
    else skip(yield* findHeader(window, request, bodyAt))
  }
  return { bad, syncedThrough }
})
