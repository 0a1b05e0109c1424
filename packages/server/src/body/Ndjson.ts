/**
 * Newline-delimited JSON: one record a line, its bytes kept as they were sent.
 *
 * Lines end with `\n` or `\r\n`; the last one may end with nothing. A byte order mark at the start is accepted, empty
 * lines are ignored. Splitting is done on bytes, so U+2028 and friends do not split, and no character is cut.
 */
import { Effect } from "effect"
import { isUtf8 } from "node:buffer"
import { RequestProblem } from "../RequestProblem.ts"
import { type Body, wholeLines } from "./Body.ts"
import { errorPosition, scanDocument, type Words, wordsOf } from "./JsonScanner.ts"
import { endSlice, isSliceOver, type ParseBounds, tooManyRecords } from "./ParseBounds.ts"

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** The first offset behind a byte order mark, where there is one. */
export const skipByteOrderMark = (bytes: Uint8Array): number =>
  bytes.length >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0

const badLine = (line: number, reason: string): RequestProblem =>
  new RequestProblem({
    code: "invalid_json",
    message: `line ${line}: ${reason}; nothing was appended`,
    details: { line }
  })

/** A piece of the body that is being split. */
interface Piece {
  readonly bytes: Uint8Array
  readonly words: Words
  readonly isUtf8: boolean
}

/** Finds the lines of a body, slice by slice. */
class LineSplitter {
  readonly lines: Array<Uint8Array> = []
  private readonly pieces: Body
  private readonly bounds: ParseBounds
  private next = 0
  private piece: Piece | undefined
  private position = 0
  private lineNumber = 0

  constructor(body: Body, bounds: ParseBounds) {
    this.pieces = wholeLines(body)
    this.bounds = bounds
    this.enterNext()
    this.position = this.piece === undefined ? 0 : skipByteOrderMark(this.piece.bytes)
  }

  get isDone(): boolean {
    return this.piece === undefined
  }

  /** Goes on for one slice; answers what is wrong in it. */
  slice(): RequestProblem | undefined {
    const linesBefore = this.lineNumber
    let bytes = 0
    while (this.piece !== undefined && !isSliceOver(bytes, this.lineNumber - linesBefore)) {
      const start = this.position
      const problem = this.takeLine(this.piece)
      if (problem !== undefined) return problem
      bytes += this.position - start
      if (this.position === this.piece.bytes.length) this.enterNext()
    }
    return undefined
  }

  private enterNext(): void {
    const bytes = this.pieces[this.next++]
    this.position = 0
    this.piece = bytes === undefined ? undefined : { bytes, words: wordsOf(bytes), isUtf8: isUtf8(bytes) }
  }

  private takeLine({ bytes, isUtf8: isAllUtf8, words }: Piece): RequestProblem | undefined {
    const { maxRecords } = this.bounds
    const start = this.position
    const newline = bytes.indexOf(lineFeed, start)
    let end = newline === -1 ? bytes.length : newline
    this.position = newline === -1 ? end : end + 1
    this.lineNumber++
    if (end > start && bytes[end - 1] === carriageReturn) end--
    if (end === start) return undefined
    if (this.lines.length === maxRecords) return tooManyRecords(this.bounds)
    const line = bytes.subarray(start, end)
    if (!isAllUtf8 && !isUtf8(line)) return badLine(this.lineNumber, "the bytes are not UTF-8")
    const scanned = scanDocument(bytes, start, end, words)
    if (scanned < 0) {
      return badLine(this.lineNumber, `not JSON at byte ${errorPosition(scanned) - start} of the line`)
    }
    this.lines.push(line)
    return undefined
  }
}

/** The lines of what the splitter has before it. */
const restOf = (
  splitter: LineSplitter,
  bounds: ParseBounds
): Effect.Effect<ReadonlyArray<Uint8Array>, RequestProblem> => {
  const problem = splitter.slice()
  if (problem !== undefined) return Effect.fail(problem)
  return splitter.isDone
    ? Effect.succeed(splitter.lines)
    : Effect.flatMap(endSlice(bounds, splitter.lines.length), () => restOf(splitter, bounds))
}

/**
 * The lines as views into the body, but for those that lie in two of its pieces. Fails `invalid_json` with the number of the
 * first line that is not JSON, from 1, and `too_many_records` at the first line beyond the bound; what follows is not looked
 * at. `overloaded`: see `ParseBounds`.
 */
export const splitLines = (
  body: Body,
  bounds: ParseBounds
): Effect.Effect<ReadonlyArray<Uint8Array>, RequestProblem> =>
  Effect.suspend(() => restOf(new LineSplitter(body, bounds), bounds))
