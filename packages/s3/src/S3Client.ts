/**
 * The AWS SDK behind the few requests that the store needs. Nothing else imports the SDK.
 *
 * Set up so that one call is one request: no retries of the SDK's, no 100-continue round, no checksum but the one that
 * the caller has, an agent of our own that keeps connections and is closed with the scope.
 */
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client as Sdk
} from "@aws-sdk/client-s3"
import type { GetObjectCommandOutput, LifecycleRule as SdkLifecycleRule, S3ClientConfig } from "@aws-sdk/client-s3"
import type { RemoveFailure, Tag } from "@effect-wal/core/store/ObjectStore"
import { ConfigError } from "@effect-wal/core/WalError"
import { Duration, Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { Agent as HttpAgent } from "node:http"
import { Agent as HttpsAgent } from "node:https"
import { crc32 as crc32Of } from "node:zlib"
import { inspectAnswer, refused } from "./AnswerInspection.ts"
import type { RawResponse } from "./AnswerInspection.ts"
import { makeSend } from "./Attempt.ts"
import type { Send } from "./Attempt.ts"
import type { LifecycleRule } from "./BucketAdvice.ts"
import { collectBody } from "./ResponseBody.ts"
import type { S3Failure } from "./S3Answer.ts"
import type { ResolvedS3Options, S3Credentials } from "./S3Options.ts"
import { listedOf, rangeOf, removeFailuresOf, shortBodyProblem } from "./S3Result.ts"
import type { Listed } from "./S3Result.ts"

export interface PutRequest {
  readonly key: string
  readonly body: Uint8Array
  /** `If-None-Match`. */
  readonly ifNoneMatch?: "*"
  /** `If-Match`, spelled as the store wants it. */
  readonly ifMatch?: string
  /** CRC-32 of the body, if the caller has it. */
  readonly crc32?: number
}

export interface Got {
  readonly body: Uint8Array
  readonly tag: Tag | undefined
}

export interface ListQuery {
  readonly prefix: string
  readonly startAfter?: string
  readonly page?: string
  readonly limit: number
}

/** The requests, each one attempt under its deadline. A tag is `undefined` when the answer had none. */
export interface S3Client {
  readonly put: (request: PutRequest) => Effect.Effect<Tag | undefined, S3Failure>
  readonly get: (key: string, range?: { readonly firstBytes: number }) => Effect.Effect<Got, S3Failure>
  readonly head: (key: string) => Effect.Effect<Tag | undefined, S3Failure>
  readonly list: (query: ListQuery) => Effect.Effect<Listed, S3Failure>
  readonly removeMany: (keys: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<RemoveFailure>, S3Failure>
  readonly removeOne: (key: string) => Effect.Effect<void, S3Failure>
  readonly lifecycle: Effect.Effect<ReadonlyArray<LifecycleRule>, S3Failure>
  /** The bucket's versioning status; absent when it never was versioned. */
  readonly versioning: Effect.Effect<string | undefined, S3Failure>
}

const identityOf = (credentials: S3Credentials) => ({
  accessKeyId: credentials.accessKeyId,
  secretAccessKey: Redacted.value(credentials.secretAccessKey),
  ...(credentials.sessionToken === undefined ? {} : { sessionToken: Redacted.value(credentials.sessionToken) })
})

const credentialsConfig: (options: ResolvedS3Options) => Effect.Effect<Pick<S3ClientConfig, "credentials">> = Effect
  .fnUntraced(function*(options) {
    const given = options.credentials
    if (given === undefined) return {}
    if (!("provider" in given)) return { credentials: identityOf(given) }
    // The SDK asks by a promise; the effect keeps the services of the layer that made this client.
    const context = yield* Effect.context()
    return { credentials: () => Effect.runPromiseWith(context)(Effect.map(given.provider, identityOf)) }
  })

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

type Logger = NonNullable<S3ClientConfig["logger"]>

const sdkConfig = (options: ResolvedS3Options, agents: Agents, logger: Logger): S3ClientConfig => {
  const backstopMillis = 2 *
    Math.max(Duration.toMillis(options.attemptDeadline), Duration.toMillis(options.smallRequestDeadline))
  return {
    ...(options.region === undefined ? {} : { region: options.region }),
    ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    forcePathStyle: options.forcePathStyle,
    maxAttempts: 1,
    expectContinueHeader: false,
    requestChecksumCalculation: "WHEN_REQUIRED",
    // The log's own checksums find damage and say where; a failed check here would look like a broken connection.
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      httpAgent: agents.http,
      httpsAgent: agents.https,
      connectionTimeout: Duration.toMillis(options.connectTimeout),
      requestTimeout: backstopMillis,
      throwOnRequestTimeout: true,
      socketTimeout: backstopMillis,
      logger
    }
  }
}

/** The SDK warns about used-up connections on the console, unless it is given a log of ours. */
const sdkLogger: Effect.Effect<Logger> = Effect.map(Effect.context(), (context) => {
  const fork = Effect.runForkWith(context)
  const silent = () => undefined
  const warn = (...content: ReadonlyArray<unknown>) => {
    fork(Effect.logWarning(...content))
  }
  return { trace: silent, debug: silent, info: silent, warn, error: warn }
})

// Without a region the SDK refuses each request by itself: a mistake in the set-up, not a store that is down.
const requireRegion = (sdk: Sdk): Effect.Effect<string, ConfigError> =>
  Effect.tryPromise({
    try: () => sdk.config.region(),
    catch: () =>
      new ConfigError({
        source: "S3 options",
        problems: [{ path: "s3.region", rule: "must be given here, in AWS_REGION or in the profile" }]
      })
  })

const makeSdk: (options: ResolvedS3Options) => Effect.Effect<Sdk, ConfigError, Scope.Scope> = Effect.fnUntraced(
  function*(options) {
    const settings = { keepAlive: true, maxSockets: options.maxSockets }
    const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
    const credentials = yield* credentialsConfig(options)
    const logger = yield* sdkLogger
    const sdk = yield* Effect.acquireRelease(
      Effect.sync(() => new Sdk({ ...sdkConfig(options, agents, logger), ...credentials })),
      (client) =>
        Effect.sync(() => {
          client.destroy()
          agents.http.destroy()
          agents.https.destroy()
        })
    )
    yield* requireRegion(sdk)
    sdk.middlewareStack.add(
      (next, context) => (args) =>
        next(args).then((result) => {
          const response: RawResponse = Object(result.response)
          return inspectAnswer(context.commandName ?? "", response).then(() => result)
        }),
      // Low priority in this step is next to the wire: the answer is seen before the SDK's parser has it.
      { name: "inspectAnswer", step: "deserialize", priority: "low" }
    )
    return sdk
  }
)

const base64OfCrc32 = (value: number): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes.toString("base64")
}

const writeHeaders = (options: ResolvedS3Options, request: PutRequest) => ({
  ...(request.ifNoneMatch === undefined ? {} : { IfNoneMatch: request.ifNoneMatch }),
  ...(request.ifMatch === undefined ? {} : { IfMatch: request.ifMatch }),
  ...(options.checksums === "when_required" ? {} : {
    // Without the algorithm's name some stores take the checksum and do not look at it.
    ChecksumAlgorithm: "CRC32" as const,
    ChecksumCRC32: base64OfCrc32(request.crc32 ?? crc32Of(request.body))
  }),
  ...(options.encryption === undefined ? {} : { ServerSideEncryption: options.encryption.type }),
  ...(options.encryption?.type === "aws:kms" && options.encryption.kmsKeyId !== undefined ?
    { SSEKMSKeyId: options.encryption.kmsKeyId } :
    {})
})

const toRule = (rule: SdkLifecycleRule): LifecycleRule => ({
  id: rule.ID,
  enabled: rule.Status === "Enabled",
  prefix: rule.Filter?.Prefix ?? rule.Filter?.And?.Prefix ?? rule.Prefix ?? "",
  filteredByTag: rule.Filter?.Tag !== undefined || (rule.Filter?.And?.Tags ?? []).length > 0,
  touchesObjects: rule.Expiration !== undefined || (rule.Transitions ?? []).length > 0
})

// Far above the greatest segment; an object of this size is not the log's, and reading it would take the memory away.
const objectBytesMax = 256 * 1024 * 1024

const wholeBody = (answer: GetObjectCommandOutput, signal: AbortSignal, firstBytes: number | undefined) => {
  const limit = firstBytes ?? objectBytesMax + 1
  return collectBody(answer.Body, { signal, limit }).then((bytes) => {
    if (bytes.byteLength > objectBytesMax) {
      const message = `the object is larger than ${objectBytesMax} bytes`
      throw refused({ kind: "answer", status: 200, message }, { statusCode: 200, headers: {} })
    }
    const short = shortBodyProblem(bytes, { declaredBytes: answer.ContentLength, limit })
    if (short !== undefined) throw new Error(short)
    return { body: bytes, tag: answer.ETag }
  })
}

/** What a request needs: the SDK's client, the sender, and the bucket's settings. */
interface Line {
  readonly sdk: Sdk
  readonly send: Send
  readonly options: ResolvedS3Options
}

const put = (line: Line, request: PutRequest) =>
  line.send(line.options.attemptDeadline, (abortSignal) =>
    line.sdk.send(
      new PutObjectCommand({
        Bucket: line.options.bucket,
        Key: request.key,
        Body: request.body,
        ContentLength: request.body.byteLength,
        ContentType: "application/octet-stream",
        ...writeHeaders(line.options, request)
      }),
      { abortSignal }
    ).then((answer) => answer.ETag))

const get = (line: Line, key: string, firstBytes: number | undefined) =>
  line.send(line.options.attemptDeadline, (abortSignal) =>
    line.sdk.send(
      new GetObjectCommand({
        Bucket: line.options.bucket,
        Key: key,
        ...(firstBytes === undefined ? {} : { Range: rangeOf(firstBytes) })
      }),
      { abortSignal }
    ).then((answer) => wholeBody(answer, abortSignal, firstBytes)))

const list = (line: Line, query: ListQuery) =>
  line.send(line.options.smallRequestDeadline, (abortSignal) =>
    line.sdk.send(
      new ListObjectsV2Command({
        Bucket: line.options.bucket,
        Prefix: query.prefix,
        MaxKeys: query.limit,
        ...(query.page === undefined ? {} : { ContinuationToken: query.page }),
        ...(query.startAfter === undefined ? {} : { StartAfter: query.startAfter })
      }),
      { abortSignal }
    ).then(listedOf))

const removeMany = (line: Line, keys: ReadonlyArray<string>) =>
  line.send(line.options.smallRequestDeadline, (abortSignal) =>
    line.sdk.send(
      new DeleteObjectsCommand({
        Bucket: line.options.bucket,
        Delete: { Quiet: true, Objects: keys.map((Key) => ({ Key })) }
      }),
      { abortSignal }
    ).then(removeFailuresOf))

/** The client for one bucket; its connections end with the scope. Fails `ConfigError` when no region is known. */
export const make: (options: ResolvedS3Options) => Effect.Effect<S3Client, ConfigError, Scope.Scope> = Effect
  .fnUntraced(
    function*(options) {
      const sdk = yield* makeSdk(options)
      const send = yield* makeSend({
        credentials: (request) => sdk.config.credentials(request),
        refreshable: options.credentials === undefined || "provider" in options.credentials
      })
      const line: Line = { sdk, send, options }
      const Bucket = options.bucket
      const small = options.smallRequestDeadline
      return {
        put: (request) => put(line, request),
        get: (key, range) => get(line, key, range?.firstBytes),
        list: (query) => list(line, query),
        removeMany: (keys) => removeMany(line, keys),
        head: (key) =>
          send(
            small,
            (abortSignal) =>
              sdk.send(new HeadObjectCommand({ Bucket, Key: key }), { abortSignal }).then((answer) => answer.ETag)
          ),
        removeOne: (key) =>
          send(
            small,
            (abortSignal) =>
              sdk.send(new DeleteObjectCommand({ Bucket, Key: key }), { abortSignal }).then(() => undefined)
          ),
        lifecycle: send(
          small,
          (abortSignal) =>
            sdk.send(new GetBucketLifecycleConfigurationCommand({ Bucket }), { abortSignal })
              .then((answer) => (answer.Rules ?? []).map(toRule))
        ),
        versioning: send(
          small,
          (abortSignal) =>
            sdk.send(new GetBucketVersioningCommand({ Bucket }), { abortSignal }).then((answer) => answer.Status)
        )
      }
    }
  )
