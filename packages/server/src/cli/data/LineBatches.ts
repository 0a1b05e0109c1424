/**
 * Cuts NDJSON into batches, chunk by chunk, in bounded memory: what is held is one batch and the line that is not whole
 * yet. The bytes of a line are kept as they came.
 *
 * As the server does it: lines end with `\n` or `\r\n`, the last one may end with nothing, a byte order mark at the start
 * is accepted, empty lines are left out (and counted).
 */
import { isUtf8 } from "node:buffer"
import { errorPosition, scanDocument } from "../../body/JsonScanner.ts"
import { skipByteOrderMark } from "../../body/Ndjson.ts"
import { CommandFailed } from "../Failure.ts"

const lineFeed = 0x0a
const carriageReturn = 0x0d

/** No line is longer: no log takes a larger record. */
export const maxLineBytes = 268_435_456

/** Records that go in one call, with their place in the input. */
export interface Batch {
  readonly payloads: ReadonlyArray<Uint8Array>
  readonly bytes: number
  /** First and last line of the batch, from 1. */
  readonly fromLine: number
  readonly toLine: number
}

/** What ends a batch: the record that passes one of them belongs to the next, but for one that is larger by itself. */
export interface BatchLimits {
  readonly records: number
  readonly bytes: number
}

/** Where the lines come from, and which of them count. */
export interface LineSource {
  /** The file's name, or `stdin`. */
  readonly name: string
  /** Lines before this one are passed over, unread. */
  readonly fromLine: number
}

const badLine = (source: LineSource, line: number, reason: string): CommandFailed =>
  new CommandFailed({
    code: "invalid_json",
    message: `${source.name}, line ${line}: ${reason}`,
    next: "Correct the line, or append bytes of any kind with `--raw`, one record a file.",
    exit: "usage",
    details: { file: source.name, line }
  })

const tooLong = `is longer than ${maxLineBytes} bytes`

/** What keeps a line from being a record. */
const problemOf = (payload: Uint8Array): string | undefined => {
  if (payload.length > maxLineBytes) return tooLong
  if (!isUtf8(payload)) return "the bytes are not UTF-8"
  const scanned = scanDocument(payload, 0, payload.length)
  return scanned < 0 ? `not JSON at byte ${errorPosition(scanned)}` : undefined
}

/** Cuts one input. */
export class LineBatches {
  private readonly source: LineSource
  private readonly limits: BatchLimits
  private payloads: Array<Uint8Array> = []
  private bytes = 0
  private fromLine = 0
  private toLine = 0
  /** Whole lines that were seen. */
  private lines = 0
  /** The pieces of a line that is not whole yet. */
  private open: Array<Uint8Array> = []
  private openBytes = 0

  constructor(source: LineSource, limits: BatchLimits) {
    this.source = source
    this.limits = limits
  }

  /** Whether there are whole records that no batch has been made of. */
  get holds(): boolean {
    return this.payloads.length > 0
  }

  /** The batches that the chunk completes, and what is wrong in it; the batches before that are good. */
  push(chunk: Uint8Array): { readonly batches: ReadonlyArray<Batch>; readonly problem?: CommandFailed } {
    const batches: Array<Batch> = []
    let start = 0
    for (let end = chunk.indexOf(lineFeed, start); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      const problem = this.takeLine(this.joined(chunk.subarray(start, end)), batches)
      if (problem !== undefined) return { batches, problem }
      start = end + 1
    }
    const rest = chunk.subarray(start)
    this.openBytes += rest.length
    if (this.openBytes > maxLineBytes) {
      return { batches, problem: badLine(this.source, this.lines + 1, tooLong) }
    }
    if (rest.length > 0) this.open.push(rest)
    return { batches }
  }

  /** The last line, where nothing ended it, and what is left. */
  end(): { readonly batches: ReadonlyArray<Batch>; readonly problem?: CommandFailed } {
    const batches: Array<Batch> = []
    const problem = this.openBytes > 0 ? this.takeLine(this.joined(new Uint8Array(0)), batches) : undefined
    const last = this.flush()
    if (last !== undefined) batches.push(last)
    return problem === undefined ? { batches } : { batches, problem }
  }

  /** What is held, as a batch. */
  flush(): Batch | undefined {
    if (this.payloads.length === 0) return undefined
    const { bytes, fromLine, payloads, toLine } = this
    this.payloads = []
    this.bytes = 0
    return { payloads, bytes, fromLine, toLine }
  }

  private joined(last: Uint8Array): Uint8Array {
    if (this.openBytes === 0) return last
    const line = Buffer.concat([...this.open, last])
    this.open = []
    this.openBytes = 0
    return line
  }

  private takeLine(line: Uint8Array, batches: Array<Batch>): CommandFailed | undefined {
    this.lines++
    const start = this.lines === 1 ? skipByteOrderMark(line) : 0
    const end = line.length > start && line[line.length - 1] === carriageReturn ? line.length - 1 : line.length
    if (end === start || this.lines < this.source.fromLine) return undefined
    const payload = line.subarray(start, end)
    const problem = problemOf(payload)
    if (problem !== undefined) return badLine(this.source, this.lines, problem)
    if (this.payloads.length > 0 && this.bytes + payload.length > this.limits.bytes) this.finish(batches)
    if (this.payloads.length === 0) this.fromLine = this.lines
    this.payloads.push(payload)
    this.bytes += payload.length
    this.toLine = this.lines
    if (this.payloads.length >= this.limits.records || this.bytes >= this.limits.bytes) this.finish(batches)
    return undefined
  }

  private finish(batches: Array<Batch>): void {
    const batch = this.flush()
    if (batch !== undefined) batches.push(batch)
  }
}
