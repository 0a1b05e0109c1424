/**
 * Whole segments and end markers: from a sealed body to an object's bytes and back.
 *
 * Reading trusts nothing: lengths are checked against the maximum before anything is allocated, the codec is the
 * object's own, both checksums are verified. Damage is a typed error that names key, offset and reason.
 */
import { Effect } from "effect"
import type { CompressionService } from "../codec/Compression.ts"
import type { DigestService } from "../codec/Digest.ts"
import { SegmentCorrupt, SegmentTooNew } from "../WalError.ts"
import type { WalRecord } from "../WalRecord.ts"
import { combineCrc32 } from "./Crc32Combine.ts"
import { encodeOwner, knownCriticalExtensions, type Owner } from "./Extensions.ts"
import { decodeBody, type EncodedBody } from "./SegmentBody.ts"
import {
  type DecodedHeader,
  decodeHeader,
  encodedHeaderBytes,
  encodeHeader,
  type SegmentHeader
} from "./SegmentHeader.ts"

/** An end marker is never larger, so that a listing tells what cannot be one. */
export const maxMarkerBytes = 1_024

/** Longest host name that a marker carries, in characters. */
const maxHostLength = 255

/** The bytes of an object: header, then the stored body. */
export const encodeSegment = (header: SegmentHeader, stored: Uint8Array, digest: DigestService): Uint8Array => {
  const object = new Uint8Array(encodedHeaderBytes(header) + stored.length)
  object.set(stored, encodeHeader(header, object, digest))
  return object
}

/** An object with its checksum. */
export interface CheckedObject {
  readonly object: Uint8Array
  readonly crc32: number
}

/**
 * As `encodeSegment`, with the header right before the body where there is room for it, and the CRC-32 of the whole from
 * those of its parts. `header.storedCrc` is that of the body.
 */
export const encodeInPlace = (header: SegmentHeader, body: EncodedBody, digest: DigestService): CheckedObject => {
  const headerBytes = encodedHeaderBytes(header)
  const { bytes, room } = body
  const object = headerBytes <= room
    ? new Uint8Array(bytes.buffer, bytes.byteOffset - headerBytes, headerBytes + bytes.length)
    : new Uint8Array(headerBytes + bytes.length)
  encodeHeader(header, object, digest)
  if (headerBytes > room) object.set(bytes, headerBytes)
  const headerCrc = digest.crc32(object.subarray(0, headerBytes))
  return { object, crc32: combineCrc32(headerCrc, header.storedCrc, bytes.length) }
}

/** The bytes of an end marker at (epoch, slot). `nonce` is the opener's. */
export const encodeEndMarker = (
  marker: {
    readonly logId: string
    readonly nonce: string
    readonly epoch: number
    readonly slot: number
    readonly owner: Owner
  },
  digest: DigestService
): Uint8Array =>
  encodeSegment(
    {
      kind: "end-marker",
      codec: "none",
      logId: marker.logId,
      nonce: marker.nonce,
      epoch: marker.epoch,
      slot: marker.slot,
      firstSeq: 0,
      count: 0,
      rawBytes: 0,
      storedBytes: 0,
      rawCrc: 0,
      storedCrc: 0,
      firstAt: 0,
      lastAt: 0,
      watermarkSlot: 0,
      watermarkSeq: 0,
      chain: "0".repeat(32),
      extensions: [encodeOwner({ epoch: marker.owner.epoch, host: marker.owner.host.slice(0, maxHostLength) })]
    },
    new Uint8Array(0),
    digest
  )

/** Reads the header of the object `key` from its first bytes. Fails `SegmentCorrupt` or `SegmentTooNew`. */
export const readHeader = (
  key: string,
  bytes: Uint8Array,
  digest: DigestService
): Effect.Effect<DecodedHeader, SegmentCorrupt | SegmentTooNew> => {
  const decoded = decodeHeader(bytes, digest, knownCriticalExtensions)
  if (!("_tag" in decoded)) return Effect.succeed(decoded)
  return Effect.fail(
    decoded._tag === "TooNew"
      ? new SegmentTooNew({ key, found: decoded.found })
      : new SegmentCorrupt({ key, offset: decoded.offset, reason: decoded.reason })
  )
}

export interface ReadContext {
  readonly digest: DigestService
  readonly compression: CompressionService
  /** No body is larger once unpacked. */
  readonly maxSegmentBytes: number
}

export interface ReadSegment {
  readonly header: SegmentHeader
  /** The raw body; records are views into it. */
  readonly body: Uint8Array
}

/** Reads a whole object: header, stored body, checksums, unpacking. Fails `SegmentCorrupt` or `SegmentTooNew`. */
export const readSegment = Effect.fnUntraced(function*(key: string, object: Uint8Array, context: ReadContext) {
  const { header, headerBytes } = yield* readHeader(key, object, context.digest)
  const corrupt = (offset: number, reason: string) => new SegmentCorrupt({ key, offset, reason })
  const stored = object.subarray(headerBytes)
  if (stored.length !== header.storedBytes) {
    return yield* corrupt(headerBytes, `the body has ${stored.length} bytes, the header says ${header.storedBytes}`)
  }
  if (header.rawBytes > context.maxSegmentBytes) {
    return yield* corrupt(76, `the body unpacks to ${header.rawBytes} bytes, the limit is ${context.maxSegmentBytes}`)
  }
  if (context.digest.crc32(stored) !== header.storedCrc) {
    return yield* corrupt(headerBytes, "the body checksum does not match")
  }
  if (header.codec === "none") {
    if (stored.length !== header.rawBytes) return yield* corrupt(76, "a body that is not packed has two lengths")
    if (header.rawCrc !== header.storedCrc) return yield* corrupt(84, "a body that is not packed has two checksums")
    return { header, body: stored } satisfies ReadSegment
  }
  const body = yield* context.compression.decompress(stored, header.codec, header.rawBytes).pipe(
    Effect.mapError((error) => corrupt(headerBytes, error.message))
  )
  if (context.digest.crc32(body) !== header.rawCrc) {
    return yield* corrupt(headerBytes, "the unpacked body's checksum does not match")
  }
  return { header, body } satisfies ReadSegment
})

/** The records of a read segment with a number of at least `fromSeq`. Fails `SegmentCorrupt`. */
export const recordsOf = (
  key: string,
  segment: ReadSegment,
  fromSeq: number
): Effect.Effect<ReadonlyArray<WalRecord>, SegmentCorrupt> => {
  const records = decodeBody(segment.body, segment.header, fromSeq)
  return "_tag" in records
    ? Effect.fail(new SegmentCorrupt({ key, offset: records.offset, reason: records.reason }))
    : Effect.succeed(records)
}
