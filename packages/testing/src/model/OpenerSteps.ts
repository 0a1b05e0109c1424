/**
 * Steps of an opening: the start, the search for the end of the live epoch, its marker, barriers.
 *
 * The first listing may come before the claim is stored, and shows what was there then: it is a step of its own while the
 * process claims, and is forgotten when its claim has to be built anew. Any other look is one step though it is a listing and several reads: what it sees at or above the start of the search is created
 * once and goes only when somebody else owns the manifest, so reading later shows the same. Sending a marker belongs to the
 * look that decided on it: a marker that is on its way can land at any later time, so a later sending is a later landing.
 */
import { Alarm } from "./Alarm.ts"
import { Field, Held, none, Own, Phase, type State } from "./Layout.ts"
import { forget } from "./Lives.ts"
import type { Rules } from "./Rules.ts"
import { Kind, type Scene } from "./Step.ts"
import { baseOf, isMarker, isTaken, searchStart, writerOf } from "./View.ts"

/** Reach of a barrier once one stands. */
const stopped = 15

/** Gives up: no damage where somebody else owns the manifest by now, else a false alarm. */
const refuse = (scene: Scene, next: State, process: number): void => {
  const isOwner = next.of(process, Own.view) === 1
  forget(next, process)
  if (isOwner) next.set(Field.alarm, Alarm.refused)
  scene.tell(Kind.look, process, none)
}

/** Calls in the segments of the epoch that has ended, beside those in the manifest. */
const learnCalls = (next: State, process: number, rules: Rules): void => {
  let known = next.get(Field.table)
  const epoch = next.of(process, Own.live)
  const writer = writerOf(next, epoch)
  if (writer >= 0 && rules["calls-behind-checkpoint"]) {
    // Who owns the manifest still has claimed it as it is; of who does not, nothing lands any more.
    for (let slot = searchStart(next); slot < next.of(process, Own.end); slot++) {
      known |= 1 << (next.call(writer, slot) - 1)
    }
  }
  next.put(process, Own.known, known)
}

/** The end is known: what follows is the activation. */
const found = (scene: Scene, next: State, process: number, end: number): void => {
  const { bound } = scene.layout
  const epoch = next.of(process, Own.live)
  if (bound.processes[process] === "opener") return forget(next, process)
  const known = scene.rules["numbers-go-on-after-the-end"] ? end : Math.min(end, next.get(Field.checkpoint))
  next.put(process, Own.end, end)
  next.put(process, Own.base, baseOf(next, epoch) + known)
  if (bound.calls > 0) learnCalls(next, process, scene.rules)
  for (const field of [Own.from, Own.heldCursor, Own.needsTail, Own.rounds, Own.reach, Own.highest]) {
    next.put(process, field, 0)
  }
  next.put(process, Own.phase, Phase.activating)
}

/** The segment before a point is there, where it has to be. */
const hasTail = (now: State, process: number, slot: number): boolean => {
  if (slot === 0) return true
  const from = now.of(process, Own.from)
  if (slot === from && now.of(process, Own.needsTail) === 0) return true
  return slot < from || now.held(now.of(process, Own.live), slot - 1) >= Held.data
}

const firstMissing = (now: State, epoch: number, from: number): number => {
  let missing = from
  while (missing < now.layout.keys && isTaken(now.held(epoch, missing))) missing++
  return missing
}

/** Lists the live epoch before the claim is stored; where a slot was missing is kept, plus 1, where its end will be. */
const earlyListStep = (scene: Scene, process: number): void => {
  const { now } = scene
  const live = now.get(Field.live)
  if (live === 0 || now.of(process, Own.view) === 0 || now.of(process, Own.end) !== 0) return
  const missing = firstMissing(now, live, searchStart(now))
  if (missing + 1 > none) return
  scene.begin().put(process, Own.end, missing + 1)
  scene.tell(Kind.earlyList, process, missing)
}

const lookStep = (scene: Scene, process: number): void => {
  const { layout, now } = scene
  const epoch = now.of(process, Own.live)
  const from = now.of(process, Own.from)
  const early = now.of(process, Own.end)
  const missing = early === 0 ? firstMissing(now, epoch, from) : early - 1
  let marker = none
  for (let slot = missing - 1; slot >= Math.max(from, missing - 2 * layout.bound.window - 2); slot--) {
    if (isMarker(now.held(epoch, slot))) marker = slot
  }
  const end = marker === none ? missing : marker
  const next = scene.begin()
  const isLoss = now.of(process, Own.heldCursor) > baseOf(now, epoch) + end
  if (isLoss || !hasTail(now, process, end)) return refuse(scene, next, process)
  if (marker !== none) found(scene, next, process, marker)
  else {
    let highest = missing
    for (let slot = missing; slot < layout.keys; slot++) if (now.held(epoch, slot) >= Held.data) highest = slot
    if (layout.bound.barrierAfter > 0) next.put(process, Own.highest, highest)
    next.put(process, Own.end, missing)
    next.put(process, Own.phase, Phase.marking)
    if (missing < layout.keys) next.setKey(epoch, missing, now.held(epoch, missing), true)
  }
  scene.tell(Kind.look, process, end, marker === none ? 0 : 1)
}

/** Puts a barrier above the highest slot that was seen; one that lies beyond all keys is never reached. */
const putBarrier = (scene: Scene, next: State, process: number): void => {
  const { bound, keys } = scene.layout
  const epoch = next.of(process, Own.live)
  const target = next.of(process, Own.highest) + bound.window * next.of(process, Own.reach)
  if (target >= keys) {
    next.put(process, Own.reach, stopped)
    return
  }
  next.put(process, Own.end, target)
  next.put(process, Own.phase, Phase.barring)
  next.setKey(epoch, target, next.held(epoch, target), true)
}

/** The answer to a marker: it stands, or the writer was faster. */
const answerStep = (scene: Scene, process: number): void => {
  const { now, rules } = scene
  const { barrierAfter, mostRounds } = scene.layout.bound
  const slot = now.of(process, Own.end)
  const held = now.held(now.of(process, Own.live), slot)
  if (!isTaken(held)) return
  const next = scene.begin()
  if (isMarker(held)) {
    found(scene, next, process, slot)
    return scene.tell(Kind.markerAnswer, process, slot, 1)
  }
  next.put(process, Own.phase, Phase.looking)
  next.put(process, Own.from, slot)
  next.put(process, Own.needsTail, 0)
  next.put(process, Own.end, 0)
  if (barrierAfter > 0) {
    const rounds = Math.min(15, now.of(process, Own.rounds) + 1)
    next.put(process, Own.rounds, rounds)
    if (mostRounds > 0 && rounds > mostRounds) next.set(Field.alarm, Alarm.tooManyRounds)
    if (rounds >= barrierAfter && now.of(process, Own.reach) !== stopped && rules.barrier) {
      putBarrier(scene, next, process)
    }
  }
  scene.tell(Kind.markerAnswer, process, slot, 0)
}

/** The answer to a barrier. */
const barrierStep = (scene: Scene, process: number): void => {
  const { now } = scene
  const slot = now.of(process, Own.end)
  const held = now.held(now.of(process, Own.live), slot)
  if (!isTaken(held)) return
  const next = scene.begin()
  next.put(process, Own.reach, isMarker(held) ? stopped : Math.min(stopped - 1, 2 * now.of(process, Own.reach)))
  next.put(process, Own.end, 0)
  next.put(process, Own.phase, Phase.looking)
  scene.tell(Kind.barrier, process, slot, isMarker(held) ? 1 : 0)
}

/** All steps of one process that searches the end of the live epoch. */
export const openerSteps = (scene: Scene, process: number): void => {
  const phase = scene.now.of(process, Own.phase)
  if (phase === Phase.claiming) earlyListStep(scene, process)
  else if (phase === Phase.looking) lookStep(scene, process)
  else if (phase === Phase.marking) answerStep(scene, process)
  else if (phase === Phase.barring) barrierStep(scene, process)
}
