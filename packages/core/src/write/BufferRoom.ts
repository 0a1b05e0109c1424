/** The bytes that a log holds, within its own bound and within the one that it shares with the other logs of the process. */
import type { BufferBudgetState } from "../BufferBudget.ts"

export class BufferRoom {
  private readonly limitBytes: number
  private readonly budget: BufferBudgetState
  private used = 0
  private isOver = false

  constructor(limitBytes: number, budget: BufferBudgetState) {
    this.limitBytes = limitBytes
    this.budget = budget
  }

  get usedBytes(): number {
    return this.used
  }

  /** No call of several records that is kept whole can take more. */
  get largestCallBytes(): number {
    return Math.min(this.limitBytes, this.budget.limitBytes)
  }

  /** Room for one record; always where nothing is used, so that nobody waits for room that cannot come. */
  has(bytes: number): boolean {
    const fits = this.used === 0 || this.used + bytes <= this.limitBytes
    return fits && this.budget.hasRoom(bytes)
  }

  /** Room for so many records together: never more than the bounds, but for a single one. */
  hasForAll(bytes: number, records: number): boolean {
    if (records === 1) return this.has(bytes)
    return this.used + bytes <= this.limitBytes && this.budget.hasRoomForAll(bytes)
  }

  /** The bound that keeps so many bytes out, and what it holds: the shared one where the log's own would take them. */
  boundFor(bytes: number): { readonly bufferedBytes: number; readonly limitBytes: number } {
    const isShared = this.used + bytes <= this.limitBytes && !this.budget.hasRoomForAll(bytes)
    return isShared
      ? { bufferedBytes: this.budget.usedBytes, limitBytes: this.budget.limitBytes }
      : { bufferedBytes: this.used, limitBytes: this.limitBytes }
  }

  take(bytes: number): void {
    this.used += bytes
    this.budget.take(bytes)
  }

  give(bytes: number): void {
    this.used -= bytes
    if (!this.isOver) this.budget.give(bytes)
  }

  /** The log has ended: what is lost with it is no burden to the others. */
  end(): void {
    this.isOver = true
    this.budget.give(this.used)
  }
}
