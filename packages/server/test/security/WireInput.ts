/**
 * Bytes for one connection: some requests, each a little or badly wrong, or right.
 *
 * Every record that is sent has a mark of its own. What must never be taken for a request, because it stands where two
 * readers of HTTP could disagree, has the mark of a smuggled one.
 */
import type { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"

/** Stands in what must never be taken for a request of its own. */
export const smuggledMark = "smuggled"

const methods = ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "QUERY", "get", "PROPFIND", "BREW", "G\u0000T", ""]

const paths = [
  "/v1/streams/orders/records",
  "/v1/streams/orders/records",
  "/v1/streams/orders/records?ack=accepted",
  "/v1/streams/orders/records?from=1&limit=3",
  "/v1/streams/orders/records?from=0",
  "/v1/streams/orders/records?ack=durable&ack=accepted",
  "/v1/streams/orders",
  "/v1/streams/orders/epochs",
  "/v1/streams/orders/flush",
  "/v1/streams/orders/trim",
  "/v1/streams/orders/cursors/default",
  "/v1/streams/orders/cursors/%2e%2e",
  "/v1/streams/orders%2frecords",
  "/v1/streams/..%2f..%2fetc%2fpasswd",
  "/v1/streams/%00",
  "/v1/streams/%c0%ae%c0%ae/records",
  "/v1/streams/payments/records",
  "/v1/streams/%70ayments/records",
  "/v1/streams",
  "/metrics",
  "/healthz",
  "/readyz",
  "/v1/dashboard",
  "/",
  "*",
  "http://elsewhere.example/v1/streams/orders/records",
  "http://[::1/records",
  "//v1/streams/orders/records",
  "/%",
  "/?%zz=%",
  "/v1/streams/orders/records?from=99999999999999999999",
  "/v1/streams/orders/records?from_time=-1",
  "/v1/streams/orders/records?__proto__=1"
]

const types = [
  "application/x-ndjson",
  "application/x-ndjson",
  "application/octet-stream",
  "application/json",
  "text/plain",
  "application/x-ndjson; charset=\"",
  ";",
  ""
]

const oddHeaders = [
  "x: y",
  "x-long: ".padEnd(5_000, "a"),
  "x-huge: ".padEnd(20_000, "a"),
  "authorization: Bearer known",
  "authorization: Bearer nobody",
  "Authorization : Bearer known",
  "host: elsewhere.example",
  "host: x, y",
  "accept: text/html",
  "accept: application/x-ndjson",
  "accept-encoding: gzip;q=0",
  "connection: keep-alive, upgrade",
  "upgrade: websocket",
  "upgrade: h2c",
  "http2-settings: AAMAAABkAAQCAAAAAAIAAAAA",
  "expect: 100-continue",
  "expect: 200-ok",
  "content-encoding: gzip",
  "content-encoding: br",
  "idempotency-key: a",
  "idempotency-key: \u00e4",
  "idempotency-key:",
  "last-event-id: -1",
  "range: bytes=0-",
  "if-none-match: *",
  "te: trailers",
  "trailer: content-length",
  ": no-name",
  "no-colon",
  "na\u0000me: x",
  "x: a\u0000b",
  "x: a\rb",
  "x: a\n folded",
  "cookie: ".padEnd(300, "a=b; "),
  "x-forwarded-for: 127.0.0.1"
]

/** Lengths and encodings that two readers could take differently. What follows the body is then smuggled. */
const ambiguous = (length: number): ReadonlyArray<ReadonlyArray<string>> => [
  [`content-length: ${length}`, "content-length: 0"],
  ["content-length: 0", `content-length: ${length}`],
  [`content-length: ${length}, 0`],
  [`content-length: ${length}`, "transfer-encoding: chunked"],
  ["transfer-encoding: chunked", `content-length: ${length}`],
  [`content-length: ${length}`, "transfer-encoding: xchunked"],
  [`content-length: ${length}`, "transfer-encoding: chunked, identity"],
  [`content-length: ${length}`, "transfer-encoding : chunked"],
  [`content-length: ${length}`, "transfer-encoding:\u000bchunked"],
  [`content-length: ${length}`, "transfer-encoding: chunked", "transfer-encoding: identity"],
  [`content-length: ${length}`, "x: y\r\n transfer-encoding: chunked"],
  [`content-length: ${length}`, "transfer-encoding\r\n : chunked"],
  [`content-length: +${length}`],
  [`content-length: 0x${length.toString(16)}`],
  [`content-length: ${length}_0`],
  [`content-length: -${length}`],
  ["transfer-encoding: gzip, chunked, chunked"],
  ["transfer-encoding: chunked\u0000"],
  ["transfer-encoding: \"chunked\""]
]

const smuggled = "POST /v1/streams/orders/records HTTP/1.1\r\nhost: x\r\nauthorization: Bearer known\r\n" +
  `content-type: application/x-ndjson\r\ncontent-length: ${smuggledMark.length + 3}\r\n\r\n"${smuggledMark}"\n`

const chunkTails = ["", ";ext=1", ";ext=\"\r\n\"", " ", ";", "\t", "g", ";a=".padEnd(20_000, "b")]

const chunked = (random: FuzzRandom, body: string): string => {
  if (!random.oneIn(3)) return `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const size = random.pick([
    body.length.toString(16),
    "ffffffffffffffff",
    "-1",
    "0x2",
    "",
    "00000000000000000002",
    "2 2"
  ])
  return `${size}${random.pick(chunkTails)}${random.pick(["\r\n", "\n", "\r"])}${body}\r\n0\r\n${
    random.pick(["\r\n", "x: y\r\n\r\n", "content-length: 5\r\n\r\n", "\u0000\r\n\r\n"])
  }`
}

const plain = (random: FuzzRandom, mark: string): string => {
  const method = random.oneIn(6) ? random.pick(methods) : random.pick(["POST", "POST", "POST", "GET"])
  const path = random.oneIn(3) ? random.pick(paths) : "/v1/streams/orders/records"
  const body = method === "GET" ? "" : random.pick([`"${mark}"\n`, `"${mark}"`, `{"records":[{"payload":"${mark}"}]}`])
  const headers = ["host: x", "authorization: Bearer known"]
  if (method !== "GET") headers.push(`content-type: ${random.oneIn(3) ? random.pick(types) : "application/x-ndjson"}`)
  while (random.oneIn(3)) headers.push(random.pick(oddHeaders))
  const version = random.oneIn(12)
    ? random.pick(["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "http/1.1", "HTTP/1.1 x", ""])
    : "HTTP/1.1"
  const lineEnd = random.oneIn(15) ? random.pick(["\n", "\r", "\r\r\n"]) : "\r\n"
  const head = `${method} ${path} ${version}${lineEnd}`
  if (method !== "GET" && random.oneIn(3)) {
    return `${head}${[...headers, "transfer-encoding: chunked"].join(lineEnd)}${lineEnd}${lineEnd}${
      chunked(random, body)
    }`
  }
  const length = random.oneIn(12) ? random.edge() : body.length
  const all = body === "" && random.oneIn(2) ? headers : [...headers, `content-length: ${length}`]
  return `${head}${all.join(lineEnd)}${lineEnd}${lineEnd}${body}`
}

const smuggling = (random: FuzzRandom, mark: string): string => {
  const body = random.pick([
    `"${mark}"\n`,
    "0\r\n\r\n",
    `${(mark.length + 3).toString(16)}\r\n"${mark}"\n\r\n0\r\n\r\n`,
    ""
  ])
  const whole = `${body}${smuggled}`
  const framing = random.pick(ambiguous(random.pick([body.length, whole.length])))
  return `${
    [
      "POST /v1/streams/orders/records HTTP/1.1",
      "host: x",
      "authorization: Bearer known",
      "content-type: application/x-ndjson",
      ...framing
    ].join("\r\n")
  }\r\n\r\n${whole}`
}

const damaged = (random: FuzzRandom, text: string): string => {
  const at = random.below(text.length)
  return random.pick([
    text.slice(0, at) + String.fromCharCode(random.below(256)) + text.slice(at + 1),
    text.slice(0, at),
    text.slice(0, at) + text.slice(at + random.below(20)),
    text.slice(0, at) + random.pick(["\r\n", "\n", "\u0000", " ", ":", "%00"]) + text.slice(at)
  ])
}

export interface WireInput {
  readonly bytes: Buffer
  /** The same bytes, as they are written one after the other. */
  readonly pieces: ReadonlyArray<Buffer>
}

/** Input `index`; its marks are `m{index}-…`. */
export const makeWireInput = (random: FuzzRandom, index: number): WireInput => {
  const count = random.between(1, 4)
  let text = ""
  for (let request = 0; request < count; request++) {
    const mark = `m${index}-${request}`
    // Nothing follows what may be taken in two ways: the connection must be over behind it.
    if (random.oneIn(4)) {
      text += smuggling(random, mark)
      break
    }
    const one = plain(random, mark)
    text += random.oneIn(8) ? damaged(random, one) : one
  }
  if (random.oneIn(20)) text = Buffer.from(random.bytes(random.between(1, 300))).toString("latin1") + text
  const bytes = Buffer.from(text, "latin1")
  const cut = random.below(bytes.length)
  return { bytes, pieces: random.oneIn(2) ? [bytes] : [bytes.subarray(0, cut), bytes.subarray(cut)] }
}
