/**
 * The marks of cursors. Within one opening of the log a mark is a register that shows up to where everything is done: acks
 * add ranges (a commit is the range from 1), a look shows the end of the run that starts at 1.
 *
 * Of each look that showed v, the instant is the earliest one that its call, the looks that showed less, and the acks that
 * make up 1 to v allow; of each ack it is its call, but after every look that showed a mark that this ack would have moved.
 * Each of these depends only on looks that showed less, so they are found from below in one pass, and all are the least
 * possible: the rules only say "not before the later of" and "not before the earliest of". So an order exists if and only
 * if no look and no successful ack would come after its own end.
 *
 * Over a crash only bounds hold: an opening finds at least what was known to be stored before it began, and at most the
 * highest number that anybody has called done before it ended.
 */
import type { Ack, History, Mark, Operation, Persisted } from "./History.ts"
import { type Violation, violation } from "./LinearVerdict.ts"

/** A look that has returned. */
interface Look {
  readonly mark: Mark
  readonly seq: number
}

/** An instant, and the operation whose call it is. */
interface Instant {
  readonly at: number
  readonly by: Operation | undefined
}

const start: Instant = { at: Number.NEGATIVE_INFINITY, by: undefined }

const later = (one: Instant, other: Instant): Instant => other.at > one.at ? other : one

const callOf = (operation: Operation): Instant => ({ at: operation.calledAt, by: operation })

class Register {
  readonly acks: Array<Ack> = []
  readonly looks: Array<Look> = []
  opening: Look | undefined

  check(): Violation | undefined {
    const base = this.opening?.seq ?? 0
    const looks = this.looks.sort((a, b) => a.seq - b.seq || a.mark.calledAt - b.mark.calledAt)
    const acks = this.acks.filter(({ to }) => to > base).sort((a, b) => a.to - b.to)
    const sweep = new Sweep(base, acks)
    for (const look of looks) {
      if (look.seq < base) {
        return violation(
          `mark ${look.mark.cursor} went back from ${base} to ${look.seq}`,
          this.opening?.mark,
          look.mark
        )
      }
      const broken = sweep.look(look)
      if (broken !== undefined) return broken
    }
    return sweep.acksUpTo(Number.POSITIVE_INFINITY)
  }
}

/** An ack, and its earliest instant. */
interface Step {
  readonly ack: Ack
  readonly instant: Instant
}

/** One pass over a register from below. */
class Sweep {
  /** The highest mark that a look has shown so far, and the earliest instant of that look. */
  private shown: number
  private shownAt = start
  /** Acks that end above `shown`, and at or below the next look. */
  private steps: Array<Step> = []
  private next = 0
  private readonly acks: ReadonlyArray<Ack>

  /** The acks are sorted by where they end, all above `base`. */
  constructor(base: number, acks: ReadonlyArray<Ack>) {
    this.shown = base
    this.acks = acks
  }

  look({ mark, seq }: Look): Violation | undefined {
    const broken = this.acksUpTo(seq)
    if (broken !== undefined) return broken
    const made = this.made(seq)
    if (typeof made === "number") {
      return violation(`mark ${mark.cursor} shows ${seq}, and no ack up to there has made ${made} done`, mark)
    }
    const instant = later(later(this.shownAt, callOf(mark)), made)
    if (instant.at >= mark.returnedAt) return contradicts(mark, seq, instant.by)
    this.shown = seq
    this.shownAt = instant
    this.steps = []
    return undefined
  }

  /** Takes in the acks that end at or below a number. */
  acksUpTo(seq: number): Violation | undefined {
    for (let ack = this.acks[this.next]; ack !== undefined && ack.to <= seq; ack = this.acks[++this.next]) {
      // It would have moved the mark that the last look showed, so it came after that look.
      const moves = ack.from <= this.shown + 1
      const instant = moves ? later(callOf(ack), this.shownAt) : callOf(ack)
      if (ack.outcome === "done" && instant.at >= ack.returnedAt) {
        return violation(
          `mark ${ack.cursor} is at ${this.shown} after ${ack.from} to ${ack.to} had been answered as done`,
          ack,
          instant.by
        )
      }
      this.steps.push({ ack, instant })
    }
    return undefined
  }

  /** The earliest instant at which all up to a number can be done; or the first number that nothing has made done. */
  private made(seq: number): Instant | number {
    if (seq === this.shown) return start
    const first = this.shown + 1
    // For each number the next one at or above it that is not done yet, with shortcuts that are kept short.
    const following = Uint32Array.from({ length: seq - this.shown + 1 }, (_, index) => index)
    const undone = (index: number): number => {
      let place = index
      while (following[place] !== place) {
        following[place] = following[following[place] ?? 0] ?? 0
        place = following[place] ?? 0
      }
      return place
    }
    let left = seq - this.shown
    for (const { ack, instant } of this.steps.sort((a, b) => a.instant.at - b.instant.at)) {
      let place = undone(Math.max(ack.from, first) - first)
      for (; place <= ack.to - first; place = undone(place)) {
        following[place] = place + 1
        left--
      }
      if (left === 0) return instant
    }
    return undone(0) + first
  }
}

const contradicts = (mark: Mark, seq: number, by: Operation | undefined): Violation =>
  by?._tag === "Mark" ?
    violation(`mark ${mark.cursor} went back: it showed ${seq}, and ${by.seq} after that`, mark, by) :
    violation(`mark ${mark.cursor} shows ${seq} before that was called done`, mark, by)

/** What an opening finds of a mark after a crash. */
const checkOpening = (
  { mark, seq }: Look,
  acks: ReadonlyArray<Ack>,
  stored: ReadonlyArray<Mark | Persisted>
): Violation | undefined => {
  for (const known of stored) {
    if (known.seq !== undefined && known.returnedAt < mark.calledAt && known.seq > seq) {
      return violation(`mark ${mark.cursor} is ${seq} at opening, ${known.seq} was stored before`, known, mark)
    }
  }
  if (
    seq === 0 ||
    acks.some(({ calledAt, outcome, to }) => outcome !== "refused" && to >= seq && calledAt < mark.returnedAt)
  ) {
    return undefined
  }
  return violation(`mark ${mark.cursor} is ${seq} at opening, nobody had called so much done`, mark, acks.at(-1))
}

/** All that belongs to one cursor. */
class Cursor {
  readonly registers = new Map<string, Register>()
  readonly acks: Array<Ack> = []
  readonly openings: Array<Look> = []
  readonly stored: Array<Mark | Persisted> = []

  registerOf(process: string): Register {
    const known = this.registers.get(process)
    if (known !== undefined) return known
    const fresh = new Register()
    this.registers.set(process, fresh)
    return fresh
  }

  add(operation: Ack | Mark | Persisted): void {
    if (operation._tag === "Persisted") {
      this.stored.push(operation)
    } else if (operation._tag === "Ack") {
      this.acks.push(operation)
      if (operation.outcome !== "refused") this.registerOf(operation.process).acks.push(operation)
    } else if (operation.seq !== undefined) {
      const look = { mark: operation, seq: operation.seq }
      const register = this.registerOf(operation.process)
      register.looks.push(look)
      if (!operation.opening) return
      this.openings.push(look)
      // What an opening has found was in the store: each later one finds at least that.
      this.stored.push(operation)
      register.opening ??= look
    }
  }

  check(): Violation | undefined {
    for (const opening of this.openings) {
      const broken = checkOpening(opening, this.acks, this.stored)
      if (broken !== undefined) return broken
    }
    for (const register of this.registers.values()) {
      const broken = register.check()
      if (broken !== undefined) return broken
    }
    return undefined
  }
}

/** The first contradiction among the marks of a history. */
export const checkCursors = (history: History): Violation | undefined => {
  const cursors = new Map<string, Cursor>()
  for (const operation of history.operations) {
    if (operation._tag === "Append" || operation._tag === "Read") continue
    const cursor = cursors.get(operation.cursor) ?? new Cursor()
    cursors.set(operation.cursor, cursor)
    cursor.add(operation)
  }
  for (const cursor of cursors.values()) {
    const broken = cursor.check()
    if (broken !== undefined) return broken
  }
  return undefined
}
