/**
 * What is left of unsynced changes after a power loss, as named policies and as a choice drawn from a seed.
 */

/** The unit that a disk writes whole or not at all. */
export const sectorBytes = 512

/** `grown`: the file became as long as the write made it, but its bytes did not come: zeros where it is new. */
export type DataFate = "kept" | "lost" | "grown"

/** Which of several unsynced changes is asked about. */
export interface Place {
  /** From 0, in the order in which they were made. */
  readonly index: number
  readonly count: number
}

/** What of the unsynced lasts when the power is lost. */
export interface Survival {
  /**
   * Asked once for each sector of each unsynced write of a file, and once for each unsynced truncation (`sector` is then
   * the only one).
   */
  readonly data: (change: Place, sector: Place) => DataFate
  /** Whether a name change lasts that no sync of its directory covers; a rename is one change. */
  readonly name: (change: Place) => boolean
}

const always = <A>(value: A) => () => value

/**
 * The policies by name.
 *
 * `nothing`, `everything`: of what was not synced. `dataOnly`, `namesOnly`: of bytes and names. `grown`: names, and lengths
 * without bytes. `headKept`, `tailKept`: of each write only the first or last half of its sectors (a write within one sector
 * is lost), with all names. `firstOnly`, `lastOnly`: only the first or last of all changes, so that a later write is there
 * without an earlier one. `evenOnly`, `oddOnly`: every second change.
 */
export const survivals = {
  nothing: { data: always("lost"), name: always(false) },
  everything: { data: always("kept"), name: always(true) },
  dataOnly: { data: always("kept"), name: always(false) },
  namesOnly: { data: always("lost"), name: always(true) },
  grown: { data: always("grown"), name: always(true) },
  headKept: { data: (_, { count, index }) => index + 1 <= count / 2 ? "kept" : "lost", name: always(true) },
  tailKept: { data: (_, { count, index }) => index >= count / 2 ? "kept" : "lost", name: always(true) },
  firstOnly: { data: ({ index }) => index === 0 ? "kept" : "lost", name: ({ index }) => index === 0 },
  lastOnly: {
    data: ({ count, index }) => index === count - 1 ? "kept" : "lost",
    name: ({ count, index }) => index === count - 1
  },
  evenOnly: { data: ({ index }) => index % 2 === 0 ? "kept" : "lost", name: ({ index }) => index % 2 === 0 },
  oddOnly: { data: ({ index }) => index % 2 === 1 ? "kept" : "lost", name: ({ index }) => index % 2 === 1 }
} satisfies Readonly<Record<string, Survival>>

/** A policy by its name. */
export type SurvivalName = keyof typeof survivals

/** All names of policies. */
export const survivalNames: ReadonlyArray<SurvivalName> = [
  "nothing",
  "everything",
  "dataOnly",
  "namesOnly",
  "grown",
  "headKept",
  "tailKept",
  "firstOnly",
  "lastOnly",
  "evenOnly",
  "oddOnly"
]

/** Numbers from 0 up to 1, the same for the same seed. */
const makeDraw = (seed: number) => {
  let state = Math.imul(seed + 1, 2_654_435_761) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Chooses by itself for each sector and each name; how much lasts on the whole is drawn too. */
const drawn = (seed: number): Survival => {
  const draw = makeDraw(seed)
  const [dataRate, grownRate, nameRate] = [draw(), draw() / 2, draw()]
  return {
    data: () => draw() < dataRate ? "kept" : draw() < grownRate ? "grown" : "lost",
    name: () => draw() < nameRate
  }
}

/** A policy by its name; by a number, the one drawn from that seed; or one made by hand. */
export const resolveSurvival = (survival: Survival | SurvivalName | number): Survival =>
  typeof survival === "number" ? drawn(survival) : typeof survival === "string" ? survivals[survival] : survival
