/**
 * When a PUT is slow enough to be sent once more: pure decisions on how long PUTs of its size took.
 *
 * The idea, and that the share of repeated requests bounds what it costs: Dean and Barroso, The Tail at Scale, CACM 56(2),
 * 2013, "Hedged requests", https://cacm.acm.org/research/the-tail-at-scale/.
 *
 * Invariants: of all PUTs no larger share is sent twice than lies above the percentile, but for a few at first · what was
 * hedged counts with the time that it took in all, so hedging does not lower its own threshold.
 */

/** PUTs of about one size, newest last, of which the oldest is written over. */
interface SizeClass {
  readonly millis: Array<number>
  next: number
  /** The threshold, until more was seen. */
  threshold: number | undefined
}

/** How many of the newest times of a size class count, and how many there must be. */
const kept = 256
const fewest = 8
/** Below this a second request is no gain. */
const shortestMillis = 2
/** Requests more that may be sent at once, if few were before. */
const mostSaved = 4

export class HedgePolicy {
  private readonly percentile: number
  private readonly classes = new Map<number, SizeClass>()
  /** Requests more that may be sent. */
  private saved = 1

  /** `percentile`: 0.95 sends again what is slower than 95 of 100. */
  constructor(percentile: number) {
    this.percentile = percentile
  }

  /** After how many milliseconds a PUT of so many bytes is slow; `undefined` while too few are known. */
  delayMillis(bytes: number): number | undefined {
    const found = this.classes.get(sizeClassOf(bytes))
    if (found === undefined || found.millis.length < fewest) return undefined
    found.threshold ??= thresholdOf(found.millis, this.percentile)
    return Math.max(shortestMillis, found.threshold)
  }

  /** A PUT is sent for the first time. */
  sends(): void {
    this.saved = Math.min(mostSaved, this.saved + 1 - this.percentile)
  }

  /** Whether one request more may be sent; it counts as sent. */
  takeOne(): boolean {
    if (this.saved < 1) return false
    this.saved--
    return true
  }

  /** A request more was needed to learn what came of two. */
  tookMore(): void {
    this.saved--
  }

  /** A PUT was stored so long after it was sent first. */
  stored(bytes: number, millis: number): void {
    const size = sizeClassOf(bytes)
    const found = this.classes.get(size) ?? { millis: [], next: 0, threshold: undefined }
    this.classes.set(size, found)
    found.millis[found.next] = millis
    found.next = (found.next + 1) % kept
    found.threshold = undefined
  }
}

/** Sizes within a factor of two are one class. */
const sizeClassOf = (bytes: number): number => Math.floor(Math.log2(Math.max(1, bytes)))

const thresholdOf = (millis: ReadonlyArray<number>, percentile: number): number => {
  const sorted = millis.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(percentile * sorted.length))] ?? Number.POSITIVE_INFINITY
}
