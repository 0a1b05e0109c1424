/** When the open segment is sealed: a pure decision. */
import type { SealReason } from "./Segment.ts"

/** Times are milliseconds of one monotonic clock. */
export interface SealSettings {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly flushIntervalMillis: number
  readonly lingerMillis: number
  /** `periodic` seals on size and interval, and for room, but not because somebody waits for durability. */
  readonly sync: "group_commit" | "periodic"
}

export interface SealSituation {
  readonly nowMillis: number
  /** The open segment, never empty; absent where nothing is open. */
  readonly open: { readonly openedAt: number; readonly entries: number; readonly contentBytes: number } | undefined
  /** The queue of sealed segments has room for one more. */
  readonly queueHasRoom: boolean
  /** A worker has nothing to do and could send now. */
  readonly workerFree: boolean
  /** From when on one PUT more is within the budget; not in the future where there is none. */
  readonly withinBudgetAt: number
  /** Somebody waits for durability of what is open. */
  readonly demanded: boolean
  /** Somebody waits for room. */
  readonly roomWanted: boolean
  /** `flush` or `close` asked for what is open. */
  readonly flush: "none" | "flush" | "close"
}

export type SealDecision =
  | { readonly _tag: "Seal"; readonly reason: SealReason }
  /** Nothing to do before this time; `stretchedFrom`: it would be sealed then, were there no budget. */
  | { readonly _tag: "WaitUntil"; readonly atMillis: number; readonly stretchedFrom?: number }
  /** Nothing to do before something happens. */
  | { readonly _tag: "Wait" }

/**
 * Decides. Demand seals only while a worker is free: under load the open segment gathers, so that waiting callers share
 * one PUT. The budget makes only those wait longer who wait for durability: for want of room all would stand still.
 */
export const decideSeal = (settings: SealSettings, situation: SealSituation): SealDecision => {
  const open = situation.open
  if (open === undefined || !situation.queueHasRoom) return { _tag: "Wait" }
  if (open.entries >= settings.maxEntries) return { _tag: "Seal", reason: "entries" }
  if (open.contentBytes >= settings.maxBytes) return { _tag: "Seal", reason: "bytes" }
  if (situation.flush !== "none") return { _tag: "Seal", reason: situation.flush }
  const intervalAt = open.openedAt + settings.flushIntervalMillis
  if (situation.nowMillis >= intervalAt) return { _tag: "Seal", reason: "interval" }
  const wanted = situation.roomWanted || situation.demanded && settings.sync === "group_commit"
  if (!wanted || !situation.workerFree) {
    return { _tag: "WaitUntil", atMillis: intervalAt }
  }
  const lingerAt = open.openedAt + settings.lingerMillis
  const sealAt = situation.roomWanted ? lingerAt : Math.max(lingerAt, situation.withinBudgetAt)
  if (situation.nowMillis >= sealAt) return { _tag: "Seal", reason: "demand" }
  const wait = { _tag: "WaitUntil", atMillis: Math.min(sealAt, intervalAt) } as const
  return wait.atMillis > lingerAt ? { ...wait, stretchedFrom: lingerAt } : wait
}
