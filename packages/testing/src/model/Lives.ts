/** How a process changes when the manifest does, when it is fenced, and when it dies: what is left is what can still act. */
import { Field, none, Own, Phase, type State } from "./Layout.ts"
import type { Rules } from "./Rules.ts"
import { isDead } from "./View.ts"

/** Fields of an open log that mean nothing once it is over. */
const openFields = [
  Own.live,
  Own.from,
  Own.end,
  Own.confirmed,
  Own.fence,
  Own.cursor,
  Own.tryCursor,
  Own.tryCheckpoint,
  Own.oldCursor,
  Own.oldCheckpoint,
  Own.heldCursor,
  Own.needsTail,
  Own.rounds,
  Own.reach,
  Own.known,
  Own.highest,
  Own.view
]

/** Its epoch was live at some time. */
const wasLive = (state: State, process: number): boolean => {
  const epoch = state.of(process, Own.epoch)
  return epoch !== 0 && (state.get(Field.live) === epoch || state.end(epoch) !== none)
}

/** Forgets all, but for what its epoch holds if that was ever live. */
export const forget = (next: State, process: number): void => {
  const { bound, calls, given: givenField, origins, processSize } = next.layout
  if (!wasLive(next, process)) {
    for (let field = 0; field < processSize; field++) next.put(process, field, 0)
    next.put(process, Own.phase, Phase.dead)
    return
  }
  next.put(process, Own.phase, Phase.dead)
  for (const field of openFields) next.put(process, field, 0)
  if (givenField === Own.sent && bound.calls === 0) return
  const epoch = next.of(process, Own.epoch)
  let given = next.of(process, Own.sent)
  if (givenField !== Own.sent) {
    // What was neither sent nor spooled was in memory only.
    given = Math.max(given, next.spoolHigh(epoch))
    next.put(process, Own.given, given)
    for (const field of [Own.mark, Own.copies, Own.firstPending, Own.lastBlank]) next.put(process, field, 0)
  }
  for (let slot = given; slot < bound.slots; slot++) {
    if (givenField !== Own.sent) next.put(process, origins + slot, 0)
    if (bound.calls > 0) next.put(process, calls + slot, 0)
  }
}

/** The process ends. Its requests stay on their way. */
export const die = (next: State, process: number): void => {
  const canLand = next.of(process, Own.view) === 1
  const phase = next.of(process, Own.phase)
  if (canLand && phase === Phase.claiming) {
    forget(next, process)
    next.put(process, Own.phase, Phase.deadClaiming)
    next.put(process, Own.view, 1)
  } else if (canLand && phase === Phase.activating) {
    for (const field of [Own.from, Own.heldCursor, Own.needsTail, Own.rounds, Own.reach, Own.highest]) {
      next.put(process, field, 0)
    }
    next.put(process, Own.phase, Phase.deadActivating)
  } else if (canLand && next.of(process, Own.tryCheckpoint) !== 0) {
    next.put(process, Own.confirmed, 0)
    next.put(process, Own.cursor, 0)
    next.put(process, Own.phase, Phase.deadCommitting)
  } else forget(next, process)
}

const noTries = (next: State, process: number): void => {
  next.put(process, Own.tryCursor, 0)
  next.put(process, Own.tryCheckpoint, 0)
  next.put(process, Own.oldCursor, 0)
  next.put(process, Own.oldCheckpoint, 0)
}

/** The manifest was replaced: what a process has sent against the one before can never land. */
export const manifestReplaced = (next: State, by: number): void => {
  const { processes } = next.layout.bound
  for (let process = 0; process < processes.length; process++) {
    if (process === by || next.of(process, Own.view) === 0) continue
    next.put(process, Own.view, 0)
    noTries(next, process)
    if (isDead(next.of(process, Own.phase))) forget(next, process)
  }
}

/** A try of its own has landed; it does not know, or is dead. */
export const landedUnknown = (next: State, process: number, rules: Rules): void => {
  manifestReplaced(next, process)
  next.put(process, Own.view, 0)
  if (isDead(next.of(process, Own.phase))) forget(next, process)
  else if (rules["earlier-commit-is-not-this-one"]) noTries(next, process)
}

/** A try of its own has landed, and it knows. */
export const landedKnown = (next: State, process: number): void => {
  manifestReplaced(next, process)
  noTries(next, process)
  next.put(process, Own.view, 1)
}

/** Slots from `slot` on are lost to it; those below still get the answers that are under way. */
export const fence = (next: State, process: number, slot: number): void => {
  const isFenced = next.of(process, Own.phase) === Phase.fenced
  next.put(process, Own.fence, isFenced ? Math.min(slot, next.of(process, Own.fence)) : slot)
  next.put(process, Own.phase, Phase.fenced)
  next.put(process, Own.view, 0)
  next.put(process, Own.cursor, 0)
  next.put(process, Own.known, 0)
  noTries(next, process)
}
