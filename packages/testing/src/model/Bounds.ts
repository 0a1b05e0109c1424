/** The bounds that are explored: small ones for tests, and larger ones for a long run. */
import { type Bound, unlimited } from "./Bound.ts"

const base: Bound = {
  name: "",
  about: "",
  processes: ["plain", "plain"],
  epochs: 2,
  slots: 2,
  records: unlimited,
  window: 1,
  commits: false,
  consumes: false,
  sweeps: false,
  calls: 0,
  barrierAfter: 0,
  barrierKeys: 0,
  crashes: unlimited,
  lostAnswers: unlimited,
  mostRounds: 0
}

/** The manifest is committed, records are consumed, trimmed, deleted. */
const trimming = { commits: true, consumes: true } as const

/** Processes crash once at most, and no answer about the manifest is lost. */
const quiet = { crashes: 1, lostAnswers: 0 } as const

const threePlain = ["plain", "plain", "plain"] as const
const spoolAndPlain = ["spool", "plain", "spool"] as const

/** Explored completely in seconds: by the tests. */
export const smallBounds: ReadonlyArray<Bound> = [
  { ...base, name: "takeover-ci", about: "two openings, window 2", epochs: 3, window: 2 },
  { ...base, name: "checkpoint-ci", about: "two openings with commits, window 2", window: 2, commits: true },
  { ...base, ...trimming, name: "trim-ci", about: "two openings of one slot, trim, deletion", slots: 1 },
  {
    ...base,
    name: "sweep-ci",
    about: "two openings, window 2, what lies above an end is collected",
    window: 2,
    sweeps: true
  },
  {
    ...base,
    name: "barrier-ci",
    about: "a barrier after the first lost round, window 2",
    slots: 3,
    window: 2,
    barrierAfter: 1,
    crashes: 0,
    lostAnswers: 0
  },
  {
    ...base,
    name: "busy-ci",
    about: "a busy writer of twelve slots: an opener needs nine rounds at most",
    slots: 12,
    barrierAfter: 3,
    mostRounds: 9,
    crashes: 0,
    lostAnswers: 0
  },
  {
    ...base,
    name: "window-ci",
    about: "five records, two openings, an opener that dies",
    processes: ["plain", "plain", "opener"],
    epochs: 3,
    slots: 5,
    records: 5,
    crashes: 0,
    lostAnswers: 0
  },
  {
    ...base,
    ...quiet,
    name: "spool-ci",
    about: "a restart with a spool, another node",
    processes: spoolAndPlain,
    epochs: 3
  },
  {
    ...base,
    name: "spool-window-ci",
    about: "a restart with a spool, window 2",
    processes: ["spool", "spool"],
    window: 2
  },
  {
    ...base,
    name: "spool-twice-ci",
    about: "two restarts with a spool of one slot each, another node",
    processes: ["spool", "plain", "spool", "spool"],
    epochs: 4,
    slots: 1,
    crashes: 2,
    lostAnswers: 0
  },
  {
    ...base,
    ...trimming,
    ...quiet,
    name: "spool-trim-ci",
    about: "a restart with a spool and one record, another node that trims",
    processes: spoolAndPlain,
    epochs: 3,
    slots: 1,
    records: 1
  },
  { ...base, name: "producers-ci", about: "two openings, two calls that are repeated", commits: true, calls: 2 },
  {
    ...base,
    ...quiet,
    name: "spool-producers-ci",
    about: "a restart with a spool of one slot, calls repeated to another node",
    processes: spoolAndPlain,
    epochs: 3,
    slots: 1,
    commits: true,
    calls: 2
  }
]

/** Explored completely in minutes. */
export const largeBounds: ReadonlyArray<Bound> = [
  {
    ...base,
    name: "takeover",
    about: "three openings, four claims, window 2",
    processes: threePlain,
    epochs: 4,
    window: 2
  },
  { ...base, name: "takeover-3", about: "two openings, three slots, window 3", epochs: 3, slots: 3, window: 3 },
  { ...base, ...trimming, name: "trim", about: "two openings, trim, deletion" },
  {
    ...base,
    ...trimming,
    name: "trim-3",
    about: "three openings of one slot, trim, deletion by anybody",
    processes: threePlain,
    epochs: 3,
    slots: 1
  },
  {
    ...base,
    name: "barrier",
    about: "three openings, a barrier after the first lost round, window 2",
    processes: threePlain,
    epochs: 3,
    window: 2,
    barrierAfter: 1,
    barrierKeys: 2
  },
  { ...base, name: "spool", about: "a restart with a spool, another node", processes: spoolAndPlain, epochs: 4 },
  {
    ...base,
    name: "spool-twice",
    about: "two restarts with a spool, another node",
    processes: ["spool", "plain", "spool", "spool"],
    epochs: 4
  },
  {
    ...base,
    name: "spool-copies",
    about: "two restarts with a spool and one record, two openers that die",
    processes: ["spool", "spool", "spool", "opener", "opener"],
    epochs: 5,
    records: 1,
    crashes: 2,
    lostAnswers: 0
  },
  {
    ...base,
    ...trimming,
    name: "spool-trim",
    about: "a restart with a spool of one slot, another node that trims",
    processes: spoolAndPlain,
    epochs: 3,
    slots: 1
  },
  {
    ...base,
    name: "producers",
    about: "three openings, three calls that are repeated",
    processes: threePlain,
    epochs: 3,
    commits: true,
    calls: 3
  },
  {
    ...base,
    name: "spool-producers",
    about: "a restart with a spool, calls repeated to another node",
    processes: spoolAndPlain,
    epochs: 3,
    commits: true,
    calls: 2,
    lostAnswers: 0
  }
]
