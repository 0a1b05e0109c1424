/** HTTP on the simulated network: what of an answer arrives, and in which dress a refusal comes. */
import { Effect } from "effect"
import type { CredentialsSource } from "../../packages/s3/src/Attempt.ts"
import type { S3Failure } from "../../packages/s3/src/S3Answer.ts"
import type { SimStoreParts } from "../../packages/testing/src/simulation/SimStore.ts"
import { type HttpAnswer, page, plain } from "./S3Http.ts"
import { answerOf, dressesFor } from "./S3Refusals.ts"
import { type Asked, broken, type Exchange } from "./S3SimClient.ts"

/** The SDK's own time-outs stand behind the client's, twice as long. */
const backstop = 2

/** What a proxy, or a hotel's network, answers in place of the store. */
const foreignOf = ({ bucket, random }: SimStoreParts, { command, key }: Asked): HttpAnswer => {
  const held = command === "GetObjectCommand" ? bucket.objects.get(key) : undefined
  if (held !== undefined && random.chance(0.3)) {
    // Cut by somebody who closes the connection as if that were all.
    const body = held.body.slice(0, random.below(held.body.byteLength + 1))
    return { status: 200, headers: { etag: "\"cut\"" }, body, label: "200 cut" }
  }
  return plain(200, page(200), "200 of a captive portal", random.chance(0.5) ? { etag: "\"portal\"" } : {})
}

/** The body breaks off; `undefined` where there is none to break. */
const cut = (parts: SimStoreParts, given: HttpAnswer): HttpAnswer | undefined =>
  given.body.byteLength === 0 ?
    undefined :
    { ...given, body: given.body.slice(0, parts.random.below(given.body.byteLength)), label: `${given.label} cut` }

/** The way of requests and answers over the simulated network. */
export const wireOf = (parts: SimStoreParts): Exchange => (asked) =>
  Effect.callback((resume) => {
    const { deadlineMillis, network, process, random } = parts
    const { apply, command, isWrite, key, onAbandoned = () => undefined, operation } = asked
    network.send<HttpAnswer>({
      process,
      operation,
      key,
      isWrite,
      deadlineMillis: backstop * deadlineMillis,
      apply: () => ({ value: apply() }),
      onAbandoned,
      foreign: () => foreignOf(parts, asked),
      cut: (given) => cut(parts, given),
      describe: ({ label }) => label,
      dress: (reason, { isApplied, retryAfterMillis }) => {
        const dress = random.pickAny(dressesFor(reason, { command, isApplied }))
        return dress === undefined
          ? undefined
          : answerOf(dress, { afterMillis: retryAfterMillis, asDate: random.chance(0.3) })
      },
      resume: (outcome) => {
        if ("value" in outcome) resume(Effect.succeed(outcome.value))
        else if (outcome.reason === "TimedOut") resume(Effect.fail({ kind: "timeout", message: "the back-stop" }))
        else resume(Effect.fail(broken("the connection went away")))
      }
    })
    // The socket is closed: what has been handed to it may still arrive, and nothing else.
    return Effect.sync(onAbandoned)
  })

const secretAccessKey = "simulated-secret"

/** Credentials of which new ones can be had, mostly. */
export const credentialsOf = ({ random }: SimStoreParts, refreshable: boolean): CredentialsSource => ({
  ask: ({ forceRefresh }) =>
    Effect.suspend(() =>
      forceRefresh && random.chance(0.3)
        ? Effect.fail<S3Failure>({ kind: "credentials", message: "no credentials: nobody answers", code: "Error" })
        : Effect.succeed({ secretAccessKey })
    ),
  refreshable
})
