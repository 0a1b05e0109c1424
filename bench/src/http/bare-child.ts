/**
 * The least that a server on the same runtime can do: reads the body of a POST whole and answers a small JSON. A body of
 * lines is also cut at its newlines. Nothing is checked, kept or counted.
 *
 * Says where it listens, and ends with a signal.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"

const lineFeed = 0x0a

/** Views of the lines, as one who works with them has them. */
const splitLines = (body: Buffer): ReadonlyArray<Uint8Array> => {
  const lines: Array<Uint8Array> = []
  for (let start = 0; start < body.length;) {
    const newline = body.indexOf(lineFeed, start)
    const end = newline === -1 ? body.length : newline
    lines.push(body.subarray(start, end))
    start = end + 1
  }
  return lines
}

let last = 0

const answer = (request: IncomingMessage, response: ServerResponse, body: Buffer): void => {
  const records = request.headers["content-type"] === "application/x-ndjson" ? splitLines(body) : [body]
  const first = last + 1
  last += records.length
  const text = JSON.stringify({ first_seq: first, last_seq: last, count: records.length, epoch: 1, ack: "accepted" })
  response.writeHead(200, { "content-type": "application/json", "content-length": text.length })
  response.end(text)
}

const server = createServer((request, response) => {
  const chunks: Array<Buffer> = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const only = chunks[0]
    answer(request, response, chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks))
  })
})
server.keepAliveTimeout = 75_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`listens on http://127.0.0.1:${typeof address === "object" ? address?.port : ""}\n`)
})
