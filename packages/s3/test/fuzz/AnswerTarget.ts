/** Answers of an S3 store under fuzz: XML, pages of proxies, cut and foreign bodies, with any status and headers. */
import type { ObjectStoreError, Operation } from "@effect-wal/core/store/ObjectStoreError"
import type { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { finding, type FuzzFinding, type FuzzOutcome, type FuzzTarget } from "@effect-wal/testing/fuzz/FuzzTarget"
import { mutateBytes } from "@effect-wal/testing/fuzz/MutateBytes"
import { Effect, Result } from "effect"
import { Readable } from "node:stream"
import { AnswerRefused, inspectAnswer, type RawResponse } from "../../src/AnswerInspection.ts"
import { retryAfterMillis, type S3Failure, toObjectStoreError } from "../../src/S3Answer.ts"

const commands = [
  "PutObjectCommand",
  "GetObjectCommand",
  "HeadObjectCommand",
  "ListObjectsV2Command",
  "DeleteObjectsCommand",
  "DeleteObjectCommand",
  "GetBucketVersioningCommand",
  "GetBucketLifecycleConfigurationCommand",
  ""
] as const

const operations: ReadonlyArray<Operation> = ["get", "create", "replace", "list", "remove"]

const words = (text: string): ReadonlyArray<string> => text.split(" ")

const statuses = words(
  "0 100 200 200 200 204 206 299 300 301 304 307 400 401 403 404 405 408 409 411 412 416 429 500 501 502 503 504 507 599 999"
).map(Number)

const codes = [
  "",
  "x".repeat(300),
  "&lt;Code&gt;",
  "&amp;amp;",
  "__proto__",
  ...words("NoSuchKey NotFound PreconditionFailed SlowDown NoSuchBucket AccessDenied InternalError ExpiredToken"),
  ...words("RequestTimeTooSkewed NotImplemented ConditionalRequestConflict QuotaExceeded constructor toString")
]

const errorXml = (random: FuzzRandom): string =>
  `<Error><Code>${random.pick(codes)}</Code><Message>said ${random.pick(codes)}</Message>` +
  `${random.oneIn(3) ? `<Region>eu-${random.below(9)}</Region>` : ""}` +
  `${random.oneIn(3) ? "<Header>If-None-Match</Header>" : ""}</Error>`

const keysXml = (random: FuzzRandom): string =>
  Array.from({ length: random.below(4) }, (_, nth) => `<Contents><Key>k${nth}</Key><Size>${nth}</Size></Contents>`)
    .join(
      ""
    )

const documents: ReadonlyArray<(random: FuzzRandom) => string> = [
  () => "",
  errorXml,
  errorXml,
  (random) => `<ListBucketResult xmlns="x">${keysXml(random)}<IsTruncated>false</IsTruncated></ListBucketResult>`,
  (random) => `<ListBucketResult>${keysXml(random)}${errorXml(random)}`,
  () => "<DeleteResult></DeleteResult>",
  () => "<s3:VersioningConfiguration/>",
  () => "<LifecycleConfiguration><Rule/></LifecycleConfiguration>",
  () => "<CopyObjectResult/>",
  () => "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>",
  () => "{\"error\":\"no\"}",
  (random) => " ".repeat(random.below(3_000)) + "<",
  (random) => "<Code>".repeat(random.below(2_000)),
  (random) => "<?xml " + "?".repeat(random.below(2_000)),
  (random) => "&lt;".repeat(random.below(2_000))
]

const retryAfters = [
  "1",
  "0",
  "-1",
  "1.5",
  "999999999",
  "9999999999",
  "Wed, 21 Oct 2026 07:28:00 GMT",
  "soon",
  "",
  "1e9"
]
const dates = ["Wed, 21 Oct 2026 07:27:00 GMT", "soon", "", "275760-09-13"]

/** Command, status (2 bytes), length of the headers, whether the body breaks off, headers as lines, body. */
const make = (random: FuzzRandom): Uint8Array => {
  const status = random.oneIn(12) ? random.below(1_000) : random.oneIn(3) ? 200 : random.pick(statuses)
  const headers = [
    ...(random.oneIn(3) ? [`retry-after: ${random.pick(retryAfters)}`] : []),
    ...(random.oneIn(3) ? [`date: ${random.pick(dates)}`] : []),
    ...(random.oneIn(6) ? ["x-amz-bucket-region: eu-1"] : [])
  ].join("\n")
  const declaration = random.oneIn(3) ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" : ""
  const text = (random.oneIn(12) ? "\uFEFF" : "") + declaration + random.pick(documents)(random)
  const body = Buffer.from(random.oneIn(300) ? text + " ".repeat(70_000) : text)
  const breaks = random.oneIn(20) ? 1 : 0
  const head = Uint8Array.of(random.below(commands.length), status & 0xff, status >>> 8, headers.length & 0xff, breaks)
  return Buffer.concat([head, Buffer.from(headers), random.oneIn(2) ? mutateBytes(random, body) : body])
}

interface Answer {
  readonly command: string
  readonly response: RawResponse
  readonly body: Uint8Array
  readonly breaks: boolean
}

/** The body as it comes: in pieces, and not whole where the connection breaks. */
const streamOf = (body: Uint8Array, breaks: boolean): Readable => {
  const pieces = body.length < 64 ? [body] : [body.subarray(0, 40), body.subarray(40)]
  if (!breaks) return Readable.from(pieces)
  const stream = new Readable({ read: () => undefined })
  stream.push(pieces[0])
  setImmediate(() => stream.destroy())
  return stream
}

const answerOf = (input: Uint8Array): Answer => {
  const [command = 0, low = 0, high = 0, length = 0, flag = 0] = input
  const lines = Buffer.from(input.subarray(5, 5 + length)).toString("latin1").split("\n")
  const headers = Object.fromEntries(lines.map((line) => {
    const [name = "", ...value] = line.split(": ")
    return [name, value.join(": ")]
  }))
  const body = input.slice(5 + length)
  const breaks = flag === 1 && body.length > 0
  return {
    command: commands[command % commands.length] ?? "",
    response: {
      statusCode: low + high * 256,
      headers,
      body: body.length === 0 ? undefined : streamOf(body, breaks)
    },
    body,
    breaks
  }
}

const rule = (holds: boolean, problem: string): Effect.Effect<void, FuzzFinding> =>
  holds ? Effect.void : Effect.fail(finding(problem))

const longestDetail = 200_000

/** What the log acts on must not come from an answer that can mean something else. */
const isSure = (error: ObjectStoreError, failure: S3Failure): boolean => {
  const { operation, reason } = error
  if (reason === "AlreadyExists") return failure.kind === "answer" && failure.status === 412 && operation === "create"
  if (reason === "PreconditionFailed") {
    return failure.kind === "answer" && failure.status === 412 && operation === "replace"
  }
  return reason !== "NotFound" ||
    failure.kind === "answer" && failure.status === 404 && (operation === "get" || operation === "replace")
}

const checkFailure = Effect.fnUntraced(function*(failure: S3Failure) {
  const delay = retryAfterMillis(failure)
  yield* rule(delay === undefined || Number.isFinite(delay) && delay >= 0, `wait ${delay} ms`)
  let reason = ""
  for (const operation of operations) {
    const error = toObjectStoreError(failure, { operation, key: "k", store: "s3://b", headersSent: ["If-None-Match"] })
    yield* rule(isSure(error, failure), `${operation} ${failure.kind} ${failure.status}: ${error.reason}`)
    yield* rule(error.detail.length > 0 && error.detail.length < longestDetail, "the detail is empty or without end")
    yield* rule(typeof error.isRetryable === "boolean", "nobody knows whether to try again")
    reason = `${operation} ${error.reason}`
  }
  return reason
})

/** A body that a success cannot have: an error, or a page that says nothing about an object. */
const isStrange = (command: string, body: Uint8Array): boolean => {
  const text = new TextDecoder().decode(body).trim()
  return command !== "GetObjectCommand" && (text.startsWith("<Error>") || text.startsWith("<!DOCTYPE html>"))
}

const check = Effect.fnUntraced(function*(input: Uint8Array): Effect.fn.Return<FuzzOutcome, FuzzFinding> {
  const { body, breaks, command, response } = answerOf(input)
  const inspected = yield* Effect.result(
    Effect.tryPromise({ try: () => inspectAnswer(command, response), catch: (cause) => cause })
  )
  if (Result.isFailure(inspected)) {
    const cause = inspected.failure
    if (breaks && cause instanceof Error && cause.message.startsWith("the connection closed after")) {
      return { refused: "transport", reason: "the connection closed" }
    }
    if (!(cause instanceof AnswerRefused)) return yield* Effect.fail(finding(`it threw ${String(cause)}`))
    const reason = yield* checkFailure(cause.failure)
    return { refused: cause.failure.kind, reason }
  }
  const { statusCode } = response
  yield* rule(statusCode >= 200 && statusCode <= 299, `status ${statusCode} was taken for success`)
  yield* rule(!breaks || command === "GetObjectCommand", "a body that broke off was taken for whole")
  yield* rule(!isStrange(command, body), "an error, or a page, was taken for success")
  return {}
})

/** Answers as they come from the wire, before the SDK has seen them. */
export const answerTarget: FuzzTarget = { name: "s3", make, check }
