/**
 * Breadth-first search over all states within a bound: the first broken promise that it finds is one of the shortest ways
 * to break one.
 */
import type { Bound } from "./Bound.ts"
import { firstState, type Layout, layoutOf, pack, type State, unpack } from "./Layout.ts"
import { brokenPromise, brokenStep } from "./Promises.ts"
import { allSteps } from "./Protocol.ts"
import type { Rules } from "./Rules.ts"
import { StateSet } from "./StateSet.ts"
import { Scene, type StepCode } from "./Step.ts"

/** What a search has gone through. */
export interface Explored {
  readonly layout: Layout
  readonly rules: Rules
  readonly states: StateSet
  /** Steps that were taken, with those that led to a state that was known. */
  readonly transitions: number
  /** Steps from the first state to the farthest. */
  readonly depth: number
  /** What is broken, and the state where; absent: nothing, in any state within the bound. */
  readonly violation?: { readonly text: string; readonly state: number }
  /** More states than were allowed: not all were seen. */
  readonly isCut: boolean
}

export interface SearchOptions {
  /** Most states. */
  readonly mostStates: number
  /** Told each time after so many states. */
  readonly onProgress?: (states: number, depth: number) => void
  readonly progressEvery?: number
}

/** Explores everything within the bound, or up to the first broken promise. */
export const explore = (bound: Bound, rules: Rules, options: SearchOptions): Explored => {
  const layout = layoutOf(bound)
  const states = new StateSet(layout.words)
  const packed = new Uint32Array(layout.words)
  const every = options.progressEvery ?? 500_000
  let transitions = 0
  let current = 0
  let broken: { text: string; state: number } | undefined
  const scene: Scene = new Scene(layout, rules, () => {
    transitions++
    pack(scene.next, packed)
    if (!states.add(packed, current) || broken !== undefined) return
    const text = brokenPromise(scene.next) ?? brokenStep(scene.now, scene.next)
    if (text !== undefined) broken = { text, state: states.size - 1 }
  })
  pack(firstState(layout), packed)
  states.add(packed, 0)
  let depth = 0
  let levelEnd = 1
  for (; current < states.size && broken === undefined && states.size <= options.mostStates; current++) {
    if (current === levelEnd) {
      depth++
      levelEnd = states.size
    }
    states.read(current, packed)
    unpack(packed, scene.now)
    allSteps(scene)
    if (current % every === every - 1) options.onProgress?.(states.size, depth)
  }
  const isCut = broken === undefined && current < states.size
  return { layout, rules, states, transitions, depth, isCut, ...(broken === undefined ? {} : { violation: broken }) }
}

/** A state of a way, with the step that led to it. */
export interface Visited {
  readonly step: StepCode | undefined
  readonly state: State
}

const stateAt = ({ layout, states }: Explored, index: number): State => {
  const packed = new Uint32Array(layout.words)
  const state = firstState(layout)
  states.read(index, packed)
  unpack(packed, state)
  return state
}

/** The step that leads from one state to the other. */
const stepBetween = ({ layout, rules }: Explored, from: State, to: State): StepCode | undefined => {
  let found: StepCode | undefined
  const scene: Scene = new Scene(layout, rules, (step) => {
    if (found === undefined && scene.next.numbers.every((value, at) => value === to.numbers[at])) found = step
  })
  scene.now.numbers.set(from.numbers)
  allSteps(scene)
  return found
}

/** A shortest way to a state. */
export const wayTo = (explored: Explored, state: number): ReadonlyArray<Visited> => {
  const indexes: Array<number> = []
  for (let index = state; index !== 0; index = explored.states.parentOf(index)) indexes.unshift(index)
  let before = stateAt(explored, 0)
  const way: Array<Visited> = [{ step: undefined, state: before }]
  for (const index of indexes) {
    const next = stateAt(explored, index)
    way.push({ step: stepBetween(explored, before, next), state: next })
    before = next
  }
  return way
}
