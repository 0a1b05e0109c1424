/** The state of a stream as the API tells it. */
import type { WalStatus } from "@effect-wal/core/WalService"
import { Effect } from "effect"
import type { StreamStatus } from "../api/Schemas.ts"
import { type ApiFailure, errorBody } from "../ApiError.ts"
import type { StreamEntry } from "../Streams.ts"

const reason = (error: ApiFailure) => {
  const { code, message } = errorBody(error)
  return { code, message }
}

/** Where the stream `id` stands, whose log was opened. */
export const openedStatus = (id: string, status: WalStatus): StreamStatus => ({
  id,
  state: status.state,
  node_id: status.nodeId,
  log_id: status.logId,
  epoch: status.epoch,
  ...status.stateReason === undefined ? {} : { error: { code: status.state, message: status.stateReason } },
  ...status.newOwner === undefined ? {} : { new_owner: status.newOwner },
  last_accepted: status.lastAccepted,
  durable: status.durable,
  spooled: status.spooled,
  trimmed_to: status.trimmedTo,
  cursors: Object.fromEntries(
    Object.entries(status.cursors).map(([name, { lag, mark, persisted }]) => [name, { seq: mark, persisted, lag }])
  ),
  ...status.heldBackBy === undefined ? {} : { held_back_by: status.heldBackBy },
  at_risk: {
    records: status.atRisk.records,
    bytes: status.atRisk.bytes,
    oldest_age_ms: Math.round(status.atRisk.oldestAgeMillis)
  },
  buffered: {
    bytes: status.buffered.bytes,
    limit_bytes: status.buffered.limitBytes,
    queued_segments: status.buffered.queuedSegments
  },
  segments: { durable: status.segments.durable, in_flight: status.segments.inFlight },
  ...status.spool === undefined ? {} : {
    spool: {
      path: status.spool.path,
      records: status.spool.records,
      segments: status.spool.segments,
      bytes: status.spool.bytes,
      limit_bytes: status.spool.limitBytes,
      ...status.spool.problem === undefined ? {} : { problem: status.spool.problem }
    }
  },
  ...status.storeFailingSinceMillis === undefined
    ? {}
    : { store_failing_since: Math.round(status.storeFailingSinceMillis) },
  ...status.lastStoreError === undefined ? {} : { last_store_error: status.lastStoreError }
})

/** Where the stream stands now. */
export const streamStatus = (entry: StreamEntry): Effect.Effect<StreamStatus> => {
  switch (entry.state._tag) {
    case "Open":
      return Effect.map(entry.state.log.status, (status) => openedStatus(entry.id, status))
    case "Refused":
      return Effect.succeed({ id: entry.id, state: "refused", error: reason(entry.state.error) })
    case "Opening":
      return Effect.succeed({
        id: entry.id,
        state: "opening",
        ...entry.state.last === undefined ? {} : { error: reason(entry.state.last) }
      })
  }
}
