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
  /** Accounts for so many records of it, all so far, until the request is done. Fails `overloaded`. */
  readonly claim: (records: number) => Effect.Effect<void, RequestProblem>
}

/**
 * So many bytes are parsed in one go, and the record that passes it to its end: some 20 ms where all records are as small
 * as they can be, 1 ms where they are large.
 */
export const sliceBytes = 65_536

/** Between two slices: the memory of the records so far is accounted for, and everybody else has a turn. */
export const endSlice = (bounds: ParseBounds, records: number): Effect.Effect<void, RequestProblem> =>
  Effect.andThen(bounds.claim(records), Effect.yieldNow)

/** The refusal of a body with more records than it may have. */
export const tooManyRecords = ({ maxRecords }: ParseBounds): RequestProblem =>
  new RequestProblem({
    code: "too_many_records",
    message: `the body has more than ${maxRecords} records (server.limits.max_batch_records); nothing was appended; ` +
      "send several requests",
    details: { limit_records: maxRecords }
  })
