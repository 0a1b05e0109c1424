/**
 * One request, from its credentials to the last byte of its answer, under one deadline.
 *
 * The log above counts and paces its attempts, so nothing is repeated here, with two exceptions where the store is
 * known not to have looked at the request: its clock differs (the SDK has just learned by how much), and the
 * credentials were too old (they are asked for anew, once for all requests that failed so).
 */
import { Effect, Predicate, Semaphore } from "effect"
import type { Duration } from "effect"
import { AnswerRefused } from "./AnswerInspection.ts"
import { isClockSkew, isExpiredCredentials } from "./S3Answer.ts"
import type { S3Failure } from "./S3Answer.ts"

/** The secrets in use, to be kept out of every message. */
export interface Secrets {
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

/** Where a client's credentials come from. */
export interface CredentialsSource {
  /** The credentials in use; asked anew with `forceRefresh`. */
  readonly ask: (options: { readonly forceRefresh: boolean }) => Effect.Effect<Secrets, S3Failure>
  /** False for credentials that stand in the options: asking again gives the same. */
  readonly refreshable: boolean
}

/** The same, as the SDK asks. */
export interface AttemptConfig {
  readonly credentials: (options: { readonly forceRefresh: boolean }) => Promise<Secrets>
  readonly refreshable: boolean
  /** Requests that are on their way at most. */
  readonly maxSockets: number
}

/** Carries out a request that is sent when `once` runs. */
type Attempts = <A>(deadline: Duration.Duration, once: Effect.Effect<A, S3Failure>) => Effect.Effect<A, S3Failure>

/** Sends one request; `call` gets a signal that ends it when its time is over. */
export type Send = <A>(
  deadline: Duration.Duration,
  call: (signal: AbortSignal) => Promise<A>
) => Effect.Effect<A, S3Failure>

// A PUT around the SDK tells it nothing of the store's clock: its first repeat does, and the second one is right.
const clockRepeats = 2

const detailLength = 300

const scrub = (message: string, secrets: Secrets | undefined): string => {
  const hidden = [secrets?.secretAccessKey, secrets?.sessionToken].filter((secret) =>
    secret !== undefined && secret !== ""
  )
  const clean = hidden.reduce<string>((text, secret) => text.replaceAll(secret ?? "", "<redacted>"), message)
  return clean.replace(/\s+/g, " ").slice(0, detailLength)
}

const textOf = (error: unknown): string => {
  if (!Predicate.isError(error)) return String(error)
  return error.message === "" ? error.name : error.message
}

// The SDK calls these a time-out too; they are a connection that went away, and no time was over.
const resetCodes = new Set(["ECONNRESET", "EPIPE"])

const transportFailure = (error: unknown): S3Failure => {
  const name = Predicate.isError(error) ? error.name : "Error"
  const code = Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? error.code : name
  const kind = name === "TimeoutError" && !resetCodes.has(code) ? "timeout" : "transport"
  return { kind, message: textOf(error), code }
}

const failureOf = (error: unknown): S3Failure =>
  error instanceof AnswerRefused ? error.failure : transportFailure(error)

const credentialsFailure = (error: unknown): S3Failure => ({
  kind: "credentials",
  message: scrub(`no credentials: ${textOf(error)}`, undefined),
  code: Predicate.isError(error) ? error.name : "Error"
})

const timedOut = (deadline: Duration.Duration): S3Failure => ({
  kind: "timeout",
  message: `no whole answer within ${deadline}`
})

/** Asks for credentials anew, once for all who want it meanwhile. It holds which generation of them is in use. */
const makeRenewal = Effect.fnUntraced(function*(source: CredentialsSource) {
  const lock = yield* Semaphore.make(1)
  let generation = 0
  let failed: S3Failure | undefined

  const askAnew = (deadline: Duration.Duration) =>
    source.ask({ forceRefresh: true }).pipe(
      Effect.timeoutOrElse({
        duration: deadline,
        orElse: () => Effect.fail(credentialsFailure(timedOut(deadline).message))
      }),
      Effect.tapError((failure) =>
        Effect.sync(() => {
          // A copy, as its identity tells one answer from the next.
          failed = { ...failure }
        })
      ),
      Effect.andThen(Effect.sync(() => {
        generation++
      }))
    )

  const refresh = (deadline: Duration.Duration, seen: number) =>
    Effect.suspend(() => {
      const before = failed
      return Effect.suspend(() => {
        // Somebody else has asked since this request was signed: its credentials are new to us.
        if (generation !== seen) return Effect.void
        // Or has failed since it waits here: were all to ask in turn, each would wait as long again as those before it.
        if (failed !== undefined && failed !== before) return Effect.fail(failed)
        return askAnew(deadline)
      }).pipe(lock.withPermits(1))
    })

  return { generation: () => generation, refresh }
})

/** The deadline, the credentials and the two repeats of one client. */
export const makeAttempts: (source: CredentialsSource) => Effect.Effect<Attempts> = Effect.fnUntraced(
  function*(source) {
    const renewal = yield* makeRenewal(source)

    const attempt = <A>(deadline: Duration.Duration, once: Effect.Effect<A, S3Failure>) =>
      source.ask({ forceRefresh: false }).pipe(
        Effect.flatMap((secrets) =>
          Effect.mapError(once, (failure) => ({ ...failure, message: scrub(failure.message, secrets) }))
        ),
        Effect.timeoutOrElse({ duration: deadline, orElse: () => Effect.fail(timedOut(deadline)) })
      )

    const corrected = <A>(deadline: Duration.Duration, once: Effect.Effect<A, S3Failure>) =>
      Effect.retry(attempt(deadline, once), { while: isClockSkew, times: clockRepeats })

    return (deadline, once) =>
      Effect.suspend(() => {
        const seen = renewal.generation()
        return corrected(deadline, once).pipe(
          Effect.catchIf(
            (failure) => source.refreshable && isExpiredCredentials(failure),
            () => renewal.refresh(deadline, seen).pipe(Effect.andThen(corrected(deadline, once)))
          )
        )
      })
  }
)

/** The sender for one client of the SDK. */
export const makeSend: (config: AttemptConfig) => Effect.Effect<Send> = Effect.fnUntraced(
  function*({ credentials, maxSockets, refreshable }) {
    // Requests wait for their turn here: the agent's queue would count it as a wait for a new connection, and end it early.
    const turns = yield* Semaphore.make(maxSockets)
    const attempts = yield* makeAttempts({
      ask: (request) => Effect.tryPromise({ try: () => credentials(request), catch: credentialsFailure }),
      refreshable
    })
    return (deadline, call) =>
      attempts(deadline, turns.withPermits(1)(Effect.tryPromise({ try: call, catch: failureOf })))
  }
)
