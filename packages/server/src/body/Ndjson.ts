/**
 * Newline-delimited JSON: one record a line, its bytes kept as they were sent.
 *
 * Lines end with `\n` or `\r\n`; the last one may end with nothing. A byte order mark at the start is accepted, empty
 * lines are ignored. Splitting is done on bytes, so U+2028 and friends do not split, and no character is cut.
 */
import { Effect } from "effect"
import { isUtf8 } from "node:buffer"
import { RequestProblem } from "../RequestProblem.ts"
import { errorPosition, scanDocument } from "./JsonScanner.ts"
import { endSlice, type ParseBounds, sliceBytes, tooManyRecords } from "./ParseBounds.ts"

/** The first offset behind a byte order mark, where there is one. */
export const skipByteOrderMark = (bytes: Uint8Array): number =>
  bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0

const badLine = (line: number, reason: string): RequestProblem =>
  new RequestProblem({
    code: "invalid_json",
    message: `line ${line}: ${reason}; nothing was appended`,
    details: { line }
  })

/**
 * The lines as views into `body`. Fails `invalid_json` with the number of the first line that is not JSON, from 1, and
 * `too_many_records` at the first line beyond the bound; what follows is not looked at. `overloaded`: see `ParseBounds`.
 */
export const splitLines = Effect.fnUntraced(function*(body: Uint8Array, bounds: ParseBounds) {
  const lines: Array<Uint8Array> = []
  const allUtf8 = isUtf8(body)
  let start = skipByteOrderMark(body)
  let sliceEnd = start + sliceBytes
  for (let line = 1; start < body.length; line++) {
    const newline = body.indexOf(0x0a, start)
    const next = newline === -1 ? body.length : newline + 1
    let end = newline === -1 ? body.length : newline
    if (end > start && body[end - 1] === 0x0d) end--
    if (end > start) {
      if (lines.length === bounds.maxRecords) return yield* tooManyRecords(bounds)
      const bytes = body.subarray(start, end)
      if (!allUtf8 && !isUtf8(bytes)) return yield* badLine(line, "the bytes are not UTF-8")
      const scanned = scanDocument(bytes, 0, bytes.length)
      if (scanned < 0) return yield* badLine(line, `not JSON at byte ${errorPosition(scanned)} of the line`)
      lines.push(bytes)
    }
    start = next
    if (start >= sliceEnd) {
      yield* endSlice(bounds, lines.length)
      sliceEnd = start + sliceBytes
    }
  }
  return lines
})
