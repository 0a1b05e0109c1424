/** The rows of `ErrorTable.ts` about appending once. */
import { entry, type ErrorEntry } from "./ErrorEntry.ts"
import type { ProducerError } from "./ProducerError.ts"

export const producerErrors: Readonly<Record<ProducerError["_tag"], ErrorEntry>> = {
  InvalidProducer: entry(
    "invalid_producer",
    400,
    "not-durable",
    false,
    "the id or the sequence of a producer breaks a rule",
    "Correct it. Nothing of the call was appended."
  ),
  ProducerConflict: entry(
    "producer_conflict",
    422,
    "not-durable",
    false,
    "records with other payloads were appended under the same producer and sequence, or the same `Idempotency-Key`",
    "Send exactly the same records again, or these ones under a new sequence or key. Nothing of this call was appended."
  ),
  ProducerSequenceTooOld: entry(
    "producer_sequence_too_old",
    409,
    "unknown",
    false,
    "the producer has used a higher sequence, and this call is not among its newest five",
    "Look for the records of the call before sending them under a new sequence; it may have been appended before."
  ),
  ProducerCallTooLarge: entry(
    "producer_call_too_large",
    413,
    "not-durable",
    false,
    "a call with a producer or an `Idempotency-Key` does not fit into one segment",
    "Split the call, or raise `max_entries` or `max_bytes` of the segment. Nothing of the call was appended."
  )
}
