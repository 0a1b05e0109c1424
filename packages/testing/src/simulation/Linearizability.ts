/**
 * Is there an order of all operations, each at one instant between its call and its answer, in which one log without any
 * concurrency would have given these answers? Says yes, or which operations contradict each other.
 *
 * **The log.** A sequence of records, numbered from 1, that only grows. An append adds its records at its end: a `whole` one
 * at one instant; the others record by record, as readers may see a part of them, with nothing in between (`pieces`, unless
 * durable: with others in between). One that was durable has added all of them, at the numbers it was told, before its
 * answer; an unknown one any first part, at any time after its call; a refused one nothing. A strong read shows all there
 * is at one instant. A weak read shows records that are in the log when it ends. An ack, and a look at a mark, shows
 * that the number exists when it ends. Marks are judged in `LinearCursors.ts`.
 *
 * **Why no general search.** Checkers for linearizability (Wing and Gong; Lowe; Porcupine) try orders of operations, and
 * remember which sets of operations with which state have failed; a state of a log is then a tail and a chain hash over the
 * records. Here the answers carry numbers, so the order of all that was ever seen is known, and the state after number n is
 * the list of records up to n, compared record by record: no hash, so no collisions. Left to decide are instants.
 *
 * **Instants.** Let t(n) be the instant at which number n became durable. The rules are:
 * 1. t(1) < t(2) < …, or at the same instant within a `whole` append;
 * 2. t(n) is after the call of the append of n, and before its answer if it was durable;
 * 3. a strong read that showed numbers up to n has an instant between its call and its answer with t(n) before it and
 *    t(n + 1) after it: so t(n) < its answer and its call < t(n + 1); one that showed nothing from n on: its call < t(n);
 * 4. a weak read up to n, an ack or a mark of n: t(n) < its answer.
 *
 * By 1 what bounds t(n) from below bounds all above n, and what bounds it from above bounds all below n. So each n has a
 * greatest lower bound L(n) and a least upper bound U(n), both rising with n.
 * _Needed_: if L(n) >= U(n), the two operations behind them exclude each other.
 * _Enough_: if L(n) < U(n) for all n that exist, put t(n) right after L(n), in order of n and closer to L(n) than any other
 * event. Rules 1, 2 and 4 hold. For 3, put the read right after the later of its call and t(n): both are before its answer,
 * and before t(n + 1), as its call is a lower bound of that and t(n) < t(n + 1). A `whole` append is one instant where no
 * read ended inside of it and its lower bounds are taken together, which is checked.
 *
 * **Numbers that nobody names.** A number exists if a higher one was named, or a mark stands there. What stands there can
 * only be an append without an answer. It adds a lower bound, its call, and no upper one. So whether it fits at a number
 * depends on U of that number only, not on who else stands where; what is left is to cut these appends to the free numbers,
 * which `LinearFill.ts` searches completely within a bound of steps. Mostly there are none.
 *
 * **Log and marks together.** In an order of the log with the least instants and one of each register with the least
 * instants, an ack of n that has to wait for t(n) moves nothing past its end: all ends that count in a register bound U(n).
 *
 * Not judged: what a process did before its own first operation, and an append that never took effect.
 */
import type { History, Operation } from "./History.ts"
import { boundsOf } from "./LinearBounds.ts"
import { checkCursors } from "./LinearCursors.ts"
import { fill } from "./LinearFill.ts"
import { type Placement, placementOf } from "./LinearPlacement.ts"
import { describe, type Violation, violation } from "./LinearVerdict.ts"

/** Such an order exists. `steps`: how many states the search for numbers that nobody names went through. */
export interface Linearizable {
  readonly _tag: "Linearizable"
  readonly steps: number
}

/** The search was given up: neither found right nor wrong. Whoever asks has to count this. */
export interface Undecided {
  readonly _tag: "Undecided"
  readonly reason: string
  readonly steps: number
}

export type Verdict = Linearizable | Violation | Undecided

/** Steps of the search, if not told otherwise: some tens of milliseconds. */
export const defaultSearchSteps = 20_000

/** The appends that could have stood at numbers that nobody names, or have to stand somewhere. */
const unplaced = (history: History, placement: Placement): ReadonlyArray<Operation> =>
  history.operations.filter((one) =>
    one._tag === "Append" && one.outcome === "unknown" &&
    one.ids.some((_, offset) => placement.numberOf[one.firstRecord + offset] === 0)
  )

const unfilled = (history: History, placement: Placement, reached: number): Violation => {
  const open = unplaced(history, placement)
  const rule = reached === 0 ?
    "records that come before one of the same append that was seen have no number left" :
    `numbers up to ${placement.tail} exist, and the ${open.length} appends without an answer do not fit into those that ` +
    `nobody names; number ${reached} is the first that stays free`
  return violation(rule, placement.tailSaidBy, ...open.slice(0, 4))
}

/**
 * Judges a history. Time and memory grow with the number of operations and of records in them, plus at most `searchSteps`
 * steps of the search.
 */
export const checkLinearizable = (
  history: History,
  { searchSteps = defaultSearchSteps }: { readonly searchSteps?: number } = {}
): Verdict => {
  const placement = placementOf(history)
  if ("_tag" in placement) return placement
  const bounds = boundsOf(history, placement)
  if ("_tag" in bounds) return bounds
  const marks = checkCursors(history)
  if (marks !== undefined) return marks
  const { _tag, reached, steps } = fill(history, placement, bounds, searchSteps)
  switch (_tag) {
    case "Filled":
      return { _tag: "Linearizable", steps }
    case "Impossible":
      return unfilled(history, placement, reached)
    case "OutOfSteps":
      return {
        _tag: "Undecided",
        reason: `who stands at number ${reached} was not found in ${steps} steps${
          placement.tailSaidBy === undefined ? "" : `; it exists by ${describe(placement.tailSaidBy)}`
        }`,
        steps
      }
  }
}
