/** From a stamped segment to the bytes that are sent: the body is packed where that shrinks it. */
import { Effect } from "effect"
import type { CompressionService } from "../codec/Compression.ts"
import type { DigestService } from "../codec/Digest.ts"
import type { EncodedBody } from "../format/SegmentBody.ts"
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
export const packSegment = Effect.fnUntraced(
  function*(stamped: Pick<StampedSegment, "body" | "header">, context: PackContext) {
    const { compression, digest, setting } = context
    const raw = stamped.body
    if (raw === undefined) return yield* Effect.die(new Error(`slot ${stamped.header.slot} is not in memory`))
    const packed = setting.type !== "none" && raw.bytes.length >= setting.thresholdBytes
      ? yield* compression.compress(raw.bytes, setting)
      : undefined
    // What does not shrink is stored, and marked, as it is.
    if (packed === undefined || setting.type === "none" || packed.length >= raw.bytes.length) {
      return { header: stamped.header, ...encodeInPlace(stamped.header, raw, digest) } satisfies Packed as Packed
    }
    const storedCrc = digest.crc32(packed)
    const header = { ...stamped.header, codec: setting.type, storedBytes: packed.length, storedCrc }
    const stored: EncodedBody = { bytes: packed, room: 0 }
    return { header, ...encodeInPlace(header, stored, digest) } satisfies Packed as Packed
  }
)
