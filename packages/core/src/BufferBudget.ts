/**
 * A bound in bytes over several logs of one process, beside each log's own.
 *
 * Owns: how much all logs together hold. Does not own: who waits; each log looks again when told.
 */
import { Context } from "effect"

export class BufferBudgetState {
  readonly limitBytes: number
  private used = 0
  private readonly listeners = new Set<() => void>()

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  get usedBytes(): number {
    return this.used
  }

  /** Room for so many bytes more; always where nothing is used, so that nobody waits for room that cannot come. */
  hasRoom(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.limitBytes
  }

  take(bytes: number): void {
    this.used += bytes
  }

  give(bytes: number): void {
    this.used -= bytes
    for (const listener of this.listeners) listener()
  }

  /** Calls back after every release, until the answer is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }
}

/** The budget that logs opened here share. Default: none but each log's own bound. */
export const BufferBudget = Context.Reference<BufferBudgetState>("@effect-wal/core/BufferBudget", {
  defaultValue: () => new BufferBudgetState(Number.POSITIVE_INFINITY)
})
