/**
 * An S3 store in memory, in a process of its own, that answers as late as it is told: what a log is measured against. It
 * checks no signature, and does what the log asks: conditional writes, ranges, listings, deletions.
 *
 * Argument: settings as JSON. Prints its port; counts are at `/_counts`, and start anew with each look; `/_latency` takes
 * another latency as JSON.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { seededChance } from "../../../scripts/acceptance/Run.ts"
import { sampleLatency } from "./Latency.ts"
import type { StoreCounts, StoreSettings } from "./StoreProcess.ts"
import { deletedDocument, errorDocument, keysToDelete, listDocument } from "./Xml.ts"

const settings: StoreSettings = JSON.parse(process.argv[2] ?? "{}")
const random = seededChance(settings.seed ?? 1)
let latency = settings.latency
const noCounts = { PUT: 0, GET: 0, LIST: 0, DELETE: 0, segments: 0, headers: 0, bodyBytes: 0 }
let counts: StoreCounts = { ...noCounts }

interface Held {
  /** Empty where only the size is kept. */
  readonly body: Buffer
  readonly bytes: number
  readonly tag: string
}

const objects = new Map<string, Held>()
let lastTag = 0
const pageSize = 1_000

interface Answer {
  readonly status: number
  readonly body?: Buffer | string
  readonly headers?: Record<string, string>
}

const failed = (status: number, code: string): Answer => ({ status, body: errorDocument(code) })

const put = (key: string, body: Buffer, headers: IncomingMessage["headers"]): Answer => {
  const held = objects.get(key)
  if (headers["if-none-match"] === "*" && held !== undefined) return failed(412, "PreconditionFailed")
  const expected = headers["if-match"]
  if (expected !== undefined && held?.tag !== expected) {
    return held === undefined ? failed(404, "NoSuchKey") : failed(412, "PreconditionFailed")
  }
  const tag = `"${(++lastTag).toString(16).padStart(32, "0")}"`
  const isKept = settings.keepsSegments || !key.endsWith(".seg")
  objects.set(key, { body: isKept ? body : Buffer.alloc(0), bytes: body.length, tag })
  return { status: 200, headers: { etag: tag } }
}

const get = (key: string, range: string | undefined): Answer => {
  const held = objects.get(key)
  if (held === undefined) return failed(404, "NoSuchKey")
  const last = /^bytes=0-(\d+)$/.exec(range ?? "")?.[1]
  return last === undefined
    ? { status: 200, body: held.body, headers: { etag: held.tag } }
    : { status: 206, body: held.body.subarray(0, Number(last) + 1), headers: { etag: held.tag } }
}

const list = (query: URLSearchParams): Answer => {
  const prefix = query.get("prefix") ?? ""
  const after = query.get("continuation-token") ?? query.get("start-after") ?? ""
  const limit = Math.min(pageSize, Number(query.get("max-keys") ?? pageSize))
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const page = keys.slice(0, limit).map((key) => ({ key, bytes: objects.get(key)?.bytes ?? 0 }))
  const next = keys.length > limit ? page.at(-1)?.key : undefined
  return { status: 200, body: listDocument({ prefix, keys: page, next }) }
}

const answer = (request: IncomingMessage, body: Buffer): Answer => {
  const url = new URL(request.url ?? "/", "http://store")
  const key = decodeURIComponent(url.pathname.split("/").slice(2).join("/"))
  counts.bodyBytes += body.length
  if (request.method === "PUT") {
    counts.PUT++
    return put(key, body, request.headers)
  }
  if (request.method === "POST" && url.searchParams.has("delete")) {
    counts.DELETE++
    for (const one of keysToDelete(body.toString())) objects.delete(one)
    return { status: 200, body: deletedDocument }
  }
  if (request.method === "DELETE") {
    counts.DELETE++
    objects.delete(key)
    return { status: 204 }
  }
  if (key === "" && url.searchParams.has("lifecycle")) return failed(404, "NoSuchLifecycleConfiguration")
  if (key === "" && url.searchParams.has("versioning")) return { status: 200, body: "<VersioningConfiguration/>" }
  if (key === "") {
    counts.LIST++
    return list(url.searchParams)
  }
  counts.GET++
  if (key.endsWith(".seg")) counts[request.headers.range === undefined ? "segments" : "headers"]++
  return get(key, request.headers.range)
}

const respond = (response: ServerResponse, { body = "", headers = {}, status }: Answer): void => {
  response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers })
  response.end(body)
}

/** Not a request of the log's. */
const tellCounts = (response: ServerResponse): void => {
  respond(response, { status: 200, body: JSON.stringify(counts) })
  counts = { ...noCounts }
}

/** Not one either. */
const changeLatency = (response: ServerResponse, body: Buffer): void => {
  latency = JSON.parse(body.toString())
  respond(response, { status: 200 })
}

const server = createServer((request, response) => {
  const startedAt = performance.now()
  const chunks: Array<Buffer> = []
  let bytes = 0
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    chunks.push(chunk)
  })
  request.on("end", () => {
    const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    if (request.url === "/_counts") return tellCounts(response)
    if (request.url === "/_latency") return changeLatency(response, body)
    const transferMillis = settings.megabytesPerSecond === undefined ? 0 : bytes / settings.megabytesPerSecond / 1_000
    const due = sampleLatency(latency, random) + transferMillis - (performance.now() - startedAt)
    // Done when it is answered: a request that is given up before that may still land.
    const finish = () => respond(response, answer(request, body))
    if (due <= 0) finish()
    else setTimeout(finish, due)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`)
})
// The parent is gone, or done.
process.stdin.on("end", () => process.exit(0)).resume()
