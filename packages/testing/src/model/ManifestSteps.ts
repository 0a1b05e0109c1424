/**
 * Steps with the manifest: claim, activation, commit, each by compare-and-swap.
 *
 * A body has a commit id of its own, so a try can land only while the manifest that its sender holds is the stored one, and
 * at most one of its tries does. One bit a process says so. That its sender tries on without limit needs no step: a try that
 * can land stays so. An answer that comes late is the same as a sender that goes on late, so landing and answer are one
 * step, and landing without an answer is another.
 */
import { unlimited } from "./Bound.ts"
import { Field, none, Own, Phase, type State } from "./Layout.ts"
import { fence, forget, landedKnown, landedUnknown } from "./Lives.ts"
import type { Rules } from "./Rules.ts"
import { reappendSpooled } from "./SpoolPlan.ts"
import { originMarks, ownMark } from "./SpoolView.ts"
import { Kind, type Scene } from "./Step.ts"
import { baseOf, isBefore, type Point, pointAfter, searchStart } from "./View.ts"

/** Moves a trim point that stands at the recorded end of an epoch to the start of the next one that holds something. */
const settle = (next: State): void => {
  const live = next.get(Field.live)
  let epoch = next.get(Field.trimEpoch)
  if (live === 0 || epoch >= live || next.end(epoch) > next.get(Field.trimSlot)) return
  for (epoch++; epoch < live; epoch++) if (next.end(epoch) > 0 && next.end(epoch) !== none) break
  next.set(Field.trimEpoch, epoch)
  next.set(Field.trimSlot, 0)
}

const raiseCollected = (next: State, to: Point): void => {
  if (!isBefore(next.get(Field.gcEpoch), next.get(Field.gcSlot), to.epoch, to.slot)) return
  next.set(Field.gcEpoch, to.epoch)
  next.set(Field.gcSlot, to.slot)
}

const trimOf = (state: State): Point => ({ epoch: state.get(Field.trimEpoch), slot: state.get(Field.trimSlot) })

/** What a process takes with it when it knows that its claim is stored. */
const opens = (next: State, process: number, epoch: number): void => {
  const live = next.get(Field.live)
  const from = searchStart(next)
  const cursor = next.get(Field.cursor)
  const isTrim = next.get(Field.trimEpoch) === live && next.get(Field.trimSlot) === from
  const needsTail = live !== 0 && from > 0 && !isTrim && cursor < baseOf(next, live) + from
  next.put(process, Own.epoch, epoch)
  next.put(process, Own.phase, live === 0 ? Phase.activating : Phase.looking)
  next.put(process, Own.live, live)
  if (live === 0) return
  next.put(process, Own.from, from)
  next.put(process, Own.heldCursor, cursor)
  next.put(process, Own.needsTail, needsTail ? 1 : 0)
  if (next.layout.bound.barrierAfter > 0) next.put(process, Own.reach, 1)
}

/** The answer to this body is lost, where more may be lost: it lands, and its sender does not know. */
const losesAnswer = (scene: Scene, process: number, body: () => State, kind: number, x = 0, y = 0): void => {
  const { lostAnswers } = scene.layout.bound
  const before = scene.now.get(Field.lostAnswers)
  if (before >= lostAnswers) return
  const next = body()
  if (lostAnswers < unlimited) next.set(Field.lostAnswers, before + 1)
  landedUnknown(next, process, scene.rules)
  scene.tell(kind, process, x, y)
}

const claimSteps = (scene: Scene, process: number, isAlive: boolean): void => {
  const { layout, now, rules } = scene
  const epoch = rules["claim-raises-epoch"] ? now.get(Field.epoch) + 1 : Math.max(1, now.get(Field.epoch))
  if (epoch > layout.bound.epochs) return
  const land = () => {
    const next = scene.begin()
    next.set(Field.epoch, epoch)
    next.set(Field.nonce, process + 1)
    return next
  }
  if (isAlive) {
    const next = land()
    landedKnown(next, process)
    opens(next, process, epoch)
    scene.tell(Kind.claim, process, epoch)
  }
  losesAnswer(scene, process, land, Kind.ghostClaim, epoch)
  if (!isAlive || rules["time-out-is-not-success"]) return
  opens(scene.begin(), process, epoch)
  scene.tell(Kind.assume, process)
}

/** The body of an activation: my epoch is live, the old one has an end. */
const activated = (scene: Scene, process: number): State => {
  const { rules } = scene
  const next = scene.begin()
  // Who has merged with another's claim takes that one's epoch for its own.
  const epoch = rules["never-merge-another-epoch"] ? next.of(process, Own.epoch) : next.get(Field.epoch)
  const ended = next.of(process, Own.live)
  next.put(process, Own.epoch, epoch)
  if (ended !== 0 && rules["end-is-recorded"]) next.setEnd(ended, next.of(process, Own.end))
  next.set(Field.live, epoch)
  next.set(Field.checkpoint, 0)
  if (next.layout.bound.calls > 0) next.set(Field.table, next.of(process, Own.known))
  if (next.layout.given !== Own.sent && ended !== 0 && rules["origin-mark"]) {
    const mark = originMarks(next, ended, next.of(process, Own.end), rules)
    if (mark > next.get(Field.origin)) next.set(Field.origin, mark)
  }
  settle(next)
  return next
}

const goesActive = (next: State, process: number, scene: Scene): void => {
  const ended = next.of(process, Own.live)
  next.put(process, Own.phase, Phase.active)
  next.put(process, Own.cursor, next.get(Field.cursor))
  for (const field of [Own.from, Own.heldCursor, Own.needsTail, Own.rounds, Own.reach, Own.highest]) {
    next.put(process, field, 0)
  }
  if (next.layout.given !== Own.sent) reappendSpooled(next, process, ended, scene.rules)
  next.put(process, Own.live, 0)
  next.put(process, Own.end, 0)
  if (next.layout.bound.consumes) raiseCollected(next, trimOf(next))
}

const activationSteps = (scene: Scene, process: number, isAlive: boolean): void => {
  const { rules } = scene
  if (isAlive) {
    const next = activated(scene, process)
    landedKnown(next, process)
    goesActive(next, process, scene)
    scene.tell(Kind.activate, process)
  }
  losesAnswer(scene, process, () => activated(scene, process), Kind.ghostActivate)
  if (!isAlive || rules["time-out-is-not-success"]) return
  goesActive(scene.begin(), process, scene)
  scene.tell(Kind.assume, process)
}

const point: Point = { epoch: 0, slot: 0 }

/** How far this body trims: to its cursor. */
const trimTarget = (scene: Scene, state: State, process: number, cursor: number, checkpoint: number): Point => {
  const seq = scene.rules["trim-below-cursor"] ? cursor : state.of(process, Own.base) + checkpoint
  pointAfter(state, process, seq, point)
  return point
}

/** Calls of its own epoch below a slot, and those that it knew before. */
const callsBelow = (state: State, process: number, slot: number): number => {
  let table = state.of(process, Own.known)
  for (let below = 0; below < slot; below++) table |= 1 << (state.call(process, below) - 1)
  return table
}

/** The body of a commit: everything rises or stays. */
const committed = (scene: Scene, process: number, cursor: number, checkpoint: number): State => {
  const { layout, rules } = scene
  const next = scene.begin()
  if (layout.bound.consumes) {
    const target = trimTarget(scene, next, process, cursor, checkpoint)
    if (isBefore(next.get(Field.trimEpoch), next.get(Field.trimSlot), target.epoch, target.slot)) {
      next.set(Field.trimEpoch, target.epoch)
      next.set(Field.trimSlot, target.slot)
    }
    next.set(Field.cursor, Math.max(cursor, next.get(Field.cursor)))
  }
  if (next.get(Field.live) === next.of(process, Own.epoch)) {
    next.set(Field.checkpoint, Math.max(checkpoint, next.get(Field.checkpoint)))
  }
  if (layout.given !== Own.sent && rules["origin-mark"]) {
    const mark = commitMark(next, process, checkpoint, rules)
    if (mark > next.get(Field.origin)) next.set(Field.origin, mark)
  }
  if (layout.bound.calls > 0) {
    const known = rules["table-below-durable"] ? checkpoint : next.of(process, layout.given)
    next.set(Field.table, callsBelow(next, process, known))
  }
  settle(next)
  return next
}

/** What a commit says of the spool: the last copy that is durable, or what nothing but the manifest can tell. */
const commitMark = (state: State, process: number, checkpoint: number, rules: Rules): number => {
  const copies = state.of(process, Own.copies)
  const blank = state.of(process, Own.lastBlank)
  if (checkpoint > copies) return Math.max(blank, ownMark(state, process, checkpoint, rules))
  if (checkpoint === copies && blank !== 0) return blank
  const last = Math.min(checkpoint, copies)
  return last === 0 ? 0 : state.origin(process, last - 1)
}

/** A commit would say something new. */
const hasNews = (state: State, process: number, rules: Rules): boolean =>
  state.of(process, Own.acks) > state.get(Field.checkpoint) ||
  state.of(process, Own.cursor) > state.get(Field.cursor) ||
  state.layout.given !== Own.sent &&
    commitMark(state, process, state.of(process, Own.acks), rules) > state.get(Field.origin)

const snapshot = (scene: Scene, next: State, process: number): void => {
  const { layout, rules } = scene
  const checkpoint = rules["checkpoint-below-durable"] ? next.of(process, Own.acks) : next.of(process, Own.sent)
  next.put(process, Own.tryCursor, next.of(process, Own.cursor))
  next.put(process, Own.tryCheckpoint, checkpoint + 1)
  if (!layout.bound.consumes || rules["delete-after-confirmed-trim"]) return
  raiseCollected(next, trimTarget(scene, next, process, next.of(process, Own.cursor), checkpoint))
}

const knowsCommitted = (next: State, process: number): void => {
  if (next.layout.bound.consumes) raiseCollected(next, trimOf(next))
  if (next.layout.given !== Own.sent) next.put(process, Own.mark, next.get(Field.origin))
}

const commitSteps = (scene: Scene, process: number, isAlive: boolean): void => {
  const { now, rules } = scene
  const cursor = now.of(process, Own.tryCursor)
  const checkpoint = now.of(process, Own.tryCheckpoint) - 1
  if (isAlive) {
    const next = committed(scene, process, cursor, checkpoint)
    landedKnown(next, process)
    knowsCommitted(next, process)
    scene.tell(Kind.commit, process, cursor, checkpoint)
  }
  losesAnswer(scene, process, () => committed(scene, process, cursor, checkpoint), Kind.ghostCommit, cursor, checkpoint)
  const oldCheckpoint = now.of(process, Own.oldCheckpoint) - 1
  if (oldCheckpoint >= 0) {
    const oldCursor = now.of(process, Own.oldCursor)
    const body = () => committed(scene, process, oldCursor, oldCheckpoint)
    losesAnswer(scene, process, body, Kind.ghostOldCommit, oldCursor, oldCheckpoint)
  }
  if (!isAlive || rules["time-out-is-not-success"]) return
  const next = scene.begin()
  raiseCollected(next, trimTarget(scene, next, process, cursor, checkpoint))
  next.put(process, Own.tryCheckpoint, 0)
  next.put(process, Own.tryCursor, 0)
  scene.tell(Kind.assume, process)
}

/** A writer sends a try, or the next one with what it knows by then. */
const trySteps = (scene: Scene, process: number): void => {
  const { now } = scene
  const tried = now.of(process, Own.tryCheckpoint)
  if (tried === 0) {
    if (!hasNews(now, process, scene.rules)) return
    snapshot(scene, scene.begin(), process)
    return scene.tell(Kind.tryCommit, process)
  }
  const isSame = tried === now.of(process, Own.acks) + 1 &&
    now.of(process, Own.tryCursor) === now.of(process, Own.cursor)
  if (isSame) return
  const next = scene.begin()
  if (now.of(process, Own.oldCheckpoint) === 0) {
    next.put(process, Own.oldCheckpoint, tried)
    next.put(process, Own.oldCursor, now.of(process, Own.tryCursor))
  }
  snapshot(scene, next, process)
  scene.tell(Kind.retryCommit, process)
}

const isOwner = (state: State, process: number): boolean =>
  state.get(Field.nonce) === process + 1 && state.get(Field.epoch) === state.of(process, Own.epoch)

/** A try was refused, or nobody has answered: the manifest is read again. */
const rereadStep = (scene: Scene, process: number): void => {
  const { now, rules } = scene
  const phase = now.of(process, Own.phase)
  const next = scene.begin()
  if (phase !== Phase.claiming && !isOwner(now, process) && rules["never-merge-another-epoch"]) {
    if (phase === Phase.active) fence(next, process, none)
    else forget(next, process)
    return scene.tell(Kind.reread, process, 1)
  }
  next.put(process, Own.view, 1)
  // What was listed meanwhile was listed beside another manifest.
  if (phase === Phase.claiming && rules["early-list-of-same-manifest"]) next.put(process, Own.end, 0)
  // With that rule dropped, a try that is remembered here is taken for the one that landed.
  if (next.of(process, Own.tryCheckpoint) !== 0 && isOwner(now, process)) {
    const cursor = next.of(process, Own.tryCursor)
    raiseCollected(next, trimTarget(scene, next, process, cursor, next.of(process, Own.tryCheckpoint) - 1))
    next.put(process, Own.tryCheckpoint, 0)
    next.put(process, Own.tryCursor, 0)
    next.put(process, Own.oldCheckpoint, 0)
    next.put(process, Own.oldCursor, 0)
  } else if (phase === Phase.active) {
    if (next.layout.given !== Own.sent) next.put(process, Own.mark, next.get(Field.origin))
  }
  scene.tell(Kind.reread, process)
}

/** All steps of one process with the manifest. */
export const manifestSteps = (scene: Scene, process: number): void => {
  const { now } = scene
  const phase = now.of(process, Own.phase)
  if (now.of(process, Own.view) === 0) {
    const rereads = phase === Phase.claiming || phase === Phase.activating ||
      phase === Phase.active && scene.layout.bound.commits
    if (rereads) rereadStep(scene, process)
    return
  }
  if (phase === Phase.claiming || phase === Phase.deadClaiming) claimSteps(scene, process, phase === Phase.claiming)
  if (phase === Phase.activating || phase === Phase.deadActivating) {
    activationSteps(scene, process, phase === Phase.activating)
  }
  if (phase === Phase.active && scene.layout.bound.commits) trySteps(scene, process)
  if (now.of(process, Own.tryCheckpoint) !== 0) commitSteps(scene, process, phase === Phase.active)
}
