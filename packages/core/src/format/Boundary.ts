/**
 * A point between two segments, and the order of such points.
 *
 * The trim point, the checkpoint, the recorded end of an epoch and the entries of the sparse index are all of this kind.
 */
import { Schema } from "effect"

/** Sequence numbers, slots, epochs: whole numbers from 0 to 2^53-1. */
export const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))

/** Epochs and slots, as far as a key can name them. */
export const Epoch = upTo(9_999_999_999)
export const Slot = upTo(999_999_999_999)

/** 128 bits as 32 lower-case hexadecimal digits. */
export const Hex128 = Schema.String.check(Schema.isPattern(/^[0-9a-f]{32}$/))

/**
 * The point before slot `slot` of epoch `epoch`.
 *
 * `seq` is the last sequence number before it, `at` the `appended_at` of that record (0: none yet), `chain` the chain hash
 * after the segment before it.
 */
export const Boundary = Schema.Struct({
  epoch: Epoch,
  slot: Slot,
  seq: Count,
  at: Schema.Finite,
  chain: Hex128
})
export type Boundary = typeof Boundary.Type

/** Negative, zero or positive as `left` lies before, at or after `right`. */
export const compareBoundaries = (
  left: { readonly epoch: number; readonly slot: number },
  right: { readonly epoch: number; readonly slot: number }
): number => left.epoch - right.epoch || left.slot - right.slot

/** The later of two points. */
export const laterBoundary = (left: Boundary, right: Boundary): Boundary =>
  compareBoundaries(left, right) >= 0 ? left : right
