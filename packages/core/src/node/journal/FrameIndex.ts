/**
 * Where the frames of one file lie: a dense table of numbers, sorted by (epoch, slot), about 45 bytes a frame.
 *
 * Frames come in the order of the file, which is nearly always that of the slots; a slot that comes again replaces what
 * was known about it.
 */
import type { SlotName } from "../../format/ObjectKey.ts"
import { emptySummary, type FileSummary } from "./JournalFile.ts"

/** One frame of a file. */
export interface FrameEntry extends SlotName {
  /** Where its header starts. */
  readonly offset: number
  readonly bodyBytes: number
  readonly writtenAtMillis: number
  readonly passive: boolean
}

const startCapacity = 16

/** Columns of one row: epoch, slot, offset, length, written at. */
const columns = 5

export class FrameIndex {
  private rows = new Float64Array(startCapacity * columns)
  private passives = new Uint8Array(startCapacity)
  private count = 0
  private holding = 0

  /** Different slots in the table. */
  get size(): number {
    return this.count
  }

  get summary(): FileSummary {
    if (this.count === 0) return emptySummary
    return { slots: this.count, holding: this.holding, lowest: this.at(0), highest: this.at(this.count - 1) }
  }

  /** Rows are numbered from 0, in the order of (epoch, slot); `undefined` beyond the last. */
  at(row: number): FrameEntry | undefined {
    if (row >= this.count) return undefined
    const [epoch = 0, slot = 0, offset = 0, bodyBytes = 0, writtenAtMillis = 0] = this.rows.subarray(
      row * columns,
      (row + 1) * columns
    )
    return { epoch, slot, offset, bodyBytes, writtenAtMillis, passive: this.passives[row] === 1 }
  }

  /** The first row at or after the slot; `size` when there is none. */
  lowerBound(name: SlotName): number {
    let low = 0
    let high = this.count
    if (high > 0 && this.compare(high - 1, name) < 0) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compare(middle, name) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  find(name: SlotName): FrameEntry | undefined {
    const row = this.lowerBound(name)
    return row < this.count && this.compare(row, name) === 0 ? this.at(row) : undefined
  }

  add(entry: FrameEntry): void {
    const row = this.lowerBound(entry)
    if (row < this.count && this.compare(row, entry) === 0) this.holding -= this.passives[row] === 1 ? 0 : 1
    else this.makeRoom(row)
    this.rows.set([entry.epoch, entry.slot, entry.offset, entry.bodyBytes, entry.writtenAtMillis], row * columns)
    this.passives[row] = entry.passive ? 1 : 0
    this.holding += entry.passive ? 0 : 1
  }

  private compare(row: number, name: SlotName): number {
    const epoch = this.rows[row * columns] ?? 0
    return epoch - name.epoch || (this.rows[row * columns + 1] ?? 0) - name.slot
  }

  private makeRoom(row: number): void {
    if (this.count === this.passives.length) {
      const rows = new Float64Array(this.rows.length * 2)
      rows.set(this.rows)
      this.rows = rows
      const passives = new Uint8Array(this.passives.length * 2)
      passives.set(this.passives)
      this.passives = passives
    }
    this.rows.copyWithin((row + 1) * columns, row * columns, this.count * columns)
    this.passives.copyWithin(row + 1, row, this.count)
    this.count++
  }
}
