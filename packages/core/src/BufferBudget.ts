/**
 * A bound in bytes over several logs of one process, beside each log's own.
 *
 * Owns: how much all logs together hold, and whether one of them waits for room. Does not own: who waits; each log looks
 * again when told.
 */
import { Context } from "effect"

/** What the logs of a process hold together, in bytes, against one bound. */
export class BufferBudgetState {
  readonly limitBytes: number
  private used = 0
  private waiting = 0
  private readonly listeners = new Set<() => void>()

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  get usedBytes(): number {
    return this.used
  }

  /** Some log waits for room that only the others can give back: all seal what they have open. */
  get isShort(): boolean {
    return this.waiting > 0
  }

  /** Room for one record of so many bytes; always where nothing is used, so that nobody waits for room that cannot come. */
  hasRoom(bytes: number): boolean {
    return this.used === 0 || this.used + bytes <= this.limitBytes
  }

  /** Room for a call of so many bytes in many records: never more than the limit. */
  hasRoomForAll(bytes: number): boolean {
    return this.used + bytes <= this.limitBytes
  }

  /** Takes so many bytes without asking for room: who calls it has asked. */
  take(bytes: number): void {
    this.used += bytes
  }

  /** Told to the others only while one of them waits: else each stored segment would cost something for every open log. */
  give(bytes: number): void {
    this.used -= bytes
    if (this.isShort) this.tell()
  }

  /** Somebody waits for room, until the answer is called. */
  wait(): () => void {
    this.waiting++
    this.tell()
    return () => {
      this.waiting--
    }
  }

  /** Calls back when somebody starts to wait, and after every release while one does, until the answer is called. */
  subscribe(listener: () => void): () => void {
    this.listeners.add(listener)
    return () => {
      this.listeners.delete(listener)
    }
  }

  private tell(): void {
    for (const listener of this.listeners) listener()
  }
}

/** The budget that logs opened here share. Default: none but each log's own bound. */
export const BufferBudget = Context.Reference<BufferBudgetState>("@effect-wal/core/BufferBudget", {
  defaultValue: () => new BufferBudgetState(Number.POSITIVE_INFINITY)
})
