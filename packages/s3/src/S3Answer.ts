/**
 * From what S3 answered to what it means for the log: the only place where statuses and vendor codes are looked at.
 *
 * The rules, in order: a code that says something precise wins over its status, since gateways disagree about
 * statuses; then the status; without either, nobody answered. A failed precondition, a taken key and a missing one are
 * only ever read from statuses that cannot mean anything else for that operation, because the log acts on them.
 */
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import type { Operation, Reason } from "@effect-wal/core/store/ObjectStoreError"

/** What is known of a request that did not succeed. */
export interface S3Failure {
  readonly kind:
    /** The store answered `status`. */
    | "answer"
    /** The store answered 2xx and put an error, or something that cannot be read, into the body. */
    | "error-in-success"
    /** No whole answer: refused, reset, cut short. */
    | "transport"
    /** No whole answer within the deadline, or no connection within the connect time-out. */
    | "timeout"
    /** No credentials could be had, so nothing was sent. */
    | "credentials"
  readonly message: string
  readonly status?: number
  /** The `<Code>` of the error document, or the name of the transport's error. */
  readonly code?: string
  /** The `Retry-After` header as it came. */
  readonly retryAfter?: string
  /** The `Date` header as it came; a `Retry-After` date is counted from it, not from our clock. */
  readonly date?: string
  /** The region that the store named. */
  readonly region?: string
  /** The header that the store refused. */
  readonly header?: string
}

/** What was asked when the failure came. */
export interface Question {
  readonly operation: Operation
  readonly key: string
  /** The bucket, for people. */
  readonly store: string
  /** Header names that a 501 may be about: those beyond a plain request. */
  readonly headersSent: ReadonlyArray<string>
}

const expiredCodes = new Set([
  "ExpiredToken",
  "ExpiredTokenException",
  "TokenRefreshRequired",
  "InvalidToken",
  "InvalidAccessKeyId"
])

const throttleCodes = new Set([
  "SlowDown",
  "ServiceUnavailable",
  "RequestLimitExceeded",
  "Throttling",
  "ThrottlingException",
  "TooManyRequests",
  "TooManyRequestsException",
  "BandwidthLimitExceeded"
])

const fullCodes = new Set([
  "InsufficientStorage",
  "InsufficientStorageSpace",
  "QuotaExceeded",
  "XMinioStorageFull",
  "StorageFull"
])

// Damaged or cut on the way: the store refused the body, the next copy of it may arrive whole.
const damagedInTransit = new Set([
  "BadDigest",
  "IncompleteBody",
  "InvalidDigest",
  "XAmzContentChecksumMismatch",
  "RequestTimeout"
])

const conflictCodes = new Set(["ConditionalRequestConflict", "OperationAborted"])

const skewCodes = new Set(["RequestTimeTooSkewed", "RequestExpired"])

/** The credentials in use were refused for their age: new ones may help. */
export const isExpiredCredentials = (failure: S3Failure): boolean =>
  failure.kind === "answer" && failure.code !== undefined && expiredCodes.has(failure.code)

/** The store's clock and ours differ too much. The request was not looked at; the SDK has learned the difference. */
export const isClockSkew = (failure: S3Failure): boolean =>
  failure.kind === "answer" && failure.code !== undefined && skewCodes.has(failure.code)

const isWrite = (operation: Operation): boolean => operation === "create" || operation === "replace"

const byCode = (code: string, operation: Operation): Reason | undefined => {
  if (throttleCodes.has(code)) return "Throttled"
  if (expiredCodes.has(code)) return "CredentialsUnavailable"
  if (fullCodes.has(code)) return "StoreFull"
  if (damagedInTransit.has(code) || skewCodes.has(code)) return "Unavailable"
  if (code === "NoSuchBucket") return "NoSuchBucket"
  if (code === "NotImplemented") return "NotSupported"
  if (conflictCodes.has(code)) return isWrite(operation) ? "Conflict" : "Unavailable"
  return undefined
}

// 404 without one of these codes comes from something in front of the store, which knows nothing about the object.
const absentCodes = new Set(["NoSuchKey", "NotFound", "NoSuchVersion"])

const byStatus = (status: number, code: string | undefined, operation: Operation): Reason => {
  switch (status) {
    case 401:
    case 403:
      return "AccessDenied"
    case 404:
      return code !== undefined && absentCodes.has(code) && (operation === "get" || operation === "replace") ?
        "NotFound" :
        "UnexpectedResponse"
    case 408:
      return "Unavailable"
    case 409:
      return isWrite(operation) ? "Conflict" : "Unavailable"
    case 412:
      return operation === "create"
        ? "AlreadyExists"
        : operation === "replace"
        ? "PreconditionFailed"
        : "UnexpectedResponse"
    case 429:
    case 503:
      return "Throttled"
    case 501:
      return "NotSupported"
    case 507:
      return "StoreFull"
    default:
      return status >= 500 && status <= 599 ? "Unavailable" : "UnexpectedResponse"
  }
}

const reasonOf = (failure: S3Failure, operation: Operation): Reason => {
  switch (failure.kind) {
    case "timeout":
      return "TimedOut"
    case "transport":
      return "Unavailable"
    case "credentials":
      return "CredentialsUnavailable"
    case "error-in-success":
      // The store began with success, so a refusal in the body proves nothing about the write: unknown, ask again.
      return failure.code !== undefined && throttleCodes.has(failure.code) ? "Throttled" : "Unavailable"
    case "answer": {
      const precise = failure.code === undefined ? undefined : byCode(failure.code, operation)
      return precise ?? byStatus(failure.status ?? 0, failure.code, operation)
    }
  }
}

/** `Retry-After` in milliseconds: from seconds, or from a date counted from the answer's own `Date`; else absent. */
export const retryAfterMillis = (failure: S3Failure): number | undefined => {
  const value = failure.retryAfter?.trim()
  if (value === undefined) return undefined
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000)
  const until = Date.parse(value) - Date.parse(failure.date ?? "")
  return Number.isFinite(until) ? Math.max(0, until) : undefined
}

const detailOf = (failure: S3Failure, reason: Reason, question: Question): string => {
  const inSuccess = failure.kind === "error-in-success" ? "an error inside a successful answer: " : ""
  if (reason === "NoSuchBucket") return `${question.store} does not exist`
  if (reason === "NotSupported") {
    const sent = question.headersSent.length === 0 ? "a plain request" : question.headersSent.join(" or ")
    const header = failure.header ?? sent
    const advice = /checksum/i.test(header) ? " (checksums: when_required leaves checksum headers out)" : ""
    return `the store does not implement ${header}${advice}: ${failure.message}`
  }
  if (failure.region !== undefined && reason === "UnexpectedResponse") {
    return `the bucket is in region ${failure.region}: ${failure.message}`
  }
  return `${inSuccess}${failure.message}`
}

/** The store's answer as the log's error. */
export const toObjectStoreError = (failure: S3Failure, question: Question): ObjectStoreError => {
  const reason = reasonOf(failure, question.operation)
  const delay = reason === "Throttled" || reason === "Unavailable" ? retryAfterMillis(failure) : undefined
  return new ObjectStoreError({
    operation: question.operation,
    key: question.key,
    reason,
    detail: detailOf(failure, reason, question),
    ...(failure.status === undefined ? {} : { status: failure.status }),
    ...(failure.code === undefined ? {} : { code: failure.code }),
    ...(delay === undefined ? {} : { retryAfterMillis: delay })
  })
}
