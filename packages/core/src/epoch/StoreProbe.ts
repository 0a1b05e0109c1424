/**
 * The store probe: whether the store's conditional writes do what the log needs, found out before the first append.
 *
 * Two throw-away objects: create twice, replace with a wrong tag, on a missing key and with the right tag; then rounds of
 * eight at once with different bodies, of which exactly one may succeed and be what is read back.
 */
import { Effect, Result } from "effect"
import { encodeText, equalBytes } from "../format/Bytes.ts"
import { probeKey } from "../format/ObjectKey.ts"
import { NonceSource } from "../Nonce.ts"
import { ObjectStore, type Tag } from "../store/ObjectStore.ts"
import type { ObjectStoreError, Reason } from "../store/ObjectStoreError.ts"
import { type Backoff, pauseBeforeRetry, retryWhilePassing, toStoreError } from "../store/StoreRetry.ts"
import { ConditionalWritesUnsupported } from "../WalError.ts"

/** Rounds of writers at once, and how many writers. */
const rounds = 3
const writers = 8

/** How long removing the probe's objects may take. */
const cleaning = "2 seconds"

/** Tries of one request whose answer says nothing about conditions. */
const attempts = 8

export interface ProbeRequest {
  readonly prefix: string
  readonly backoff: Backoff
}

interface Probe {
  readonly request: ProbeRequest
  readonly store: ObjectStore["Service"]
  readonly nonce: string
  readonly key: (part: string) => string
}

const unsupported = (probe: Probe, check: string, found: string) =>
  new ConditionalWritesUnsupported({ store: probe.store.id, check, found })

/** The definite answer of a write: repeats it while the store could not decide, or its answer was lost. */
const definite = Effect.fnUntraced(function*(probe: Probe, write: Effect.Effect<Tag, ObjectStoreError>, check: string) {
  for (let attempt = 0;; attempt++) {
    const answer = yield* Effect.result(write)
    if (Result.isSuccess(answer)) return answer
    const error = answer.failure
    if (error.reason === "NotSupported") return yield* unsupported(probe, check, error.detail)
    if (error.reason === "UnexpectedResponse") return yield* unsupported(probe, check, error.message)
    if (!error.isRetryable) return answer
    if (attempt + 1 >= attempts) return yield* toStoreError(error)
    yield* pauseBeforeRetry(probe.request.backoff, attempt, error.retryAfterMillis)
  }
})

const expectRefusal = Effect.fnUntraced(function*(
  probe: Probe,
  check: string,
  write: Effect.Effect<Tag, ObjectStoreError>,
  allowed: ReadonlyArray<Reason>
) {
  const answer = yield* definite(probe, write, check)
  if (Result.isSuccess(answer)) return yield* unsupported(probe, check, "the write was done")
  if (allowed.includes(answer.failure.reason)) return
  if (answer.failure.reason === "AccessDenied" || answer.failure.reason === "NoSuchBucket") {
    return yield* toStoreError(answer.failure)
  }
  return yield* unsupported(probe, check, answer.failure.message)
})

const expectDone = Effect.fnUntraced(function*(
  probe: Probe,
  check: string,
  body: Uint8Array,
  write: (body: Uint8Array) => Effect.Effect<Tag, ObjectStoreError>
) {
  const answer = yield* definite(probe, write(body), check)
  if (Result.isSuccess(answer)) return answer.success
  const reason = answer.failure.reason
  if (reason !== "AlreadyExists" && reason !== "PreconditionFailed" && reason !== "NotFound") {
    return yield* toStoreError(answer.failure)
  }
  // The refusal of a repeated write can be of its own first try, whose answer was lost.
  const read = yield* Effect.result(probe.store.get(probe.key("one")))
  if (Result.isSuccess(read) && equalBytes(read.success.body, body)) return read.success.tag
  return yield* unsupported(probe, check, answer.failure.message)
})

const bodyOf = (probe: Probe, text: string): Uint8Array => encodeText(`effect-wal probe ${probe.nonce} ${text}`)

const oneAfterAnother = Effect.fnUntraced(function*(probe: Probe) {
  const key = probe.key("one")
  const create = (body: Uint8Array) => probe.store.create(key, body)
  const tag = yield* expectDone(probe, "create of a free key", bodyOf(probe, "1"), create)
  const refused = (check: string, write: Effect.Effect<Tag, ObjectStoreError>, allowed: ReadonlyArray<Reason>) =>
    expectRefusal(probe, check, write, allowed)
  yield* refused("create of a taken key", probe.store.create(key, bodyOf(probe, "2")), ["AlreadyExists"])
  const wrongTag = tag.endsWith("\"") ? "\"00000000000000000000000000000000\"" : "00000000000000000000000000000000"
  yield* refused("replace with a wrong tag", probe.store.replace(key, bodyOf(probe, "3"), wrongTag), [
    "PreconditionFailed"
  ])
  yield* refused("replace of a missing key", probe.store.replace(probe.key("none"), bodyOf(probe, "4"), tag), [
    "PreconditionFailed",
    "NotFound"
  ])
  const replace = (body: Uint8Array) => probe.store.replace(key, body, tag)
  yield* expectDone(probe, "replace with the right tag", bodyOf(probe, "5"), replace)
})

/** Eight writes at once: exactly one is done, and it is what is read back; the answer is its tag. */
const race = Effect.fnUntraced(function*(
  probe: Probe,
  check: string,
  key: string,
  write: (body: Uint8Array) => Effect.Effect<Tag, ObjectStoreError>,
  name: string
) {
  const bodies = Array.from({ length: writers }, (_, index) => bodyOf(probe, `${name} writer ${index}`))
  const answers = yield* Effect.forEach(bodies, (body) => Effect.result(write(body)), { concurrency: "unbounded" })
  const done = answers.flatMap((answer, index) => Result.isSuccess(answer) ? [{ index, tag: answer.success }] : [])
  const read = yield* retryWhilePassing(probe.store.get(key), { backoff: probe.request.backoff, attempts }).pipe(
    Effect.catchIf((error) => error.reason === "NotFound", () => Effect.void),
    Effect.mapError(toStoreError)
  )
  // Where every answer was lost or undecided the round says nothing; where one was lost it may be the one that was done.
  const undecided = answers.some((answer) => Result.isFailure(answer) && answer.failure.isRetryable)
  const winner = done[0]
  if (done.length > 1) return yield* unsupported(probe, check, `${done.length} of ${writers} writes at once were done`)
  if (winner === undefined) {
    if (!undecided) return yield* unsupported(probe, check, `none of ${writers} writes at once was done`)
    return read?.tag
  }
  const body = bodies[winner.index]
  if (read === undefined || body === undefined || !equalBytes(read.body, body)) {
    return yield* unsupported(probe, check, "what is read back is not what was written")
  }
  return winner.tag
})

const allAtOnce = Effect.fnUntraced(function*(probe: Probe, round: number) {
  const key = probe.key(`race-${round}`)
  const created = yield* race(
    probe,
    "8 creates at once",
    key,
    (body) => probe.store.create(key, body),
    `create ${round}`
  )
  if (created === undefined) return
  yield* race(probe, "8 replaces at once", key, (body) => probe.store.replace(key, body, created), `replace ${round}`)
})

/** Probes the store. Fails `ConditionalWritesUnsupported` with the check that failed, or the store's own error. */
export const probeStore = Effect.fnUntraced(function*(request: ProbeRequest) {
  const store = yield* ObjectStore
  const nonce = yield* yield* NonceSource
  const probe: Probe = { request, store, nonce, key: (part) => probeKey(request.prefix, nonce, part) }
  const keys = [
    probe.key("one"),
    probe.key("none"),
    ...Array.from({ length: rounds }, (_, round) => probe.key(`race-${round}`))
  ]
  const checks = Effect.gen(function*() {
    yield* oneAfterAnother(probe)
    yield* Effect.forEach(Array.from({ length: rounds }, (_, round) => round), (round) => allAtOnce(probe, round), {
      concurrency: "unbounded",
      discard: true
    })
  })
  // Not for long: what is left behind is some bytes, and nobody should wait for it to stop.
  const clean = retryWhilePassing(store.remove(keys), { backoff: request.backoff, attempts }).pipe(
    Effect.timeoutOrElse({ duration: cleaning, orElse: () => Effect.fail({ message: "no answer in time" }) }),
    Effect.map((left) => left.map(({ code, key: leftKey }) => `${leftKey}: ${code}`)),
    Effect.catch((error) => Effect.succeed([error.message])),
    Effect.flatMap((problems) =>
      Effect.forEach(problems, (problem) => Effect.logWarning(`an object of the probe was not removed: ${problem}`))
    )
  )
  yield* checks.pipe(Effect.ensuring(clean))
})
