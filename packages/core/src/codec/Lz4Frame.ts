/**
 * The outside of an lz4 frame (LZ4 Frame Format 1.6.4), and the length that its blocks unpack to, without unpacking them.
 *
 * Why not leave it to the decoder: the binding grows its output as far as the data wants, and drops a second frame behind
 * the first without a word. So the exact length is counted here first, which costs a step a sequence and no memory.
 */

/** One block: where its bytes stand in the frame, and whether they are packed or stored as they are. */
export interface Lz4Block {
  readonly start: number
  /** Exclusive. */
  readonly end: number
  readonly packed: boolean
}

/** The blocks of a frame, or what is wrong with it. */
export type Lz4Frame = { readonly blocks: ReadonlyArray<Lz4Block> } | { readonly problem: string }

const magic = 0x184d2204
const smallestBlockMax = 64 * 1024

const problem = (text: string): Lz4Frame => ({ problem: text })

const readBlocks = (view: DataView, start: number, rawBytes: number): Lz4Frame => {
  const flags = view.getUint8(4)
  const sizeCode = (view.getUint8(5) >>> 4) & 7
  if (sizeCode < 4) return problem(`has block size code ${sizeCode}`)
  const blockMax = 1 << (8 + 2 * sizeCode)
  // One more than the length needs with the smallest block size: bounds the list whatever the data is.
  const maxBlocks = Math.ceil(rawBytes / smallestBlockMax) + 1
  const blocks: Array<Lz4Block> = []
  let offset = start
  while (offset + 4 <= view.byteLength) {
    const header = view.getUint32(offset, true)
    offset += 4
    if (header === 0) {
      const end = offset + ((flags & 0x04) === 0 ? 0 : 4)
      if (end > view.byteLength) return problem("is cut in the content checksum")
      return end < view.byteLength ? problem(`has ${view.byteLength - end} bytes after the frame`) : { blocks }
    }
    const end = offset + (header & 0x7fffffff)
    if (blocks.length === maxBlocks) return problem(`has more than ${maxBlocks} blocks for ${rawBytes} bytes`)
    if (end - offset > blockMax) {
      return problem(`has a block of ${end - offset} bytes, above its own maximum ${blockMax}`)
    }
    if (end > view.byteLength) return problem("is cut in a block")
    blocks.push({ start: offset, end, packed: header >>> 31 === 0 })
    offset = end + ((flags & 0x10) === 0 ? 0 : 4)
  }
  return problem("is cut between blocks")
}

/**
 * Takes `stored` apart as exactly one whole frame that is to unpack to `rawBytes` bytes. A content size in the frame must
 * be `rawBytes`; frames with a dictionary are refused.
 */
export const readLz4Frame = (stored: Uint8Array, rawBytes: number): Lz4Frame => {
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  if (stored.length < 11) return problem(`has ${stored.length} bytes, too few for a frame`)
  if (view.getUint32(0, true) !== magic) return problem("does not start with the magic number of a frame")
  const flags = view.getUint8(4)
  if (flags >>> 6 !== 1) return problem(`has frame version ${flags >>> 6}`)
  if ((flags & 0x01) !== 0) return problem("needs a dictionary")
  if ((flags & 0x08) === 0) return readBlocks(view, 7, rawBytes)
  if (stored.length < 19) return problem("is cut in the frame header")
  const contentSize = view.getBigUint64(6, true)
  if (contentSize !== BigInt(rawBytes)) return problem(`unpacks to ${contentSize} bytes, expected ${rawBytes}`)
  return readBlocks(view, 15, rawBytes)
}

/**
 * How many bytes the block unpacks to; `undefined` when a sequence runs over the end of the block. What the matches refer
 * to is not looked at: the decoder does that.
 */
export const measureLz4Block = (stored: Uint8Array, block: Lz4Block): number | undefined => {
  if (!block.packed) return block.end - block.start
  const end = block.end
  let offset = block.start
  let total = 0
  while (offset < end) {
    const token = stored[offset++] ?? 0
    let literals = token >>> 4
    if (literals === 15) {
      let more = 255
      while (more === 255 && offset < end) literals += more = stored[offset++] ?? 0
    }
    offset += literals
    total += literals
    // The last sequence has literals only.
    if (offset === end) return total
    if (offset + 2 > end) return undefined
    offset += 2
    let match = (token & 15) + 4
    if (match === 19) {
      let more = 255
      while (more === 255 && offset < end) match += more = stored[offset++] ?? 0
    }
    total += match
  }
  return undefined
}
