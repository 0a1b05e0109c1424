/**
 * What an object store can answer instead of success, sorted by what the caller does next.
 *
 * Stores translate their own codes once, at the edge, into one of these reasons; nothing above the store looks at a
 * status or a vendor code again.
 */
import { Schema } from "effect"

/** The five things that are asked of a store. */
export const Operation = Schema.Literals(["get", "create", "replace", "list", "remove"])
export type Operation = typeof Operation.Type

/**
 * Why an operation did not succeed.
 *
 * - `AlreadyExists`: a create found the key taken (S3: 412 on `If-None-Match: *`).
 * - `PreconditionFailed`: a replace found another tag (S3: 412 on `If-Match`).
 * - `NotFound`: the key does not exist; for a replace too (S3: 404 on `If-Match`).
 * - `Conflict`: the store could not decide between concurrent requests (S3: 409); nothing is known, ask again.
 * - `Throttled`: the store asks for fewer requests (429, 503 in whatever dress), possibly with a delay.
 * - `Unavailable`: a 5xx, a reset, a refused connection, a truncated body, an error inside a 200.
 * - `TimedOut`: no whole answer within the attempt's deadline.
 * - `AccessDenied`, `NoSuchBucket`, `CredentialsUnavailable`, `StoreFull`: cannot work now, may work later without a restart.
 * - `NotSupported`: the store does not know the request or one of its headers (501).
 * - `UnexpectedResponse`: anything else; the status and code are in the error.
 */
export const Reason = Schema.Literals([
  "AlreadyExists",
  "PreconditionFailed",
  "NotFound",
  "Conflict",
  "Throttled",
  "Unavailable",
  "TimedOut",
  "AccessDenied",
  "NoSuchBucket",
  "CredentialsUnavailable",
  "StoreFull",
  "NotSupported",
  "UnexpectedResponse"
])
export type Reason = typeof Reason.Type

/** Whether a write that was answered so can still take effect. */
export type WriteOutcome = "not-applied" | "unknown"

interface Meaning {
  /** The same request may succeed later. */
  readonly retryable: boolean
  readonly outcome: WriteOutcome
}

const meanings: Readonly<Record<Reason, Meaning>> = {
  AlreadyExists: { retryable: false, outcome: "not-applied" },
  PreconditionFailed: { retryable: false, outcome: "not-applied" },
  NotFound: { retryable: false, outcome: "not-applied" },
  Conflict: { retryable: true, outcome: "unknown" },
  Throttled: { retryable: true, outcome: "unknown" },
  Unavailable: { retryable: true, outcome: "unknown" },
  TimedOut: { retryable: true, outcome: "unknown" },
  AccessDenied: { retryable: false, outcome: "not-applied" },
  NoSuchBucket: { retryable: false, outcome: "not-applied" },
  CredentialsUnavailable: { retryable: true, outcome: "not-applied" },
  StoreFull: { retryable: true, outcome: "not-applied" },
  NotSupported: { retryable: false, outcome: "not-applied" },
  UnexpectedResponse: { retryable: false, outcome: "unknown" }
}

/**
 * A store's answer other than success.
 *
 * `detail` is for people and never holds a credential. `retryAfterMillis` is set where the store named a delay.
 */
export class ObjectStoreError extends Schema.TaggedError<ObjectStoreError>()("ObjectStoreError", {
  operation: Operation,
  key: Schema.String,
  reason: Reason,
  detail: Schema.String,
  status: Schema.optionalKey(Schema.Int),
  code: Schema.optionalKey(Schema.String),
  retryAfterMillis: Schema.optionalKey(Schema.Finite)
}) {
  override get message(): string {
    return `${this.operation} ${this.key}: ${this.answer}`
  }

  /** What the store said, without the request. */
  get answer(): string {
    const status = this.status === undefined ? "" : ` status=${this.status}`
    const code = this.code === undefined ? "" : ` code=${this.code}`
    return `${this.reason}: ${this.detail}${status}${code}`
  }

  /** The same request may succeed later, with nothing changed by us. */
  get isRetryable(): boolean {
    return meanings[this.reason].retryable
  }

  /** Whether the write can still take effect. A read has no outcome: ignore it there. */
  get outcome(): WriteOutcome {
    return meanings[this.reason].outcome
  }
}
