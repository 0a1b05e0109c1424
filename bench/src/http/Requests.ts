/** The requests of the benchmark, ready to be sent, in each of the protocols. */
import { recordsPath } from "./Servers.ts"

const recordBytes = 1_024

/** How many records a batch has. */
export const batch = 100

/**
 * A line of a log as programs write them: a few short fields and a message, 1 KiB with its line feed. No two of a batch are
 * the same.
 */
const lineOf = (nth: number): string => {
  const fields = {
    time: "2026-11-29T12:00:00.000Z",
    level: "info",
    service: "checkout",
    host: "node-17",
    trace: "4bf92f3577b34da6a3ce929d0e0e4736",
    duration_ms: 12.75,
    status: 200,
    order: 100_000 + nth,
    message: ""
  }
  const message = "order placed and paid, waiting for the carrier; ".repeat(recordBytes / 48)
  const room = recordBytes - JSON.stringify(fields).length - 1
  return `${JSON.stringify({ ...fields, message: message.slice(0, room) })}\n`
}

const post = (path: string, contentType: string, body: Buffer): string => {
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: ${contentType}\r\n` +
    `content-length: ${body.length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body]).toString("base64")
}

const record = Buffer.from(lineOf(0).slice(0, recordBytes))
const lines = Buffer.from(Array.from({ length: batch }, (_, nth) => lineOf(nth)).join(""))

/** One record of any bytes. */
export const recordRequest = (query = ""): string => post(`${recordsPath}${query}`, "application/octet-stream", record)

/** A batch as NDJSON. */
export const batchRequest: string = post(recordsPath, "application/x-ndjson", lines)

const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`

const addToStream = ["XADD", "log", "MAXLEN", "~", "100000", "*", "payload", record.toString()]

/** The same record to a stream of Redis that keeps about the last 100,000. */
export const redisRequest: string = Buffer.from(`*${addToStream.length}\r\n${addToStream.map(bulk).join("")}`)
  .toString("base64")

/** The same record to a subject of NATS, answered in an inbox of the connection. */
export const natsRequest = {
  greeting: { text: "CONNECT {\"verbose\":false}\r\nSUB inbox.{n} 1\r\nPING\r\n", answer: "PONG\r\n" },
  head: `PUB log inbox.{n} ${record.length}\r\n`,
  request: Buffer.concat([record, Buffer.from("\r\n")]).toString("base64")
}
