/**
 * Looks at every answer before the SDK's parser does: the parser throws away the body of a PUT (where an error can
 * stand), takes any page for an empty listing, and loses the status when a load balancer answers in HTML.
 */
import { Data } from "effect"
import { collectBody } from "./ResponseBody.ts"
import type { S3Failure } from "./S3Answer.ts"
import { documentProblem, rootElement } from "./S3Document.ts"

/** The parts of the SDK's response that matter here. */
export interface RawResponse {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** A stream on arrival, the bytes after the inspection. */
  body?: unknown
}

/** A refused request, as an exception that travels through the SDK. It needs `$response` to learn the store's clock. */
export class AnswerRefused extends Data.TaggedError("AnswerRefused")<{
  readonly failure: S3Failure
  readonly $response: RawResponse
  readonly $metadata: Record<string, unknown>
}> {}

/** As the SDK's callers see it. */
export const refused = (failure: S3Failure, response: RawResponse): AnswerRefused =>
  new AnswerRefused({ failure, $response: response, $metadata: {} })

const entities: Readonly<Record<string, string>> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": "\"",
  "&apos;": "'",
  "&amp;": "&"
}

const element = (text: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1]?.trim().replace(
    /&(lt|gt|quot|apos|amp);/g,
    (entity) => entities[entity] ?? entity
  )

const optional = <K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> => {
  const found: Partial<Record<K, string>> = {}
  if (value !== undefined) found[key] = value
  return found
}

const header = (response: RawResponse, name: string): string | undefined => response.headers[name]

/** What a status of 300 and above says. `text` is the body; empty for HEAD. */
const refusalOf = (response: RawResponse, text: string, head: boolean): S3Failure => {
  const isError = rootElement(text) === "Error"
  const code = isError ? element(text, "Code") : head && response.statusCode === 404 ? "NotFound" : undefined
  const message = (isError ? element(text, "Message") : undefined) ??
    (text === "" || isError
      ? `status ${response.statusCode}`
      : `status ${response.statusCode} with a body that is not S3's`)
  return {
    kind: "answer",
    status: response.statusCode,
    message,
    ...optional("code", code),
    ...optional("retryAfter", header(response, "retry-after")),
    ...optional("date", header(response, "date")),
    ...optional("region", header(response, "x-amz-bucket-region") ?? (isError ? element(text, "Region") : undefined)),
    ...optional("header", isError ? element(text, "Header") : undefined)
  }
}

/** The root element that a command's answer must have. */
const expectedRoot: Readonly<Record<string, string>> = {
  ListObjectsV2Command: "ListBucketResult",
  DeleteObjectsCommand: "DeleteResult",
  GetBucketVersioningCommand: "VersioningConfiguration",
  GetBucketLifecycleConfigurationCommand: "LifecycleConfiguration"
}

// A thousand keys of the greatest length are far below the second; more than this is not an answer of S3.
const errorBytesMax = 64 * 1024
const documentBytesMax = 16 * 1024 * 1024

const isSuccess = ({ statusCode }: RawResponse): boolean => statusCode >= 200 && statusCode <= 299

/** The body of a successful GET of an object is its reader's. */
const isObject = (command: string, response: RawResponse): boolean =>
  command === "GetObjectCommand" && isSuccess(response)

/** Why the answer to `command` is no success, from its status and its whole body; `undefined` where it is one. */
export const answerProblem = (command: string, response: RawResponse, body: Uint8Array): S3Failure | undefined => {
  if (isObject(command, response)) return undefined
  const text = new TextDecoder().decode(body)
  if (!isSuccess(response)) return refusalOf(response, text, command === "HeadObjectCommand")
  const problem = documentProblem(text, expectedRoot[command])
  return problem === undefined ? undefined : { kind: "error-in-success", status: response.statusCode, ...problem }
}

/**
 * Settles what the answer to `command` is: resolves with its body put back as bytes, or rejects with `AnswerRefused`.
 * The body of a successful GET of an object is left to its reader.
 */
export const inspectAnswer = (command: string, response: RawResponse): Promise<void> => {
  if (isObject(command, response)) return Promise.resolve()
  const limit = isSuccess(response) ? documentBytesMax : errorBytesMax
  return collectBody(response.body, { limit }).then((bytes) => {
    const problem = answerProblem(command, response, bytes)
    if (problem !== undefined) throw refused(problem, response)
    response.body = bytes
  })
}
