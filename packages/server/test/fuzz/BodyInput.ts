/** Request bodies, queries and headers: right ones and damaged ones. The first byte says which decoder an input is for. */
import type { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { mutateBytes } from "@effect-wal/testing/fuzz/MutateBytes"
import { type JsonNode, mutateJson, nodeOf, renderJson } from "@effect-wal/testing/fuzz/MutateJson"
import { gzipSync } from "node:zlib"

/** In the order of the first byte; more of those that come first. */
export const bodyKinds = ["lines", "records", "lines", "records", "request", "read", "key", "records"] as const

const values: ReadonlyArray<unknown> = [
  1,
  "text",
  null,
  { a: [1, 2, { b: "c" }] },
  [],
  {},
  -0.5,
  "\u2028",
  "a\"b\\c",
  "\u{1f600}",
  true
]

const spaces = ["", "", "", " ", "\t", "\r", "  "]

const jsonText = (random: FuzzRandom): string => {
  const node = nodeOf(random.oneIn(2) ? random.pick(values) : { k: random.pick(values), n: [random.pick(values)] })
  if (random.oneIn(3)) mutateJson(random, node)
  return random.pick(spaces) + renderJson(node) + random.pick(spaces)
}

const lines = (random: FuzzRandom): string => {
  const separators = random.oneIn(2) ? ["\n"] : ["\n", "\r\n", "\n\n", "\r", " \n"]
  const rows = Array.from({ length: random.below(8) }, () => jsonText(random) + random.pick(separators))
  return (random.oneIn(12) ? "\uFEFF" : "") + rows.join("") + (random.oneIn(3) ? jsonText(random) : "")
}

const recordIn = (random: FuzzRandom): Record<string, unknown> => ({
  ...(random.oneIn(4)
    ? { payload_base64: Buffer.from(random.bytes(random.below(12))).toString("base64") }
    : { payload: random.pick(values) }),
  ...(random.oneIn(3) ? { key: random.pick(["k", "", "\u{1f600}"]) } : {}),
  ...(random.oneIn(3) ? { headers: { a: "b", [random.pick(["__proto__", "x", ""])]: "c" } } : {}),
  ...(random.oneIn(3) ? { timestamp: random.pick([0, 1.5, -1, 9e15]) } : {})
})

const spaced = (random: FuzzRandom, text: string): string =>
  random.oneIn(4) ? text.replaceAll(/[,:{]/g, (sign) => `${sign}${random.pick(spaces)}`) : text

const records = (random: FuzzRandom): string => {
  const node: JsonNode = nodeOf({ records: Array.from({ length: random.below(6) }, () => recordIn(random)) })
  if (!random.oneIn(4)) mutateJson(random, node)
  return (random.oneIn(20) ? "\uFEFF" : "") + spaced(random, renderJson(node)) + random.pick(["", "", "\n", " x"])
}

const queryValues = ["1", "0", "", "9007199254740991", "9007199254740992", "30s", "55s", "56s", "500ms", "skip", "fail"]
const accepts = ["*/*", "application/json", "application/x-ndjson;q=0.5", "text/event-stream", "text/html", ",,;", ""]

/** Query and headers as JSON, so that they can be damaged as such. */
const readRequest = (random: FuzzRandom): string => {
  const names = ["from", "from_time", "limit", "wait", "on_damage"].filter(() => random.oneIn(3))
  const node = nodeOf({
    query: Object.fromEntries(names.map((name) => [name, random.pick(queryValues)])),
    headers: {
      ...(random.oneIn(3) ? {} : { accept: random.pick(accepts) }),
      ...(random.oneIn(3) ? { "last-event-id": random.pick(queryValues) } : {})
    }
  })
  if (random.oneIn(2)) mutateJson(random, node)
  return renderJson(node)
}

const keys = [
  "k",
  "\"8e03978e-40d5-43dd-bc93-6894a57f9324\"",
  "",
  " ",
  "x".repeat(128),
  "x".repeat(129),
  "\u00e9",
  "a,b"
]

const header = (random: FuzzRandom): string => {
  const given = Array.from({ length: random.pick([0, 1, 1, 1, 2]) }, () => random.pick(keys))
  return given.join("\n")
}

/** A body as it comes over the wire: flags in 1 byte, the seed of its pieces in 2 bytes, then what is sent. */
const request = (random: FuzzRandom): Uint8Array => {
  const body = random.oneIn(20)
    ? new Uint8Array(random.pick([65_535, 65_536, 65_537, 300_000]))
    : Buffer.from(random.oneIn(2) ? lines(random) : records(random))
  const isPacked = random.oneIn(2)
  const sent = isPacked ? gzipSync(body) : body
  const damaged = random.oneIn(3) ? mutateBytes(random, sent) : sent
  const flags = (isPacked ? 1 : 0) | (random.oneIn(12) ? 2 : 0) | (random.oneIn(12) ? 4 : 0)
  return Buffer.concat([Uint8Array.of(flags), random.bytes(2), damaged])
}

/** One input. */
export const makeBody = (random: FuzzRandom): Uint8Array => {
  // A body over the wire costs ten times as much as one in hand.
  const index = random.oneIn(3) ? random.pick([4, 5, 6]) : random.pick([0, 1])
  const kind = index === 4 && !random.oneIn(4) ? 1 : index
  if (kind === 4) return Buffer.concat([Uint8Array.of(kind), request(random)])
  const makers = [lines, records, lines, records, lines, readRequest, header]
  const text = Buffer.from((makers[kind] ?? lines)(random))
  return Buffer.concat([Uint8Array.of(kind), random.oneIn(4) ? mutateBytes(random, text) : text])
}
