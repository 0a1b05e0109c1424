/**
 * Every dress in which stores and the proxies before them refuse a request, by what the log must make of it.
 *
 * A dress is a status with a document of S3, with a page, with nothing, or a success whose body says otherwise.
 */
import type { Reason } from "../../packages/core/src/store/ObjectStoreError.ts"
import { errorXml } from "../../packages/testing/src/HttpS3Action.ts"
import { type Command, type HttpAnswer, page, plain } from "./S3Http.ts"
import { listXml } from "./S3Xml.ts"

/** One way to refuse. */
export interface Dress {
  readonly status: number
  readonly body: string
  readonly label: string
  readonly headers?: Readonly<Record<string, string>>
  /** Only in answer to these; absent: to all. */
  readonly on?: ReadonlyArray<Command>
  /** Nobody has looked at the request, so it cannot have been done. */
  readonly untouched?: true
}

type More = Omit<Dress, "status" | "body" | "label">

const xml = (status: number, code: string, more: More = {}): Dress => ({
  status,
  body: errorXml(code),
  label: `${status} ${code}`,
  ...more
})
const html = (status: number, more: More = {}): Dress => ({
  status,
  body: page(status),
  label: `${status} html`,
  ...more
})
const empty = (status: number, more: More = {}): Dress => ({ status, body: "", label: `${status} empty`, ...more })
const success = (body: string, label: string, on: ReadonlyArray<Command>): Dress => ({
  status: 200,
  body,
  label: `200 ${label}`,
  on,
  headers: { etag: "\"0123456789abcdef0123456789abcdef\"" }
})

const puts: ReadonlyArray<Command> = ["PutObjectCommand"]
const lists: ReadonlyArray<Command> = ["ListObjectsV2Command"]
const removes: ReadonlyArray<Command> = ["DeleteObjectsCommand"]
const documents = [...puts, ...lists, ...removes]
/** The commands for which a 405 or a bad argument means that they are not known. */
const known: ReadonlyArray<Command> = [...puts, ...lists, "GetObjectCommand", "HeadObjectCommand"]
const withBody: ReadonlyArray<Command> = [...documents, "GetObjectCommand", "DeleteObjectCommand"]

/** A page that says that there is more, and not where. */
const cutListing = listXml({ objects: [], next: undefined, isTruncated: true })
const failsInside = `<ListBucketResult><Name>bucket</Name>${errorXml("InternalError").replace(/^.*\n/, "")}`

/** Reasons that a store gives whatever it holds. */
export const reasons = [
  "Unavailable",
  "Throttled",
  "Conflict",
  "AccessDenied",
  "NoSuchBucket",
  "CredentialsUnavailable",
  "StoreFull",
  "NotSupported",
  "UnexpectedResponse"
] as const satisfies ReadonlyArray<Reason>

type Refusable = typeof reasons[number]

const isRefusable = (reason: Reason): reason is Refusable => reasons.some((one) => one === reason)

const dresses: Readonly<Record<Refusable, ReadonlyArray<Dress>>> = {
  Unavailable: [
    xml(500, "InternalError"),
    html(500),
    empty(500),
    html(502),
    html(504),
    empty(504),
    html(520),
    empty(408),
    xml(400, "RequestTimeout", { on: withBody, untouched: true }),
    xml(400, "BadDigest", { on: puts, untouched: true }),
    xml(400, "IncompleteBody", { on: puts, untouched: true }),
    xml(403, "RequestTimeTooSkewed", { on: withBody, untouched: true }),
    success(errorXml("InternalError"), "with InternalError", documents),
    success(errorXml("InternalError").replace(/^.*\n/, ""), "with a bare InternalError", documents),
    success(page(200), "of a captive portal", [...documents, "DeleteObjectCommand"]),
    success("OK", "in words", documents),
    success("", "empty", [...lists, ...removes]),
    success(failsInside, "with InternalError at the end", lists),
    success(failsInside.replace(/<Error>.*/, ""), "that breaks off", lists)
  ],
  Throttled: [
    xml(503, "SlowDown"),
    html(503),
    empty(503),
    xml(503, "ServiceUnavailable"),
    empty(429),
    html(429),
    xml(429, "TooManyRequests"),
    xml(400, "RequestLimitExceeded", { on: withBody, untouched: true }),
    success(errorXml("SlowDown"), "with SlowDown", documents)
  ],
  Conflict: [xml(409, "ConditionalRequestConflict"), xml(409, "OperationAborted"), html(409), empty(409)],
  AccessDenied: [
    xml(403, "AccessDenied"),
    html(403),
    empty(403),
    xml(403, "SignatureDoesNotMatch"),
    html(401),
    empty(401)
  ],
  NoSuchBucket: [xml(404, "NoSuchBucket")],
  CredentialsUnavailable: [
    xml(400, "ExpiredToken"),
    xml(403, "InvalidAccessKeyId"),
    xml(400, "TokenRefreshRequired"),
    xml(400, "InvalidToken")
  ],
  StoreFull: [xml(507, "InsufficientStorage"), html(507), empty(507), xml(403, "QuotaExceeded")],
  NotSupported: [xml(501, "NotImplemented"), html(501), empty(501)],
  UnexpectedResponse: [
    xml(301, "PermanentRedirect", { headers: { "x-amz-bucket-region": "eu-west-1" }, untouched: true }),
    xml(307, "TemporaryRedirect", { untouched: true }),
    html(404, { on: withBody, untouched: true }),
    empty(404, { on: withBody, untouched: true }),
    xml(400, "InvalidArgument", { on: known }),
    html(405, { on: known }),
    { status: 200, body: "", label: "200 without a tag", on: puts },
    success(cutListing, "of a cut listing without a token", lists)
  ]
}

/** Those that can answer a command; `isApplied` when it has been carried out. */
export const dressesFor = (
  reason: Reason,
  { command, isApplied }: { readonly command: Command; readonly isApplied: boolean }
): ReadonlyArray<Dress> =>
  (isRefusable(reason) ? dresses[reason] : []).filter(({ on, untouched }) =>
    (on === undefined || on.includes(command)) && !(isApplied && untouched === true)
  )

/** The clock of the store: any time will do. */
const dateMillis = Date.parse("2026-01-01T00:00:00Z")

/** `Retry-After` in one of its two forms: seconds, or a date that is counted from the answer's own. */
const retryAfterHeaders = (millis: number | undefined, asDate: boolean): Readonly<Record<string, string>> => {
  if (millis === undefined) return {}
  if (!asDate) return { "retry-after": (millis / 1_000).toFixed(2) }
  const until = dateMillis + Math.ceil(millis / 1_000) * 1_000
  return { date: new Date(dateMillis).toUTCString(), "retry-after": new Date(until).toUTCString() }
}

/** The answer in a dress, with the delay that the store asks for. */
export const answerOf = (
  dress: Dress,
  retry: { readonly afterMillis: number | undefined; readonly asDate: boolean } | undefined
): HttpAnswer =>
  plain(dress.status, dress.body, dress.label, {
    ...dress.headers,
    ...retryAfterHeaders(retry?.afterMillis, retry?.asDate === true)
  })
