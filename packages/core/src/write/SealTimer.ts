/**
 * When the open segment is sealed.
 *
 * Owns: what asks for it beside its own fill (flush, close, who found no room), and the budget that stretches linger. Does
 * not own: the segment, and sealing it; the decision itself is `SealPolicy.ts`.
 *
 * Invariant: a stretched linger ends at once with flush and close, and the end of the log does not wait for it.
 */
import { monotonicMillis } from "../internal/Monotonic.ts"
import { PutBudget } from "./PutBudget.ts"
import { decideSeal, type SealDecision, type SealSettings, type SealSituation } from "./SealPolicy.ts"
import type { PendingSegment } from "./Segment.ts"
import type { SegmenterParts } from "./SegmenterParts.ts"

type Parts = Pick<SegmenterParts, "budget" | "clock" | "queue" | "stats" | "workerFree">

export interface SealTimerSettings extends SealSettings {
  /** PUTs a second beyond which linger is stretched; absent: never. */
  readonly putsPerSecond?: number
}

export class SealTimer {
  private readonly settings: SealTimerSettings
  private readonly parts: Parts
  private readonly puts: PutBudget | undefined
  /** PUTs that are not of a sealed segment, as far as they have been taken from the budget. */
  private otherPuts: number
  private flushing: SealSituation["flush"] = "none"
  /** Somebody found no room since the last sealing. */
  private refused = false
  /** When the last segment was sealed, and how long after the one before. */
  private sealedAt: number | undefined = undefined
  private sealedAfterMillis: number | undefined = undefined
  /** Since when the open segment waits for the budget alone. */
  private stretchedFrom: number | undefined = undefined

  constructor(settings: SealTimerSettings, parts: Parts) {
    this.settings = settings
    this.parts = parts
    const { putsPerSecond } = settings
    this.puts = putsPerSecond === undefined
      ? undefined
      : new PutBudget({ putsPerSecond, nowMillis: monotonicMillis(parts.clock) })
    this.otherPuts = parts.stats.otherPuts
  }

  /** What is open is to be sealed as soon as the queue has room. */
  flush(kind: "flush" | "close"): void {
    this.flushing = kind
  }

  /** Somebody found no room, and may come again. */
  refuse(): void {
    this.refused = true
  }

  /** What to do with the open segment now; `isRoomWanted`: somebody waits for room. */
  decide(open: PendingSegment | undefined, isRoomWanted: boolean): SealDecision {
    const { budget, clock, queue, workerFree } = this.parts
    const nowMillis = monotonicMillis(clock)
    const decision = decideSeal(this.settings, {
      nowMillis,
      open: open === undefined || open.columns.count === 0
        ? undefined
        : { openedAt: open.openedAt, entries: open.columns.count, contentBytes: open.contentBytes },
      queueHasRoom: queue.hasRoom,
      workerFree: workerFree(),
      withinBudgetAt: this.withinBudgetAt(nowMillis),
      demanded: open?.ticket.demanded === true,
      roomWanted: isRoomWanted || this.refused || budget.isShort,
      flush: this.flushing
    })
    if (decision._tag === "WaitUntil" && decision.stretchedFrom !== undefined) {
      this.stretchedFrom ??= Math.max(decision.stretchedFrom, nowMillis)
    }
    return decision
  }

  /** The open segment is sealed. */
  sealed(): void {
    this.flushing = "none"
    this.refused = false
    const nowMillis = monotonicMillis(this.parts.clock)
    this.sealedAfterMillis = this.sealedAt === undefined ? undefined : nowMillis - this.sealedAt
    this.sealedAt = nowMillis
    if (this.puts === undefined) return
    this.puts.take(1, nowMillis)
    const millis = nowMillis - (this.stretchedFrom ?? nowMillis)
    this.stretchedFrom = undefined
    if (millis <= 0) return
    this.parts.stats.lingersStretched++
    this.parts.stats.lingerStretchedMillis += millis
  }

  /** When the next segment is sealed, should it take as long as the last one; `undefined` once that time is over. */
  expectedAt(nowMillis: number): number | undefined {
    if (this.sealedAt === undefined || this.sealedAfterMillis === undefined) return undefined
    const expectedAt = this.sealedAt + this.sealedAfterMillis
    return expectedAt < nowMillis ? undefined : expectedAt
  }

  private withinBudgetAt(nowMillis: number): number {
    if (this.puts === undefined) return nowMillis
    // A segment counts as sent a moment before its request does.
    const otherPuts = Math.max(this.otherPuts, this.parts.stats.otherPuts)
    this.puts.take(otherPuts - this.otherPuts, nowMillis)
    this.otherPuts = otherPuts
    return this.puts.allowedAt(nowMillis)
  }
}
