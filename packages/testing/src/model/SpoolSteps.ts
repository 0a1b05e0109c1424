/**
 * Steps with the spool, a disk that outlives the processes of its host: segments go there in slot order and are let go; a
 * start sends what it holds of the live epoch before the log is claimed.
 */
import { Alarm } from "./Alarm.ts"
import { Field, Held, none, Own, Phase } from "./Layout.ts"
import { dropThrough, knownEnd, spooledUpTo } from "./SpoolView.ts"
import { Kind, type Scene } from "./Step.ts"
import { isMarker, placeOf, searchStart, writerOf } from "./View.ts"
import { giveSlot } from "./WriterSteps.ts"

const spoolSteps = (scene: Scene, process: number): void => {
  const { now, rules } = scene
  const epoch = now.of(process, Own.epoch)
  const given = now.of(process, Own.given)
  const upTo = rules["spool-without-holes"] ? spooledUpTo(now, process) : Math.max(given - 1, spooledUpTo(now, process))
  if (upTo === given) {
    // What is sealed now goes to the spool at once.
    return giveSlot(scene, process, Kind.append, (next, slot) => {
      next.setSpool(epoch, lowAfter(scene, process, slot), slot + 1)
    })
  }
  scene.begin().setSpool(epoch, lowAfter(scene, process, upTo), upTo + 1)
  scene.tell(Kind.spool, process, upTo)
}

/** What is durable before the first spooled slot was never needed there. */
const lowAfter = (scene: Scene, process: number, slot: number): number => {
  const { now } = scene
  const epoch = now.of(process, Own.epoch)
  const low = now.spoolLow(epoch)
  return low < now.spoolHigh(epoch) && now.spoolHigh(epoch) >= slot ? low : slot
}

/** Up to which place the process lets go: what is durable in its epoch, and all before it once its copies are. */
const droppedThrough = (scene: Scene, process: number): number => {
  const { now, rules } = scene
  const epoch = now.of(process, Own.epoch)
  const acks = now.of(process, Own.acks)
  const copies = now.of(process, Own.copies)
  const blank = now.of(process, Own.lastBlank)
  if (rules["copies-pin-the-spool"]) {
    if (acks < copies) return acks === 0 ? 0 : now.origin(process, acks - 1)
    if (blank > now.of(process, Own.mark)) return copies === 0 ? 0 : now.origin(process, copies - 1)
  }
  return placeOf(now, epoch, rules["spool-drop-when-durable"] ? acks : now.of(process, Own.sent)) - 1
}

const dropStep = (scene: Scene, process: number): void => {
  const next = scene.begin()
  if (dropThrough(next, droppedThrough(scene, process))) scene.tell(Kind.dropSpooled, process)
}

/** A start on the host with the spool: what it holds of epochs that are over must have a known end. */
export const startWithSpool = (scene: Scene, process: number): void => {
  const { layout, now } = scene
  const live = now.get(Field.live)
  const next = scene.begin()
  next.put(process, Own.phase, Phase.claiming)
  next.put(process, Own.view, 1)
  for (let epoch = 1; epoch <= layout.bound.epochs; epoch++) {
    if (now.spoolLow(epoch) >= now.spoolHigh(epoch)) continue
    if (epoch === live) {
      next.put(process, Own.phase, Phase.resending)
      next.put(process, Own.view, 0)
      next.put(process, Own.live, epoch)
      const due = searchStart(now)
      const from = Math.max(due, now.spoolLow(epoch))
      next.put(process, Own.from, from)
      const isHole = from > due && now.held(epoch, from - 1) < Held.data
      if (isHole) next.set(Field.alarm, Alarm.spoolUndecided)
    } else if (knownEnd(now, epoch) === none) next.set(Field.alarm, Alarm.spoolUndecided)
  }
  scene.tell(Kind.start, process, next.of(process, Own.phase) === Phase.resending ? 1 : 0)
}

/** Sends spooled slots of the epoch that was live, in order and within the window, up to a marker. */
const resendSteps = (scene: Scene, process: number): void => {
  const { layout, now } = scene
  const epoch = now.of(process, Own.live)
  const writer = writerOf(now, epoch)
  const high = now.spoolHigh(epoch)
  let stored = now.of(process, Own.from)
  while (stored < high && now.held(epoch, stored) === Held.data + writer) stored++
  if (stored >= high || isMarker(now.held(epoch, stored))) {
    const next = scene.begin()
    next.put(process, Own.phase, Phase.claiming)
    next.put(process, Own.view, 1)
    next.put(process, Own.live, 0)
    next.put(process, Own.from, 0)
    return scene.tell(Kind.resent, process)
  }
  const sent = now.of(writer, Own.sent)
  if (sent >= high || sent >= stored + layout.bound.window) return
  scene.begin().put(writer, Own.sent, sent + 1)
  scene.tell(Kind.resend, process, epoch, sent)
}

/** All steps of one process on the host with the spool. */
export const spoolHostSteps = (scene: Scene, process: number): void => {
  if (scene.layout.bound.processes[process] !== "spool") return
  const phase = scene.now.of(process, Own.phase)
  if (phase === Phase.resending) resendSteps(scene, process)
  if (phase !== Phase.active) return
  spoolSteps(scene, process)
  dropStep(scene, process)
}
