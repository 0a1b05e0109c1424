/**
 * The store inside the HTTP double: enough of S3 for a log, as one synchronous function from a request to its answer.
 */
import { DateTime } from "effect"
import { createHash } from "node:crypto"
import { crc32 } from "node:zlib"
import { errorXml } from "./HttpS3Action.ts"
import type { DoubleAnswer, DoubleListPage } from "./HttpS3Action.ts"

/** What a request asks for; `other` is everything that the log never asks. */
export type DoubleOperation =
  | "put"
  | "get"
  | "head"
  | "delete"
  | "deleteMany"
  | "list"
  | "versioning"
  | "lifecycle"
  | "other"

/** One request as it arrived. */
export interface DoubleRequest {
  /** From 1, over all requests. */
  readonly number: number
  readonly operation: DoubleOperation
  readonly method: string
  readonly bucket: string
  /** Empty for requests about the bucket. */
  readonly key: string
  readonly query: URLSearchParams
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  /** Who signed it, as far as the signature says. */
  readonly accessKeyId: string | undefined
}

/** An object of the double. */
export interface DoubleObject {
  readonly key: string
  readonly body: Uint8Array
  /** Counts the writes of the whole store. */
  readonly version: number
  readonly modifiedMillis: number
}

/** How this store differs from S3. All of it can be changed while it runs. */
export interface DoubleSettings {
  readonly bucket: string
  /** The tag that an operation names. Default: the quoted MD5 of the body, as S3. */
  etag: (object: DoubleObject, operation: DoubleOperation) => string
  /** `exact` (default): `If-Match` must be the tag as PUT names it; `unquoted`: only without its quotes; `both`. */
  ifMatch: "exact" | "unquoted" | "both"
  /** What `If-Match` on a missing key answers: S3 404, older Ceph 412. */
  ifMatchMissing: 404 | 412
  /** `ignored`: a store without conditional writes that says nothing. */
  conditions: "enforced" | "ignored"
  /** Header names, in lower case, that are answered 501. */
  refusedHeaders: ReadonlyArray<string>
  /** Most keys in a page. */
  pageSize: number
  /** Ranges are ignored and the whole object is sent. */
  ignoresRanges: boolean
  /** `Enabled`, `Suspended` or never set. */
  versioning: string | undefined
  /** The inside of the life-cycle document; absent: there is none. */
  lifecycleRules: string | undefined
  /** Keys whose batch delete fails inside the 200, with this code. */
  deleteErrors: ReadonlyMap<string, string>
}

/** A store that does as S3 does. */
export const defaultSettings = (): DoubleSettings => ({
  bucket: "double",
  etag: (object) => `"${createHash("md5").update(object.body).digest("hex")}"`,
  ifMatch: "exact",
  ifMatchMissing: 404,
  conditions: "enforced",
  refusedHeaders: [],
  pageSize: 1000,
  ignoresRanges: false,
  versioning: undefined,
  lifecycleRules: undefined,
  deleteErrors: new Map()
})

const encoder = new TextEncoder()
const nothing = new Uint8Array(0)
const xmlHeaders = { "content-type": "application/xml" }

const xml = (status: number, text: string): DoubleAnswer => ({
  status,
  headers: xmlHeaders,
  body: encoder.encode(text)
})

const refuse = (status: number, code: string, extra: Readonly<Record<string, string>> = {}): DoubleAnswer =>
  xml(status, errorXml(code, extra))

const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

const unescapeXml = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", "\"").replaceAll("&apos;", "'").replaceAll(
    "&amp;",
    "&"
  )

// Writes are a second apart, so that listings have an order in time without a clock.
const firstModified = 1_700_000_000_000

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html */
const mostDeletedAtOnce = 1000

/** The body is the one that its checksum was made of, where it has one. */
const isIntact = ({ body, headers }: DoubleRequest): boolean => {
  const checksum = headers["x-amz-checksum-crc32"]
  return checksum === undefined || Buffer.from(checksum, "base64").readUInt32BE() === crc32(body)
}

/** Removing many keys takes one of these headers, which every other request can leave out. */
const removalChecksums = ["content-md5", "x-amz-checksum-crc32"]

/** The store: its objects, and what it answers. */
export class HttpS3Model {
  readonly objects = new Map<string, DoubleObject>()
  readonly settings: DoubleSettings
  private writes = 0

  constructor(settings: DoubleSettings) {
    this.settings = settings
  }

  /** Lets the request take effect and answers it. */
  serve(request: DoubleRequest): DoubleAnswer {
    if (request.bucket !== this.settings.bucket) return refuse(404, "NoSuchBucket")
    const refused = this.settings.refusedHeaders.find((name) => request.headers[name] !== undefined)
    if (refused !== undefined) return refuse(501, "NotImplemented", { Header: refused })
    switch (request.operation) {
      case "put":
        return this.put(request)
      case "get":
      case "head":
        return this.read(request)
      case "delete":
        this.objects.delete(request.key)
        return { status: 204, headers: {}, body: nothing }
      case "deleteMany":
        return this.deleteMany(request)
      case "list":
        return this.listAnswer(this.page(request), request)
      case "versioning": {
        const status = this.settings.versioning
        return xml(
          200,
          `<VersioningConfiguration>${
            status === undefined ? "" : `<Status>${status}</Status>`
          }</VersioningConfiguration>`
        )
      }
      case "lifecycle":
        return this.settings.lifecycleRules === undefined ?
          refuse(404, "NoSuchLifecycleConfiguration") :
          xml(200, `<LifecycleConfiguration>${this.settings.lifecycleRules}</LifecycleConfiguration>`)
      case "other":
        return refuse(501, "NotImplemented")
    }
  }

  /** Writes an object past all conditions, for a test that needs one to be there. */
  store(key: string, body: Uint8Array): DoubleObject {
    this.writes++
    const object = {
      key,
      body: Uint8Array.from(body),
      version: this.writes,
      modifiedMillis: firstModified + this.writes * 1000
    }
    this.objects.set(key, object)
    return object
  }

  /** The page that a listing asks for. */
  page(request: DoubleRequest): DoubleListPage {
    const prefix = request.query.get("prefix") ?? ""
    const token = request.query.get("continuation-token")
    const after = token === null ? request.query.get("start-after") ?? "" : Buffer.from(token, "base64url").toString()
    const limit = Math.min(this.settings.pageSize, Number(request.query.get("max-keys") ?? "1000"))
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted()
    const entries = keys.slice(0, limit).flatMap((key) => {
      const object = this.objects.get(key)
      return object === undefined
        ? []
        : [{ key, sizeBytes: object.body.byteLength, modifiedMillis: object.modifiedMillis }]
    })
    const last = entries.at(-1)
    return keys.length > limit && last !== undefined
      ? { entries, next: Buffer.from(last.key).toString("base64url") }
      : { entries }
  }

  /** A page as the XML of ListObjectsV2. */
  listAnswer(page: DoubleListPage, request: DoubleRequest): DoubleAnswer {
    const contents = page.entries.map((entry) =>
      `<Contents><Key>${escapeXml(entry.key)}</Key><LastModified>${
        DateTime.formatIso(DateTime.makeUnsafe(entry.modifiedMillis))
      }</LastModified>` +
      `<Size>${entry.sizeBytes}</Size><StorageClass>STANDARD</StorageClass></Contents>`
    )
    const next = page.next === undefined ? "" : `<NextContinuationToken>${escapeXml(page.next)}</NextContinuationToken>`
    return xml(
      200,
      `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">` +
        `<Name>${this.settings.bucket}</Name><Prefix>${escapeXml(request.query.get("prefix") ?? "")}</Prefix>` +
        `<KeyCount>${page.entries.length}</KeyCount><IsTruncated>${page.next !== undefined}</IsTruncated>${next}${
          contents.join("")
        }` +
        `</ListBucketResult>`
    )
  }

  private put(request: DoubleRequest): DoubleAnswer {
    if (!isIntact(request)) return refuse(400, "BadDigest")
    const refused = this.settings.conditions === "ignored" ? undefined : this.condition(request)
    if (refused !== undefined) return refused
    const object = this.store(request.key, request.body)
    return { status: 200, headers: { etag: this.settings.etag(object, "put") }, body: nothing }
  }

  private condition(request: DoubleRequest): DoubleAnswer | undefined {
    const held = this.objects.get(request.key)
    if (request.headers["if-none-match"] === "*" && held !== undefined) return refuse(412, "PreconditionFailed")
    const wanted = request.headers["if-match"]
    if (wanted === undefined) return undefined
    if (held === undefined) {
      return this.settings.ifMatchMissing === 404
        ? refuse(404, "NoSuchKey")
        : refuse(412, "PreconditionFailed")
    }
    const tag = this.settings.etag(held, "put")
    const bare = tag.replace(/^"(.*)"$/, "$1")
    const accepted = { exact: [tag], unquoted: [bare], both: [tag, bare] }[this.settings.ifMatch]
    return accepted.includes(wanted) && !wanted.startsWith("W/") ? undefined : refuse(412, "PreconditionFailed")
  }

  private read(request: DoubleRequest): DoubleAnswer {
    const head = request.operation === "head"
    const object = this.objects.get(request.key)
    if (object === undefined) return head ? { status: 404, headers: {}, body: nothing } : refuse(404, "NoSuchKey")
    const headers = { etag: this.settings.etag(object, request.operation) }
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers["range"] ?? "")
    if (range === null || head || this.settings.ignoresRanges) return { status: 200, headers, body: object.body }
    const [from, to] = [Number(range[1]), Number(range[2])]
    if (from >= object.body.byteLength) return refuse(416, "InvalidRange")
    const body = object.body.subarray(from, to + 1)
    const end = from + body.byteLength - 1
    return {
      status: 206,
      headers: { ...headers, "content-range": `bytes ${from}-${end}/${object.body.byteLength}` },
      body
    }
  }

  private deleteMany(request: DoubleRequest): DoubleAnswer {
    if (!removalChecksums.some((name) => request.headers[name] !== undefined)) return refuse(400, "InvalidRequest")
    if (!isIntact(request)) return refuse(400, "BadDigest")
    const keys = [...new TextDecoder().decode(request.body).matchAll(/<Key>([^<]*)<\/Key>/g)].map((match) =>
      unescapeXml(match[1] ?? "")
    )
    if (keys.length > mostDeletedAtOnce) return refuse(400, "MalformedXML")
    const errors = keys.flatMap((key) => {
      const code = this.settings.deleteErrors.get(key)
      if (code === undefined) this.objects.delete(key)
      return code === undefined
        ? []
        : [`<Error><Key>${escapeXml(key)}</Key><Code>${code}</Code><Message>refused</Message></Error>`]
    })
    return xml(200, `<DeleteResult>${errors.join("")}</DeleteResult>`)
  }
}
