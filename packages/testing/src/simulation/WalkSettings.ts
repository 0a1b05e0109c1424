/**
 * The character of a walk, drawn from its seed: how the log is set up, what the store does wrong, what the processes and
 * their callers do. One choice a walk, so that walks differ from each other as logs in use do.
 */
import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { type Conditions, conditions } from "./Bucket.ts"
import type { SeededRandom } from "./SeededRandom.ts"
import { drawFaults, type StoreFaults } from "./StoreFaults.ts"

/** How often each thing is done, relative to the others. */
export interface Habits {
  readonly start: number
  readonly kill: number
  readonly stop: number
  readonly resume: number
  readonly cutOff: number
  readonly outage: number
  readonly harmDisk: number
  readonly clockJump: number
  readonly append: number
  readonly burst: number
  readonly call: number
  readonly commit: number
  readonly ack: number
  readonly trim: number
  readonly removeCursor: number
  readonly flush: number
  readonly read: number
  readonly readElsewhere: number
  readonly follow: number
  readonly close: number
  readonly look: number
}

export interface WalkSettings {
  readonly options: WalOptionsInput
  readonly faults: StoreFaults
  readonly habits: Habits
  /** Machines; one process of the log lives on each at a time. */
  readonly hosts: number
  /** Bytes that each machine's spool may take; absent: no spools. */
  readonly spoolBytes: number | undefined
  /** How often a machine with a spool loses its power where a process is killed. */
  readonly powerLoss: number
  /** Things done, one after the other. */
  readonly actions: number
  /** Longest pause between two of them, milliseconds. */
  readonly pauseMillis: number
  /** Longest time that a process is stopped, milliseconds. */
  readonly stopMillis: number
  /** A client gives up after this, milliseconds. */
  readonly deadlineMillis: number
  /** Largest record and most records of one append. */
  readonly recordBytes: number
  readonly batch: number
  /** Operations of a fiber before others get their turn. */
  readonly maxOperations: number
  /** The log has been opened more often before than a manifest lists ends. */
  readonly startsLong: boolean
  /** After that something is done to a log in use. */
  readonly isSabotaged: boolean
  /** In the end the log is proven whole from its objects. */
  readonly verifies: boolean
  /** And then one of them is damaged. */
  readonly damages: boolean
  /** What the store makes of conditional writes; where it does not keep them, all that is tried is to open the log. */
  readonly conditions: Conditions
  /** Openers prove the store's conditional writes first, as a process does once. */
  readonly probes: boolean
}

/** Most records of a producer's call. */
export const largestCall = 3

/** Sealed segments that wait in memory, for each worker; a call of more segments may go beyond it. */
const queuedPerWorker = 16

/** Most sealed segments that wait in memory. */
export const maxQueued = ({ batch, options }: WalkSettings): number =>
  queuedPerWorker * (options.parallelPut?.workers ?? 1) + batch

const drawRetention = (random: SeededRandom): NonNullable<WalOptionsInput["retention"]> => {
  const dice = random.next()
  if (dice < 0.6) return { policy: "committed", ...(random.chance(0.2) ? { minAge: "5s" } : {}) }
  return dice < 0.9 ? { policy: "keep" } : { policy: "age", maxAge: random.pick(["2s", "20s", "5m"]) }
}

const drawBudget = (random: SeededRandom, { sync }: WalOptionsInput): Pick<WalOptionsInput, "budget"> =>
  sync === "group_commit" && random.chance(0.3) ? { budget: { putsPerSecond: random.pick([0.05, 1, 5, 50]) } } : {}

const drawLog = (random: SeededRandom): WalOptionsInput => {
  const maxBytes = random.pick([64, 256, 1_024, 8_192])
  const maxRecordBytes = random.pick([64, 256, 4_096])
  return {
    nodeId: "node",
    streamId: "log",
    segment: {
      maxEntries: random.between(1, 8),
      maxBytes,
      flushInterval: random.pick(["50ms", "500ms", "2s", "10s"]),
      linger: random.pick(["0ms", "0ms", "5ms", "100ms", "1s"])
    },
    parallelPut: {
      workers: random.between(1, 4),
      pipelineDepth: random.pick([1, 1, 2, 3, 8]),
      shutdownTimeout: random.pick(["500ms", "5s", "30s"]),
      hedge: random.pick(["off", "off", "p95", "p99"])
    },
    compression: random.chance(0.3) ? { type: "zstd", level: random.between(1, 5), thresholdBytes: 32 } : {},
    cursor: {
      maxEntries: random.pick([1, 5, 1_000]),
      interval: random.pick(["10ms", "1s", "1m"]),
      maxAhead: random.pick([1, 4, 1_000])
    },
    manifest: { maxSegments: random.pick([1, 2, 8, 64]), maxDelay: random.pick(["50ms", "1s", "10s"]) },
    retention: drawRetention(random),
    // Clocks jump by years, and a producer is forgotten by the clock.
    producers: { max: 16, ttl: "36500d" },
    retry: { base: random.pick(["10ms", "100ms"]), cap: random.pick(["200ms", "2s"]) },
    sync: random.chance(0.85) ? "group_commit" : "periodic",
    maxBufferedBytes: (2 * maxBytes + maxRecordBytes) * random.pick([1, 2, 16, 256]),
    maxRecordBytes,
    maxSegmentBytes: Math.max(1_024, 2 * Math.max(maxBytes, maxRecordBytes)),
    tailBufferBytes: random.pick([0, 256, 5_000, 65_536]),
    prefetch: random.pick([1, 2, 16]),
    openTimeout: random.pick(["5s", "60s", "10m"])
  }
}

const drawOptions = (random: SeededRandom): WalOptionsInput => {
  const log = drawLog(random)
  return { ...log, ...drawBudget(random, log) }
}

const drawHabits = (random: SeededRandom): Habits => {
  const often = (usual: number) => random.chance(0.75) ? usual * random.logarithmic(0.3, 3) : 0
  return {
    start: 4 * random.logarithmic(0.4, 2.5),
    kill: 2.5 * random.logarithmic(0.4, 2.5),
    stop: often(2),
    resume: 4,
    cutOff: often(1.5),
    outage: often(1.5),
    harmDisk: often(0.5),
    clockJump: often(0.5),
    append: 60,
    burst: often(1),
    call: often(8),
    commit: often(8),
    ack: often(4),
    trim: often(1),
    removeCursor: often(0.5),
    flush: often(2),
    read: often(5),
    readElsewhere: often(1),
    follow: often(1),
    close: often(1.5),
    look: 6
  }
}

/** Logs that are this long have what few others have: an archive of ends. */
const drawAge = (random: SeededRandom): Pick<WalkSettings, "startsLong" | "isSabotaged"> => {
  const startsLong = random.chance(0.03)
  return { startsLong, isSabotaged: random.chance(startsLong ? 0.7 : 0.25) }
}

export const drawSettings = (random: SeededRandom): WalkSettings => ({
  options: drawOptions(random),
  faults: drawFaults(random),
  habits: drawHabits(random),
  hosts: random.between(1, 3),
  spoolBytes: random.chance(0.3) ? random.pick([65_536, 65_536, 1_000_000]) : undefined,
  powerLoss: random.chance(0.5) ? random.next() : 0,
  actions: random.between(40, 160),
  pauseMillis: random.logarithmic(20, 3_000),
  stopMillis: random.logarithmic(100, 600_000),
  deadlineMillis: random.pick([500, 3_000, 10_000]),
  recordBytes: random.pick([8, 40, 64, 300]),
  batch: random.pick([1, 3, 10, 30]),
  maxOperations: random.pick([2_048, 2_048, 256, 32]),
  ...drawAge(random),
  verifies: random.chance(0.25),
  damages: random.chance(0.6),
  conditions: random.chance(0.06) ? random.pick(conditions) : "kept",
  probes: random.chance(0.05)
})
