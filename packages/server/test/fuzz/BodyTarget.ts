/**
 * The decoders of requests under fuzz: NDJSON, JSON records, bodies in pieces and packed, queries, `Idempotency-Key`.
 *
 * `JSON.parse` and a fatal UTF-8 decoder are the second opinion: what they take, ours takes, and the other way round.
 */
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import { FuzzRandom } from "@effect-wal/testing/fuzz/FuzzRandom"
import { finding, type FuzzFinding, type FuzzOutcome, type FuzzTarget } from "@effect-wal/testing/fuzz/FuzzTarget"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect, Layer, Result } from "effect"
import { isDeepStrictEqual } from "node:util"
import { wholeBody } from "../../src/body/Body.ts"
import { maxDepth } from "../../src/body/JsonScanner.ts"
import { splitLines } from "../../src/body/Ndjson.ts"
import { encodeElement } from "../../src/body/RecordEncoder.ts"
import { decodeRecords } from "../../src/body/RecordsJson.ts"
import { appendOptions } from "../../src/handlers/IdempotencyKey.ts"
import { readRequest } from "../../src/handlers/ReadRequest.ts"
import { RequestBody } from "../../src/RequestBody.ts"
import { RequestProblem } from "../../src/RequestProblem.ts"
import { defaultLimits, Settings } from "../../src/Settings.ts"
import { parseBounds } from "../support/Bounds.ts"
import { bodyKinds, makeBody } from "./BodyInput.ts"
import { withRequest } from "./WireRequest.ts"

const rule = (holds: boolean, problem: string): Effect.Effect<void, FuzzFinding> =>
  holds ? Effect.void : Effect.fail(finding(problem))

const refusal = (problem: RequestProblem, ...codes: ReadonlyArray<string>): Effect.Effect<FuzzOutcome, FuzzFinding> =>
  Effect.as(
    rule(problem instanceof RequestProblem && codes.includes(problem.code), `refused as ${problem.code}`),
    { refused: problem.code, reason: problem.message }
  )

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The value of a JSON text in UTF-8. */
const parsed = (bytes: Uint8Array): Result.Result<unknown, unknown> =>
  Result.try((): unknown => JSON.parse(utf8.decode(bytes)))

/** How deep brackets open in the bytes; those in strings count too, so it is never too low. */
const depthOf = (bytes: Uint8Array): number => {
  let depth = 0
  let deepest = 0
  for (const byte of bytes) {
    if (byte === 0x5b || byte === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (byte === 0x5d || byte === 0x7d) depth--
  }
  return deepest
}

const hasMark = (body: Uint8Array): boolean => body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf

const withoutMark = (body: Uint8Array): Uint8Array => hasMark(body) ? body.subarray(3) : body

/** The lines of a body, split in the plainest way. */
const plainLines = (body: Uint8Array): ReadonlyArray<Buffer> =>
  Buffer.from(withoutMark(body)).toString("latin1").split("\n").map((line) =>
    Buffer.from(line.endsWith("\r") ? line.slice(0, -1) : line, "latin1")
  )

const isJson = (bytes: Uint8Array): boolean => Result.isSuccess(parsed(bytes)) && depthOf(bytes) <= maxDepth

/** A payload comes back from a read as it was sent. */
const checkEcho = (record: AppendRecord): Effect.Effect<void, FuzzFinding> => {
  const line = encodeElement({ ...record, seq: 1, appendedAt: 1_700_000_000_000.5 })
  const read = parsed(line)
  if (Result.isFailure(read) || typeof read.success !== "object" || read.success === null) {
    return Effect.fail(finding("a record that is read is not a line of JSON"))
  }
  const { payload, payload_base64: base64 } = Object(read.success)
  const sent = Buffer.from(record.payload)
  const back = typeof base64 === "string"
    ? Buffer.from(base64, "base64").equals(sent)
    : line.includes(sent) && isDeepStrictEqual(Result.succeed(payload), parsed(record.payload))
  return rule(back && !line.includes(0x0a), "a record comes back with another payload")
}

const piecesOf = (sent: Uint8Array, random: FuzzRandom): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  for (let at = 0; at < sent.length;) {
    const end = Math.min(sent.length, at + (random.oneIn(4) ? random.between(1, 4) : random.between(1, sent.length)))
    pieces.push(sent.slice(at, end))
    at = end
  }
  return pieces
}

/** What came of a body, to compare it with another one. */
const textsOf = (split: Result.Result<ReadonlyArray<Uint8Array>, RequestProblem>): unknown =>
  Result.isSuccess(split)
    ? split.success.map((line) => Buffer.from(line).toString("latin1"))
    : [split.failure.code, split.failure.message]

/** So few that inputs have more. */
const maxLines = 6
const maxRecords = 4

const checkLines = Effect.fnUntraced(function*(body: Uint8Array) {
  const expected = plainLines(body)
  const full = expected.filter((line) => line.length > 0)
  const split = yield* Effect.result(splitLines([body], parseBounds(maxLines)))
  const random = new FuzzRandom(body.length, body[0] ?? 0)
  const cut = yield* Effect.result(splitLines(piecesOf(body, random), parseBounds(maxLines)))
  yield* rule(isDeepStrictEqual(textsOf(cut), textsOf(split)), "the lines depend on where the body was cut")
  if (Result.isFailure(split) && split.failure.code === "too_many_records") {
    yield* rule(full.length > maxLines, "fewer lines were refused as too many")
    yield* rule(full.slice(0, maxLines).every(isJson), "a line was passed over that is no JSON")
    return yield* refusal(split.failure, "too_many_records")
  }
  if (Result.isFailure(split)) {
    const line = Number(split.failure.details?.["line"])
    const bad = expected[line - 1]
    yield* rule(
      bad !== undefined && !isJson(bad) &&
        expected.slice(0, line - 1).every((each) => each.length === 0 || isJson(each)),
      `line ${line} was refused and is not the first that is no JSON`
    )
    return yield* refusal(split.failure, "invalid_json")
  }
  yield* rule(
    full.length <= maxLines && full.length === split.success.length &&
      full.every((line, index) => line.equals(split.success[index] ?? line)),
    "the lines are others"
  )
  yield* rule(full.every((line) => Result.isSuccess(parsed(line))), "a line was taken that is no JSON")
  yield* rule(split.success.every((line) => line.buffer === body.buffer), "a line is a copy")
  for (const payload of split.success) yield* checkEcho({ payload })
  return {} satisfies FuzzOutcome
})

/** The records as `JSON.parse` sees them. */
const plainRecord = ({ payload, ...rest }: AppendRecord, sent: unknown): unknown => {
  const { payload_base64: base64 } = Object(sent)
  return typeof base64 === "string"
    ? { ...rest, payload_base64: Buffer.from(payload).equals(Buffer.from(base64, "base64")) ? base64 : "" }
    : { ...rest, payload: Result.getOrUndefined(parsed(payload)) }
}

const checkRecords = Effect.fnUntraced(function*(body: Uint8Array) {
  const decoded = yield* Effect.result(decodeRecords(body, parseBounds(maxRecords)))
  const plain = parsed(withoutMark(body))
  if (Result.isFailure(decoded)) {
    if (decoded.failure.code === "too_many_records") {
      // Not by the plain value: of a doubled field that has only the last one.
      const unbounded = yield* Effect.result(decodeRecords(body, parseBounds()))
      yield* rule(
        Result.isFailure(unbounded) || unbounded.success.length > maxRecords,
        "fewer records were refused as too many"
      )
      return yield* refusal(decoded.failure, "too_many_records")
    }
    if (decoded.failure.code === "invalid_json") {
      const { offset = -1 } = Object(decoded.failure.details)
      yield* rule(!isJson(withoutMark(body)), "JSON was refused as not JSON")
      yield* rule(offset >= 0 && offset <= body.length, `the error is at ${offset} of ${body.length}`)
    } else {
      yield* rule(decoded.failure.message.length < 500, "the refusal is as long as the body")
      yield* rule(Result.isSuccess(plain), "what is not JSON was refused for a field")
      yield* rule(typeof decoded.failure.details?.["path"] === "string", "the refusal names no path")
    }
    return yield* refusal(decoded.failure, "invalid_json", "invalid_request")
  }
  const { records: sent } = Object(Result.getOrUndefined(plain))
  yield* rule(Array.isArray(sent) && sent.length === decoded.success.length, "the records are others")
  yield* rule(decoded.success.length <= maxRecords, "more records were taken than allowed")
  for (const [index, record] of decoded.success.entries()) {
    const one: unknown = sent[index]
    yield* rule(isDeepStrictEqual(plainRecord(record, one), one), "a record is another one than was sent")
    yield* checkEcho(record)
  }
  return {} satisfies FuzzOutcome
})

/** Small, so that inputs of kilobytes reach them; one body of the greatest length is all that there is room for. */
const limits = { ...defaultLimits, maxBodyBytes: 65_536, maxInFlightBodyBytes: 65_536 }

const settings = Layer.succeed(Settings, {
  host: "127.0.0.1",
  port: 0,
  tokens: [],
  insecure: false,
  limits,
  storeGrace: defaultLimits.ackTimeout,
  drainDelay: defaultLimits.ackTimeout,
  drainTimeout: defaultLimits.ackTimeout,
  streams: []
})

const bodyCodes = ["body_too_large", "invalid_encoding", "malformed_request"]

const checkRequest = Effect.fnUntraced(function*(input: Uint8Array) {
  const [flags = 0, low = 0, high = 0] = input
  const sent = input.slice(3)
  const headers = [
    ...((flags & 1) !== 0 ? ["content-encoding", "gzip"] : []),
    ...((flags & 2) !== 0 ? ["content-length", String(sent.length)] : [])
  ]
  const bodies = yield* RequestBody
  const read = (pieces: ReadonlyArray<Uint8Array>, breaksOff = false) =>
    Effect.result(
      withRequest({ headers, pieces, breaksOff }, (request) =>
        bodies.use(request, (body) => Effect.sync(() => wholeBody(body).slice())))
    )
  if ((flags & 4) !== 0) {
    const broken = yield* read(piecesOf(sent, new FuzzRandom(low, high)), true)
    if (Result.isFailure(broken)) return yield* refusal(broken.failure, ...bodyCodes)
  }
  const whole = yield* read(sent.length === 0 ? [] : [sent])
  const cut = yield* read(piecesOf(sent, new FuzzRandom(low, high)))
  yield* rule(
    Result.isSuccess(whole) === Result.isSuccess(cut) &&
      (Result.isFailure(whole) || isDeepStrictEqual(whole.success, Result.getOrUndefined(cut))),
    "the answer depends on where the body was cut"
  )
  // What was held is given back: else there is no room for this one.
  const full = yield* Effect.result(withRequest(
    { headers: [], pieces: [new Uint8Array(limits.maxBodyBytes)], breaksOff: false },
    (request) => bodies.use(request, () => Effect.void)
  ))
  yield* rule(Result.isSuccess(full), "memory of an earlier body is still held")
  if (Result.isFailure(whole)) return yield* refusal(whole.failure, ...bodyCodes)
  yield* rule(whole.success.length <= limits.maxBodyBytes, `a body of ${whole.success.length} bytes was let in`)
  return { allocatedBytes: whole.success.length } satisfies FuzzOutcome
}, Effect.provide(RequestBody.layer.pipe(Layer.provide(settings))))

/** What a query parser answers: a name that is given twice has a list. */
const isQuery = (value: unknown): value is Readonly<Record<string, string | ReadonlyArray<string>>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) &&
  Object.values(value).flat().every((each) => typeof each === "string")

const isHeaders = (value: unknown): value is Readonly<Record<string, string>> =>
  isQuery(value) && Object.values(value).every((each) => typeof each === "string")

const checkRead = Effect.fnUntraced(function*(input: Uint8Array) {
  const { headers, query } = Object(Result.getOrUndefined(parsed(input)))
  if (!isQuery(query) || !isHeaders(headers)) return { refused: "none", reason: "no request" } satisfies FuzzOutcome
  const checked = readRequest(query, headers, defaultLimits)
  if (Result.isFailure(checked)) return yield* refusal(checked.failure, "invalid_request", "not_acceptable")
  const { from, limit, waitMillis } = checked.success
  const start = typeof from === "object" ? from.appendedAtMillis : from ?? 1
  yield* rule(typeof start === "number" && Number.isSafeInteger(start) && start >= 0, `from is ${String(start)}`)
  yield* rule(Number.isSafeInteger(limit) && limit >= 1 && limit <= defaultLimits.maxPageRecords, `limit is ${limit}`)
  yield* rule(waitMillis >= 0 && waitMillis <= 55_000, `it waits ${waitMillis} ms`)
  return {} satisfies FuzzOutcome
})

const checkKey = Effect.fnUntraced(function*(input: Uint8Array) {
  const text = Buffer.from(input).toString("latin1")
  const given = text === "" ? [] : text.split("\n")
  const headers = given.flatMap((value, index) => [index % 2 === 0 ? "Idempotency-Key" : "idempotency-KEY", value])
  const options = yield* withRequest(
    { headers, pieces: [], breaksOff: false },
    (request) => Effect.succeed(appendOptions(NodeHttpServerRequest.toIncomingMessage(request)))
  )
  if (Result.isFailure(options)) return yield* refusal(options.failure, "invalid_request")
  yield* rule(
    options.success.producer?.id === given[0] && given.length <= 1,
    "the key is not the one that was sent"
  )
  return {} satisfies FuzzOutcome
})

const checks = { lines: checkLines, records: checkRecords, request: checkRequest, read: checkRead, key: checkKey }

/** Bodies, queries and headers of requests. */
export const bodyTarget: FuzzTarget = {
  name: "ndjson",
  make: makeBody,
  check: (input) => checks[bodyKinds[(input[0] ?? 0) % bodyKinds.length] ?? "lines"](input.slice(1))
}
