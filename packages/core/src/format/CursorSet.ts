/**
 * All cursors of a log at one moment, with the revision that tells a newer set from an older.
 *
 * The set moves as a whole: the highest revision wins, so that a removed cursor stays removed.
 */
import { Schema } from "effect"
import { Count } from "./Boundary.ts"

/** (epoch, n): n counts the changes within the epoch. */
export const Revision = Schema.Struct({ epoch: Count, n: Count })
export type Revision = typeof Revision.Type

export const CursorSet = Schema.Struct({
  revision: Revision,
  /** Highest contiguous committed sequence number by cursor name. `default` is always there. */
  marks: Schema.Record(Schema.String, Count)
})
export type CursorSet = typeof CursorSet.Type

export const defaultCursor = "default"

/** At most so many cursors a log. */
export const maxCursors = 64

export const emptyCursorSet: CursorSet = { revision: { epoch: 0, n: 0 }, marks: { [defaultCursor]: 0 } }

/** Negative, zero or positive as `left` is older than, the same as or newer than `right`. */
export const compareRevisions = (left: Revision, right: Revision): number =>
  left.epoch - right.epoch || left.n - right.n

/** The set with the higher revision. */
export const newerCursors = (left: CursorSet, right: CursorSet): CursorSet =>
  compareRevisions(left.revision, right.revision) >= 0 ? left : right

/** The lowest mark: everything at or below it is committed by every cursor. */
export const lowestMark = (cursors: CursorSet): number =>
  Object.values(cursors.marks).reduce((lowest, mark) => Math.min(lowest, mark), Number.POSITIVE_INFINITY)

export const highestMark = (cursors: CursorSet): number =>
  Object.values(cursors.marks).reduce((highest, mark) => Math.max(highest, mark), Number.NEGATIVE_INFINITY)
