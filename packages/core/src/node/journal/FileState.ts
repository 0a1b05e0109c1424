/**
 * One file of an open journal, as it is known in memory.
 */
import { compareBoundaries } from "../../format/Boundary.ts"
import type { SlotName } from "../../format/ObjectKey.ts"
import type { FrameEntry, FrameIndex } from "./FrameIndex.ts"
import type { FileSummary } from "./JournalFile.ts"
import { emptySummary } from "./JournalFile.ts"
import { SlotSet } from "./SlotSet.ts"

/** How far a journal was emptied by its user. */
export interface Removals {
  /** The highest slot that was asked to be removed. */
  readonly highest: SlotName | undefined
  /** Everything at or below it is dropped, also what is appended later. */
  readonly through: SlotName | undefined
}

const isAtOrBelow = (left: SlotName, right: SlotName | undefined): boolean =>
  right !== undefined && compareBoundaries(left, right) <= 0

export class FileState {
  readonly number: number
  readonly path: string
  /** What lies behind it does not count. */
  goodBytes: number
  /** The real size. */
  sizeBytes: number
  summary: FileSummary = emptySummary
  /** Frames of it were durable and can't be read any more. */
  damaged = false
  private readonly removed = new SlotSet()
  private removedHolding = 0

  constructor(
    file: { readonly number: number; readonly path: string; readonly goodBytes: number; readonly sizeBytes: number }
  ) {
    this.number = file.number
    this.path = file.path
    this.goodBytes = file.goodBytes
    this.sizeBytes = file.sizeBytes
  }

  /** Whether the slot can be in this file. */
  covers(name: SlotName): boolean {
    const { highest, lowest } = this.summary
    return lowest !== undefined && highest !== undefined && compareBoundaries(lowest, name) <= 0 &&
      compareBoundaries(name, highest) <= 0
  }

  isRemoved(name: SlotName): boolean {
    return this.removed.has(name)
  }

  /** Removes a slot of this file; false when it was removed already. */
  remove(entry: FrameEntry): boolean {
    if (!this.removed.add({ epoch: entry.epoch, slot: entry.slot })) return false
    if (!entry.passive) this.removedHolding++
    return true
  }

  /** A frame was appended, or found at opening. */
  append(entry: FrameEntry, index: FrameIndex): void {
    const before = index.find(entry)
    if (before !== undefined && this.removed.delete(entry) && !before.passive) this.removedHolding--
    index.add(entry)
    this.summary = index.summary
  }

  /**
   * Whether the whole file can go. Passive frames, and what damage hides, go as soon as something behind them was
   * removed: slots are removed in order, so they were meant too.
   */
  isDead(removals: Removals): boolean {
    const { highest, holding, slots } = this.summary
    // What damage has made unreadable as a whole stays until something is removed at all.
    if (highest === undefined) return !this.damaged || removals.highest !== undefined || removals.through !== undefined
    if (isAtOrBelow(highest, removals.through)) return true
    if (this.removedHolding < holding) return false
    return slots === holding && !this.damaged || isAtOrBelow(highest, removals.highest)
  }
}
