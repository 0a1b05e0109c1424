/**
 * The header of a segment and of an end marker: fields, bytes, and what makes one valid.
 *
 * The byte table is in `docs/format.md`. All integers are little-endian.
 *
 * Invariants kept here: a decoded header has the magic, a known version, lengths within the object, a right CRC, only
 * critical extensions that this version knows, numbers up to 2^53-1 and finite times.
 */
import type { DigestService } from "../codec/Digest.ts"
import { fromHex, getUint64, setUint64, toHex, viewOf } from "./Bytes.ts"

/** First bytes of every object but the manifest; holds a byte above 127 and both line ends, so that text tools show damage. */
export const magic = Uint8Array.of(0x89, 0x45, 0x57, 0x41, 0x4c, 0x0d, 0x0a, 0x1a)

/** Format versions that this program reads; it writes the first one. */
export const formatVersion = 1

/** Bytes before the extensions. */
export const fixedHeaderBytes = 148

/** No header is larger: what a reader fetches to see any header whole. */
export const maxHeaderBytes = 16_384

export type ObjectKind = "segment" | "end-marker"
export type StoredCodec = "none" | "zstd" | "lz4"

const kinds: ReadonlyArray<ObjectKind | undefined> = [undefined, "segment", "end-marker"]
const codecs: ReadonlyArray<StoredCodec> = ["none", "zstd", "lz4"]

/** One length-prefixed extension. A reader that does not know the type of a critical one must refuse the object. */
export interface Extension {
  /** 0 to 32,767. */
  readonly type: number
  readonly critical: boolean
  readonly bytes: Uint8Array
}

export interface SegmentHeader {
  readonly kind: ObjectKind
  readonly codec: StoredCodec
  /** 32 hexadecimal digits, as the nonce and the chain. */
  readonly logId: string
  readonly nonce: string
  readonly epoch: number
  readonly slot: number
  readonly firstSeq: number
  readonly count: number
  readonly rawBytes: number
  readonly storedBytes: number
  readonly rawCrc: number
  readonly storedCrc: number
  /** `appended_at` of the first and of the last record, epoch milliseconds. */
  readonly firstAt: number
  readonly lastAt: number
  /** All slots of this epoch below this one were durable when the segment was first sent. */
  readonly watermarkSlot: number
  readonly watermarkSeq: number
  /** Chain hash after the segment before. */
  readonly chain: string
  readonly extensions: ReadonlyArray<Extension>
}

/** Why bytes are no header: damaged, or written by a newer version. */
export type HeaderFailure =
  | { readonly _tag: "Corrupt"; readonly offset: number; readonly reason: string }
  | { readonly _tag: "TooNew"; readonly found: string }

export interface DecodedHeader {
  readonly header: SegmentHeader
  /** Where the body starts. */
  readonly headerBytes: number
}

const extensionHeadBytes = 6
const criticalBit = 0x8000

/** Bytes of the header once encoded. */
export const encodedHeaderBytes = (header: SegmentHeader): number =>
  header.extensions.reduce((sum, extension) => sum + extensionHeadBytes + extension.bytes.length, fixedHeaderBytes + 4)

/** Writes the header at the start of `target`, which holds at least `encodedHeaderBytes` bytes; answers how many it wrote. */
export const encodeHeader = (header: SegmentHeader, target: Uint8Array, digest: DigestService): number => {
  const view = viewOf(target)
  const total = encodedHeaderBytes(header)
  target.set(magic, 0)
  view.setUint16(8, formatVersion, true)
  view.setUint8(10, kinds.indexOf(header.kind))
  view.setUint8(11, codecs.indexOf(header.codec))
  view.setUint32(12, total, true)
  target.set(fromHex(header.logId), 16)
  target.set(fromHex(header.nonce), 32)
  setUint64(view, 48, header.epoch)
  setUint64(view, 56, header.slot)
  setUint64(view, 64, header.firstSeq)
  view.setUint32(72, header.count, true)
  view.setUint32(76, header.rawBytes, true)
  view.setUint32(80, header.storedBytes, true)
  view.setUint32(84, header.rawCrc, true)
  view.setUint32(88, header.storedCrc, true)
  view.setUint32(92, 0, true)
  view.setFloat64(96, header.firstAt, true)
  view.setFloat64(104, header.lastAt, true)
  setUint64(view, 112, header.watermarkSlot)
  setUint64(view, 120, header.watermarkSeq)
  target.set(fromHex(header.chain), 128)
  view.setUint32(144, total - fixedHeaderBytes - 4, true)
  let offset = fixedHeaderBytes
  for (const extension of header.extensions) {
    view.setUint16(offset, extension.type | (extension.critical ? criticalBit : 0), true)
    view.setUint32(offset + 2, extension.bytes.length, true)
    target.set(extension.bytes, offset + extensionHeadBytes)
    offset += extensionHeadBytes + extension.bytes.length
  }
  view.setUint32(offset, digest.crc32(target.subarray(0, offset)), true)
  return total
}

const corrupt = (offset: number, reason: string): HeaderFailure => ({ _tag: "Corrupt", offset, reason })

const decodeExtensions = (bytes: Uint8Array, end: number): ReadonlyArray<Extension> | HeaderFailure => {
  const view = viewOf(bytes)
  const extensions: Array<Extension> = []
  let offset = fixedHeaderBytes
  while (offset < end) {
    if (offset + extensionHeadBytes > end) return corrupt(offset, "an extension is cut")
    const type = view.getUint16(offset, true)
    const length = view.getUint32(offset + 2, true)
    if (offset + extensionHeadBytes + length > end) return corrupt(offset, "an extension is longer than the header")
    extensions.push({
      type: type & ~criticalBit,
      critical: (type & criticalBit) !== 0,
      bytes: bytes.subarray(offset + extensionHeadBytes, offset + extensionHeadBytes + length)
    })
    offset += extensionHeadBytes + length
  }
  return extensions
}

/** Checks magic, version, length and CRC; answers the header's whole length. */
const checkEnvelope = (bytes: Uint8Array, digest: DigestService): number | HeaderFailure => {
  if (bytes.length === 0) return corrupt(0, "the object is empty")
  for (let index = 0; index < magic.length; index++) {
    if (bytes[index] !== magic[index]) return corrupt(0, `not a segment: it starts with ${toHex(bytes.subarray(0, 4))}`)
  }
  if (bytes.length < fixedHeaderBytes) return corrupt(bytes.length, "the header is cut")
  const view = viewOf(bytes)
  const version = view.getUint16(8, true)
  if (version === 0) return corrupt(8, "format version 0 does not exist")
  if (version > formatVersion) return { _tag: "TooNew", found: `format version ${version}` }
  const total = view.getUint32(12, true)
  if (total < fixedHeaderBytes + 4 || total > maxHeaderBytes) {
    return corrupt(12, `header length ${total} is out of range`)
  }
  if (total > bytes.length) return corrupt(bytes.length, "the header is cut")
  const expected = view.getUint32(total - 4, true)
  const actual = digest.crc32(bytes.subarray(0, total - 4))
  return actual === expected ? total : corrupt(total - 4, "the header checksum does not match")
}

/** Reads a header from the start of `bytes`; `knownCritical` are the extension types that may be critical. */
export const decodeHeader = (
  bytes: Uint8Array,
  digest: DigestService,
  knownCritical: ReadonlySet<number>
): DecodedHeader | HeaderFailure => {
  const total = checkEnvelope(bytes, digest)
  if (typeof total !== "number") return total
  const view = viewOf(bytes)
  const kind = kinds[view.getUint8(10)]
  if (kind === undefined) return { _tag: "TooNew", found: `object kind ${view.getUint8(10)}` }
  const codec = codecs[view.getUint8(11)]
  if (codec === undefined) return { _tag: "TooNew", found: `codec ${view.getUint8(11)}` }
  const extensions = decodeExtensions(bytes, total - 4)
  if ("_tag" in extensions) return extensions
  const unknown = extensions.find((extension) => extension.critical && !knownCritical.has(extension.type))
  if (unknown !== undefined) return { _tag: "TooNew", found: `critical extension ${unknown.type}` }
  const integers = [48, 56, 64, 112, 120].map((offset) => getUint64(view, offset))
  const [epoch, slot, firstSeq, watermarkSlot, watermarkSeq] = integers
  if (
    epoch === undefined || slot === undefined || firstSeq === undefined || watermarkSlot === undefined ||
    watermarkSeq === undefined
  ) return corrupt(48, "a number is beyond 2^53-1")
  const count = view.getUint32(72, true)
  if (!Number.isSafeInteger(firstSeq - 1 + count)) return corrupt(64, "the last number is beyond 2^53-1")
  const firstAt = view.getFloat64(96, true)
  const lastAt = view.getFloat64(104, true)
  if (!Number.isFinite(firstAt) || !Number.isFinite(lastAt)) return corrupt(96, "a time is not finite")
  return {
    headerBytes: total,
    header: {
      kind,
      codec,
      logId: toHex(bytes.subarray(16, 32)),
      nonce: toHex(bytes.subarray(32, 48)),
      epoch,
      slot,
      firstSeq,
      count,
      rawBytes: view.getUint32(76, true),
      storedBytes: view.getUint32(80, true),
      rawCrc: view.getUint32(84, true),
      storedCrc: view.getUint32(88, true),
      firstAt,
      lastAt,
      watermarkSlot,
      watermarkSeq,
      chain: toHex(bytes.subarray(128, 144)),
      extensions
    }
  }
}
