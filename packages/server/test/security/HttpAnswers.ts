/** A strict reader of what a server has sent over one connection: any number of whole answers, and nothing else. */

export interface ReadAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

export interface ReadAnswers {
  readonly answers: ReadonlyArray<ReadAnswer>
  /** What is wrong with the bytes behind the last of them; `undefined` where there are none. */
  readonly problem: string | undefined
}

const statusLine = /^HTTP\/1\.1 ([1-5]\d\d) [\x20-\x7e]*$/
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\x20-\x7e\x80-\xff]*)$/

interface Head {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly end: number
}

const readHead = (bytes: Buffer, start: number): Head | string => {
  const end = bytes.indexOf("\r\n\r\n", start)
  if (end === -1) return "a head without end"
  const [first = "", ...lines] = bytes.toString("latin1", start, end).split("\r\n")
  const status = statusLine.exec(first)?.[1]
  if (status === undefined) return `no status line: ${JSON.stringify(first.slice(0, 80))}`
  const headers = new Map<string, string>()
  for (const line of lines) {
    const [, name, value = ""] = headerLine.exec(line) ?? []
    if (name === undefined) return `no header: ${JSON.stringify(line.slice(0, 80))}`
    if (headers.has(name.toLowerCase())) return `the header ${name} twice`
    headers.set(name.toLowerCase(), value)
  }
  return { status: Number(status), headers, end: end + 4 }
}

interface BodyAt {
  readonly body: Buffer
  readonly end: number
}

const readChunks = (bytes: Buffer, start: number): BodyAt | string => {
  const parts: Array<Buffer> = []
  for (let position = start;;) {
    const lineEnd = bytes.indexOf("\r\n", position)
    const size = lineEnd === -1 ? "" : bytes.toString("latin1", position, lineEnd)
    if (!/^[0-9a-f]+$/.test(size)) return `no chunk size: ${JSON.stringify(size)}`
    const from = lineEnd + 2
    const to = from + Number.parseInt(size, 16)
    if (bytes.toString("latin1", to, to + 2) !== "\r\n") return "a chunk without end"
    if (to === from) return { body: Buffer.concat(parts), end: to + 2 }
    parts.push(bytes.subarray(from, to))
    position = to + 2
  }
}

const readBody = (bytes: Buffer, { end, headers, status }: Head): BodyAt | string => {
  const length = headers.get("content-length")
  const encoding = headers.get("transfer-encoding")
  if (status < 200 || status === 204 || status === 304) return { body: Buffer.alloc(0), end }
  if (length !== undefined && encoding !== undefined) return "a length and an encoding"
  if (encoding !== undefined) return encoding === "chunked" ? readChunks(bytes, end) : `the encoding ${encoding}`
  if (length === undefined || !/^\d+$/.test(length)) return `no length: ${length}`
  const to = end + Number(length)
  return to > bytes.length ? "a body that breaks off" : { body: bytes.subarray(end, to), end: to }
}

/** Takes apart what came. No request was HEAD. Answers that only say to go on (1xx) are left out. */
export const readAnswers = (bytes: Buffer): ReadAnswers => {
  const answers: Array<ReadAnswer> = []
  for (let position = 0; position < bytes.length;) {
    const head = readHead(bytes, position)
    if (typeof head === "string") return { answers, problem: head }
    const body = readBody(bytes, head)
    if (typeof body === "string") return { answers, problem: body }
    if (head.status >= 200) answers.push({ status: head.status, headers: head.headers, body: body.body })
    position = body.end
  }
  return { answers, problem: undefined }
}
