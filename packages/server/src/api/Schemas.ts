/** The JSON shapes of the HTTP API. Names are in snake case; times are epoch milliseconds; sizes are bytes. */
import { Schema } from "effect"

const Seq = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

/** What is wrong, with a stable `code`; see docs/errors.md. */
export const ErrorAnswer = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    /** What became of the records of the call. */
    data: Schema.Literals(["durable", "not-durable", "unknown"]),
    /** The same call may succeed later. */
    retryable: Schema.Boolean,
    details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json))
  })
}).annotate({ identifier: "Error" })

/** How far an append must have come before it is answered. */
export const AckLevel = Schema.Literals(["durable", "spooled", "accepted"])
export type AckLevel = typeof AckLevel.Type

/** One record of an append in JSON. */
const AppendedRecord = Schema.Struct({
  /** Any JSON; its bytes are kept as they were sent. */
  payload: Schema.optionalKey(Schema.Json),
  /** Any bytes, base64; exactly one of the two payload fields. */
  payload_base64: Schema.optionalKey(Schema.String),
  key: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  timestamp: Schema.optionalKey(Schema.Finite)
})

/** The body of an append in JSON. */
export const AppendRequest = Schema.Struct({ records: Schema.Array(AppendedRecord) }).annotate({
  identifier: "AppendRequest"
})

/** The answer to an append. `last_seq` is `first_seq - 1` when there was no record. */
export const AppendAnswer = Schema.Struct({
  first_seq: Seq,
  last_seq: Seq,
  count: Schema.Int,
  epoch: Schema.Int,
  ack: AckLevel
}).annotate({ identifier: "AppendAnswer" })

/** An idempotency key: 1 to 128 printable ASCII characters. */
export const idempotencyKeyForm = /^[ -~]{1,128}$/

/** What an append can be asked besides. */
export const AppendHeaders = {
  /** Appends the call once, however often it is sent with this key: a repeat is answered as the first time. */
  "idempotency-key": Schema.optionalKey(
    Schema.String.check(Schema.isPattern(idempotencyKeyForm)).annotate({
      description:
        "1 to 128 printable ASCII characters, another for each call. A repeat with the same key is answered " +
        "as the first time, also after a restart, and appends nothing; with other records it is refused with 422 " +
        "`producer_conflict`. The call must fit into one segment (413 `producer_call_too_large`). Keys are remembered " +
        "within `producers.max` and `producers.ttl`."
    })
  )
}

/** What an answer to an append can say besides. */
export const AppendAnswerHeaders = {
  "idempotency-replayed": Schema.optionalKey(
    Schema.Literal("true").annotate({ description: "The call is a repeat: nothing was appended now." })
  )
}

/** A record as it is read. */
export const RecordJson = Schema.Struct({
  seq: Seq,
  appended_at: Schema.Int,
  timestamp: Schema.optionalKey(Schema.Finite),
  key: Schema.optionalKey(Schema.String),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  /** There when the payload is JSON without line breaks, byte for byte. */
  payload: Schema.optionalKey(Schema.Json),
  payload_base64: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Record" })

/** Records that damage took away, in their place; only where `on_damage=skip` asked for it. Both ends belong to it. */
export const LostRangeJson = Schema.Struct({
  lost: Schema.Struct({ from: Seq, to: Seq, reason: Schema.String })
}).annotate({
  identifier: "LostRange"
})

/** What to do where damage took records away: answer the error, or the lost range and what follows. */
export const OnDamage = Schema.Literals(["fail", "skip"])

/** A page of records; go on at `next`. */
export const RecordPage = Schema.Struct({
  records: Schema.Array(Schema.Union([RecordJson, LostRangeJson])),
  next: Seq
}).annotate({
  identifier: "RecordPage"
})

/** A cursor. */
export const CursorAnswer = Schema.Struct({
  name: Schema.String,
  /** Everything up to here is done. */
  seq: Seq,
  /** What a crash now would go back to. */
  persisted: Seq,
  /** Durable records above it. */
  lag: Schema.Int
}).annotate({ identifier: "Cursor" })

/** Names a sequence number. Checked by the log, so that its own error answers. */
export const SeqRequest = Schema.Struct({ seq: Schema.Finite })

/** One writer epoch; `end` and `last_seq` are null while it is being written. */
export const EpochAnswer = Schema.Struct({
  epoch: Schema.Int,
  end: Schema.NullOr(Schema.Int),
  last_seq: Schema.NullOr(Seq)
})

/** Where a stream stands. All but `id` and `state` are absent while it is not open. */
export const StreamStatus = Schema.Struct({
  id: Schema.String,
  state: Schema.Literals(["opening", "refused", "open", "closing", "closed", "fenced", "failed"]),
  /** Why it is not open. */
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
  node_id: Schema.optionalKey(Schema.String),
  log_id: Schema.optionalKey(Schema.String),
  epoch: Schema.optionalKey(Schema.Int),
  new_owner: Schema.optionalKey(Schema.String),
  last_accepted: Schema.optionalKey(Seq),
  durable: Schema.optionalKey(Seq),
  /** Everything up to it is durable or in the spool. */
  spooled: Schema.optionalKey(Seq),
  trimmed_to: Schema.optionalKey(Seq),
  cursors: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Struct({ seq: Seq, persisted: Seq, lag: Schema.Int }))
  ),
  held_back_by: Schema.optionalKey(Schema.String),
  /** Accepted, and neither durable nor in the spool: what a crash now would lose. */
  at_risk: Schema.optionalKey(Schema.Struct({ records: Schema.Int, bytes: Schema.Int, oldest_age_ms: Schema.Int })),
  buffered: Schema.optionalKey(
    Schema.Struct({ bytes: Schema.Int, limit_bytes: Schema.Int, queued_segments: Schema.Int })
  ),
  segments: Schema.optionalKey(Schema.Struct({ durable: Schema.Int, in_flight: Schema.Int })),
  /** Local disk where segments wait while the store cannot be reached; it does not survive the loss of the node. */
  spool: Schema.optionalKey(
    Schema.Struct({
      path: Schema.String,
      records: Schema.Int,
      segments: Schema.Int,
      bytes: Schema.Int,
      limit_bytes: Schema.Int,
      /** Why nothing more can be spooled. */
      problem: Schema.optionalKey(Schema.String)
    })
  ),
  store_failing_since: Schema.optionalKey(Schema.Int),
  last_store_error: Schema.optionalKey(Schema.String)
}).annotate({ identifier: "Stream" })
export type StreamStatus = typeof StreamStatus.Type

/** Able to write, or why not. `reasons` is left out for whoever may not read the streams. */
export const Readiness = Schema.Struct({
  ready: Schema.Boolean,
  reasons: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({ stream: Schema.optionalKey(Schema.String), code: Schema.String, message: Schema.String })
    )
  )
}).annotate({ identifier: "Readiness" })
export type Readiness = typeof Readiness.Type
