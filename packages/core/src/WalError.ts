/**
 * Every error that a caller of the log can see. What each means for the data, whether to try again, and how HTTP answers
 * it stands in `ErrorTable.ts`.
 */
import { Schema } from "effect"
import type {
  EndMarkerLost,
  ManifestCorrupt,
  ManifestMissing,
  ManifestTooNew,
  ManifestVanished,
  SegmentConflict,
  SegmentCorrupt,
  SegmentMissing,
  SegmentTooNew,
  SequenceGap
} from "./DataErrors.ts"
import type { DirectoryLocked, DiskFull, SpoolUndecided, SyncFailed } from "./DiskErrors.ts"
import type { ProducerError } from "./ProducerError.ts"

export * from "./DataErrors.ts"
export * from "./DiskErrors.ts"
export * from "./ProducerError.ts"

const Seq = Schema.Number

/** The request to the store that did not work. */
const requestFields = { operation: Schema.String, key: Schema.String, detail: Schema.String }

/** The log was closed, by `close` or because its scope ended. What was waiting and not durable is named in the close report. */
export class WalClosed extends Schema.TaggedError<WalClosed>()("WalClosed", { streamId: Schema.String }) {
  override get message(): string {
    return `log ${this.streamId} is closed`
  }
}

/** A fiber of the log died of a defect; the log takes nothing more. The cause is in the message and in the process's log. */
export class WalFailed extends Schema.TaggedError<WalFailed>()("WalFailed", {
  streamId: Schema.String,
  cause: Schema.String
}) {
  override get message(): string {
    return `log ${this.streamId} stopped: ${this.cause}`
  }
}

/** A newer writer has taken the log over. Final: this log is not opened again by itself. */
export class WriterFenced extends Schema.TaggedError<WriterFenced>()("WriterFenced", {
  streamId: Schema.String,
  epoch: Schema.Number,
  /** The epoch that took over, where it is known already. */
  byEpoch: Schema.optionalKey(Schema.Number),
  /** The host that took over, where it is known already. */
  byHost: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    const by = this.byHost === undefined ? "a newer writer" : `${this.byHost} (epoch ${this.byEpoch ?? "?"})`
    return `log ${this.streamId} was taken over by ${by}; this writer had epoch ${this.epoch}`
  }
}

/** This process has the same log open already. */
export class AlreadyOpen extends Schema.TaggedError<AlreadyOpen>()("AlreadyOpen", { log: Schema.String }) {
  override get message(): string {
    return `${this.log} is open in this process already`
  }
}

/** Opening did not finish within `open_timeout`. Nothing is half-done: opening again is safe. */
export class OpenTimeout extends Schema.TaggedError<OpenTimeout>()("OpenTimeout", {
  log: Schema.String,
  afterMillis: Schema.Number,
  /** The last answer of the store, for people. */
  last: Schema.String
}) {
  override get message(): string {
    return `opening ${this.log} took longer than ${this.afterMillis} ms (last answer: ${this.last}); raise open_timeout or mend the store`
  }
}

/** The manifest could not be replaced in 8 tries. The changes stay and are tried again. */
export class ManifestContention extends Schema.TaggedError<ManifestContention>()("ManifestContention", {
  key: Schema.String,
  attempts: Schema.Number,
  last: Schema.String
}) {
  override get message(): string {
    return `${this.key} could not be replaced in ${this.attempts} tries (last answer: ${this.last}); it is tried again`
  }
}

/** 2^53 - 1 sequence numbers are used. */
export class SequenceExhausted extends Schema.TaggedError<SequenceExhausted>()("SequenceExhausted", {
  streamId: Schema.String
}) {
  override get message(): string {
    return `log ${this.streamId} has used all sequence numbers`
  }
}

/** The store's conditional writes do not do what they must. */
export class ConditionalWritesUnsupported
  extends Schema.TaggedError<ConditionalWritesUnsupported>()("ConditionalWritesUnsupported", {
    store: Schema.String,
    /** The check that failed. */
    check: Schema.String,
    found: Schema.String
  })
{
  override get message(): string {
    return `${this.store} cannot hold a log: ${this.check}: ${this.found}; ` +
      "use a store with conditional writes; where a checksum header was refused set checksums: when_required; " +
      "set conditional_writes: single_writer only if no second writer can ever run"
  }
}

/** The store does not answer, or answers with a passing error. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", requestFields) {
  override get message(): string {
    return `${this.operation} ${this.key}: ${this.detail}`
  }
}

/** No credentials, or expired ones that could not be renewed. */
export class CredentialsUnavailable
  extends Schema.TaggedError<CredentialsUnavailable>()("CredentialsUnavailable", requestFields)
{
  override get message(): string {
    return `${this.operation} ${this.key}: ${this.detail}`
  }
}

/** The store refuses the credentials for this key, or the bucket is not there. */
export class AccessDenied extends Schema.TaggedError<AccessDenied>()("AccessDenied", requestFields) {
  override get message(): string {
    return `${this.operation} ${this.key}: ${this.detail}`
  }
}

/** The store answered something that the log has no rule for. */
export class UnexpectedResponse extends Schema.TaggedError<UnexpectedResponse>()("UnexpectedResponse", requestFields) {
  override get message(): string {
    return `${this.operation} ${this.key}: ${this.detail}`
  }
}

/** One record is larger than `max_record_bytes`. Nothing of the call was appended. */
export class RecordTooLarge extends Schema.TaggedError<RecordTooLarge>()("RecordTooLarge", {
  /** Position of the record in the call, from 0. */
  index: Schema.Number,
  sizeBytes: Schema.Number,
  limitBytes: Schema.Number
}) {
  override get message(): string {
    return `record ${this.index} of the call has ${this.sizeBytes} bytes, the limit is ${this.limitBytes}; nothing was appended`
  }
}

/** A field of a record breaks a rule. Nothing of the call was appended. */
export class InvalidRecord extends Schema.TaggedError<InvalidRecord>()("InvalidRecord", {
  index: Schema.Number,
  field: Schema.String,
  rule: Schema.String
}) {
  override get message(): string {
    return `record ${this.index} of the call: ${this.field} ${this.rule}; nothing was appended`
  }
}

/** `appendNow` found no room. Nothing was appended. */
export class BufferFull extends Schema.TaggedError<BufferFull>()("BufferFull", {
  /** Of the log, or of all logs that share a bound where that one is reached. */
  bufferedBytes: Schema.Number,
  limitBytes: Schema.Number
}) {
  override get message(): string {
    return `the buffer holds ${this.bufferedBytes} of ${this.limitBytes} bytes; nothing was appended`
  }
}

/** What was asked for has been deleted by retention. */
export class Trimmed extends Schema.TaggedError<Trimmed>()("Trimmed", {
  from: Seq,
  /** Everything at or below this is gone. */
  trimmedTo: Seq
}) {
  override get message(): string {
    return `record ${this.from} was deleted; the log starts after ${this.trimmedTo}`
  }
}

/** A cursor name or a cursor value breaks a rule. */
export class InvalidCursor extends Schema.TaggedError<InvalidCursor>()("InvalidCursor", {
  cursor: Schema.String,
  value: Schema.String,
  rule: Schema.String
}) {
  override get message(): string {
    return this.value === this.cursor
      ? `cursor ${JSON.stringify(this.cursor)} ${this.rule}`
      : `cursor ${this.cursor}: ${this.value} ${this.rule}`
  }
}

/** More acknowledged ranges lie above the mark than `cursor.max_ahead`. Acknowledge the oldest open record first. */
export class CursorTooFarAhead extends Schema.TaggedError<CursorTooFarAhead>()("CursorTooFarAhead", {
  cursor: Schema.String,
  mark: Seq,
  limit: Schema.Number
}) {
  override get message(): string {
    return `cursor ${this.cursor} holds ${this.limit} ranges above ${this.mark}, the limit; acknowledge ${
      this.mark + 1
    } first`
  }
}

/** A commit or an ack names a record that is not durable. */
export class CommitBeyondDurable extends Schema.TaggedError<CommitBeyondDurable>()("CommitBeyondDurable", {
  cursor: Schema.String,
  requested: Seq,
  durable: Seq
}) {
  override get message(): string {
    return `cursor ${this.cursor}: ${this.requested} is not durable yet, the watermark is ${this.durable}`
  }
}

/** An id uses a character or a length that keys cannot hold. */
export class InvalidId extends Schema.TaggedError<InvalidId>()("InvalidId", {
  field: Schema.String,
  value: Schema.String,
  rule: Schema.String
}) {
  override get message(): string {
    return `${this.field} ${JSON.stringify(this.value)} ${this.rule}`
  }
}

/** One thing that is wrong with a configuration. */
export const ConfigProblem = Schema.Struct({
  /** As in `streams[0].durability.backend.compression.level`. */
  path: Schema.String,
  /** The value as it was found, redacted where it is secret; absent where it is missing. */
  value: Schema.optionalKey(Schema.String),
  rule: Schema.String,
  /** Line in the file, from 1, where there is a file. */
  line: Schema.optionalKey(Schema.Int)
})
export type ConfigProblem = typeof ConfigProblem.Type

/** The configuration breaks rules; all of them are named at once and no request was made. */
export class ConfigError extends Schema.TaggedError<ConfigError>()("ConfigError", {
  source: Schema.String,
  problems: Schema.Array(ConfigProblem)
}) {
  override get message(): string {
    const line = (problem: ConfigProblem) => problem.line === undefined ? "" : `:${problem.line}`
    const value = (problem: ConfigProblem) => problem.value === undefined ? "" : ` (found ${problem.value})`
    return this.problems.map((problem) =>
      `${this.source}${line(problem)}: ${problem.path}: ${problem.rule}${value(problem)}`
    )
      .join("\n")
  }
}

/** What the store can do to a request that reads or opens. */
export type StoreError = StoreUnavailable | CredentialsUnavailable | AccessDenied | UnexpectedResponse

/** Why a log is over for good. Every waiting and every later call fails with it. */
export type WalEnd =
  | WalClosed
  | WalFailed
  | WriterFenced
  | SegmentConflict
  | ManifestVanished
  | ManifestCorrupt
  | ManifestTooNew

/** What is wrong with stored data. */
export type DamageError = SegmentCorrupt | SegmentMissing | SegmentTooNew | SequenceGap

/** What an append fails with; `appendNow` also with `BufferFull`. */
export type AppendError = WalEnd | RecordTooLarge | InvalidRecord | SequenceExhausted | DiskFull | ProducerError
/** What `commit` fails with. */
export type CursorError = WalEnd | InvalidCursor | CommitBeyondDurable
/** What `ack` fails with. */
export type AckError = CursorError | CursorTooFarAhead
/** What a replay or a read fails with. */
export type ReadError = WalEnd | StoreError | DamageError | Trimmed | InvalidCursor

/** What opening a log fails with. Nothing is half-done then. */
export type WalOpenError =
  | StoreError
  | ConfigError
  | InvalidId
  | AlreadyOpen
  | OpenTimeout
  | ConditionalWritesUnsupported
  | EndMarkerLost
  | ManifestMissing
  | ManifestVanished
  | ManifestCorrupt
  | ManifestTooNew
  | WriterFenced
  | SpoolUndecided
  // The log ended while what its spool held was appended again.
  | WalEnd
  | SequenceExhausted
  | DirectoryLocked
  | SyncFailed
  | DamageError
