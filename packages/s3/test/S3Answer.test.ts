import type { Operation, Reason } from "@effect-wal/core/store/ObjectStoreError"
import { assert, describe, it } from "@effect/vitest"
import { retryAfterMillis, toObjectStoreError } from "../src/S3Answer.ts"
import type { S3Failure } from "../src/S3Answer.ts"

const classify = (failure: Partial<S3Failure>, operation: Operation = "create") =>
  toObjectStoreError({ kind: "answer", message: "said", ...failure }, {
    operation,
    key: "k",
    store: "s3://host/bucket",
    headersSent: []
  })

const table: ReadonlyArray<readonly [status: number, code: string | undefined, operation: Operation, reason: Reason]> =
  [
    [412, "PreconditionFailed", "create", "AlreadyExists"],
    [412, undefined, "create", "AlreadyExists"],
    [412, "PreconditionFailed", "replace", "PreconditionFailed"],
    [412, "PreconditionFailed", "get", "UnexpectedResponse"],
    [409, "ConditionalRequestConflict", "create", "Conflict"],
    [409, "OperationAborted", "replace", "Conflict"],
    [409, undefined, "replace", "Conflict"],
    [409, "OperationAborted", "remove", "Unavailable"],
    [404, "NoSuchKey", "get", "NotFound"],
    [404, "NoSuchKey", "replace", "NotFound"],
    [404, "NoSuchKey", "create", "UnexpectedResponse"],
    [404, undefined, "get", "UnexpectedResponse"],
    [404, "NoSuchBucket", "get", "NoSuchBucket"],
    [404, "NoSuchBucket", "list", "NoSuchBucket"],
    [403, "AccessDenied", "get", "AccessDenied"],
    [403, undefined, "get", "AccessDenied"],
    [403, "SignatureDoesNotMatch", "list", "AccessDenied"],
    [401, undefined, "list", "AccessDenied"],
    [400, "ExpiredToken", "create", "CredentialsUnavailable"],
    [403, "InvalidAccessKeyId", "create", "CredentialsUnavailable"],
    [403, "RequestTimeTooSkewed", "create", "Unavailable"],
    [403, "QuotaExceeded", "create", "StoreFull"],
    [507, undefined, "create", "StoreFull"],
    [429, undefined, "list", "Throttled"],
    [503, undefined, "create", "Throttled"],
    [503, "SlowDown", "get", "Throttled"],
    [400, "RequestLimitExceeded", "get", "Throttled"],
    [500, "InternalError", "create", "Unavailable"],
    [502, undefined, "create", "Unavailable"],
    [504, undefined, "get", "Unavailable"],
    [400, "RequestTimeout", "create", "Unavailable"],
    [400, "BadDigest", "create", "Unavailable"],
    [408, undefined, "create", "Unavailable"],
    [501, "NotImplemented", "create", "NotSupported"],
    [501, undefined, "remove", "NotSupported"],
    [301, "PermanentRedirect", "get", "UnexpectedResponse"],
    [400, "InvalidArgument", "create", "UnexpectedResponse"],
    [405, "MethodNotAllowed", "remove", "UnexpectedResponse"]
  ]

describe("S3Answer", () => {
  for (const [status, code, operation, reason] of table) {
    it(`[case 2] ${operation} ${status} ${code ?? "without a code"} is ${reason}`, () => {
      const error = classify({ status, ...(code === undefined ? {} : { code }) }, operation)
      assert.deepStrictEqual([error.reason, error.status, error.code, error.operation], [
        reason,
        status,
        code,
        operation
      ])
    })
  }

  it("what was not answered is unknown", () => {
    assert.strictEqual(classify({ kind: "transport", code: "ECONNRESET" }).reason, "Unavailable")
    assert.strictEqual(classify({ kind: "timeout" }).reason, "TimedOut")
    assert.strictEqual(classify({ kind: "credentials" }).reason, "CredentialsUnavailable")
  })

  it("an error inside a success is unknown, whatever it claims", () => {
    for (const code of ["InternalError", "AccessDenied", "PreconditionFailed", "NoSuchKey"]) {
      const error = classify({ kind: "error-in-success", status: 200, code })
      assert.deepStrictEqual([error.reason, error.outcome], ["Unavailable", "unknown"])
      assert.include(error.detail, "inside a successful answer")
    }
    assert.strictEqual(classify({ kind: "error-in-success", status: 200, code: "SlowDown" }).reason, "Throttled")
  })

  it("[case 6] Retry-After in seconds, or as a date counted from the answer's own clock", () => {
    const after = (retryAfter: string, date?: string) =>
      retryAfterMillis({ kind: "answer", message: "", retryAfter, ...(date === undefined ? {} : { date }) })
    assert.strictEqual(after("3"), 3000)
    assert.strictEqual(after(" 0 "), 0)
    assert.strictEqual(after("Mon, 30 Nov 2026 00:00:09 GMT", "Mon, 30 Nov 2026 00:00:02 GMT"), 7000)
    assert.strictEqual(after("Mon, 30 Nov 2026 00:00:00 GMT", "Mon, 30 Nov 2026 00:00:02 GMT"), 0)
    assert.isUndefined(after("Mon, 30 Nov 2026 00:00:09 GMT"))
    assert.isUndefined(after("soon"))
    assert.isUndefined(after("-3"))
    assert.isUndefined(classify({ status: 412, retryAfter: "3" }).retryAfterMillis)
  })

  it("a bucket that is not there is named", () => {
    assert.strictEqual(classify({ status: 404, code: "NoSuchBucket" }).detail, "s3://host/bucket does not exist")
  })

  it("a redirect names the bucket's region", () => {
    assert.include(classify({ status: 301, code: "PermanentRedirect", region: "eu-west-1" }).detail, "region eu-west-1")
    assert.include(
      classify({ status: 400, code: "AuthorizationHeaderMalformed", region: "eu-west-1" }).detail,
      "region eu-west-1"
    )
  })
})
