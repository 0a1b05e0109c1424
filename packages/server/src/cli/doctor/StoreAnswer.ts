/** What a store's refusal means for whoever sets it up, by what was asked for. */
import type { ObjectStoreError, Operation } from "@effect-wal/core/store/ObjectStoreError"
import type { CheckResult } from "./Check.ts"

/** What is needed for what: the permission of S3, and what a log cannot do without it. */
const needs: Readonly<
  Record<Operation, { readonly permission: string; readonly on: "bucket" | "keys"; readonly for: string }>
> = {
  list: { permission: "s3:ListBucket", on: "bucket", for: "a log is opened, replayed and cleaned up by listings" },
  create: { permission: "s3:PutObject", on: "keys", for: "nothing can be stored" },
  replace: { permission: "s3:PutObject", on: "keys", for: "the manifest cannot be replaced, so no log opens" },
  get: { permission: "s3:GetObject", on: "keys", for: "nothing can be read, and no log opens" },
  remove: { permission: "s3:DeleteObject", on: "keys", for: "nothing is ever deleted: storage grows, and is paid for" }
}

/** Where a log is to be kept, for the advice. */
export interface Place {
  /** `undefined` for a store without buckets. */
  readonly bucket: string | undefined
  readonly prefix: string
}

const resource = ({ bucket, prefix }: Place, on: "bucket" | "keys"): string =>
  on === "bucket" ? `arn:aws:s3:::${bucket}` : `arn:aws:s3:::${bucket}/${prefix}*`

const allow = (operation: Operation, place: Place): string => {
  const { on, permission } = needs[operation]
  return place.bucket === undefined
    ? `Give this user the right to ${operation === "get" || operation === "list" ? "read" : "write"} there.`
    : `Allow ${permission} on ${resource(place, on)}.`
}

/** What to do about an answer. */
const nextOf = (error: ObjectStoreError, place: Place): string => {
  switch (error.reason) {
    case "AccessDenied":
      return `${allow(error.operation, place)} Where the bucket asks for encryption, set s3.encryption as it wants.`
    case "NoSuchBucket":
      return "Create the bucket, or correct s3.bucket, s3.region and s3.endpoint."
    case "CredentialsUnavailable":
      return "Give credentials: access_key_id and secret_access_key, their *_file keys, or what the SDK's default chain looks for."
    case "StoreFull":
      return "Make room in the store, or raise its quota."
    case "NotSupported":
      return "Where a checksum header was refused, set s3.checksums: when_required; else use a store that knows the request."
    case "Throttled":
      return "Try again later. Where it stays so, spread the logs over more prefixes, or ask for a higher rate."
    case "TimedOut":
    case "Unavailable":
      return "Check address, network, proxy and firewall, and that the store runs; raise s3.attempt_deadline where it is only slow."
    default:
      return "Check that the address is that of an S3 API, and look the answer up in the documents of the store."
  }
}

/** The row of a request that failed. */
export const refusedRow = (check: string, error: ObjectStoreError, place: Place): CheckResult => ({
  check,
  status: "failed",
  found: error.answer,
  means: needs[error.operation].for,
  next: nextOf(error, place)
})

/** Whether nobody is there who could answer: then nothing else has to be asked. */
export const isUnreachable = (error: ObjectStoreError): boolean =>
  error.reason === "TimedOut" || error.reason === "Unavailable" || error.reason === "CredentialsUnavailable" ||
  error.reason === "NoSuchBucket"
