/**
 * The compare-and-swap of the S3 store, and what is known about how this store wants its tags written.
 *
 * Until one spelling has worked, a 412 is ambiguous: the object was changed, or the store does not know its own tag in
 * the spelling that was sent. A HEAD tells: if the object still has the very tag that was expected, the other spelling
 * is tried. Both spellings name the same version, so neither request can replace anything else.
 */
import type { Tag } from "@effect-wal/core/store/ObjectStore"
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { Effect } from "effect"
import { isWeak, spell } from "./EtagSpelling.ts"
import type { Spelling } from "./EtagSpelling.ts"
import { toObjectStoreError } from "./S3Answer.ts"
import type { Question, S3Failure } from "./S3Answer.ts"
import type { PutRequest, S3Client } from "./S3Client.ts"

export interface ReplaceRequest extends Pick<PutRequest, "key" | "body" | "crc32"> {
  readonly expected: Tag
}

const weakTag = (request: ReplaceRequest): ObjectStoreError =>
  new ObjectStoreError({
    operation: "replace",
    key: request.key,
    reason: "UnexpectedResponse",
    detail: `If-Match needs a strong tag and the store gave the weak one ${request.expected}`
  })

/** The replace of one client. Answers the new version's tag, `undefined` when the store named none. */
export const makeReplace = (
  client: S3Client,
  quoting: "auto" | "quoted" | "unquoted",
  question: (key: string) => Question
): (request: ReplaceRequest) => Effect.Effect<Tag | undefined, ObjectStoreError> => {
  const known = quoting === "auto" ? undefined : quoting
  let worked: Spelling | undefined = known

  const put = (request: ReplaceRequest, spelling: Spelling) =>
    client.put({
      key: request.key,
      body: request.body,
      ifMatch: spell(request.expected, spelling),
      ...(request.crc32 === undefined ? {} : { crc32: request.crc32 })
    }).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          worked = spelling
        })
      ),
      Effect.mapError((failure) => toObjectStoreError(failure, question(request.key)))
    )

  const tryOther = (request: ReplaceRequest, refused: ObjectStoreError) =>
    client.head(request.key).pipe(
      Effect.catch((failure: S3Failure) => {
        const error = toObjectStoreError(failure, question(request.key))
        // Gone: the refusal stands, the caller's next read sees it. Anything else leaves open what the 412 meant.
        return error.reason === "NotFound" ? Effect.fail(refused) : Effect.fail(error)
      }),
      Effect.flatMap((tag) => tag === request.expected ? put(request, "other") : Effect.fail(refused))
    )

  return (request) =>
    Effect.suspend(() => {
      if (isWeak(request.expected)) return Effect.fail(weakTag(request))
      if (worked !== undefined) return put(request, worked)
      return put(request, "as-given").pipe(
        Effect.catchIf(
          // Another request may have found the spelling meanwhile; then this 412 was sent in the wrong one or is final.
          (error) => error.reason === "PreconditionFailed" && worked !== "as-given",
          (error) => tryOther(request, error)
        )
      )
    })
}
