/**
 * A set of slots, kept as ranges: slots are removed from the front of a log, so that there is one range an epoch.
 */
import type { SlotName } from "../../format/ObjectKey.ts"

/** Both ends inclusive; all of one epoch. */
interface SlotRange {
  readonly epoch: number
  from: number
  to: number
}

/** Ranges are ascending, disjoint and not adjacent. */
export class SlotSet {
  private readonly ranges: Array<SlotRange> = []
  private count = 0

  get size(): number {
    return this.count
  }

  /** How many ranges hold the slots: what the set costs. */
  get rangeCount(): number {
    return this.ranges.length
  }

  has(name: SlotName): boolean {
    const range = this.ranges[this.firstEndingAtOrAfter(name)]
    return range !== undefined && range.epoch === name.epoch && range.from <= name.slot
  }

  /** Answers false when it was in already. */
  add(name: SlotName): boolean {
    if (this.has(name)) return false
    this.count++
    const index = this.firstEndingAtOrAfter(name)
    const before = this.ranges[index - 1]
    const after = this.ranges[index]
    const joinsBefore = before !== undefined && before.epoch === name.epoch && before.to === name.slot - 1
    const joinsAfter = after !== undefined && after.epoch === name.epoch && after.from === name.slot + 1
    if (joinsBefore && joinsAfter) {
      before.to = after.to
      this.ranges.splice(index, 1)
    } else if (joinsBefore) before.to = name.slot
    else if (joinsAfter) after.from = name.slot
    else this.ranges.splice(index, 0, { epoch: name.epoch, from: name.slot, to: name.slot })
    return true
  }

  /** Answers false when it was not in. */
  delete(name: SlotName): boolean {
    if (!this.has(name)) return false
    this.count--
    const index = this.firstEndingAtOrAfter(name)
    const range = this.ranges[index]
    if (range === undefined) return false
    const rest = [
      { epoch: range.epoch, from: range.from, to: name.slot - 1 },
      { epoch: range.epoch, from: name.slot + 1, to: range.to }
    ]
    this.ranges.splice(index, 1, ...rest.filter((part) => part.from <= part.to))
    return true
  }

  private firstEndingAtOrAfter(name: SlotName): number {
    let low = 0
    let high = this.ranges.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const range = this.ranges[middle]
      if (range !== undefined && (range.epoch - name.epoch || range.to - name.slot) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}
