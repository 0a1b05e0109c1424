/**
 * What happened in a walk, line by line: a digest of all of it, and the lines themselves where somebody wants to read them.
 */
import type { Timeline } from "./Timeline.ts"

/** FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/: enough to tell two runs apart. */
const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

export class Trace {
  private readonly timeline: Timeline
  private readonly keep: boolean
  private hash = fnvOffset
  readonly lines: Array<string> = []

  constructor(timeline: Timeline, keep: boolean) {
    this.timeline = timeline
    this.keep = keep
  }

  add(line: string): void {
    const whole = `${this.timeline.nowMillis.toFixed(3)} ${line}`
    let { hash } = this
    for (let at = 0; at < whole.length; at++) hash = Math.imul(hash ^ whole.charCodeAt(at), fnvPrime)
    this.hash = hash
    if (this.keep) this.lines.push(whole)
  }

  /** Two runs with one digest had the same lines, as far as 32 bits tell. */
  get digest(): string {
    return (this.hash >>> 0).toString(16).padStart(8, "0")
  }
}
