/**
 * The object store of the log on a client of S3.
 *
 * **Owns** what an S3 answer means for each operation, the spelling of tags, the fall-back from batch deletes.
 * **Does not own** retries and pacing (the log counts its attempts), the connection (`S3Client.ts`), and the check that
 * the store keeps its conditions (the log's probe).
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type {
  GetRequest,
  ListRequest,
  RemoveFailure,
  StoredObject,
  Tag,
  WriteOptions
} from "@effect-wal/core/store/ObjectStore"
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import type { Operation } from "@effect-wal/core/store/ObjectStoreError"
import { Effect } from "effect"
import { lifecycleWarnings, versioningWarnings } from "./BucketAdvice.ts"
import { withoutEncodingSuffix } from "./EtagSpelling.ts"
import { makeReplace } from "./ReplaceIfMatch.ts"
import { toObjectStoreError } from "./S3Answer.ts"
import type { Question, S3Failure } from "./S3Answer.ts"
import type { S3Client } from "./S3Client.ts"
import { storeId } from "./S3Options.ts"
import type { ResolvedS3Options } from "./S3Options.ts"

const maxPage = 1000

const checksumHeaders = ["x-amz-checksum-crc32"]

const headersOf = (options: ResolvedS3Options, operation: Operation): ReadonlyArray<string> => {
  if (operation !== "create" && operation !== "replace") return []
  const condition = options.conditionalWrites === "single_writer"
    ? []
    : [operation === "create" ? "If-None-Match" : "If-Match"]
  return options.checksums === "when_required" ? condition : [...condition, ...checksumHeaders]
}

const unexpected = (operation: Operation, key: string, detail: string): ObjectStoreError =>
  new ObjectStoreError({ operation, key, reason: "UnexpectedResponse", detail })

const tagged = (operation: Operation, key: string) => (tag: Tag | undefined): Effect.Effect<Tag, ObjectStoreError> =>
  tag === undefined || tag === ""
    ? Effect.fail(unexpected(operation, key, "the answer has no ETag"))
    : Effect.succeed(tag)

const makeGet = (
  client: S3Client,
  fail: (operation: Operation, key: string) => (failure: S3Failure) => ObjectStoreError
) => {
  // A compressing proxy puts `-gzip` on the tag of what it passes on; the store itself would never match that. Only a
  // HEAD that answers exactly the shorter tag proves that both name the version that was just read.
  const ownTag = (key: string, tag: Tag) => {
    const shorter = withoutEncodingSuffix(tag)
    if (shorter === undefined) return Effect.succeed(tag)
    return client.head(key).pipe(
      // A HEAD has no body that says what is missing. The object was read: at most it is gone since, and no HEAD proves its tag.
      Effect.catchIf((failure) => failure.status === 404, () => Effect.succeed(undefined)),
      Effect.mapError(fail("get", key)),
      Effect.map((stored) => stored === shorter ? shorter : tag)
    )
  }
  const read = (key: string, firstBytes: number | undefined) =>
    firstBytes === undefined ? client.get(key) : client.get(key, { firstBytes }).pipe(
      // An empty object has no first byte: the store calls the range impossible.
      Effect.catchIf((failure) => failure.status === 416, () => client.get(key))
    )
  return (key: string, request?: GetRequest): Effect.Effect<StoredObject, ObjectStoreError> =>
    read(key, request?.firstBytes).pipe(
      Effect.mapError(fail("get", key)),
      Effect.flatMap((got) =>
        tagged("get", key)(got.tag).pipe(
          Effect.flatMap((tag) => ownTag(key, tag)),
          Effect.map((tag) => ({ body: got.body.subarray(0, request?.firstBytes ?? got.body.byteLength), tag }))
        )
      )
    )
}

const makeList =
  (client: S3Client, fail: (operation: Operation, key: string) => (failure: S3Failure) => ObjectStoreError) =>
  (request: ListRequest) =>
    client.list({ ...request, limit: Math.min(maxPage, Math.max(1, request.limit ?? maxPage)) }).pipe(
      Effect.mapError(fail("list", request.prefix)),
      Effect.flatMap((page) => {
        if (!page.truncated) return Effect.succeed({ objects: page.objects })
        // Without a way on, the rest of the keys would be silently missing, or this page would come for ever.
        if (page.next === undefined || page.next === request.page) {
          return Effect.fail(unexpected("list", request.prefix, "a cut listing without a token for the next page"))
        }
        return Effect.succeed({ objects: page.objects, next: page.next })
      })
    )

const batchRefused = (failure: S3Failure): boolean =>
  failure.kind === "answer" &&
  (failure.status === 501 || failure.status === 405 ||
    failure.status === 400 && ["MissingContentMD5", "InvalidRequest", "InvalidArgument"].includes(failure.code ?? ""))

const makeRemove = (
  client: S3Client,
  fail: (operation: Operation, key: string) => (failure: S3Failure) => ObjectStoreError
) => {
  let batches = true
  const one = (key: string): Effect.Effect<ReadonlyArray<RemoveFailure>, S3Failure> =>
    client.removeOne(key).pipe(
      Effect.as<ReadonlyArray<RemoveFailure>>([]),
      Effect.catchIf(
        (failure) => failure.kind === "answer" && (failure.status === 404 || failure.status === 403),
        (failure) =>
          Effect.succeed(failure.code === "NoSuchKey" ? [] : [{ key, code: failure.code ?? `${failure.status}` }])
      )
    )
  const oneByOne = (keys: ReadonlyArray<string>) =>
    Effect.forEach(keys, one, { concurrency: 8 }).pipe(Effect.map((failures) => failures.flat()))
  const many = (keys: ReadonlyArray<string>) =>
    client.removeMany(keys).pipe(
      Effect.map((failures) => failures.filter((failure) => failure.code !== "NoSuchKey")),
      Effect.catchIf(batchRefused, () => {
        batches = false
        return oneByOne(keys)
      })
    )
  return (keys: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<RemoveFailure>, ObjectStoreError> => {
    if (keys.length === 0) return Effect.succeed([])
    if (keys.length > maxPage) return Effect.die(new Error(`remove takes up to ${maxPage} keys, not ${keys.length}`))
    return Effect.suspend(() => batches ? many(keys) : oneByOne(keys)).pipe(
      Effect.mapError(fail("remove", keys[0] ?? ""))
    )
  }
}

// The settings may be hidden from us or unknown to the store, and neither says anything about the log.
const silentStatuses = new Set([400, 401, 403, 404, 405, 501])

const readable = <A>(request: Effect.Effect<A, S3Failure>, absent: A): Effect.Effect<A, S3Failure> =>
  Effect.catchIf(
    request,
    (failure) =>
      failure.kind === "error-in-success" ||
      failure.kind === "answer" && silentStatuses.has(failure.status ?? 0) && failure.code !== "NoSuchBucket",
    () => Effect.succeed(absent)
  )

/** The store on a client. One call is one view of the store: what it learns about it is forgotten with it. */
export const storeOnClient = (client: S3Client, options: ResolvedS3Options): ObjectStore["Service"] => {
  const conditional = options.conditionalWrites === "required"
  const question = (operation: Operation, key: string): Question => ({
    operation,
    key,
    store: storeId(options),
    headersSent: headersOf(options, operation)
  })
  const fail = (operation: Operation, key: string) => (failure: S3Failure) =>
    toObjectStoreError(failure, question(operation, key))
  const replaceIfMatch = makeReplace(client, options.etagQuoting, (key) => question("replace", key))
  const write = (
    operation: Operation,
    key: string,
    body: Uint8Array,
    extra: WriteOptions & { readonly ifNoneMatch?: "*" }
  ) =>
    client.put({ key, body, ...extra }).pipe(
      Effect.mapError(fail(operation, key)),
      Effect.flatMap(tagged(operation, key))
    )
  return ObjectStore.of({
    id: storeId(options),
    get: makeGet(client, fail),
    create: (key, body, extra) =>
      write("create", key, body, { ...extra, ...(conditional ? { ifNoneMatch: "*" } : {}) }),
    replace: (key, body, expected, extra) =>
      conditional ?
        Effect.flatMap(replaceIfMatch({ key, body, expected, ...extra }), tagged("replace", key)) :
        write("replace", key, body, { ...extra }),
    list: makeList(client, fail),
    remove: makeRemove(client, fail),
    advice: (prefix) =>
      Effect.all([readable(client.lifecycle, []), readable(client.versioning, undefined)]).pipe(
        Effect.map(([rules, status]) => [...lifecycleWarnings(rules, prefix), ...versioningWarnings(status)]),
        Effect.mapError(fail("list", prefix))
      )
  })
}
