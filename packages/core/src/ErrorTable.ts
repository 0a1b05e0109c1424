/**
 * What each error of the log means: the one place where its data outcome, its retry advice and its HTTP answer are
 * decided. `docs/errors.md` is written from it, and the server maps errors by it.
 */
import { diskErrors } from "./DiskErrorTable.ts"
import { entry, type ErrorEntry } from "./ErrorEntry.ts"
import { producerErrors } from "./ProducerErrorTable.ts"
import type * as WalError from "./WalError.ts"

export type { DataOutcome, ErrorEntry } from "./ErrorEntry.ts"

/** Every tag that a caller of the log can see. */
export type WalErrorTag = (
  | WalError.WalEnd
  | WalError.AppendError
  | WalError.AckError
  | WalError.ReadError
  | WalError.WalOpenError
  | WalError.BufferFull
  | WalError.ManifestContention
)["_tag"]

/** One row for each tag; the compiler refuses a tag without a row and a row without a tag. */
export const errorTable: Readonly<Record<WalErrorTag, ErrorEntry>> = {
  WalClosed: entry(
    "closed",
    503,
    "unknown",
    true,
    "the log was closed, or its scope ended",
    "Read the close report: it names what was not stored. Append again to the next writer."
  ),
  WalFailed: entry(
    "log_failed",
    500,
    "unknown",
    false,
    "a fiber of the log died of a defect",
    "Restart the process; what is durable is found again. Report the defect."
  ),
  WriterFenced: entry(
    "fenced",
    409,
    "unknown",
    false,
    "a newer writer has taken the log over",
    "Send to the new owner. If two processes share an identity by mistake, give each its own `node_id`."
  ),
  AlreadyOpen: entry(
    "already_open",
    409,
    "not-durable",
    false,
    "this process has the same log open already",
    "Share the one that is open, or change `node_id`, `stream_id` or `prefix`."
  ),
  OpenTimeout: entry(
    "open_timeout",
    503,
    "not-durable",
    true,
    "opening took longer than `open_timeout`",
    "Open again; nothing is half-done. Mend the store or raise the time-out."
  ),
  EndMarkerLost: entry(
    "end_marker_lost",
    500,
    "not-durable",
    false,
    "data stands where the manifest records the end of an epoch",
    "Somebody wrote or deleted below the prefix: verify the log with `WalVerify`, then repair it with `WalRepair`."
  ),
  ManifestMissing: entry(
    "manifest_missing",
    500,
    "not-durable",
    false,
    "there are segments but no manifest",
    "Rebuild it with `WalRepair` once no writer runs."
  ),
  ManifestVanished: entry(
    "manifest_vanished",
    500,
    "unknown",
    false,
    "the manifest was deleted while the log was open",
    "Find out who deletes below the prefix. Put it back, or rebuild it with `WalRepair`."
  ),
  ManifestCorrupt: entry(
    "manifest_corrupt",
    500,
    "unknown",
    false,
    "the manifest does not decode",
    "Put it back from a copy, or rebuild it with `WalRepair`. Nothing was changed."
  ),
  ManifestTooNew: entry(
    "manifest_too_new",
    500,
    "unknown",
    false,
    "the manifest was written by a newer version",
    "Upgrade the program. Nothing was changed."
  ),
  ManifestContention: entry(
    "manifest_contention",
    503,
    "durable",
    true,
    "the manifest could not be replaced in the allowed number of tries",
    "Nothing: the change stays and is tried again. Look for a second writer if it persists."
  ),
  SegmentConflict: entry(
    "segment_conflict",
    500,
    "unknown",
    false,
    "the key of a segment of this writer holds something else",
    "Find out who writes below the prefix, then verify the log with `WalVerify`."
  ),
  SegmentCorrupt: entry(
    "segment_corrupt",
    500,
    "unknown",
    false,
    "the bytes of a stored segment are damaged",
    "Restore the object, or read with the policy `skip`, which reports the lost range. Where the log does not open, `WalRepair` records the loss."
  ),
  SegmentMissing: entry(
    "segment_missing",
    500,
    "unknown",
    false,
    "a segment that must be there is not",
    "Restore the object, or read with the policy `skip`, which reports the lost range. Where the log does not open, `WalRepair` records the loss."
  ),
  SegmentTooNew: entry(
    "segment_too_new",
    500,
    "durable",
    false,
    "a segment uses a version or a critical extension that this program does not know",
    "Upgrade the program."
  ),
  SequenceGap: entry(
    "sequence_gap",
    500,
    "unknown",
    false,
    "two neighbouring segments do not join",
    "Verify the log with `WalVerify`, or read with the policy `skip`, which reports the lost range."
  ),
  SequenceExhausted: entry(
    "sequence_exhausted",
    507,
    "not-durable",
    false,
    "2^53 - 1 sequence numbers are used",
    "Go on with a new stream."
  ),
  ConditionalWritesUnsupported: entry(
    "conditional_writes_unsupported",
    500,
    "not-durable",
    false,
    "the store's conditional writes do not do what they must",
    "Use another store, or `conditional_writes: single_writer` where no second writer can ever run."
  ),
  StoreUnavailable: entry(
    "store_unavailable",
    503,
    "unknown",
    true,
    "the store does not answer, or answers with a passing error",
    "Try again later; appended records stay in the buffer and are retried by the log."
  ),
  CredentialsUnavailable: entry(
    "credentials_unavailable",
    503,
    "unknown",
    true,
    "there are no credentials, or expired ones that could not be renewed",
    "Mend the credentials; no restart is needed."
  ),
  AccessDenied: entry(
    "access_denied",
    503,
    "unknown",
    true,
    "the store refuses the credentials for this key, or the bucket is not there",
    "Mend the policy or the bucket name; no restart is needed."
  ),
  UnexpectedResponse: entry(
    "unexpected_response",
    502,
    "unknown",
    true,
    "the store answered something that the log has no rule for",
    "Look at the status and code in the message; something between the log and the store may have answered."
  ),
  RecordTooLarge: entry(
    "record_too_large",
    413,
    "not-durable",
    false,
    "one record is larger than `max_record_bytes`",
    "Split the record or raise the limit. Nothing of the call was appended."
  ),
  InvalidRecord: entry(
    "invalid_record",
    400,
    "not-durable",
    false,
    "a field of a record breaks a rule",
    "Correct the field. Nothing of the call was appended."
  ),
  ...diskErrors,
  ...producerErrors,
  BufferFull: entry(
    "buffer_full",
    503,
    "not-durable",
    true,
    "the buffer has no room: the store is slower than the input, or down",
    "Wait as `Retry-After` says, then send the same call again. Nothing of it was appended."
  ),
  Trimmed: entry(
    "trimmed",
    410,
    "durable",
    false,
    "what was asked for has been deleted by retention",
    "Read from the first record above `trimmedTo`."
  ),
  InvalidCursor: entry(
    "invalid_cursor",
    400,
    "durable",
    false,
    "a cursor's name or value breaks a rule",
    "Correct the name or the value. The mark did not move."
  ),
  CursorTooFarAhead: entry(
    "cursor_too_far_ahead",
    409,
    "durable",
    true,
    "more acknowledged ranges lie above the mark than `cursor.max_ahead`",
    "Acknowledge the oldest open record first."
  ),
  CommitBeyondDurable: entry(
    "commit_beyond_durable",
    409,
    "not-durable",
    true,
    "a commit or an ack names a record that is not durable",
    "Commit only what was delivered; after a crash the number may belong to another record."
  ),
  InvalidId: entry(
    "invalid_id",
    400,
    "not-durable",
    false,
    "an id uses a character or a length that keys cannot hold",
    "Choose another id. No request was made."
  ),
  ConfigError: entry(
    "config_error",
    500,
    "not-durable",
    false,
    "the configuration breaks rules",
    "Correct all the problems it names. No request was made."
  )
}
