/**
 * What the answers say that were successful, after their documents were parsed.
 */
import type { ListedObject, RemoveFailure } from "@effect-wal/core/store/ObjectStore"

/** A parsed `ListBucketResult`. */
export interface ListDocument {
  readonly Contents?:
    | ReadonlyArray<{
      readonly Key?: string | undefined
      readonly Size?: number | undefined
      readonly LastModified?: Date | undefined
    }>
    | undefined
  readonly IsTruncated?: boolean | undefined
  readonly NextContinuationToken?: string | undefined
}

/** A page of a listing; `next` may be missing from one that says it is cut. */
export interface Listed {
  readonly objects: ReadonlyArray<ListedObject>
  readonly truncated: boolean
  readonly next: string | undefined
}

const toListed = (object: NonNullable<ListDocument["Contents"]>[number]): ReadonlyArray<ListedObject> => {
  if (object.Key === undefined) return []
  const modified = object.LastModified?.getTime()
  return [{
    key: object.Key,
    sizeBytes: object.Size ?? 0,
    ...(modified === undefined || !Number.isFinite(modified) ? {} : { modifiedMillis: modified })
  }]
}

export const listedOf = (answer: ListDocument): Listed => ({
  objects: (answer.Contents ?? []).flatMap(toListed),
  truncated: answer.IsTruncated === true,
  next: answer.NextContinuationToken
})

/** A parsed `DeleteResult`. */
export interface DeleteDocument {
  readonly Errors?:
    | ReadonlyArray<{ readonly Key?: string | undefined; readonly Code?: string | undefined }>
    | undefined
}

export const removeFailuresOf = (answer: DeleteDocument): ReadonlyArray<RemoveFailure> =>
  (answer.Errors ?? []).map((error) => ({ key: error.Key ?? "", code: error.Code ?? "Error" }))

/** The `Range` header for the first so many bytes; the smallest range is one byte. */
export const rangeOf = (firstBytes: number): string => `bytes=0-${Math.max(1, firstBytes) - 1}`

/** What is missing from a body of which at most `limit` bytes were read; `undefined` where it is whole. */
export const shortBodyProblem = (
  body: Uint8Array,
  { declaredBytes, limit }: { readonly declaredBytes: number | undefined; readonly limit: number }
): string | undefined => {
  const declared = Math.min(declaredBytes ?? 0, limit)
  return body.byteLength < declared ? `the body ended after ${body.byteLength} of ${declared} bytes` : undefined
}
