/** A bounded, ascending list of segment boundaries: dense near the end of the log, thinner the older it gets. */
import { type Boundary, compareBoundaries } from "../format/Boundary.ts"

type Point = Pick<Boundary, "epoch" | "slot">

/** At most `max` of the entries, evenly spread, the newest always among them. */
export const thinIndex = (entries: ReadonlyArray<Boundary>, max: number): ReadonlyArray<Boundary> => {
  if (entries.length <= max) return entries
  const stride = Math.ceil(entries.length / max)
  const thinned: Array<Boundary> = []
  for (let at = (entries.length - 1) % stride; at < entries.length; at += stride) {
    const entry = entries[at]
    if (entry !== undefined) thinned.push(entry)
  }
  return thinned
}

/** How many entries `isBefore` holds for; entries are ascending and so is the predicate. */
const countWhere = (entries: ReadonlyArray<Boundary>, isBefore: (entry: Boundary) => boolean): number => {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const entry = entries[middle]
    if (entry !== undefined && isBefore(entry)) low = middle + 1
    else high = middle
  }
  return low
}

/** The last of them. */
const lastWhere = (entries: ReadonlyArray<Boundary>, isBefore: (entry: Boundary) => boolean): Boundary | undefined =>
  entries[countWhere(entries, isBefore) - 1]

/** The index in memory. It holds at most `capacity` entries: when full, every second one of the older half goes. */
export class SparseIndex {
  private entries: Array<Boundary>
  private readonly capacity: number

  constructor(entries: ReadonlyArray<Boundary>, capacity: number) {
    const sorted = [...entries].sort(compareBoundaries)
    // Ends are among the entries of the manifest too; each point counts once.
    this.entries = sorted.filter((entry, at) => at === 0 || compareBoundaries(sorted[at - 1] ?? entry, entry) < 0)
    this.capacity = capacity
  }

  /** Adds a boundary that lies after all there are; one that does not is left out. */
  add(boundary: Boundary): void {
    const last = this.entries.at(-1)
    if (last !== undefined && compareBoundaries(boundary, last) <= 0) return
    this.entries.push(boundary)
    if (this.entries.length <= this.capacity) return
    const half = this.entries.length >>> 1
    this.entries = this.entries.filter((_, position) => position >= half || position % 2 === 0)
  }

  /** Forgets what lies at or below the trim point. */
  dropThrough(trim: Point): void {
    this.entries.splice(0, this.countThrough(trim))
  }

  /** The last boundary with all of `seq` and what follows after it: a place to start looking for it. */
  before(seq: number): Boundary | undefined {
    return lastWhere(this.entries, (entry) => entry.seq < seq)
  }

  /** The last boundary with nothing above `seq` before it: where a trim to `seq` can stand. */
  atMost(seq: number): Boundary | undefined {
    return lastWhere(this.entries, (entry) => entry.seq <= seq)
  }

  /** The last boundary with only records older than `atMillis` before it. */
  olderThan(atMillis: number): Boundary | undefined {
    return lastWhere(this.entries, (entry) => entry.at < atMillis)
  }

  /** The first boundary after the given point. */
  after(point: Point): Boundary | undefined {
    return this.entries[this.countThrough(point)]
  }

  /** All boundaries after the given point. */
  above(point: Point): ReadonlyArray<Boundary> {
    return this.entries.slice(this.countThrough(point))
  }

  get all(): ReadonlyArray<Boundary> {
    return this.entries
  }

  private countThrough(point: Point): number {
    return countWhere(this.entries, (entry) => compareBoundaries(entry, point) <= 0)
  }
}
