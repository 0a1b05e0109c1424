/**
 * The protocol as a graph: all steps that can be taken from a state.
 *
 * Processes of one kind are alike until they start, so they start in the order of their numbers: any other order is the same
 * with the numbers exchanged. Of a process that is dead only what can still act, or is durable, is kept. What a process does
 * by itself, with nothing that others could see or change in between, belongs to the step before it.
 */
import { unlimited } from "./Bound.ts"
import { Field, Own, Phase, type State } from "./Layout.ts"
import { die } from "./Lives.ts"
import { manifestSteps } from "./ManifestSteps.ts"
import { openerSteps } from "./OpenerSteps.ts"
import { spoolHostSteps, startWithSpool } from "./SpoolSteps.ts"
import { Kind, type Scene } from "./Step.ts"
import { landingSteps, storeSteps } from "./StoreSteps.ts"
import { isDead } from "./View.ts"
import { writerSteps } from "./WriterSteps.ts"

/** Whether it may start: after those of its kind; on the host with the spool, after the one before has ended. */
export const canStart = (now: State, process: number): boolean => {
  const { processes } = now.layout.bound
  if (now.of(process, Own.phase) !== Phase.idle) return false
  for (let other = process - 1; other >= 0; other--) {
    if (processes[other] !== processes[process]) continue
    const phase = now.of(other, Own.phase)
    return processes[process] === "spool" ? isDead(phase) : phase !== Phase.idle
  }
  return true
}

const startStep = (scene: Scene, process: number): void => {
  if (!canStart(scene.now, process)) return
  if (scene.layout.bound.processes[process] === "spool") return startWithSpool(scene, process)
  const next = scene.begin()
  next.put(process, Own.phase, Phase.claiming)
  next.put(process, Own.view, 1)
  scene.tell(Kind.start, process)
}

const crashStep = (scene: Scene, process: number): void => {
  const { crashes } = scene.layout.bound
  const before = scene.now.get(Field.crashes)
  if (before >= crashes) return
  const next = scene.begin()
  die(next, process)
  if (crashes < unlimited) next.set(Field.crashes, before + 1)
  scene.tell(Kind.crash, process)
}

/** Tells the scene of every step from its state `now`. */
export const allSteps = (scene: Scene): void => {
  const { now } = scene
  const { processes } = scene.layout.bound
  for (let process = 0; process < processes.length; process++) {
    const phase = now.of(process, Own.phase)
    if (phase === Phase.idle) {
      startStep(scene, process)
      continue
    }
    landingSteps(scene, process)
    manifestSteps(scene, process)
    if (isDead(phase)) continue
    openerSteps(scene, process)
    writerSteps(scene, process)
    spoolHostSteps(scene, process)
    crashStep(scene, process)
  }
  storeSteps(scene)
}
