/**
 * A bounded window of the newest durable segments, so that live readers need no requests.
 *
 * Owns: which segments are kept, in bytes. Does not own: when a segment is durable.
 */
import type { SegmentHeader } from "../format/SegmentHeader.ts"
import type { SegmentMemory } from "../write/SegmentBuffers.ts"

export interface TailSegment {
  readonly key: string
  readonly header: SegmentHeader
  readonly body: Uint8Array
  /** What the body lies in, where it can be used again. */
  readonly memory?: SegmentMemory
}

/** About what a segment takes beside its body: header, hashes, extensions. Segments of one small record are mostly that. */
const segmentOverheadBytes = 2_048

const sizeOf = (segment: TailSegment): number => segment.body.length + segmentOverheadBytes

const lastSeq = (segment: TailSegment): number => segment.header.firstSeq + segment.header.count - 1

export class TailBuffer {
  private readonly limitBytes: number
  private readonly segments: Array<TailSegment> = []
  private bytes = 0

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes
  }

  /** Adds the next durable segment; the oldest go until all fit. One that is larger than the window is not kept. */
  push(segment: TailSegment): void {
    this.segments.push(segment)
    this.bytes += sizeOf(segment)
    while (this.bytes > this.limitBytes) {
      const oldest = this.segments.shift()
      if (oldest === undefined) break
      this.bytes -= sizeOf(oldest)
      oldest.memory?.release()
    }
  }

  /** A segment became durable that is not in memory: what was before it is not next to what comes. */
  clear(): void {
    this.segments.length = 0
    this.bytes = 0
  }

  /** The segment that holds `seq`, where it is in the window. Its records are views: whoever gets them may keep them. */
  find(seq: number): TailSegment | undefined {
    const found = this.search(seq)
    found?.memory?.keep()
    return found
  }

  private search(seq: number): TailSegment | undefined {
    const first = this.segments[0]
    if (first === undefined || seq < first.header.firstSeq) return undefined
    let low = 0
    let high = this.segments.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const segment = this.segments[middle]
      if (segment !== undefined && lastSeq(segment) < seq) low = middle + 1
      else high = middle
    }
    return this.segments[low]
  }
}
