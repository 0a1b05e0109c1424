/**
 * Whether the address of a store answers at all, without credentials, and how far its clock is from this machine's, by the
 * `Date` of that answer.
 */
import type { S3Settings } from "@effect-wal/core/config/Resolve"
import { Clock, DateTime, Effect, Option } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { clientErrorOf } from "../../client/Transport.ts"
import type { Environment } from "../../config/Substitution.ts"
import { humanMillis } from "../HumanText.ts"
import { measured } from "../Measure.ts"
import { type CheckResult, good, type Tell } from "./Check.ts"

/** `Date` has whole seconds, so less than this says nothing. */
const knownToMillis = 1_000
/** Beyond it times of records and of retention are noticeably wrong. */
const noticeableMillis = 60_000
/** Beyond it S3 refuses what is signed (RequestTimeTooSkewed). */
const refusedMillis = 15 * 60_000

/** How long to wait for an answer. */
const patience = "10 seconds"

/** The row of a difference; `skewMillis` is above 0 where this machine is ahead. */
export const clockRow = (skewMillis: number): CheckResult => {
  const size = Math.abs(skewMillis)
  const values = { skew_ms: skewMillis }
  if (size <= knownToMillis) return good("clock", "as the store's, to a second", values)
  const found = `${humanMillis(size)} ${skewMillis > 0 ? "ahead of" : "behind"} the store's`
  if (size <= noticeableMillis) return good("clock", found, values)
  return {
    check: "clock",
    status: size > refusedMillis ? "failed" : "warning",
    found,
    means: size > refusedMillis
      ? "S3 refuses signed requests that are more than 15 minutes off; the SDK then tries again with the store's time"
      : "no record is lost by it, but the times of records, and retention by age, are off by as much",
    next: "Let NTP or chrony set the clock of this machine.",
    values
  }
}

/** An address, and whether the store is known to be there. */
export interface Address {
  readonly url: string
  /** The usual one of its region: the SDK can have another one, from a profile or of another partition of AWS. */
  readonly isGuess: boolean
}

/** Variables that send the SDK elsewhere (https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html). */
const variables = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"] as const

/**
 * The address that a store's settings lead to, or the variable that holds it; `undefined` where the region is known to the
 * SDK only.
 */
export const addressOf = (
  { endpoint, region }: Pick<S3Settings, "endpoint" | "region">,
  env: Environment
): Address | { readonly variable: string } | undefined => {
  if (endpoint !== undefined) return { url: endpoint, isGuess: false }
  const variable = variables.find((name) => (env[name] ?? "") !== "")
  if (variable !== undefined) return { variable }
  if (region === undefined) return undefined
  const domain = region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
  return { url: `https://s3.${region}.${domain}`, isGuess: true }
}

const noAnswer = (found: string, isGuess: boolean): CheckResult =>
  isGuess
    ? {
      check: "address",
      status: "warning",
      found,
      means: "this is the usual address of the region; the SDK may have another one, which the checks below ask",
      next: "Nothing, if the other checks are ok. Else check s3.region, DNS, network, proxy and firewall."
    }
    : {
      check: "address",
      status: "failed",
      found,
      means: "nothing can be stored or read while the address does not answer",
      next: "Check s3.endpoint and s3.region, DNS, network, proxy, firewall and certificates, and that the store runs."
    }

/** Asks the address. What status it answers does not matter. */
export const addressChecks = Effect.fnUntraced(function*({ isGuess, url }: Address, tell: Tell) {
  const client = yield* HttpClient.HttpClient
  const before = yield* Clock.currentTimeMillis
  const asked = yield* measured(Effect.mapError(client.head(url), clientErrorOf)).pipe(
    // Where it points elsewhere, that is not the store's clock.
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.timeoutOption(patience),
    Effect.result
  )
  if (asked._tag === "Failure" || Option.isNone(asked.success)) {
    const found = asked._tag === "Failure" ? asked.failure.message : `no answer from ${url} in ${patience}`
    return yield* tell(noAnswer(found, isGuess))
  }
  const { millis, value: answer } = asked.success.value
  yield* tell(good("address", `${url} answers in ${humanMillis(millis)}`, { millis }))
  const date = Option.flatMap(Option.fromUndefinedOr(answer.headers["date"]), DateTime.make)
  if (Option.isSome(date)) yield* tell(clockRow(clockSkew(before, millis, date.value.epochMilliseconds)))
})

/**
 * The least difference that explains the answer: its `Date`, cut to whole seconds, was taken between the asking and the
 * answer.
 */
export const clockSkew = (askedAtMillis: number, tookMillis: number, dateMillis: number): number => {
  const earliest = askedAtMillis - (dateMillis + 999)
  const latest = askedAtMillis + tookMillis - dateMillis
  if (earliest > 0) return earliest
  return latest < 0 ? latest : 0
}
