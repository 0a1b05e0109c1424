/** What `GET /v1/streams/{stream}/records` was asked for: its query and its `Accept`, checked. */
import type { ReadOptions } from "@effect-wal/core/WalService"
import { Result } from "effect"
import { RequestProblem } from "../RequestProblem.ts"
import type { Limits } from "../Settings.ts"

/** The forms that records are read in. */
export type ReadFormat = "json" | "ndjson" | "octet-stream" | "event-stream"

/** The two answers to damage. */
export type OnDamage = "fail" | "skip"

/** A checked request. */
export interface ReadRequest {
  readonly format: ReadFormat
  /** Absent: the oldest record; for a live tail the next one. */
  readonly from: ReadOptions["from"]
  /** Most elements of the answer: records and lost ranges. */
  readonly limit: number
  /** How long to wait for the first record, milliseconds. */
  readonly waitMillis: number
  /** What to do where damage took records away: answer the error, or the lost range in their place. */
  readonly onDamage: OnDamage
}

/** Longest long poll: common proxies cut a silent request after 60 s. */
const maxWaitMillis = 55_000

/** Records of a page where `limit` is not given. */
const defaultLimit = 1_000

type Query = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const invalid = (message: string): RequestProblem => new RequestProblem({ code: "invalid_request", message })

const whole = /^\d{1,16}$/

/** A whole number from the query, `undefined` where it is not given. */
const integer = (
  query: Query,
  name: string,
  least: number,
  most: number
): Result.Result<number | undefined, RequestProblem> => {
  const value = query[name]
  if (value === undefined) return Result.succeed(undefined)
  const number = typeof value === "string" && whole.test(value) ? Number(value) : Number.NaN
  return number >= least && number <= most
    ? Result.succeed(number)
    : Result.fail(invalid(`${name}: must be a whole number from ${least} to ${most}, found ${JSON.stringify(value)}`))
}

const waitForm = /^(\d{1,5})(ms|s)$/

const waitOf = (value: Query[string]): Result.Result<number, RequestProblem> => {
  if (value === undefined) return Result.succeed(0)
  const match = typeof value === "string" ? waitForm.exec(value) : null
  const millis = match === null ? Number.NaN : Number(match[1]) * (match[2] === "s" ? 1_000 : 1)
  return millis <= maxWaitMillis
    ? Result.succeed(millis)
    : Result.fail(
      invalid(`wait: must be a duration with a unit, at most 55s, as in 30s or 500ms, found ${JSON.stringify(value)}`)
    )
}

const formats: Readonly<Record<string, ReadFormat>> = {
  "*/*": "json",
  "application/*": "json",
  "application/json": "json",
  "application/x-ndjson": "ndjson",
  "application/ndjson": "ndjson",
  "application/jsonl": "ndjson",
  "application/octet-stream": "octet-stream",
  "text/event-stream": "event-stream"
}

/** The first named format that the route has; weights are not looked at. */
const formatOf = (accept: string | undefined): Result.Result<ReadFormat, RequestProblem> => {
  if (accept === undefined) return Result.succeed("json")
  for (const range of accept.split(",")) {
    const name = range.split(";", 1)[0]?.trim().toLowerCase() ?? ""
    const format = Object.hasOwn(formats, name) ? formats[name] : undefined
    if (format !== undefined) return Result.succeed(format)
  }
  return Result.fail(
    new RequestProblem({
      code: "not_acceptable",
      message: "accept application/json, application/x-ndjson, application/octet-stream or text/event-stream"
    })
  )
}

const onDamageOf = (value: Query[string], format: ReadFormat): Result.Result<OnDamage, RequestProblem> => {
  if (value === undefined || value === "fail") return Result.succeed("fail")
  if (value !== "skip") return Result.fail(invalid(`on_damage: must be fail or skip, found ${JSON.stringify(value)}`))
  return format === "octet-stream"
    ? Result.fail(invalid("on_damage: skip needs an answer that can name a lost range, and plain bytes cannot"))
    : Result.succeed("skip")
}

const known = new Set(["from", "from_time", "limit", "wait", "on_damage"])

/** Checks query and headers; fails `invalid_request` or `not_acceptable`. */
export const readRequest = (
  query: Query,
  headers: Readonly<Record<string, string | undefined>>,
  limits: Limits
): Result.Result<ReadRequest, RequestProblem> =>
  Result.gen(function*() {
    const unknown = Object.keys(query).find((name) => !known.has(name))
    if (unknown !== undefined) return yield* Result.fail(invalid(`${unknown}: is not a parameter of this route`))
    const format = yield* formatOf(headers["accept"])
    const unfit = format === "event-stream" ? ["limit", "wait"].find((name) => name in query) : undefined
    if (unfit !== undefined) return yield* Result.fail(invalid(`${unfit}: is not a parameter of a live tail`))
    const seq = yield* integer(query, "from", 1, Number.MAX_SAFE_INTEGER)
    const millis = yield* integer(query, "from_time", 0, Number.MAX_SAFE_INTEGER)
    if (seq !== undefined && millis !== undefined) {
      return yield* Result.fail(invalid("from and from_time: give one of them"))
    }
    const limit = yield* integer(query, "limit", 1, limits.maxPageRecords)
    const waitMillis = yield* waitOf(query["wait"])
    const onDamage = yield* onDamageOf(query["on_damage"], format)
    // The browser's own reconnect: it repeats the first URL and says how far it came.
    const resumed = format === "event-stream"
      ? yield* integer({ "Last-Event-ID": headers["last-event-id"] }, "Last-Event-ID", 0, Number.MAX_SAFE_INTEGER - 1)
      : undefined
    const from = resumed !== undefined
      ? resumed + 1
      : seq ?? (millis === undefined ? undefined : { appendedAtMillis: millis })
    return {
      format,
      from,
      limit: format === "octet-stream" ? 1 : limit ?? Math.min(defaultLimit, limits.maxPageRecords),
      waitMillis,
      onDamage
    }
  })
