/** What the manifest remembers of producers: the calls below its checkpoint, as short as they can be. */
import { Schema } from "effect"
import { Count } from "./Boundary.ts"

/** Sequence, first and last record, epoch, `appended_at` and fingerprint of a call. */
export const StoredCall = Schema.Tuple([Count, Count, Count, Count, Schema.Finite, Count])
export type StoredCall = typeof StoredCall.Type

/**
 * A producer and its newest calls, ascending. `older`: the first and last sequence of calls before them that are in the log
 * without a gap; what else there is of them is not known any more. A list of producers is in the order of their newest calls.
 */
export const StoredProducer = Schema.Struct({
  id: Schema.String,
  calls: Schema.Array(StoredCall),
  older: Schema.optionalKey(Schema.Tuple([Count, Count]))
})
export type StoredProducer = typeof StoredProducer.Type
