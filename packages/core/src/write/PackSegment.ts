/** From a stamped segment to the bytes that are sent: the body is packed where that shrinks it. */
import { Effect } from "effect"
import type { CodecError, CompressionService } from "../codec/Compression.ts"
import type { DigestService } from "../codec/Digest.ts"
import { encodeInPlace } from "../format/SegmentCodec.ts"
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { WalOptions } from "../WalOptions.ts"
import type { StampedSegment } from "./Segment.ts"

export interface PackContext {
  readonly digest: DigestService
  readonly compression: CompressionService
  readonly setting: WalOptions["compression"]
}

/** A segment as it is sent, and sent again. */
export interface Packed {
  readonly header: SegmentHeader
  readonly object: Uint8Array
  readonly crc32: number
}

/**
 * Packs the body below the header of a segment that has its slot and is in memory. Fails only with what the codec says of
 * the machine.
 */
export const packSegment = (
  { body, header }: Pick<StampedSegment, "body" | "header">,
  { compression, digest, setting }: PackContext
): Effect.Effect<Packed, CodecError> => {
  if (body === undefined) return Effect.die(new Error(`slot ${header.slot} is not in memory`))
  const asItIs = (): Packed => ({ header, ...encodeInPlace(header, body, digest) })
  if (setting.type === "none" || body.bytes.length < setting.thresholdBytes) return Effect.sync(asItIs)
  return Effect.map(compression.compress(body.bytes, setting), (packed): Packed => {
    // What does not shrink is stored, and marked, as it is.
    if (packed.length >= body.bytes.length) return asItIs()
    const smaller = {
      ...header,
      codec: setting.type,
      storedBytes: packed.length,
      storedCrc: digest.crc32(packed)
    }
    return { header: smaller, ...encodeInPlace(smaller, { bytes: packed, room: 0 }, digest) }
  })
}
