/** How far a log may be trimmed: a pure decision. Only whole segments, never past a cursor, unless age decides. */
import { type Boundary, compareBoundaries, laterBoundary } from "../format/Boundary.ts"
import { type CursorSet, lowestMark } from "../format/CursorSet.ts"

export interface TrimSituation {
  readonly policy: "committed" | "keep" | "age"
  readonly current: Boundary
  /** The cursors of the very body that the trim point will stand in. */
  readonly cursors: CursorSet
  /** Asked for by `trim`: everything at or below it, as far as cursors allow. */
  readonly requestedSeq: number
  /** The last known boundary with nothing above `seq` before it. */
  readonly atMost: (seq: number) => Boundary | undefined
  /** What age and size allow to go, whatever the cursors say; absent where the policy is not `age`. */
  readonly aged: Boundary | undefined
  /** What is younger than `min_age` stays: nothing at or after this point goes. Absent where no such limit is set. */
  readonly tooYoungFrom: Boundary | undefined
}

/** The new trim point; the current one when nothing can go. */
export const decideTrim = (situation: TrimSituation): Boundary => {
  const committed = lowestMark(situation.cursors)
  const allowed = situation.policy === "committed" ? committed : Math.min(situation.requestedSeq, committed)
  let target = situation.atMost(allowed) ?? situation.current
  if (situation.policy === "age" && situation.aged !== undefined) target = laterBoundary(target, situation.aged)
  const young = situation.tooYoungFrom
  if (young !== undefined && compareBoundaries(young, target) < 0) target = young
  return laterBoundary(target, situation.current)
}
