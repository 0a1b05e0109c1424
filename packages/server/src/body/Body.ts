/** The body of a request as it came: in pieces, which are put together only for whoever needs that. */

/** The pieces, in order. */
export type Body = ReadonlyArray<Uint8Array>

/** All of it in one piece; a copy where it came in several. */
export const wholeBody = (body: Body): Uint8Array => {
  const [only] = body
  return body.length === 1 && only !== undefined ? only : Buffer.concat(body)
}

const lineFeed = 0x0a

/**
 * The same bytes, cut behind line feeds: views where whole lines are in one piece, copies of the few lines that are not. So
 * each line is in one piece, and the last one may have no line feed.
 */
export const wholeLines = (body: Body): Body => {
  if (body.length < 2) return body
  const lines: Array<Uint8Array> = []
  /** Of a line that goes on in the next piece. */
  let begun: Array<Uint8Array> = []
  for (const piece of body) {
    const first = piece.indexOf(lineFeed)
    if (first === -1) {
      begun.push(piece)
      continue
    }
    const start = begun.length === 0 ? 0 : first + 1
    const end = piece.lastIndexOf(lineFeed) + 1
    if (begun.length > 0) lines.push(Buffer.concat([...begun, piece.subarray(0, start)]))
    if (start < end) lines.push(piece.subarray(start, end))
    begun = end < piece.length ? [piece.subarray(end)] : []
  }
  if (begun.length > 0) lines.push(wholeBody(begun))
  return lines
}

/** What is smaller than this is not worth the call. */
const worthBytes = 16_384

/**
 * Gives the memory of pieces back at once that nobody looks at any more, instead of when the collector finds them: it is
 * what bodies take outside of the heap that starts the collector, which then goes through all of the heap. Views of such a
 * piece are empty afterwards. Only where a piece has its memory for itself.
 */
export const discardBody = (body: Body): void => {
  for (const { buffer, byteLength } of body) {
    if (byteLength >= worthBytes && byteLength === buffer.byteLength && buffer instanceof ArrayBuffer) {
      buffer.transfer(0)
    }
  }
}
