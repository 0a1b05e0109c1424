/**
 * What the parsing of one body may take: how many records it may have, how much memory they hold, and how long the other
 * requests wait for their turn.
 */
import { Effect } from "effect"
import { RequestProblem } from "../RequestProblem.ts"

/** The bounds of one body. */
export interface ParseBounds {
  /** Most records of it. */
  readonly maxRecords: number
  /** Accounts for so many records of it, and headers of these, all so far, until the request is done. Fails `overloaded`. */
  readonly claim: (records: number, headers?: number) => Effect.Effect<void, RequestProblem>
}

/**
 * What is parsed in one go, and the record that passes it to its end: bytes, and for each record so many more as take the
 * time that it takes: a few ms where all records are as small as they can be, half of one where they are large.
 */
export const slice = { bytes: 262_144, bytesOfRecord: 64 }

/** So many bytes and records are enough for one go. */
export const isSliceOver = (bytes: number, records: number): boolean =>
  bytes + records * slice.bytesOfRecord >= slice.bytes

/** Between two slices: the memory of the records so far is accounted for, and everybody else has a turn. */
export const endSlice = (bounds: ParseBounds, records: number, headers = 0): Effect.Effect<void, RequestProblem> =>
  Effect.andThen(bounds.claim(records, headers), Effect.yieldNow)

/** The refusal of a body with more records than it may have. */
export const tooManyRecords = ({ maxRecords }: ParseBounds): RequestProblem =>
  new RequestProblem({
    code: "too_many_records",
    message: `the body has more than ${maxRecords} records (server.limits.max_batch_records); nothing was appended; ` +
      "send several requests",
    details: { limit_records: maxRecords }
  })
