/**
 * The outside of a zstd frame (RFC 8878, section 3.1.1), read without unpacking anything.
 *
 * Why not leave it to the decoder: node's accepts a frame that was cut and answers what it has; libzstd reads several
 * frames on end as one; and a decoder that allocates what the frame claims must not be asked before the claim was checked.
 */

const magic = 0xfd2fb528

/** Bytes of the content size field, by the two top bits of the descriptor. */
const contentSizeBytes = (descriptor: number): number => {
  const flag = descriptor >>> 6
  if (flag > 0) return 1 << flag
  return (descriptor & 0x20) === 0 ? 0 : 1
}

const readContentSize = (view: DataView, offset: number, bytes: number): bigint => {
  if (bytes === 1) return BigInt(view.getUint8(offset))
  if (bytes === 2) return BigInt(view.getUint16(offset, true) + 256)
  return bytes === 4 ? BigInt(view.getUint32(offset, true)) : view.getBigUint64(offset, true)
}

/** Where the blocks that start at `start` end, the last one included; `undefined` when they are cut or of no known type. */
const blocksEnd = (view: DataView, start: number, rawBytes: number): number | undefined => {
  // Empty blocks cost three bytes each; encoders write blocks of kilobytes. Bounds the walk whatever the data is.
  const maxBlocks = 1024 + (rawBytes >>> 8)
  let offset = start
  for (let block = 0; block < maxBlocks && offset + 3 <= view.byteLength; block++) {
    const header = view.getUint16(offset, true) | (view.getUint8(offset + 2) << 16)
    const type = (header >>> 1) & 3
    if (type === 3) return undefined
    // An RLE block holds one byte, whatever length it stands for.
    offset += 3 + (type === 1 ? 1 : header >>> 3)
    if ((header & 1) === 1) return offset
  }
  return undefined
}

/**
 * What is wrong with `stored` as exactly one whole zstd frame that says that it unpacks to `rawBytes` bytes; `undefined`
 * when nothing is. The content size must be in the frame: all writers of the format know it.
 */
export const zstdFrameProblem = (stored: Uint8Array, rawBytes: number): string | undefined => {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  if (stored.length < 6) return `has ${stored.length} bytes, too few for a frame`
  if (view.getUint32(0, true) !== magic) return "does not start with the magic number of a frame"
  const descriptor = view.getUint8(4)
  if ((descriptor & 0x08) !== 0) return "uses a reserved bit of the frame header"
  if ((descriptor & 0x03) !== 0) return "needs a dictionary"
  const sizeBytes = contentSizeBytes(descriptor)
  if (sizeBytes === 0) return "names no content size"
  const sizeOffset = (descriptor & 0x20) === 0 ? 6 : 5
  if (stored.length < sizeOffset + sizeBytes) return "is cut in the frame header"
  const contentSize = readContentSize(view, sizeOffset, sizeBytes)
  if (contentSize !== BigInt(rawBytes)) return `unpacks to ${contentSize} bytes, expected ${rawBytes}`
  const end = blocksEnd(view, sizeOffset + sizeBytes, rawBytes)
  if (end === undefined) return "is cut, or has blocks that no encoder writes"
  const frameEnd = end + ((descriptor & 0x04) === 0 ? 0 : 4)
  if (frameEnd > stored.length) return "is cut"
  return frameEnd < stored.length ? `has ${stored.length - frameEnd} bytes after the frame` : undefined
}
