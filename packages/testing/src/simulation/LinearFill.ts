/**
 * Who stands at the numbers that exist and that no answer names: a search among the appends that may have taken effect and
 * were never seen.
 *
 * From the lowest free number upwards, each is given to one of
 * - the rest of the append that stands before it (`prefix`),
 * - an append that was accepted under this very number,
 * - an append of several records that can stand anywhere,
 * - a single record.
 *
 * Whether an append that can stand anywhere may begin at a number depends only on its call: it has to be before what bounds
 * that number from above, and these bounds never fall with the number. So who may stand at one number may stand at each
 * later one, and appends of one length and shape can be exchanged for each other: only how many of them are used counts.
 * Records that can stand alone (appends of one record, `pieces`) are exchanged in the same way; the few that must stand
 * before a number that is known go first, the one with the nearest such number first. States that have failed are
 * remembered. So the search is complete, and small but for histories made to be hard: it contains bin covering. The number
 * of its steps has a bound.
 */
import type { Append, History } from "./History.ts"
import type { Bounds } from "./LinearBounds.ts"
import type { Placement } from "./LinearPlacement.ts"

/** Interchangeable appends of several records. */
interface Kind {
  readonly length: number
  readonly whole: boolean
  /** For each of them the lowest number at which it can begin, ascending. */
  readonly releases: Array<number>
  used: number
}

/** A record that has to stand in a range of numbers, inclusive. */
interface Due {
  readonly from: number
  readonly to: number
  placed: boolean
}

/** Where the search stands, but for what is counted in kinds, singles and dues. */
interface State {
  readonly number: number
  /** So many records of the append before it may follow. */
  readonly open: number
}

/** One way to fill a number: what it uses up, and where it leads. */
interface Move {
  readonly uses: Kind | Due | "single" | undefined
  readonly to: State
}

/** A state that is being tried. */
interface Frame {
  readonly key: string
  readonly moves: ReadonlyArray<Move>
  /** The move that is made now; -1 before the first. */
  current: number
}

export interface FillResult {
  readonly _tag: "Filled" | "Impossible" | "OutOfSteps"
  readonly steps: number
  /** The highest number that the search had to fill and reached. */
  readonly reached: number
}

class Search {
  steps = 0
  reached = 0
  private readonly placement: Placement
  private readonly bounds: Bounds
  private readonly stepsMax: number
  private readonly kinds: Array<Kind> = []
  private readonly accepted = new Map<number, Array<Append>>()
  private readonly due: Array<Due> = []
  private readonly singles: Array<number> = []
  private singlesUsed = 0
  private readonly failed = new Set<string>()

  constructor(history: History, placement: Placement, bounds: Bounds, stepsMax: number) {
    this.placement = placement
    this.bounds = bounds
    this.stepsMax = stepsMax
    for (const operation of history.operations) {
      if (operation._tag === "Append" && operation.outcome === "unknown") this.add(operation)
    }
    this.due.sort((a, b) => a.to - b.to)
    this.singles.sort((a, b) => a - b)
    for (const { releases } of this.kinds) releases.sort((a, b) => a - b)
  }

  private add(append: Append): void {
    const { acceptedFirst, calledAt, ids, shape } = append
    if (shape === "pieces") return this.addPieces(append)
    if (this.placement.numberOf[append.firstRecord] !== 0) return
    if (acceptedFirst !== undefined) {
      const same = this.accepted.get(acceptedFirst)
      if (same === undefined) this.accepted.set(acceptedFirst, [append])
      else same.push(append)
      return
    }
    const release = this.releaseOf(calledAt)
    if (ids.length === 1) {
      this.singles.push(release)
      return
    }
    const whole = shape === "whole"
    const kind = this.kinds.find((one) => one.length === ids.length && one.whole === whole)
    if (kind !== undefined) kind.releases.push(release)
    else this.kinds.push({ length: ids.length, whole, releases: [release], used: 0 })
  }

  /** Its records one by one: those before a known one have to be somewhere, those behind the last known one can be. */
  private addPieces({ calledAt, firstRecord, ids }: Append): void {
    let from = this.releaseOf(calledAt)
    let waiting = 0
    for (let offset = 0; offset < ids.length; offset++) {
      const number = this.placement.numberOf[firstRecord + offset] ?? 0
      if (number === 0) {
        waiting++
        continue
      }
      for (; waiting > 0; waiting--) this.due.push({ from, to: number - 1, placed: false })
      from = number + 1
    }
    for (; waiting > 0; waiting--) this.singles.push(from)
  }

  /** The lowest number that can have become durable after this instant. */
  private releaseOf(calledAt: number): number {
    const { before } = this.bounds
    let low = 1
    let high = before.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((before[middle] ?? 0) > calledAt) high = middle
      else low = middle + 1
    }
    return low
  }

  run(): FillResult {
    return { _tag: this.search(), steps: this.steps, reached: this.reached }
  }

  /** Depth first, with a stack of its own: a long log must not exhaust the stack of calls. */
  private search(): FillResult["_tag"] {
    const stack: Array<Frame> = []
    let arrived = this.enter({ number: 1, open: 0 }, stack)
    for (let frame = stack.at(-1); frame !== undefined && arrived !== "end"; frame = stack.at(-1)) {
      if (this.steps > this.stepsMax) return "OutOfSteps"
      const last = frame.moves[frame.current]
      if (last !== undefined) this.use(last, -1)
      const move = frame.moves[++frame.current]
      if (move === undefined) {
        this.failed.add(frame.key)
        stack.pop()
        continue
      }
      this.use(move, 1)
      arrived = this.enter(move.to, stack)
    }
    return arrived === "end" ? "Filled" : "Impossible"
  }

  /** Comes to a state: it is the end of what has to be filled, it is known to fail, or it goes on the stack. */
  private enter(from: State, stack: Array<Frame>): "end" | "failed" | "open" {
    const state = this.nextFree(from)
    const { number } = state
    if (this.due.some(({ placed, to }) => !placed && to < number)) return "failed"
    if (number > this.placement.tail) return "end"
    this.reached = Math.max(this.reached, number)
    this.steps++
    const key = this.keyOf(state)
    if (this.failed.has(key)) return "failed"
    stack.push({ key, moves: this.movesAt(state), current: -1 })
    return "open"
  }

  private use({ uses }: Move, by: 1 | -1): void {
    if (uses === undefined) return
    if (uses === "single") this.singlesUsed += by
    else if ("placed" in uses) uses.placed = by === 1
    else uses.used += by
  }

  private nextFree({ number, open }: State): State {
    const { placement } = this
    let next = number
    while (next <= placement.tail && !placement.free(next)) next++
    return { number: next, open: next === number ? open : this.openAfter(next - 1) }
  }

  /** How many unseen records of the append with this known number may follow it. */
  private openAfter(number: number): number {
    const append = this.placement.appendAt(number)
    if (append === undefined || append.shape === "pieces") return 0
    return append.ids.length - 1 - ((this.placement.recordIndexAt(number) ?? 0) - append.firstRecord)
  }

  private keyOf({ number, open }: State): string {
    let key = `${number} ${open} ${this.singlesUsed}`
    for (const { used } of this.kinds) key += ` ${used}`
    for (const [index, { placed }] of this.due.entries()) if (placed) key += `,${index}`
    return key
  }

  private movesAt({ number, open }: State): ReadonlyArray<Move> {
    const moves: Array<Move> = []
    if (open > 0) moves.push({ uses: undefined, to: { number: number + 1, open: open - 1 } })
    for (const { calledAt, ids, shape } of this.accepted.get(number) ?? []) {
      if (calledAt >= (this.bounds.before[number] ?? 0)) continue
      const to = this.after(number, ids.length, shape === "whole")
      if (to !== undefined) moves.push({ uses: undefined, to })
    }
    for (const kind of this.kinds) {
      const release = kind.releases[kind.used]
      if (release === undefined || release > number) continue
      const to = this.after(number, kind.length, kind.whole)
      if (to !== undefined) moves.push({ uses: kind, to })
    }
    const single = this.singleAt(number)
    if (single !== undefined) moves.push({ uses: single, to: { number: number + 1, open: 0 } })
    return moves
  }

  /** Where an append that begins at a number leads; `undefined`: it cannot. */
  private after(number: number, length: number, whole: boolean): State | undefined {
    if (!whole) return { number: number + 1, open: length - 1 }
    return this.hasRoom(number, length) ? { number: number + length, open: 0 } : undefined
  }

  /**
   * Whether so many records can begin to exist at one instant, from this number on. A strong read that ended between them
   * would have named one of them.
   */
  private hasRoom(number: number, length: number): boolean {
    const { after, before } = this.bounds
    for (let next = number + 1; next < number + length; next++) {
      if (!this.placement.free(next)) return false
      if ((after[next] ?? 0) >= (before[number] ?? 0)) return false
    }
    return true
  }

  private singleAt(number: number): Due | "single" | undefined {
    const due = this.due.find(({ from, placed, to }) => !placed && from <= number && number <= to)
    if (due !== undefined) return due
    const release = this.singles[this.singlesUsed]
    return release === undefined || release > number ? undefined : "single"
  }
}

/** Whether the numbers that nobody names can be filled. At most `stepsMax` numbers are tried. */
export const fill = (history: History, placement: Placement, bounds: Bounds, stepsMax: number): FillResult =>
  new Search(history, placement, bounds, stepsMax).run()
