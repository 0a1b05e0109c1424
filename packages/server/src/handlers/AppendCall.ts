/**
 * Appending what a request brings, and what it is answered.
 *
 * Everything is validated before anything is appended; a call is appended whole or not at all.
 */
import { recordOverheadBytes } from "@effect-wal/core/model/LossWindow"
import type { AppendError, BufferFull } from "@effect-wal/core/WalError"
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import type { Appended, AppendOptions, WalService } from "@effect-wal/core/WalService"
import { Clock, Duration, Effect, Result } from "effect"
import type { AckLevel } from "../api/Schemas.ts"
import type { Body } from "../body/Body.ts"
import type { ParseBounds } from "../body/ParseBounds.ts"
import { elapsedMillis } from "../ElapsedTime.ts"
import { RequestProblem } from "../RequestProblem.ts"
import type { Limits } from "../Settings.ts"
import type { Decoder } from "./AppendRequest.ts"

/** What a request asks for, and of which log. */
export interface AppendOrder {
  readonly log: WalService
  readonly ack: AckLevel
  readonly options: AppendOptions
  readonly decode: Decoder
}

/** What one call appends, and on whose behalf. */
interface Call {
  readonly records: ReadonlyArray<AppendRecord>
  readonly options: AppendOptions
}

/** Headers as JSON; the log counts a few bytes more. So what is refused for its size can never fit. */
const contentBytes = ({ headers, key = "", payload }: AppendRecord): number =>
  payload.length + Buffer.byteLength(key) + (headers === undefined ? 0 : Buffer.byteLength(JSON.stringify(headers)))

/** What the records take of a buffer, bytes. */
const bufferBytes = (records: ReadonlyArray<AppendRecord>): number =>
  records.reduce((bytes, record) => bytes + contentBytes(record) + recordOverheadBytes, 0)

/** First and largest pause between two looks for room. */
const roomPause = { firstMillis: 5, largestMillis: 200 }

/**
 * Appends when there is room, and looks for it for `roomTimeout`. Not `log.append` with a time-out: interrupting that
 * could leave a part of the call behind, and a call is appended whole or not at all.
 */
const appendWhenRoom = Effect.fnUntraced(
  function*(log: WalService, { options, records }: Call, full: BufferFull, limits: Limits) {
    const limitBytes = Math.min(full.limitBytes, limits.maxBufferedBytes)
    const callBytes = bufferBytes(records)
    // A single record is let into an empty buffer, whatever it takes.
    if (records.length > 1 && callBytes > limitBytes) {
      return yield* new RequestProblem({
        code: "batch_too_large",
        message: `the records take ${callBytes} bytes of the stream's buffer, which has ${limitBytes} in all; ` +
          "nothing was appended; send several requests",
        details: { limit_bytes: limitBytes }
      })
    }
    const clock = yield* Clock.Clock
    const deadline = elapsedMillis(clock) + Duration.toMillis(limits.roomTimeout)
    let pauseMillis = roomPause.firstMillis
    for (;;) {
      const leftMillis = deadline - elapsedMillis(clock)
      if (leftMillis <= 0) return yield* Effect.fail(full)
      yield* Effect.sleep(Math.min(pauseMillis, leftMillis))
      const result = yield* Effect.result(log.appendNow(records, options))
      if (Result.isSuccess(result)) return result.success
      if (result.failure._tag !== "BufferFull") return yield* Effect.fail(result.failure)
      pauseMillis = Math.min(pauseMillis * 2, roomPause.largestMillis)
    }
  }
)

const appendBounded = (
  log: WalService,
  call: Call,
  limits: Limits
): Effect.Effect<Appended, AppendError | BufferFull | RequestProblem> =>
  Effect.catchTag(
    log.appendNow(call.records, call.options),
    "BufferFull",
    (full) => appendWhenRoom(log, call, full, limits)
  )

/** Appends the records of a body. */
export const appendBody = (
  { decode, log, options }: AppendOrder,
  body: Body,
  claim: ParseBounds["claim"],
  limits: Limits
): Effect.Effect<Appended, AppendError | BufferFull | RequestProblem> =>
  Effect.flatMap(
    decode(body, { maxRecords: limits.maxBatchRecords, claim }),
    (records) => Effect.andThen(claim(records.length), appendBounded(log, { records, options }, limits))
  )

/**
 * The refusal of a wait for durability that has lasted too long; the records go on to be stored. `replayed` is there where
 * they are those of an earlier try of the call.
 */
export const ackPending = ({ epoch, first, isRepeat, last }: Appended): RequestProblem =>
  new RequestProblem({
    code: "ack_pending",
    message: "the records were accepted and are not durable yet; see the stream's status",
    details: {
      first_seq: first,
      last_seq: last,
      count: last - first + 1,
      epoch,
      ...isRepeat === true ? { replayed: true } : {}
    }
  })

/** The answer to an append as JSON: numbers and a known word, so nothing needs an escape. */
export const answerText = ({ epoch, first, last }: Appended, ack: AckLevel): string =>
  `{"first_seq":${first},"last_seq":${last},"count":${last - first + 1},"epoch":${epoch},"ack":"${ack}"}`
