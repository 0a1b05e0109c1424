/** What the spool and the headers say of copies. Pure. */
import { Field, none, Own, type State } from "./Layout.ts"
import type { Rules } from "./Rules.ts"
import { lowestMarker, placeOf, recordedEnd, writerOf } from "./View.ts"

/**
 * The last spooled place that is done with, as the header before the end of an epoch says: that of the last copy. Where that
 * segment is no copy, all copies are stored, and so is what the epoch's own spool holds of it below the end.
 */
export const originMarks = (state: State, epoch: number, end: number, rules: Rules): number => {
  const writer = writerOf(state, epoch)
  // Of a segment that is trimmed the header is not read: the manifest that trims it says the same.
  const isTrimmed = state.get(Field.trimEpoch) === epoch && state.get(Field.trimSlot) === end
  if (writer < 0 || end === 0 || isTrimmed) return 0
  let mark = 0
  for (let slot = 0; slot < Math.min(end, state.layout.bound.slots); slot++) {
    mark = Math.max(mark, state.origin(writer, slot))
  }
  return Math.max(mark, ownMark(state, writer, end, rules))
}

/** The place before a point of a writer's epoch, where it is on the host with the spool and no copy is the last before it. */
export const ownMark = (state: State, writer: number, slot: number, rules: Rules): number => {
  const isOwn = rules["origin-mark-covers-own-slots"] && state.layout.bound.processes[writer] === "spool"
  if (!isOwn || slot === 0 || state.origin(writer, slot - 1) !== 0) return 0
  return placeOf(state, state.of(writer, Own.epoch), slot - 1)
}

/** How the end of an epoch that is over is found: recorded, else by its lowest marker; `none` where neither is there. */
export const knownEnd = (state: State, epoch: number): number => {
  const recorded = recordedEnd(state, epoch)
  return recorded === none ? lowestMarker(state, epoch) : recorded
}

/** Lets go of everything in the spool at or below a place. */
export const dropThrough = (next: State, place: number): boolean => {
  const { epochs, slots } = next.layout.bound
  let hasChanged = false
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const low = next.spoolLow(epoch)
    const high = next.spoolHigh(epoch)
    const gone = Math.min(high, Math.max(low, place - (epoch - 1) * slots))
    if (gone <= low) continue
    next.setSpool(epoch, gone, high)
    hasChanged = true
  }
  return hasChanged
}

/** Slots that the process has given and that the spool holds, or that are durable: up to here. */
export const spooledUpTo = (state: State, process: number): number =>
  Math.max(state.spoolHigh(state.of(process, Own.epoch)), state.of(process, Own.acks))
