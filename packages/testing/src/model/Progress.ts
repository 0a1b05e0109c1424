/**
 * Whether the log can always go on: from each state from which a process may still open the log, steps without faults lead
 * to one where the newest epoch is active and has acknowledged a slot. For a graph that was explored completely.
 */
import { Field, firstState, Own, pack, Phase, type State, unpack } from "./Layout.ts"
import { allSteps, canStart } from "./Protocol.ts"
import type { Explored } from "./Search.ts"
import { isFault, partsOf, Scene } from "./Step.ts"

/** Numbers in the order they come, without a bound that has to be known. */
class NumberList {
  private items = new Uint32Array(1 << 16)
  length = 0

  push(value: number): void {
    if (this.length === this.items.length) {
      const grown = new Uint32Array(this.items.length * 2)
      grown.set(this.items)
      this.items = grown
    }
    this.items[this.length++] = value
  }

  at(index: number): number {
    return this.items[index] ?? 0
  }
}

/** Somebody owns the log and has acknowledged something. */
const goesOn = (state: State): boolean => {
  const owner = state.get(Field.nonce) - 1
  return owner >= 0 && state.of(owner, Own.phase) === Phase.active &&
    state.of(owner, Own.epoch) === state.get(Field.epoch) && state.get(Field.live) === state.get(Field.epoch) &&
    state.of(owner, Own.acks) > 0
}

/** A process that would write can start, and the bound has an epoch for it. */
const mayOpen = (state: State): boolean => {
  const { epochs, processes } = state.layout.bound
  return state.get(Field.epoch) < epochs &&
    processes.some((kind, process) => kind !== "opener" && canStart(state, process))
}

/** The states that lead to each state by one step without a fault: those of state i are at `starts[i]` up to `starts[i + 1]`. */
interface Sources {
  readonly starts: Uint32Array
  readonly sources: Uint32Array
}

const sourcesOf = (from: NumberList, to: NumberList, states: number): Sources => {
  const starts = new Uint32Array(states + 1)
  for (let edge = 0; edge < to.length; edge++) starts[to.at(edge) + 1] = (starts[to.at(edge) + 1] ?? 0) + 1
  for (let index = 0; index < states; index++) starts[index + 1] = (starts[index + 1] ?? 0) + (starts[index] ?? 0)
  const sources = new Uint32Array(to.length)
  const filled = starts.slice()
  for (let edge = 0; edge < to.length; edge++) {
    const place = filled[to.at(edge)] ?? 0
    filled[to.at(edge)] = place + 1
    sources[place] = from.at(edge)
  }
  return { starts, sources }
}

/** Marks all states that lead to a marked one; `queue` holds those that are. */
const markBackwards = (reached: Uint8Array, queue: NumberList, { sources, starts }: Sources): void => {
  for (let head = 0; head < queue.length; head++) {
    const index = queue.at(head)
    for (let edge = starts[index] ?? 0; edge < (starts[index + 1] ?? 0); edge++) {
      const source = sources[edge] ?? 0
      if (reached[source] === 1) continue
      reached[source] = 1
      queue.push(source)
    }
  }
}

/** Answers the number of a state from which the log cannot go on; `undefined` where there is none. */
export const findStuck = (explored: Explored): number | undefined => {
  const { layout, rules, states } = explored
  const packed = new Uint32Array(layout.words)
  const from = new NumberList()
  const to = new NumberList()
  let current = 0
  const scene: Scene = new Scene(layout, rules, (step) => {
    if (isFault(partsOf(step))) return
    pack(scene.next, packed)
    from.push(current)
    to.push(states.find(packed))
  })
  const reached = new Uint8Array(states.size)
  const queue = new NumberList()
  for (; current < states.size; current++) {
    states.read(current, packed)
    unpack(packed, scene.now)
    if (goesOn(scene.now)) {
      reached[current] = 1
      queue.push(current)
    }
    allSteps(scene)
  }
  markBackwards(reached, queue, sourcesOf(from, to, states.size))
  const state = firstState(layout)
  for (let index = 0; index < states.size; index++) {
    if (reached[index] === 1) continue
    states.read(index, packed)
    unpack(packed, state)
    if (mayOpen(state)) return index
  }
  return undefined
}
