/** Records as they come back over HTTP, taken apart without parsing them, so that bytes are compared with bytes. */
import type { ServerProcess } from "./ServerProcess.ts"

export interface ReadRecord {
  readonly seq: number
  /** The bytes that stand behind `"payload":`. */
  readonly payload: Buffer
}

const headPattern = /^\{"seq":(\d+),"appended_at":\d+,"payload":/

/** Long enough for the head of any record of a scenario: these have no key and no headers. */
const headBytes = 100

/** A record that stands between these bytes; the end is exclusive. */
export const recordAt = (body: Buffer, start: number, end: number): ReadRecord => {
  const head = headPattern.exec(body.toString("latin1", start, Math.min(end, start + headBytes)))
  if (head === null || body[end - 1] !== 0x7d) {
    throw new Error(`not a record: ${body.toString("utf8", start, Math.min(end, start + 200))}`)
  }
  return { seq: Number(head[1]), payload: body.subarray(start + head[0].length, end - 1) }
}

/** A page was not answered with 200. */
export class ReadFailed extends Error {
  readonly status: number
  /** The body of the answer. */
  readonly text: string

  constructor(from: number, status: number, text: string) {
    super(`reading from ${from}: ${status} ${text}`)
    this.status = status
    this.text = text
  }
}

const page = async (server: ServerProcess, from: number, accept: string, limit: number) => {
  const answer = await server.call(`/records?from=${from}&limit=${limit}`, { headers: { accept } })
  const body = Buffer.from(await answer.arrayBuffer())
  if (answer.status !== 200) throw new ReadFailed(from, answer.status, body.toString("utf8", 0, 500))
  return { body, next: Number(answer.headers.get("wal-next")) }
}

/** Reads to the durable end as NDJSON, a page after the other. */
export async function* readNdjson(server: ServerProcess, from: number, limit = 2_000): AsyncGenerator<ReadRecord> {
  for (let at = from;;) {
    const { body, next } = await page(server, at, "application/x-ndjson", limit)
    if (body.length === 0) return
    for (let start = 0; start < body.length;) {
      const end = body.indexOf(0x0a, start)
      if (end === -1) throw new Error(`the page from ${at} ends in the middle of a line`)
      yield recordAt(body, start, end)
      start = end + 1
    }
    if (next <= at) throw new Error(`the page from ${at} goes on at ${next}`)
    at = next
  }
}

/**
 * Reads to the durable end as one JSON document a page, and compares each record with the line that must stand there.
 * The result is the last sequence number; fails at the first difference.
 */
export const compareJson = async (
  server: ServerProcess,
  lineOf: (seq: number) => Buffer | undefined,
  limit = 1_000
): Promise<number> => {
  const opening = Buffer.from("{\"records\":[")
  for (let seq = 1;;) {
    const { body } = await page(server, seq, "application/json", limit)
    const firstOfPage = seq
    let at = opening.length
    while (body[at] === 0x7b) {
      const line = lineOf(seq)
      const head = headPattern.exec(body.toString("latin1", at, at + headBytes))
      if (line === undefined || head === null) {
        throw new Error(`JSON page from ${firstOfPage}: unexpected record ${seq}`)
      }
      const start = at + head[0].length
      const end = start + line.length
      if (Number(head[1]) !== seq || !body.subarray(start, end).equals(line) || body[end] !== 0x7d) {
        throw new Error(`JSON page from ${firstOfPage}: record ${seq} is not what was sent`)
      }
      seq++
      at = end + 1 + (body[end + 1] === 0x2c ? 1 : 0)
    }
    if (body.toString("latin1", at) !== `],"next":${seq}}`) {
      throw new Error(`JSON page from ${firstOfPage} does not end after ${seq - 1}`)
    }
    if (seq === firstOfPage) return seq - 1
  }
}
