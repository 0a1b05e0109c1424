/**
 * A state of the model: a row of small numbers, each below 16, and how it is packed, two a byte.
 *
 * ```
 * globals | ends by epoch | keys by epoch and slot | spool by epoch: low, high | processes
 * ```
 *
 * A key of the store is one number: what it holds (`Held`), plus 8 while an end marker for it is on its way.
 */
import type { Bound } from "./Bound.ts"

/** What all share: the manifest as it is stored, and what the whole run has seen. */
export const Field = {
  /** The manifest: epoch, whose it is (number of the process plus 1), live epoch. */
  epoch: 0,
  nonce: 1,
  live: 2,
  trimEpoch: 3,
  trimSlot: 4,
  /** The stored cursor: a sequence number. */
  cursor: 5,
  /** A slot of the live epoch below which everything is durable. */
  checkpoint: 6,
  /** The last spooled slot that is done with, as a place; 0: none. */
  origin: 7,
  /** Calls of the producer up to the checkpoint, one bit each. */
  table: 8,
  /** The highest trim point that some writer knows to be stored: below it anybody may delete, at any later time. */
  gcEpoch: 9,
  gcSlot: 10,
  /** Not 0: somebody has refused to go on though nothing was damaged. */
  alarm: 11,
  /** Calls that the producer has made so far. */
  born: 12,
  /** Crashes, and lost answers, where they are limited. */
  crashes: 13,
  lostAnswers: 14
} as const
const globals = 15

/** What one process knows. */
export const Own = {
  phase: 0,
  /** 1: the manifest that it holds is the stored one, so that its tries can land. */
  view: 1,
  epoch: 2,
  /** The epoch that it ends, or has ended. */
  live: 3,
  /** Below this slot of that epoch it has nothing to look for. */
  from: 4,
  /** The end that it has found, or the slot that it puts a marker at. */
  end: 5,
  /** The last number before its epoch. */
  base: 6,
  /** Slots that were sent: copies of each can land at any later time. */
  sent: 7,
  /** Slots that are durable, and acknowledged. */
  acks: 8,
  /** Confirmed slots above them: bit i is slot `acks` + i. */
  confirmed: 9,
  /** While fenced: slots from here on are lost to it. 15: none. */
  fence: 10,
  /** The cursor in memory. */
  cursor: 11,
  /** The try for the manifest that is under way: cursor, and checkpoint plus 1 (0: none). */
  tryCursor: 12,
  tryCheckpoint: 13,
  /** An earlier try against the same manifest. */
  oldCursor: 14,
  oldCheckpoint: 15,
  /** The cursor in the manifest that it claimed. */
  heldCursor: 16,
  /** 1: the segment before `from` has to be there. */
  needsTail: 17,
  rounds: 18,
  /** Windows to the next barrier; 15: one stands. */
  reach: 19,
  /** Calls that it knew when it opened, one bit each. */
  known: 20,
  /** The highest slot with something in it when it last looked. */
  highest: 21,
  /** Slots that were given a place in the epoch; without a spool the same number as `sent`. */
  given: 22,
  /** What the manifest says of the spool, as far as it knows. */
  mark: 23,
  /** How many of its first slots are copies of spooled ones. */
  copies: 24,
  /** First spooled place that waits for copies, and the last one that only the manifest can say is done; 0: none. */
  firstPending: 25,
  lastBlank: 26
} as const
const plainFields = 22
const spoolFields = 27

export const Phase = {
  idle: 0,
  /** Sends what the spool holds of the live epoch. */
  resending: 1,
  claiming: 2,
  /** Looks for the end of the live epoch. */
  looking: 3,
  marking: 4,
  barring: 5,
  activating: 6,
  active: 7,
  fenced: 8,
  dead: 9,
  /** Dead, with tries of its claim, its activation, its commit that can still land. */
  deadClaiming: 10,
  deadActivating: 11,
  deadCommitting: 12
} as const

/** What a key of the store holds. From `data` on: the segment of process `held - data`. */
export const Held = { nothing: 0, marker: 1, deleted: 2, markerAfterDeletion: 3, data: 4 } as const

/** No end is recorded; no fence. */
export const none = 15

export interface Layout {
  readonly bound: Bound
  readonly size: number
  /** 32-bit words of a packed state. */
  readonly words: number
  /** Keys of one epoch: the slots, and those that only markers are put at. */
  readonly keys: number
  readonly given: number
  readonly ends: number
  readonly keysAt: number
  readonly spoolAt: number
  readonly processesAt: number
  readonly processSize: number
  readonly origins: number
  readonly calls: number
}

/** The first process that cannot write: a key has three bits for what it holds. */
const writers = 4

/** What of the bound would not fit into numbers below 16; `undefined`: all does. */
const boundProblem = (
  { barrierKeys, calls, consumes, epochs, processes, slots, window }: Bound
): string | undefined => {
  if (processes.slice(writers).some((kind) => kind !== "opener")) return "processes: only the first four can write"
  const numbered = consumes || processes.includes("spool") ? epochs : epochs - 1
  if (numbered * slots >= none) return `epochs × slots: at most ${none - 1} numbers can be kept`
  if (slots + barrierKeys >= none) return `slots + barrierKeys: at most ${none - 1}`
  if (window > 4) return "window: at most 4"
  return calls > 4 ? "calls: at most 4" : undefined
}

/** The layout of a bound. Throws `RangeError` for one whose numbers would not fit. */
export const layoutOf = (bound: Bound): Layout => {
  const problem = boundProblem(bound)
  if (problem !== undefined) throw new RangeError(`bound ${bound.name}: ${problem}`)
  const hasSpool = bound.processes.includes("spool")
  const keys = bound.slots + 1 + (bound.barrierAfter === 0 ? 0 : bound.barrierKeys)
  const ends = globals
  const keysAt = ends + bound.epochs
  const spoolAt = keysAt + bound.epochs * keys
  const processesAt = spoolAt + (hasSpool ? 2 * bound.epochs : 0)
  const origins = hasSpool ? spoolFields : plainFields
  const calls = origins + (hasSpool ? bound.slots : 0)
  const processSize = calls + (bound.calls > 0 ? bound.slots : 0)
  const size = processesAt + bound.processes.length * processSize
  return {
    bound,
    size,
    words: Math.ceil(size / 8),
    keys,
    given: hasSpool ? Own.given : Own.sent,
    ends,
    keysAt,
    spoolAt,
    processesAt,
    processSize,
    origins,
    calls
  }
}

/** A state, unpacked. */
export class State {
  readonly layout: Layout
  readonly numbers: Uint8Array

  constructor(layout: Layout) {
    this.layout = layout
    this.numbers = new Uint8Array(layout.size)
  }

  get(field: number): number {
    return this.numbers[field] ?? 0
  }

  set(field: number, value: number): void {
    this.numbers[field] = value
  }

  of(process: number, field: number): number {
    return this.numbers[this.layout.processesAt + process * this.layout.processSize + field] ?? 0
  }

  put(process: number, field: number, value: number): void {
    this.numbers[this.layout.processesAt + process * this.layout.processSize + field] = value
  }

  /** The recorded end of an epoch; `none` where there is none. */
  end(epoch: number): number {
    return this.numbers[this.layout.ends + epoch - 1] ?? none
  }

  setEnd(epoch: number, slot: number): void {
    this.numbers[this.layout.ends + epoch - 1] = slot
  }

  /** What a key holds. */
  held(epoch: number, slot: number): number {
    return this.key(epoch, slot) & 7
  }

  /** An end marker for this key is on its way. */
  isMarkerUnderWay(epoch: number, slot: number): boolean {
    return this.key(epoch, slot) >= 8
  }

  setKey(epoch: number, slot: number, held: number, isMarkerUnderWay: boolean): void {
    this.numbers[this.keyAt(epoch, slot)] = held + (isMarkerUnderWay ? 8 : 0)
  }

  /** Slots of the epoch from here are in the spool. */
  spoolLow(epoch: number): number {
    return this.numbers[this.layout.spoolAt + 2 * (epoch - 1)] ?? 0
  }

  /** Up to here. */
  spoolHigh(epoch: number): number {
    return this.numbers[this.layout.spoolAt + 2 * (epoch - 1) + 1] ?? 0
  }

  setSpool(epoch: number, low: number, high: number): void {
    this.numbers[this.layout.spoolAt + 2 * (epoch - 1)] = low
    this.numbers[this.layout.spoolAt + 2 * (epoch - 1) + 1] = high
  }

  /** The place of the spooled slot that this slot is a copy of; 0: it is none. */
  origin(process: number, slot: number): number {
    return this.of(process, this.layout.origins + slot)
  }

  /** The call that this slot holds. */
  call(process: number, slot: number): number {
    return this.of(process, this.layout.calls + slot)
  }

  private key(epoch: number, slot: number): number {
    return this.numbers[this.keyAt(epoch, slot)] ?? 0
  }

  private keyAt(epoch: number, slot: number): number {
    return this.layout.keysAt + (epoch - 1) * this.layout.keys + slot
  }
}

/** Packs a state, eight numbers a word. */
export const pack = (state: State, to: Uint32Array): void => {
  const { numbers } = state
  for (let word = 0, at = 0; word < to.length; word++, at += 8) {
    to[word] = ((numbers[at] ?? 0) | (numbers[at + 1] ?? 0) << 4 | (numbers[at + 2] ?? 0) << 8 |
      (numbers[at + 3] ?? 0) << 12 | (numbers[at + 4] ?? 0) << 16 | (numbers[at + 5] ?? 0) << 20 |
      (numbers[at + 6] ?? 0) << 24 | (numbers[at + 7] ?? 0) << 28) >>> 0
  }
}

/** The other way round. */
export const unpack = (from: Uint32Array, state: State): void => {
  const { numbers } = state
  for (let at = 0; at < numbers.length; at++) numbers[at] = ((from[at >>> 3] ?? 0) >>> ((at & 7) * 4)) & 15
}

/** The state before anything has happened: a new log. */
export const firstState = (layout: Layout): State => {
  const state = new State(layout)
  state.set(Field.trimEpoch, 1)
  state.set(Field.gcEpoch, 1)
  for (let epoch = 1; epoch <= layout.bound.epochs; epoch++) state.setEnd(epoch, none)
  return state
}
