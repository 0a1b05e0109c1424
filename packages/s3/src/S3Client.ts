/** The few requests that the store needs, in front of the AWS SDK: what is asked, and what the answers hold. */
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand
} from "@aws-sdk/client-s3"
import type { GetObjectCommandOutput, LifecycleRule as SdkLifecycleRule, S3Client as Sdk } from "@aws-sdk/client-s3"
import type { RemoveFailure, Tag } from "@effect-wal/core/store/ObjectStore"
import type { ConfigError } from "@effect-wal/core/WalError"
import { Effect } from "effect"
import type { Scope } from "effect"
import { crc32 as crc32Of } from "node:zlib"
import { refused } from "./AnswerInspection.ts"
import { makeSend } from "./Attempt.ts"
import type { Send } from "./Attempt.ts"
import type { LifecycleRule } from "./BucketAdvice.ts"
import { makeDirectPut } from "./DirectPut.ts"
import type { DirectPut } from "./DirectPut.ts"
import { collectBody } from "./ResponseBody.ts"
import type { S3Failure } from "./S3Answer.ts"
import type { ResolvedS3Options } from "./S3Options.ts"
import { listedOf, rangeOf, removeFailuresOf, shortBodyProblem } from "./S3Result.ts"
import type { Listed } from "./S3Result.ts"
import { makeSdk } from "./Sdk.ts"

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

const base64OfCrc32 = (value: number): string => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes.toString("base64")
}

const checksumOf = (request: PutRequest): string => base64OfCrc32(request.crc32 ?? crc32Of(request.body))

const writeHeaders = (options: ResolvedS3Options, request: PutRequest) => ({
  ...(request.ifNoneMatch === undefined ? {} : { IfNoneMatch: request.ifNoneMatch }),
  ...(request.ifMatch === undefined ? {} : { IfMatch: request.ifMatch }),
  ...(options.checksums === "when_required" ? {} : {
    // Without the algorithm's name some stores take the checksum and do not look at it.
    ChecksumAlgorithm: "CRC32" as const,
    ChecksumCRC32: checksumOf(request)
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

/** The headers of a direct PUT that are its own; those of every PUT are learnt. */
const directHeaders = (options: ResolvedS3Options, request: PutRequest): Record<string, string> => ({
  ...(request.ifNoneMatch === undefined ? {} : { "if-none-match": request.ifNoneMatch }),
  ...(request.ifMatch === undefined ? {} : { "if-match": request.ifMatch }),
  ...(options.checksums === "when_required" ? {} : { "x-amz-checksum-crc32": checksumOf(request) })
})

/** What a request needs: the SDK's client, the sender, and the bucket's settings. */
interface Line {
  readonly sdk: Sdk
  /** How to send a PUT around the SDK's middleware; `undefined` where that cannot be, or is not wanted. */
  readonly directPut: () => DirectPut | undefined
  readonly send: Send
  readonly options: ResolvedS3Options
}

const putCommand = (options: ResolvedS3Options, request: PutRequest): PutObjectCommand =>
  new PutObjectCommand({
    Bucket: options.bucket,
    Key: request.key,
    Body: request.body,
    ContentLength: request.body.byteLength,
    ContentType: "application/octet-stream",
    ...writeHeaders(options, request)
  })

const sdkPut = ({ options, sdk }: Line, request: PutRequest, abortSignal: AbortSignal) =>
  sdk.send(putCommand(options, request), { abortSignal }).then((answer) => answer.ETag)

const put = (line: Line, request: PutRequest) =>
  Effect.suspend(() => {
    // Only the first try: the SDK learns from what a repeat is for (the store's clock).
    let direct = line.directPut()
    return line.send(line.options.attemptDeadline, (abortSignal) => {
      const send = direct
      direct = undefined
      if (send === undefined) return sdkPut(line, request, abortSignal)
      const { body, key } = request
      return send({ key, body, headers: directHeaders(line.options, request) }, abortSignal)
    })
  })

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
        maxSockets: options.maxSockets,
        refreshable: options.credentials === undefined || "provider" in options.credentials
      })
      const example = putCommand(options, { key: "example", body: new Uint8Array(0) })
      const directPut = options.putPath === "direct"
        ? yield* Effect.promise(() => makeDirectPut(sdk, { example, unsignedPayload: options.unsignedPayload }))
        : () => undefined
      const line: Line = { sdk, send, options, directPut }
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
