/** From a stamped segment to the bytes that are sent: the body is packed where that shrinks it. */
import { Effect } from "effect"
import type { CodecError, CompressionService } from "../codec/Compression.ts"
import type { DigestService } from "../codec/Digest.ts"
import type { BufferSource } from "../format/OpenColumns.ts"
import { encodeInPlace } from "../format/SegmentCodec.ts"
import { encodedHeaderBytes, type SegmentHeader } from "../format/SegmentHeader.ts"
import type { WalOptions } from "../WalOptions.ts"
import type { StampedSegment } from "./Segment.ts"
import { SegmentMemory } from "./SegmentBuffers.ts"

export interface PackContext {
  readonly digest: DigestService
  readonly compression: CompressionService
  readonly setting: WalOptions["compression"]
  /** Where the memory of packed objects comes from. */
  readonly buffers: BufferSource
}

/** A segment as it is sent, and sent again. */
export interface Packed {
  readonly header: SegmentHeader
  readonly object: Uint8Array
  readonly crc32: number
  /** What the object lies in: that of the segment, or its own where the body was packed. Absent: memory of nobody's. */
  readonly memory?: SegmentMemory | undefined
}

/** Rounded up by an eighth at most, so that the next objects, some a little larger, lie in the same memory. */
const roomFor = (bytes: number): number => {
  const step = 2 ** Math.max(0, Math.floor(Math.log2(bytes)) - 3)
  return Math.ceil(bytes / step) * step
}

/** The object of a packed body: the body is copied below its header, into memory that is used again. */
const encodePacked = (header: SegmentHeader, body: Uint8Array, { buffers, digest }: PackContext): Packed => {
  const room = encodedHeaderBytes(header)
  const buffer = buffers.take(roomFor(room + body.length))
  buffer.set(body, room)
  const bytes = buffer.subarray(room, room + body.length)
  return { header, ...encodeInPlace(header, { bytes, room }, digest), memory: new SegmentMemory(buffer, buffers) }
}

/**
 * Packs the body below the header of a segment that has its slot and is in memory. Fails only with what the codec says of
 * the machine.
 */
export const packSegment = (
  { body, header, memory }: Pick<StampedSegment, "body" | "header" | "memory">,
  context: PackContext
): Effect.Effect<Packed, CodecError> => {
  const { compression, digest, setting } = context
  if (body === undefined) return Effect.die(new Error(`slot ${header.slot} is not in memory`))
  const asItIs = (): Packed => ({ header, ...encodeInPlace(header, body, digest), memory })
  if (setting.type === "none" || body.bytes.length < setting.thresholdBytes) return Effect.sync(asItIs)
  return Effect.map(compression.compress(body.bytes, setting), (packed): Packed => {
    // What does not shrink is stored, and marked, as it is.
    if (packed.length >= body.bytes.length) return asItIs()
    const of = { codec: setting.type, storedBytes: packed.length, storedCrc: digest.crc32(packed) }
    return encodePacked({ ...header, ...of }, packed, context)
  })
}
