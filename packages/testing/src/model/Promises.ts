/** What must hold in each state, and over each step. Each answers what is broken, in words; `undefined` while all holds. */
import { Alarm } from "./Alarm.ts"
import { Field, Held, none, Own, Phase, type State } from "./Layout.ts"
import { baseOf, durableSlots, isBefore, placeOf, writerOf } from "./View.ts"

const alarms: Readonly<Record<number, string>> = {
  [Alarm.refused]: "an opener that owns the manifest refuses a log that nobody has damaged",
  [Alarm.tooManyRounds]: "an opener does not come to an end against a busy writer",
  [Alarm.spoolUndecided]: "a start refuses a spool that nobody has damaged",
  [Alarm.boundTooSmall]: "the bound has no slot for a copy"
}

/** Acknowledged slots are part of the log: below the end of their epoch, stored until a cursor has passed them. */
const brokenSlots = (state: State, process: number): string | undefined => {
  const epoch = state.of(process, Own.epoch)
  if (epoch === 0) return undefined
  const acks = state.of(process, Own.acks)
  const end = state.end(epoch)
  if (end !== none && acks > end) {
    return `slot ${acks - 1} of epoch ${epoch} is acknowledged, and the epoch ends at ${end}`
  }
  if (end === none && acks > 0 && epoch < state.get(Field.live)) {
    return `slots of epoch ${epoch} are acknowledged, and epoch ${state.get(Field.live)} knows nothing of them`
  }
  const base = state.of(process, Own.base)
  const durable = durableSlots(state, process)
  for (let slot = Math.max(0, state.get(Field.cursor) - base); slot < durable; slot++) {
    if (state.held(epoch, slot) !== Held.data + process) {
      return `record ${
        base + slot + 1
      } (epoch ${epoch}, slot ${slot}) is durable and not committed, and it is not stored`
    }
    if (isBefore(epoch, slot, state.get(Field.trimEpoch), state.get(Field.trimSlot))) {
      return `record ${base + slot + 1} (epoch ${epoch}, slot ${slot}) is durable and not committed, and it is trimmed`
    }
  }
  return undefined
}

/** Numbers are dense over all epochs that were live, and none is given twice. */
const brokenNumbers = (state: State): string | undefined => {
  let last = 0
  for (let epoch = 1; epoch <= state.layout.bound.epochs; epoch++) {
    const writer = writerOf(state, epoch)
    if (writer < 0 || epoch !== state.get(Field.live) && state.end(epoch) === none) continue
    const base = state.of(writer, Own.base)
    if (base < last) return `epoch ${epoch} gives number ${base + 1} again, the log holds ${last} records before it`
    if (base > last) return `epoch ${epoch} starts with number ${base + 1}, the log holds ${last} records before it`
    last += durableSlots(state, writer)
  }
  if (state.get(Field.cursor) > last) return `the cursor is ${state.get(Field.cursor)}, ${last} records are durable`
  const trimmed = baseOf(state, state.get(Field.trimEpoch)) + state.get(Field.trimSlot)
  if (trimmed > state.get(Field.cursor)) return `trimmed up to ${trimmed}, committed up to ${state.get(Field.cursor)}`
  return undefined
}

/** The place where the record of a slot was first: copies of copies come from there too. */
const firstPlace = (state: State, process: number, slot: number): number => {
  const { slots } = state.layout.bound
  let place = placeOf(state, state.of(process, Own.epoch), slot)
  for (;;) {
    const writer = writerOf(state, Math.floor((place - 1) / slots) + 1)
    const origin = state.origin(writer, (place - 1) % slots)
    if (origin === 0) return place
    place = origin
  }
}

/** How many times the record that was first in this place is durable. */
const timesDurable = (state: State, place: number): number => {
  const { processes } = state.layout.bound
  let times = 0
  for (let process = 0; process < processes.length; process++) {
    const durable = durableSlots(state, process)
    for (let slot = 0; slot < durable; slot++) if (firstPlace(state, process, slot) === place) times++
  }
  return times
}

/** The call of a record is durable, under whatever number. */
const isCallDurable = (state: State, call: number): boolean => {
  const { processes } = state.layout.bound
  for (let process = 0; process < processes.length; process++) {
    const durable = durableSlots(state, process)
    for (let slot = 0; slot < durable; slot++) if (state.call(process, slot) === call) return true
  }
  return false
}

/** A spooled record is in the spool or durable, and durable once; a copy stands for what it is a copy of. */
const brokenSpool = (state: State): string | undefined => {
  const { epochs } = state.layout.bound
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const writer = writerOf(state, epoch)
    const high = state.spoolHigh(epoch)
    if (writer < 0) continue
    for (let slot = 0; slot < Math.max(high, state.of(writer, Own.given)); slot++) {
      if (state.origin(writer, slot) !== 0) continue
      const times = timesDurable(state, placeOf(state, epoch, slot))
      if (times > 1) return `the record of epoch ${epoch}, slot ${slot}, is durable under ${times} numbers`
      if (times > 0 || slot >= high || slot >= state.spoolLow(epoch)) continue
      if (state.layout.bound.calls === 0 || !isCallDurable(state, state.call(writer, slot))) {
        return `the record of epoch ${epoch}, slot ${slot}, was spooled, is not durable, and has left the spool`
      }
    }
  }
  return undefined
}

/** A call is durable once, and what answers a repeat is durable. */
const brokenCalls = (state: State): string | undefined => {
  const { processes } = state.layout.bound
  let durable = 0
  for (let process = 0; process < processes.length; process++) {
    const slots = durableSlots(state, process)
    for (let slot = 0; slot < slots; slot++) {
      const bit = 1 << (state.call(process, slot) - 1)
      if ((durable & bit) !== 0) return `call ${state.call(process, slot)} is durable under two numbers`
      durable |= bit
    }
  }
  if ((state.get(Field.table) & ~durable) !== 0) return "the manifest answers for a call that is not durable"
  for (let process = 0; process < processes.length; process++) {
    if (state.of(process, Own.phase) !== Phase.active) continue
    if ((state.of(process, Own.known) & ~durable) !== 0) return "a call is answered that is not durable"
  }
  return undefined
}

/** What is broken in this state. */
export const brokenPromise = (state: State): string | undefined => {
  const alarm = state.get(Field.alarm)
  if (alarm !== Alarm.none) return alarms[alarm]
  const { calls, processes } = state.layout.bound
  for (let process = 0; process < processes.length; process++) {
    const broken = brokenSlots(state, process)
    if (broken !== undefined) return broken
  }
  return brokenNumbers(state) ??
    (state.layout.given === Own.sent ? undefined : brokenSpool(state)) ??
    (calls === 0 ? undefined : brokenCalls(state))
}

/** What a step must not do: take back what the manifest has said. */
export const brokenStep = (now: State, next: State): string | undefined => {
  if (next.get(Field.epoch) < now.get(Field.epoch)) return "the epoch of the manifest falls"
  if (next.get(Field.cursor) < now.get(Field.cursor)) return "the stored cursor falls"
  const falls = isBefore(
    next.get(Field.trimEpoch),
    next.get(Field.trimSlot),
    now.get(Field.trimEpoch),
    now.get(Field.trimSlot)
  )
  return falls ? "the trim point falls" : undefined
}
