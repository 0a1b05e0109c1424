/**
 * The bounded queue of sealed segments between the segmenter and the workers: oldest first, any free worker takes the next.
 *
 * Synchronous on both sides, because sealing and stamping must be single steps; workers wait on `ready`. Opening a latch
 * runs who waits there at once, inside the call.
 */
import { Latch } from "effect"
import type { PendingSegment } from "./Segment.ts"

export class SegmentQueue {
  readonly capacity: number
  private readonly items: Array<PendingSegment> = []
  /** Open while there may be work: who takes looks, and closes it when there is none. */
  readonly ready = Latch.makeUnsafe(false)

  constructor(capacity: number) {
    this.capacity = capacity
  }

  get size(): number {
    return this.items.length
  }

  get hasRoom(): boolean {
    return this.items.length < this.capacity
  }

  /** The segment that is taken next. */
  get oldest(): PendingSegment | undefined {
    return this.items[0]
  }

  /** Only while `hasRoom`. Wakes nobody: who pushes calls `wake` once its own state is whole. */
  push(segment: PendingSegment): void {
    this.items.push(segment)
  }

  /** The oldest segment. */
  take(): PendingSegment | undefined {
    return this.items.shift()
  }

  /** All that is left, for a report; the queue is empty afterwards. */
  drain(): ReadonlyArray<PendingSegment> {
    return this.items.splice(0)
  }

  /** Lets waiting workers look again. */
  wake(): void {
    Latch.openUnsafe(this.ready)
  }
}
