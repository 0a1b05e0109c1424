/** When a call is tried again, and how long after. */
import { Duration, Effect, Random, Schedule } from "effect"
import type { Reason, WalClientError } from "./ClientError.ts"

/** How often and how soon a call is tried again. */
export interface RetryPolicy {
  /** Tries after the first one; 0: none. */
  readonly times: number
  /** The pause after the first try. It doubles with each further one, and a random part of up to one half is left out. */
  readonly baseDelay: Duration.Input
  /** The longest of these pauses. */
  readonly maxDelay: Duration.Input
  /** A server that asks for a longer pause by `Retry-After` is not waited for: the call fails. */
  readonly maxRetryAfter: Duration.Input
}

/** What holds where nothing else is given: ten more tries within about 40 seconds. */
export const defaultRetryPolicy: RetryPolicy = {
  times: 10,
  baseDelay: "100 millis",
  maxDelay: "10 seconds",
  maxRetryAfter: "1 minute"
}

/** Overload, something in between that has no server, a server or a log that is being opened, a full disk. */
const passingStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504, 507])

/**
 * Whether the same call can help. `isSafe`: it does no harm where the server has done already what was asked; without
 * that it is tried again only where the server says that nothing has been done.
 */
const mayPass = (reason: Reason, isSafe: boolean): boolean => {
  switch (reason._tag) {
    case "InvalidCall":
      return false
    case "ConnectionFailed":
      return isSafe
    case "UnexpectedAnswer":
      return isSafe && passingStatuses.has(reason.status)
    // Not here: the records are there, and only have to be waited for.
    case "ack_pending":
      return false
    default:
      return reason.retryable && passingStatuses.has(reason.status) && (isSafe || reason.data === "not-durable")
  }
}

/** At least half of the back-off, and never sooner than the server asks, nor all clients at once then. */
const pauseOf = Effect.fnUntraced(function*(backOff: Duration.Duration, error: WalClientError) {
  const jittered = Duration.toMillis(backOff) * (yield* Random.nextBetween(0.5, 1))
  const asked = (error.retryAfterMillis ?? 0) * (yield* Random.nextBetween(1, 1.25))
  return Duration.millis(Math.max(jittered, asked))
})

/** The tries of a call that fails; see `mayPass` for `isSafe`. For streams too: an element that comes starts it anew. */
export const retrySchedule = (policy: RetryPolicy, isSafe: boolean) =>
  Schedule.min([Schedule.exponential(policy.baseDelay), Schedule.spaced(policy.maxDelay)]).pipe(
    Schedule.setInputType<WalClientError>(),
    Schedule.upTo({ times: policy.times }),
    Schedule.while(({ input }) =>
      mayPass(input.reason, isSafe) &&
      (input.retryAfterMillis ?? 0) <= Duration.toMillis(policy.maxRetryAfter)
    ),
    Schedule.modifyDelay(({ duration, input }) => pauseOf(duration, input))
  )
