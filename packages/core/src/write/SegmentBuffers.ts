/**
 * The memory of segments, used again: fresh memory costs more than what is done with it.
 *
 * Invariants: a buffer is given out again only once nobody can read what was in it · no more is kept than the bound.
 */

import type { BufferSource } from "../format/OpenColumns.ts"

/** A buffer is used where less is needed, down to this share of it. */
const leastUse = 0.5

export class SegmentBuffers implements BufferSource {
  private readonly limitBytes: number
  private readonly free: Array<Uint8Array<ArrayBuffer>> = []
  private freeBytes = 0

  /** `limitBytes`: most that is kept while it is not used. */
  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  /** Bytes that are kept and not used. */
  get heldBytes(): number {
    return this.freeBytes
  }

  take(bytes: number): Uint8Array<ArrayBuffer> {
    const at = this.free.findLastIndex(({ length }) => length >= bytes && bytes >= length * leastUse)
    const [found] = at < 0 ? [] : this.free.splice(at, 1)
    if (found === undefined) return new Uint8Array(bytes)
    this.freeBytes -= found.length
    return found
  }

  /** The oldest go until it fits: sizes change over time, and those that nobody asks for must not stay. */
  give(buffer: Uint8Array<ArrayBuffer>): void {
    this.free.push(buffer)
    this.freeBytes += buffer.length
    while (this.freeBytes > this.limitBytes) this.freeBytes -= this.free.shift()?.length ?? this.freeBytes
  }
}

/** The buffer of a segment that was sealed, until it is done with. */
export class SegmentMemory {
  private readonly buffer: Uint8Array<ArrayBuffer>
  private readonly source: BufferSource
  private isReusable = true

  constructor(buffer: Uint8Array<ArrayBuffer>, source: BufferSource) {
    this.buffer = buffer
    this.source = source
  }

  /**
   * Somebody may read it after the segment is done with: a request that was given up, a reader who was given records, a
   * disk. It is left to the garbage collector.
   */
  keep(): void {
    this.isReusable = false
  }

  /** The segment is durable, and left the window of newest ones. */
  release(): void {
    if (!this.isReusable) return
    this.isReusable = false
    this.source.give(this.buffer)
  }
}
