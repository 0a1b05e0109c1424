/**
 * Records: what goes in, and what comes out.
 */

/** A sequence number: dense, from 1, a safe integer. */
export type SequenceNumber = number

/** A record to append. The bytes are copied: the caller may reuse its buffer as soon as append has returned. */
export interface AppendRecord {
  readonly payload: Uint8Array
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly contentType?: string
  /** The client's own time, any finite number; carried unchanged and never used by the log. */
  readonly timestamp?: number
}

/** A record as it was stored. `payload` is a view: copy it to keep it longer than the handling of the record. */
export interface WalRecord extends AppendRecord {
  readonly seq: SequenceNumber
  /** Set by the log when the record was accepted, epoch milliseconds, never falling from one record to the next. */
  readonly appendedAt: number
}

/** A range of sequence numbers that damage took away, delivered in place of its records where the policy is `skip`. */
export interface LostRange {
  readonly _tag: "LostRange"
  /** First lost sequence number, inclusive. */
  readonly from: SequenceNumber
  /** Last lost sequence number, inclusive. */
  readonly to: SequenceNumber
  /** The error that the policy `fail` would have raised, for people. */
  readonly reason: string
}

/** Tells a lost range from a record. */
export const isLostRange = (element: WalRecord | LostRange): element is LostRange =>
  "_tag" in element && element._tag === "LostRange"
