/** Whether the server is alive and able to write, judged from the state of its streams. */
import type { WalStatus } from "@effect-wal/core/WalService"
import { Clock, Duration, Effect } from "effect"
import type { Readiness } from "./api/Schemas.ts"
import { errorBody } from "./ApiError.ts"
import { Lifecycle } from "./Lifecycle.ts"
import { Settings } from "./Settings.ts"
import { type StreamEntry, Streams } from "./Streams.ts"

type Reason = NonNullable<Readiness["reasons"]>[number]

/** A buffer that is as full as this has no room for the next call, if that is not a small one. */
const fullShare = 0.9

/** Whether a spool takes what comes: that is as good as a store that does. */
export const isSpooling = ({ spool }: Pick<WalStatus, "spool">): boolean =>
  spool !== undefined && spool.problem === undefined

/** Why a log that was opened cannot take records now; `undefined` when it can. */
const statusReason = (
  status: WalStatus,
  nowMillis: number,
  graceMillis: number
): Omit<Reason, "stream"> | undefined => {
  if (status.state !== "open") {
    return { code: status.state, message: status.stateReason ?? `the log is ${status.state}` }
  }
  if (status.buffered.bytes >= fullShare * status.buffered.limitBytes) {
    return {
      code: "buffer_full",
      message: `the buffer holds ${status.buffered.bytes} of ${status.buffered.limitBytes} bytes`
    }
  }
  if (isSpooling(status)) return undefined
  if (status.storeFailingSinceMillis !== undefined && nowMillis - status.storeFailingSinceMillis >= graceMillis) {
    return {
      code: "store_unavailable",
      message: status.lastStoreError ?? "the store has been failing for longer than store_grace"
    }
  }
  return undefined
}

const streamReason = Effect.fnUntraced(function*(entry: StreamEntry, nowMillis: number, graceMillis: number) {
  if (entry.state._tag === "Open") return statusReason(yield* entry.state.log.status, nowMillis, graceMillis)
  if (entry.state._tag === "Refused") return errorBody(entry.state.error)
  return entry.state.last === undefined
    ? { code: "stream_opening", message: "the stream is being opened" }
    : errorBody(entry.state.last)
})

/** Why the server should get no appends now; empty when it should. */
export const notReadyReasons = Effect.gen(function*() {
  const settings = yield* Settings
  const lifecycle = yield* Lifecycle
  const streams = yield* Streams
  const nowMillis = yield* Clock.currentTimeMillis
  const reasons: Array<Reason> = []
  if (lifecycle.phase() !== "serving") reasons.push({ code: "draining", message: "the server is shutting down" })
  for (const entry of streams.entries()) {
    const reason = yield* streamReason(entry, nowMillis, Duration.toMillis(settings.storeGrace))
    if (reason !== undefined) reasons.push({ stream: entry.id, code: reason.code, message: reason.message })
  }
  return reasons
})

/** The streams whose log has died of a defect; the process is about to end. */
export const deadStreams = Effect.gen(function*() {
  const streams = yield* Streams
  const dead: Array<string> = []
  for (const { id, state } of streams.entries()) {
    if (state._tag === "Refused" && state.error._tag === "WalFailed") dead.push(id)
    if (state._tag === "Open" && (yield* state.log.status).state === "failed") dead.push(id)
  }
  return dead
})
