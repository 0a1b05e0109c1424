/** What happens to the servers of the soak: signals, take-overs, full disks, and a store that is away. */
import type { FaultProxy } from "./FaultProxy.ts"
import type { Gateway } from "./Gateway.ts"
import { nowMillis, pause, type Run } from "./Run.ts"
import type { ServerProcess } from "./ServerProcess.ts"
import type { SmallDisk } from "./SmallDisk.ts"
import { soakLine, type SoakLog } from "./SoakLog.ts"
import { readOfZombie } from "./SoakReaders.ts"
import { noteAnswer, send, watch } from "./SpoolLoad.ts"

/** Longest wait for a server whose store answers badly. */
const readyWithinMillis = 150_000

/** How soon a server that has lost its log must say so, once it is asked to append. */
const fencedWithinMillis = 40_000

/** How long a call waits for a server that may be stopped. */
const patienceMillis = 6_000

export interface FaultCounts {
  kill9: number
  killsWhileOpening: number
  sigstop: number
  enospc: number
  killsWhileFull: number
  takeovers: number
  /** Servers that woke up and found that they had lost the log. */
  zombies: number
  outages: number
  gatewayFreezes: number
}

export interface Stage {
  readonly run: Run
  readonly chance: () => number
  readonly counts: FaultCounts
  readonly goesOn: () => boolean
}

/** A log with the ways to start its servers, one for each seat. */
export class Contested {
  readonly log: SoakLog
  private readonly starts: ReadonlyArray<() => ServerProcess>
  private seat = 0

  constructor(log: SoakLog, starts: ReadonlyArray<() => ServerProcess>) {
    this.log = log
    this.starts = starts
  }

  /** Starts a server in the seat that has the log, or in the next one; it is not ready yet. */
  begin(which: "same" | "next" = "same"): ServerProcess {
    if (which === "next") this.seat = (this.seat + 1) % this.starts.length
    const server = this.starts[this.seat]?.()
    if (server === undefined) throw new Error("no such seat")
    server.patienceMillis = patienceMillis
    return server
  }

  /** Waits until it has the log, and gives it the load. */
  async install(server: ServerProcess): Promise<void> {
    if (!await server.ready(readyWithinMillis)) {
      throw new Error(`${this.log.name}: the server ended by itself; see its log`)
    }
    this.log.current = server
    void watch(this.log.ledger, server, () => false, 200)
  }

  /** Whoever has the log; none of the faults leaves it without one. */
  get holder(): ServerProcess {
    if (this.log.current === undefined) throw new Error(`${this.log.name}: nobody has the log`)
    return this.log.current
  }
}

const between = ({ chance }: Stage, from: number, to: number): number => from + chance() * (to - from)

/** `kill -9` and a start, sometimes with another `kill -9` while it opens. */
const kill = async (stage: Stage, contested: Contested): Promise<void> => {
  const { chance, counts } = stage
  const server = contested.holder
  counts.kill9++
  await server.kill()
  contested.log.current = undefined
  await pause(between(stage, 0, 1_000))
  if (chance() < 0.25) {
    const short = contested.begin()
    await short.listening()
    await pause(between(stage, 0, 1_500))
    counts.kill9++
    counts.killsWhileOpening++
    await short.kill()
  }
  await contested.install(contested.begin())
}

/** SIGSTOP and SIGCONT of whoever has the log. */
const stopForAMoment = async (stage: Stage, contested: Contested): Promise<void> => {
  stage.counts.sigstop++
  contested.holder.freeze()
  await pause(between(stage, 200, 6_000))
  contested.holder.thaw()
}

/** A server that has lost its log is asked to append until it says so; what it reads meanwhile must be true. */
const seeFenced = async (stage: Stage, log: SoakLog, zombie: ServerProcess): Promise<void> => {
  const until = nowMillis() + fencedWithinMillis
  for (;;) {
    const ordinals = log.ledger.take(1 + Math.floor(stage.chance() * 5))
    const reply = await send(zombie, ordinals.map(soakLine), "durable")
    if (reply !== undefined) noteAnswer(log, ordinals, reply)
    log.promise(reply?.status !== 200, `a server without the log acknowledged ${ordinals.length} records as durable`)
    if (reply?.status === 409) return
    if (nowMillis() > until) {
      log.promise(false, `not fenced ${fencedWithinMillis} ms after the take-over: ${JSON.stringify(reply)}`)
      return
    }
    await pause(100)
  }
}

/** The server of the other seat takes the log; the old one is stopped meanwhile, or goes on until it notices. */
export const takeOver = async (stage: Stage, contested: Contested): Promise<void> => {
  const { chance, counts, run } = stage
  const { log } = contested
  const old = contested.holder
  const freezes = chance() < 0.75
  if (freezes) {
    counts.sigstop++
    old.freeze()
    log.current = undefined
  }
  await contested.install(contested.begin("next"))
  counts.takeovers++
  // Load, commits and deletions by the new one.
  await pause(between(stage, 1_000, 9_000))
  if (freezes) old.thaw()
  counts.zombies++
  await seeFenced(stage, log, old)
  const status = await old.json("").catch(() => ({}))
  const trimmedTo = "trimmed_to" in status ? Number(status.trimmed_to) : 0
  await readOfZombie(log, old, trimmedTo + 1)
  await pause(between(stage, 0, 2_000))
  if (chance() < 0.5) await old.kill()
  else run.promise(await old.stop() !== null, `${log.name}: a fenced server did not end by itself after SIGTERM`)
}

/** Faults of the log that two servers want, one after the other. */
export const besetPair = async (stage: Stage, contested: Contested): Promise<void> => {
  while (stage.goesOn()) {
    await pause(between(stage, 2_000, 8_000))
    const dice = stage.chance()
    if (dice < 0.4) await kill(stage, contested)
    else if (dice < 0.8) await takeOver(stage, contested)
    else await stopForAMoment(stage, contested)
  }
}

/** The disk of a local log is full for a moment; sometimes the server is killed meanwhile, and started. */
const fillDisk = async (stage: Stage, contested: Contested, disk: SmallDisk): Promise<void> => {
  stage.counts.enospc++
  disk.fill()
  await pause(between(stage, 1_000, 4_000))
  if (stage.chance() < 0.35) {
    stage.counts.kill9++
    stage.counts.killsWhileFull++
    await contested.holder.kill()
    contested.log.current = undefined
    const next = contested.begin()
    await pause(between(stage, 500, 2_000))
    disk.free()
    await contested.install(next)
  } else disk.free()
}

/** Faults of the local log. */
export const besetLocal = async (stage: Stage, contested: Contested, disk: SmallDisk): Promise<void> => {
  while (stage.goesOn()) {
    await pause(between(stage, 2_000, 8_000))
    const dice = stage.chance()
    if (dice < 0.45) await kill(stage, contested)
    else if (dice < 0.8) await fillDisk(stage, contested, disk)
    else await stopForAMoment(stage, contested)
  }
}

/** The server whose memory is watched is only ever stopped for a moment. */
export const besetSteady = async (stage: Stage, contested: Contested): Promise<void> => {
  while (stage.goesOn()) {
    await pause(between(stage, 10_000, 30_000))
    await stopForAMoment(stage, contested)
  }
}

/** The ways to the store are rough; now and then nothing gets through, and the disk of the spools is full as well. */
export const makeWeather = async (
  stage: Stage,
  store: { readonly proxies: ReadonlyArray<FaultProxy>; readonly gateway: Gateway; readonly spoolDisk: SmallDisk }
): Promise<void> => {
  const { chance, counts } = stage
  const { gateway, proxies, spoolDisk } = store
  const all = (weather: FaultProxy["weather"]) => {
    for (const proxy of proxies) proxy.weather = weather
  }
  all("rough")
  while (stage.goesOn()) {
    await pause(between(stage, 12_000, 30_000))
    const freezes = chance() < 0.4
    counts.outages++
    if (freezes) {
      counts.gatewayFreezes++
      await gateway.freeze()
    } else all("outage")
    await pause(between(stage, 500, 3_000))
    if (chance() < 0.5) {
      counts.enospc++
      spoolDisk.fill()
    }
    await pause(between(stage, 1_000, 5_000))
    if (freezes) await gateway.thaw()
    else all("rough")
    await pause(between(stage, 0, 2_000))
    spoolDisk.free()
  }
  all("calm")
}
