/**
 * One walk: one seed, one run of the real code in a world that does it wrong, and then heals.
 */
import type { DigestService } from "@effect-wal/core/codec/Digest"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { AnswerCounts } from "./AnswerCount.ts"
import { DamageCheck } from "./DamageCheck.ts"
import { Finish } from "./Finish.ts"
import { LongLog } from "./LongLog.ts"
import { Sabotage } from "./Sabotage.ts"
import { SeededRandom } from "./SeededRandom.ts"
import { makeStore, type SimStoreParts } from "./SimStore.ts"
import { tryToOpen } from "./UnsafeStore.ts"
import { drawSettings } from "./WalkSettings.ts"
import { Workload } from "./Workload.ts"
import { World } from "./World.ts"

/** What a walk has gone through, and what it found. */
export interface WalkResult {
  readonly seed: number
  /** Steps of fibers and events of the world. */
  readonly steps: number
  /** Requests to the store. */
  readonly requests: number
  readonly crashes: number
  readonly stops: number
  readonly ghosts: number
  readonly faults: number
  readonly takeovers: number
  /** Records that are known to be durable. */
  readonly durable: number
  /** 1 where the search for a linear order of the history was given up at its bound. */
  readonly undecided: number
  readonly violations: ReadonlyArray<string>
  /** Two runs of one seed have one digest. */
  readonly digest: string
  /** All that happened, where it was asked for. */
  readonly trace: ReadonlyArray<string>
}

export interface WalkOptions {
  readonly digest: DigestService
  readonly keepTrace?: boolean
  /** Counts what writers are answered, and adds to it. Their fibers take a few more steps then. */
  readonly answers?: AnswerCounts
  /** What some walks start with, for all of them; without it each writes its own. */
  readonly longLog?: LongLog
  /** How a process reaches the store; default: its operations go over the network as they are. */
  readonly makeStore?: (parts: SimStoreParts) => ObjectStore["Service"]
}

/** Most of these walks make no other archive: nothing would go wrong with them. */
const loseFirstArchive = ({ network }: World): void => {
  network.decideFate = ({ key, operation }) => {
    if (operation !== "create" || !key.includes("/epochs/")) return undefined
    network.decideFate = undefined
    return "lostAnswer"
  }
}

/**
 * What callers and operators do, then what is left of it in a healed world, and what damage does. Answers whether the
 * search for a linear order of the history came to an end.
 */
const walkThrough = (world: World, random: SeededRandom, longLog: LongLog): boolean => {
  const { settings } = world
  if (settings.startsLong) {
    for (const [key, body] of longLog.objects) world.bucket.create(key, body)
    if (random.chance(0.5)) loseFirstArchive(world)
  }
  const workload = new Workload(world, random)
  for (let action = 0; action < settings.actions && !world.isBroken; action++) {
    workload.act()
    world.run(random.next() * settings.pauseMillis)
  }
  new Finish(world).run()
  const isDecided = world.isBroken || world.historian.check(world.violations)
  if (settings.isSabotaged) new Sabotage(world, random).run()
  if (settings.verifies) new DamageCheck(world, random).run()
  return isDecided
}

export const walk = (seed: number, options: WalkOptions): WalkResult => {
  const { answers, digest, keepTrace = false, longLog = new LongLog(options.digest), makeStore: storeOf = makeStore } =
    options
  const random = new SeededRandom(seed)
  const settings = drawSettings(random)
  const world = new World(settings, { random, digest, keepTrace, makeStore: storeOf, answers })
  world.trace.add(JSON.stringify(settings))
  world.bucket.conditions = settings.conditions
  const isDecided = settings.conditions === "kept" ? walkThrough(world, random, longLog) : tryToOpen(world)
  const { counts, network, records, stored, trace, violations } = world
  return {
    seed,
    steps: counts.steps,
    requests: network.counts.requests,
    crashes: counts.crashes,
    stops: counts.stops,
    ghosts: network.counts.ghosts,
    faults: network.counts.faults,
    takeovers: Math.max(0, stored.activations - 1),
    durable: records.durableCount,
    undecided: isDecided ? 0 : 1,
    violations: violations.found,
    digest: trace.digest,
    trace: trace.lines
  }
}
