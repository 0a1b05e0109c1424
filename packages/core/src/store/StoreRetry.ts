/**
 * How store requests are repeated: exponential back-off with jitter, capped, a store's own wish honoured.
 *
 * Every write that is repeated keeps its key and its bytes; whether repeating is right is decided by the caller.
 */
import { Duration, Effect, Random } from "effect"
import {
  AccessDenied,
  CredentialsUnavailable,
  type StoreError,
  StoreUnavailable,
  UnexpectedResponse
} from "../WalError.ts"
import type { ObjectStoreError } from "./ObjectStoreError.ts"

export interface Backoff {
  readonly base: Duration.Duration
  /** No pause is longer, but for one that the store asks for. */
  readonly cap: Duration.Duration
}

/** Exponents beyond this would only overflow. */
const maxExponent = 30

/** A store's own wish is honoured up to here: beyond it, it is more likely a mistake. */
const longestWishMillis = 60_000

/**
 * The pause before try `attempt` + 1, in milliseconds: between half and all of `base` × 2^attempt, at most `cap`, so that
 * many writers do not come back in step; never shorter than what the store asked for, up to a minute.
 */
export const backoffMillis = (
  backoff: Backoff,
  retry: { readonly attempt: number; readonly random: number; readonly retryAfterMillis?: number | undefined }
): number => {
  const exponent = Math.min(retry.attempt, maxExponent)
  const full = Math.min(Duration.toMillis(backoff.cap), Duration.toMillis(backoff.base) * 2 ** exponent)
  return Math.max(full * (0.5 + retry.random / 2), Math.min(retry.retryAfterMillis ?? 0, longestWishMillis))
}

/** Sleeps before try `attempt` + 1. */
export const pauseBeforeRetry = Effect.fnUntraced(function*(
  backoff: Backoff,
  attempt: number,
  retryAfterMillis?: number
) {
  const random = yield* Random.next
  yield* Effect.sleep(Duration.millis(backoffMillis(backoff, { attempt, random, retryAfterMillis })))
})

/** Repeats a read, or a write that is the same whenever it happens, while the store says that it may pass. */
export const retryWhilePassing = <A>(
  request: Effect.Effect<A, ObjectStoreError>,
  policy: { readonly backoff: Backoff; readonly attempts: number }
): Effect.Effect<A, ObjectStoreError> => {
  const tryFrom = (attempt: number): Effect.Effect<A, ObjectStoreError> =>
    Effect.catchIf(
      request,
      (error) => error.isRetryable && attempt + 1 < policy.attempts,
      (error) => Effect.andThen(pauseBeforeRetry(policy.backoff, attempt, error.retryAfterMillis), tryFrom(attempt + 1))
    )
  return tryFrom(0)
}

/** The public error for a store's answer that the log cannot work around. */
export const toStoreError = (error: ObjectStoreError): StoreError => {
  const fields = { operation: error.operation, key: error.key, detail: error.answer }
  switch (error.reason) {
    case "AccessDenied":
    case "NoSuchBucket":
      return new AccessDenied(fields)
    case "CredentialsUnavailable":
      return new CredentialsUnavailable(fields)
    case "NotSupported":
    case "UnexpectedResponse":
    case "AlreadyExists":
    case "PreconditionFailed":
    case "NotFound":
      return new UnexpectedResponse(fields)
    default:
      return new StoreUnavailable(fields)
  }
}
