/** When the manifest is written: a pure decision. It is off the ack path, so it can wait for company. */

export interface ManifestPolicySettings {
  readonly maxSegments: number
  readonly maxDelayMillis: number
  readonly cursorIntervalMillis: number
  readonly cursorMaxEntries: number
}

export interface ManifestSituation {
  readonly nowMillis: number
  /** Durable segments that no stored manifest knows. */
  readonly pendingSegments: number
  /** Since when there is one. */
  readonly pendingSinceMillis: number | undefined
  /** Somebody waits for a commit: trim, close. */
  readonly requested: boolean
  /** Something is to be stored soon, and nobody waits for it. */
  readonly wanted: boolean
  /** Since when a cursor change is not stored. */
  readonly cursorDirtySinceMillis: number | undefined
  readonly cursorUnstoredRecords: number
  /** When the next segment header that carries the cursors is due; `undefined` when none is on its way. */
  readonly carrierDueMillis: number | undefined
  /** After a failure: not before this time, but for who waits. */
  readonly notBeforeMillis: number
}

export type ManifestDecision =
  | { readonly _tag: "Commit" }
  | { readonly _tag: "WaitUntil"; readonly atMillis: number }
  | { readonly _tag: "Wait" }

const earlier = (left: number | undefined, right: number | undefined): number | undefined => {
  if (left === undefined) return right
  return right === undefined ? left : Math.min(left, right)
}

/** When a cursor change alone asks for a commit. A segment that is about to carry it makes the commit unnecessary. */
const cursorDue = (settings: ManifestPolicySettings, situation: ManifestSituation): number | undefined => {
  if (situation.cursorDirtySinceMillis === undefined) return undefined
  const byTime = situation.cursorDirtySinceMillis + settings.cursorIntervalMillis
  const due = situation.cursorUnstoredRecords >= settings.cursorMaxEntries
    ? Math.min(byTime, situation.nowMillis)
    : byTime
  const carrier = situation.carrierDueMillis
  if (carrier === undefined || carrier > Math.max(due, situation.nowMillis) + settings.cursorIntervalMillis) return due
  // It is carried; look again when that should have happened.
  return Math.max(due, carrier, situation.nowMillis) + settings.cursorIntervalMillis
}

const segmentsDue = (settings: ManifestPolicySettings, situation: ManifestSituation): number | undefined => {
  if (situation.pendingSinceMillis === undefined || situation.pendingSegments === 0) return undefined
  if (situation.pendingSegments >= settings.maxSegments) return situation.nowMillis
  return situation.pendingSinceMillis + settings.maxDelayMillis
}

export const decideCommit = (settings: ManifestPolicySettings, situation: ManifestSituation): ManifestDecision => {
  if (situation.requested) return { _tag: "Commit" }
  const due = situation.wanted
    ? situation.nowMillis
    : earlier(segmentsDue(settings, situation), cursorDue(settings, situation))
  if (due === undefined) return { _tag: "Wait" }
  const at = Math.max(due, situation.notBeforeMillis)
  return at <= situation.nowMillis ? { _tag: "Commit" } : { _tag: "WaitUntil", atMillis: at }
}
