/**
 * What an opened log appends again from the spool: all copies get their slots at once, as it activates. Nothing of this is
 * seen by others before the copies are sent, and nobody appends before, so it is no step of its own.
 */
import { Alarm } from "./Alarm.ts"
import { Field, Own, type State } from "./Layout.ts"
import type { Rules } from "./Rules.ts"
import { dropThrough, knownEnd } from "./SpoolView.ts"
import { placeOf, writerOf } from "./View.ts"

interface Plan {
  readonly next: State
  readonly process: number
  readonly rules: Rules
  blank: number
}

/** One spooled slot: a copy gets the next slot, or there is nothing to append. */
const reappendSlot = (plan: Plan, epoch: number, slot: number): void => {
  const { next, process, rules } = plan
  const { bound, calls, origins } = next.layout
  const writer = writerOf(next, epoch)
  const place = placeOf(next, epoch, slot)
  if (next.of(process, Own.firstPending) === 0) next.put(process, Own.firstPending, place)
  plan.blank = place
  if (rules["copy-is-not-copied"] && next.origin(writer, slot) !== 0) return
  if (bound.calls > 0 && rules["known-call-is-not-copied"]) {
    if ((next.of(process, Own.known) >>> (next.call(writer, slot) - 1) & 1) === 1) return
  }
  const given = next.of(process, Own.given)
  // Without that rule there is more to copy than slots: the rest waits for ever.
  if (given >= bound.slots) {
    if (rules["copy-is-not-copied"]) next.set(Field.alarm, Alarm.boundTooSmall)
    return
  }
  plan.blank = 0
  next.put(process, origins + given, place)
  if (bound.calls > 0) next.put(process, calls + given, next.call(writer, slot))
  next.put(process, Own.given, given + 1)
  next.put(process, Own.copies, given + 1)
}

/** The slots of one ended epoch from its end on, but for those that were appended again before. */
const reappendEpoch = (plan: Plan, epoch: number, end: number, mark: number): void => {
  const { next } = plan
  const { slots } = next.layout.bound
  const marked = mark - (epoch - 1) * slots
  if (marked > slots) return
  const low = next.spoolLow(epoch)
  const high = next.spoolHigh(epoch)
  const due = plan.rules["replay-from-the-end"] ? Math.max(end, marked, 0) : Math.max(low, marked)
  if (due < low && due < high) next.set(Field.alarm, Alarm.spoolUndecided)
  for (let slot = due; slot < high; slot++) reappendSlot(plan, epoch, slot)
}

/** Appends what the spool holds of ended epochs, as the process activates its own. */
export const reappendSpooled = (next: State, process: number, ended: number, rules: Rules): void => {
  const { bound } = next.layout
  if (bound.processes[process] !== "spool") return
  const mark = next.get(Field.origin)
  next.put(process, Own.mark, mark)
  const plan: Plan = { next, process, rules, blank: 0 }
  const own = next.of(process, Own.epoch)
  for (let epoch = 1; epoch < own; epoch++) {
    if (next.spoolLow(epoch) >= next.spoolHigh(epoch)) continue
    const end = epoch === ended ? next.of(process, Own.end) : knownEnd(next, epoch)
    reappendEpoch(plan, epoch, end, mark)
  }
  next.put(process, Own.lastBlank, plan.blank)
  const first = next.of(process, Own.firstPending)
  dropThrough(next, first === 0 || !rules["copies-pin-the-spool"] ? placeOf(next, own, 0) - 1 : first - 1)
}
