/**
 * The rows of `docs/errors.md` about values in typed logs. Only programs that use the library meet them: records go over
 * HTTP as bytes, so these have neither a status nor a code.
 */
import type { ErrorEntry } from "./ErrorEntry.ts"
import type { RecordDecodeError } from "./TypedRecord.ts"

/** A row without an answer over HTTP. */
export type TypedErrorEntry = Pick<ErrorEntry, "when" | "then" | "data" | "retryable">

/** One row for each error of `TypedRecord.ts`. */
export const typedErrors: Readonly<Record<RecordDecodeError["_tag"], TypedErrorEntry>> = {
  RecordDecodeError: {
    when: "the value of a stored record is not what the schema says",
    then:
      "Read with a schema that takes it or with `onDecodeError: \"skip\"`, or acknowledge its number to go on behind it.",
    data: "durable",
    retryable: false
  }
}
