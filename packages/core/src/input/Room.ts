/**
 * The bound on what an input holds in memory: elements in the order of their numbers, released from the front.
 *
 * Owns: when the source may be pulled. Does not own: when elements are done; it is told how far that is.
 */
import { type Array, type Effect, Latch } from "effect"

/** Elements that were accepted by one call. */
export interface Held {
  /** Their last number. */
  readonly last: number
  readonly count: number
  readonly bytes: number
}

export interface RoomLimits {
  readonly maxPending: number
  readonly maxPendingBytes: number
}

export class Room {
  private readonly limits: RoomLimits
  private readonly latch = Latch.makeUnsafe(true)
  private readonly held: Array<Held> = []
  private count = 0
  private bytes = 0

  constructor(limits: RoomLimits) {
    this.limits = limits
  }

  /** Elements that are held now. */
  get pending(): number {
    return this.count
  }

  /** Completes when there is room for one element at least. */
  get available(): Effect.Effect<void> {
    return this.latch.await
  }

  /** How many of these, from the first on, have room: one at least, so that an element of any size goes through. */
  fitting<A>(elements: Array.NonEmptyReadonlyArray<A>, sizeOf: (element: A) => number): Omit<Held, "last"> {
    const most = Math.max(1, this.limits.maxPending - this.count)
    let bytes = 0
    let count = 0
    for (const element of elements) {
      if (count > 0 && (count >= most || this.bytes + bytes >= this.limits.maxPendingBytes)) break
      bytes += sizeOf(element)
      count++
    }
    return { count, bytes }
  }

  hold(held: Held): void {
    this.held.push(held)
    this.add(held.count, held.bytes)
  }

  /** Everything up to this number is done. */
  releaseThrough(seq: number): void {
    for (let first = this.held[0]; first !== undefined && first.last <= seq; first = this.held[0]) {
      this.held.shift()
      this.add(-first.count, -first.bytes)
    }
  }

  private add(count: number, bytes: number): void {
    this.count += count
    this.bytes += bytes
    const hasRoom = this.count < this.limits.maxPending && this.bytes < this.limits.maxPendingBytes
    if (hasRoom) this.latch.openUnsafe()
    else this.latch.closeUnsafe()
  }
}
