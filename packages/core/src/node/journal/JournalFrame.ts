/**
 * A frame of a journal: a header of 56 bytes, then the body.
 *
 * ```
 *  0  8  magic
 *  8  4  length of the body
 * 12  4  CRC-32 of the body
 * 16  8  epoch
 * 24  8  slot
 * 32  8  when it was written, epoch milliseconds
 * 40  8  synced through: everything before this offset of the file was durable when the frame was written
 * 48  4  flags: bit 0 passive
 * 52  4  CRC-32 of the header
 * ```
 *
 * All integers are little-endian. The header's CRC starts with journal id, file number and the frame's own offset, which
 * stand nowhere in it: a frame is valid in its place only, so neither a body that holds a copy of a frame nor a block that
 * another file has used before can be taken for one.
 */
import type { DigestService } from "../../codec/Digest.ts"
import { fromHex, getUint64, setUint64, viewOf } from "../../format/Bytes.ts"
import type { SlotName } from "../../format/ObjectKey.ts"

/** First bytes of a frame. */
export const frameMagic = Uint8Array.of(0x89, 0x45, 0x57, 0x46, 0x0d, 0x0a, 0x1a, 0x0a)

/** Bytes before the body. */
export const frameHeaderBytes = 56

/** A body is no longer. */
export const maxBodyBytes = 0xffff_ffff

const passiveBit = 1
const crcOffset = 52

export interface FrameHeader extends SlotName {
  readonly bodyBytes: number
  readonly bodyCrc: number
  readonly writtenAtMillis: number
  /** At or below the offset of the frame. */
  readonly syncedThrough: number
  /** The frame does not keep its file from being dropped. */
  readonly passive: boolean
}

/** What binds frames to one file of one journal; made once a file. */
export interface FrameBinding {
  readonly digest: DigestService
  /** CRC-32 of journal id and file number. */
  readonly seed: number
}

/** The binding of file `number` of the journal with this id (32 hexadecimal digits). */
export const bindFrames = (digest: DigestService, id: string, number: number): FrameBinding => {
  const bytes = new Uint8Array(24)
  bytes.set(fromHex(id), 0)
  setUint64(viewOf(bytes), 16, number)
  return { digest, seed: digest.crc32(bytes) }
}

const headerCrc = (binding: FrameBinding, header: Uint8Array, offset: number): number => {
  const place = new Uint8Array(8)
  setUint64(viewOf(place), 0, offset)
  return binding.digest.crc32(header.subarray(0, crcOffset), binding.digest.crc32(place, binding.seed))
}

/** The header of the frame that is written at byte `offset` of the file. */
export const encodeFrameHeader = (binding: FrameBinding, frame: FrameHeader, offset: number): Uint8Array => {
  const header = new Uint8Array(frameHeaderBytes)
  const view = viewOf(header)
  header.set(frameMagic, 0)
  view.setUint32(8, frame.bodyBytes, true)
  view.setUint32(12, frame.bodyCrc, true)
  setUint64(view, 16, frame.epoch)
  setUint64(view, 24, frame.slot)
  setUint64(view, 32, Math.max(0, frame.writtenAtMillis))
  setUint64(view, 40, frame.syncedThrough)
  view.setUint32(48, frame.passive ? passiveBit : 0, true)
  view.setUint32(crcOffset, headerCrc(binding, header, offset), true)
  return header
}

const hasFrameMagic = (bytes: Uint8Array): boolean => frameMagic.every((byte, index) => bytes[index] === byte)

/** The header in the first bytes of `bytes`, which stand at byte `offset` of the file; `undefined` when it is none. */
export const decodeFrameHeader = (
  binding: FrameBinding,
  bytes: Uint8Array,
  offset: number
): FrameHeader | undefined => {
  if (bytes.length < frameHeaderBytes || !hasFrameMagic(bytes)) return undefined
  const view = viewOf(bytes)
  if (view.getUint32(crcOffset, true) !== headerCrc(binding, bytes, offset)) return undefined
  const epoch = getUint64(view, 16)
  const slot = getUint64(view, 24)
  const writtenAtMillis = getUint64(view, 32)
  const syncedThrough = getUint64(view, 40)
  if (epoch === undefined || slot === undefined || writtenAtMillis === undefined) return undefined
  if (syncedThrough === undefined || syncedThrough > offset) return undefined
  return {
    epoch,
    slot,
    bodyBytes: view.getUint32(8, true),
    bodyCrc: view.getUint32(12, true),
    writtenAtMillis,
    syncedThrough,
    passive: (view.getUint32(48, true) & passiveBit) !== 0
  }
}
