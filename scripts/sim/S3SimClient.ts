/**
 * A client of S3 on simulated answers. What it makes of them is the code of the S3 package.
 *
 * **Owns** what the SDK and Node's HTTP do otherwise: a body that is shorter than announced, documents that are no XML.
 * **Does not own** what an answer means (`AnswerInspection.ts`), its repeats (`Attempt.ts`), what is stored (`S3Server.ts`),
 * the way there (`S3Wire.ts`).
 */
import { Duration, Effect } from "effect"
import type { Operation } from "../../packages/core/src/store/ObjectStoreError.ts"
import { answerProblem } from "../../packages/s3/src/AnswerInspection.ts"
import { type CredentialsSource, makeAttempts } from "../../packages/s3/src/Attempt.ts"
import type { S3Failure } from "../../packages/s3/src/S3Answer.ts"
import type { PutRequest, S3Client } from "../../packages/s3/src/S3Client.ts"
import { listedOf, removeFailuresOf, shortBodyProblem } from "../../packages/s3/src/S3Result.ts"
import type { Command, HttpAnswer } from "./S3Http.ts"
import type { S3Server } from "./S3Server.ts"
import { deleteDocument, listDocument, parseXml } from "./S3Xml.ts"

/** One request. */
export interface Asked {
  readonly command: Command
  readonly operation: Operation
  readonly key: string
  readonly isWrite: boolean
  /** What the store does and answers, once for each time that the request reaches it. */
  readonly apply: () => HttpAnswer
  /** The client stops looking at what it sends: from now on that must not change. */
  readonly onAbandoned?: () => void
  /** The most bytes of the body that are read. */
  readonly limit?: number
}

/** Sends one request once. Fails where no answer came. */
export type Exchange = (asked: Asked) => Effect.Effect<HttpAnswer, S3Failure>

export interface SimClientParts {
  readonly exchange: Exchange
  readonly server: S3Server
  readonly credentials: CredentialsSource
  readonly deadlineMillis: number
}

/** A connection that went away, as Node says it. */
export const broken = (message: string): S3Failure => ({ kind: "transport", message, code: "ECONNRESET" })

const isHead = (command: Command): boolean => command === "HeadObjectCommand"
const withoutBody = (given: HttpAnswer): HttpAnswer => ({ ...given, body: new Uint8Array(0) })

/** What was answered, whole and good, or why not. */
const readAnswer = (given: HttpAnswer, { command, limit = Infinity }: Asked): Effect.Effect<HttpAnswer, S3Failure> => {
  const whole = isHead(command) ? withoutBody(given) : given
  const body = whole.body.subarray(0, limit)
  const declared = isHead(command) ? undefined : given.headers["content-length"]
  const short = shortBodyProblem(body, { declaredBytes: declared === undefined ? undefined : Number(declared), limit })
  if (short !== undefined) return Effect.fail(broken(short))
  const problem = answerProblem(command, { statusCode: given.status, headers: given.headers }, body)
  return problem === undefined ? Effect.succeed({ ...whole, body }) : Effect.fail(problem)
}

/** The answer's document, as the SDK takes it apart. */
const documentOf = ({ body }: HttpAnswer) => {
  const root = parseXml(new TextDecoder().decode(body))
  return root === undefined
    ? Effect.fail<S3Failure>({ kind: "transport", message: "XML parse error", code: "Error" })
    : Effect.succeed(root)
}

const tagIn = ({ headers }: HttpAnswer): string | undefined => headers["etag"]

/** A client of one process. It holds nothing but its generation of credentials. */
export const makeSimClient = ({ credentials, deadlineMillis, exchange, server }: SimClientParts): S3Client => {
  const attempts = Effect.runSync(makeAttempts(credentials))
  const deadline = Duration.millis(deadlineMillis)
  const send = (asked: Asked) =>
    attempts(deadline, Effect.flatMap(exchange(asked), (given) => readAnswer(given, asked)))
  const put = ({ body, ifMatch, ifNoneMatch, key }: PutRequest) => {
    // The bytes that are there when the request arrives, as long as the caller must not change them.
    let sent: Uint8Array | undefined
    return send({
      command: "PutObjectCommand",
      operation: ifMatch === undefined ? "create" : "replace",
      key,
      isWrite: true,
      apply: () => server.put({ key, body: sent ?? body.slice(), ifNoneMatch: ifNoneMatch === "*", ifMatch }),
      onAbandoned: () => {
        sent ??= body.slice()
      }
    })
  }
  const get = (key: string, firstBytes: number | undefined) =>
    send({
      command: "GetObjectCommand",
      operation: "get",
      key,
      isWrite: false,
      apply: () => server.get(key, firstBytes),
      ...(firstBytes === undefined ? {} : { limit: firstBytes })
    })
  const remove = (command: Command, key: string, apply: () => HttpAnswer) =>
    send({ command, operation: "remove", key, isWrite: true, apply })
  const ask = (command: Command, key: string, apply: () => HttpAnswer) =>
    send({ command, operation: "list", key, isWrite: false, apply })
  return {
    put: (request) => Effect.map(put(request), tagIn),
    get: (key, range) => Effect.map(get(key, range?.firstBytes), (given) => ({ body: given.body, tag: tagIn(given) })),
    head: (key) =>
      Effect.map(
        send({ command: "HeadObjectCommand", operation: "get", key, isWrite: false, apply: () => server.head(key) }),
        tagIn
      ),
    list: (query) =>
      ask("ListObjectsV2Command", query.prefix, () => server.list(query)).pipe(
        Effect.flatMap(documentOf),
        Effect.map((root) => listedOf(listDocument(root)))
      ),
    removeMany: (keys) =>
      remove("DeleteObjectsCommand", keys[0] ?? "", () => server.removeMany(keys)).pipe(
        Effect.flatMap(documentOf),
        Effect.map((root) => removeFailuresOf(deleteDocument(root)))
      ),
    removeOne: (key) => Effect.asVoid(remove("DeleteObjectCommand", key, () => server.removeOne(key))),
    lifecycle: Effect.as(ask("GetBucketLifecycleConfigurationCommand", "?lifecycle", () => server.lifecycle()), []),
    versioning: ask("GetBucketVersioningCommand", "?versioning", () => server.versioning()).pipe(
      Effect.flatMap(documentOf),
      Effect.map((root) => root.children[0]?.text)
    )
  }
}
