/** Steps of a writer: segments are sent, confirmed in any order, acknowledged in order; records are consumed. */
import { unlimited } from "./Bound.ts"
import { Field, Own, Phase, type State } from "./Layout.ts"
import { fence } from "./Lives.ts"
import { Kind, type Scene } from "./Step.ts"
import { isMarker, wasStored } from "./View.ts"

/** Bits of confirmed slots above the acknowledged ones. */
const confirmedBits = 4

/** A slot may be sent: it lies within a window of the first that is not durable. */
export const isInWindow = (scene: Scene, process: number, slot: number): boolean =>
  !scene.rules.window || slot < scene.now.of(process, Own.acks) + scene.layout.bound.window

/** The producer's call can be appended by this writer: it is new to it, and not older than what it knows. */
const isAppended = (scene: Scene, process: number, call: number): boolean => {
  const { layout, now } = scene
  if (!scene.rules["repeat-is-answered"]) return true
  let known = now.of(process, Own.known)
  for (let slot = 0; slot < now.of(process, layout.given); slot++) known |= 1 << (now.call(process, slot) - 1)
  // A lower sequence is a repeat, or too old.
  return known >>> (call - 1) === 0
}

/** New records that were given a slot so far. */
const newRecords = (now: State): number => {
  let records = 0
  for (let process = 0; process < now.layout.bound.processes.length; process++) {
    const given = now.of(process, now.layout.given)
    const hasCopies = now.layout.given !== Own.sent
    for (let slot = 0; slot < given; slot++) if (!hasCopies || now.origin(process, slot) === 0) records++
  }
  return records
}

/** Gives the next slot to a new record, or to each call that the producer may make; then `done`. */
export const giveSlot = (
  scene: Scene,
  process: number,
  kind: number,
  done: (next: State, slot: number) => void
): void => {
  const { layout, now } = scene
  const { bound } = layout
  const slot = now.of(process, layout.given)
  if (slot >= bound.slots || bound.records < unlimited && newRecords(now) >= bound.records) return
  if (bound.calls === 0) {
    const next = scene.begin()
    next.put(process, layout.given, slot + 1)
    done(next, slot)
    return scene.tell(kind, process, slot)
  }
  const born = now.get(Field.born)
  for (let call = 1; call <= Math.min(born + 1, bound.calls); call++) {
    if (!isAppended(scene, process, call)) continue
    const next = scene.begin()
    next.put(process, layout.given, slot + 1)
    next.put(process, layout.calls + slot, call)
    next.set(Field.born, Math.max(born, call))
    done(next, slot)
    scene.tell(kind, process, slot, call)
  }
}

const sendSteps = (scene: Scene, process: number): void => {
  const { layout, now } = scene
  const sent = now.of(process, Own.sent)
  if (!isInWindow(scene, process, sent)) return
  if (sent === now.of(process, layout.given)) {
    return giveSlot(scene, process, Kind.send, (next, slot) => next.put(process, Own.sent, slot + 1))
  }
  scene.begin().put(process, Own.sent, sent + 1)
  scene.tell(Kind.send, process, sent)
}

/** Slot `slot` is confirmed: acknowledges what follows from it, in order. */
const confirm = (scene: Scene, next: State, process: number, slot: number): void => {
  const acks = next.of(process, Own.acks)
  if (!scene.rules["acks-in-order"]) {
    next.put(process, Own.acks, slot + 1)
    next.put(process, Own.confirmed, 0)
    return
  }
  let bits = next.of(process, Own.confirmed) | 1 << (slot - acks)
  let done = acks
  while ((bits & 1) === 1) {
    bits >>>= 1
    done++
  }
  next.put(process, Own.acks, done)
  next.put(process, Own.confirmed, bits)
}

/** Answers to segments: stored, or a marker stands there. */
const answerSteps = (scene: Scene, process: number): void => {
  const { now, rules } = scene
  const epoch = now.of(process, Own.epoch)
  const acks = now.of(process, Own.acks)
  const isFenced = now.of(process, Own.phase) === Phase.fenced
  const limit = isFenced ? Math.min(now.of(process, Own.sent), now.of(process, Own.fence)) : now.of(process, Own.sent)
  for (let slot = acks; slot < Math.min(limit, acks + confirmedBits); slot++) {
    if ((now.of(process, Own.confirmed) >>> (slot - acks) & 1) === 1) continue
    const held = now.held(epoch, slot)
    if (wasStored(held, process) || isMarker(held) && !rules["taken-key-is-looked-at"]) {
      confirm(scene, scene.begin(), process, slot)
      scene.tell(Kind.confirm, process, slot)
    }
    if (!isMarker(held)) continue
    const next = scene.begin()
    fence(next, process, slot)
    if (!rules["marker-says-nothing-below"]) next.put(process, Own.acks, slot)
    scene.tell(Kind.meetMarker, process, slot)
  }
}

const consumeStep = (scene: Scene, process: number): void => {
  const { now, rules } = scene
  const durable = rules["cursor-below-durable"] ? Own.acks : Own.sent
  const cursor = now.of(process, Own.cursor)
  if (cursor >= now.of(process, Own.base) + now.of(process, durable)) return
  scene.begin().put(process, Own.cursor, cursor + 1)
  scene.tell(Kind.consume, process, cursor + 1)
}

/** All steps of one process that writes segments. */
export const writerSteps = (scene: Scene, process: number): void => {
  const phase = scene.now.of(process, Own.phase)
  const isActive = phase === Phase.active
  if (isActive || phase === Phase.activating && !scene.rules["send-after-activation"]) sendSteps(scene, process)
  if (isActive || phase === Phase.fenced || phase === Phase.activating) answerSteps(scene, process)
  if (isActive && scene.layout.bound.consumes) consumeStep(scene, process)
}
