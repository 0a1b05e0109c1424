/** Durable records a second on this disk, against the least that can be done and against what a user would pick instead. */
import type { WalService } from "@effect-wal/core/WalService"
import { Effect } from "effect"
import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement, Named } from "../Line.ts"
import { type Contender, type Results, takeTurns } from "../Rounds.ts"
import { pairedRatios, spreadOf } from "../Stats.ts"
import { type Load, serve, type Served, serveEffect } from "../support/Callers.ts"
import { emptyLog, withLocalLog } from "../support/OpenLocalLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { createRawFile } from "../support/RawFile.ts"
import { type OpenedPeers, type PeerAtWork, withPeers } from "./LocalPeers.ts"

const recordBytes = 1_024

/** A load, and what share of the floor's rate the log must reach. */
interface LocalLoad extends Load {
  readonly name: string
  readonly goal: number
  /** How many times the rate of a peer it must reach; absent: peers are not measured. One that is not named: 1. */
  readonly peerGoals?: Readonly<Record<string, number>>
  /** Of the 99th percentile of waits, in those of the floor. */
  readonly p99Goal?: number
  readonly cpuGoal?: number
}

const loads: ReadonlyArray<LocalLoad> = [
  { name: "1 caller", callers: 1, batch: 1, goal: 0.85 },
  { name: "16 callers", callers: 16, batch: 1, goal: 0.85 },
  {
    name: "256 callers",
    callers: 256,
    batch: 1,
    goal: 0.65,
    p99Goal: 2,
    peerGoals: { lmdb: 1.5, "Redis Streams": 2.5 }
  },
  { name: "8 × 100 a call", callers: 8, batch: 100, goal: 0.7, cpuGoal: 6, peerGoals: { lmdb: 1.5 } }
]

const fileName = "bare file"
const logName = "log"

type Round = (millis: number) => Promise<Served>

/** A file of its own for each round: it would grow without end. */
const fileRound = (path: string, load: Load, payloads: ReadonlyArray<Uint8Array>): Round => async (millis) => {
  const file = await createRawFile(path)
  try {
    return await serve(load, millis, () => file.append(payloads))
  } finally {
    await file.close()
    rmSync(path)
  }
}

const logRound = (wal: WalService, load: Load, payloads: ReadonlyArray<Uint8Array>): Round => {
  const append = Effect.flatMap(wal.append(recordsOf(payloads)), ({ durable }) => durable)
  return (millis) => Effect.runPromise(Effect.tap(serveEffect(load, millis, append), () => emptyLog(wal)))
}

const peerRound = ({ appendDurable }: PeerAtWork, load: Load, payloads: ReadonlyArray<Uint8Array>): Round => (millis) =>
  serve(load, millis, () => appendDurable(payloads))

interface Measured {
  readonly load: LocalLoad
  readonly results: Results
  /** All that each round has told, without the one that warms up. */
  readonly served: (name: string) => ReadonlyArray<Served>
  readonly opened: OpenedPeers
}

/** A contender that keeps all that its rounds tell. */
const keeping = (name: string, round: Round, kept: Map<string, Array<Served>>): Contender => {
  const all: Array<Served> = []
  kept.set(name, all)
  return {
    name,
    unit: "records/s",
    round: async (millis) => {
      const served = await round(millis)
      all.push(served)
      return served.recordsPerSecond
    }
  }
}

const noPeers: OpenedPeers = { peers: [], missing: [] }

const measureLoad = (context: BenchContext, load: LocalLoad, nth: number): Promise<Measured> => {
  const folder = join(context.folder, `load-${nth}`)
  mkdirSync(folder)
  const payloads = payloadsOf(load.batch, recordBytes)
  const among = (opened: OpenedPeers) =>
    withLocalLog(join(folder, "log"), async (wal) => {
      const kept = new Map<string, Array<Served>>()
      const contenders = [
        keeping(fileName, fileRound(join(folder, "file"), load, payloads), kept),
        keeping(logName, logRound(wal, load, payloads), kept),
        ...opened.peers.map((peer) => keeping(peer.name, peerRound(peer, load, payloads), kept))
      ]
      const results = await takeTurns(context, contenders, { from: nth / loads.length, to: (nth + 1) / loads.length })
      return { load, results, served: (name: string) => (kept.get(name) ?? []).slice(1), opened }
    })
  const measured = load.peerGoals === undefined ? among(noPeers) : withPeers(context, among)
  return measured.finally(() => rmSync(folder, { recursive: true, force: true }))
}

const againstFile = ({ load, results, served }: Measured): ReadonlyArray<Measurement> => {
  const waits = (name: string) => served(name).map(({ p99Millis }) => p99Millis)
  const cpu = (name: string) => served(name).map(({ cpuMicros }) => cpuMicros)
  const named = (of: (name: string) => ReadonlyArray<number>, unit: string): Named => ({
    name: fileName,
    value: spreadOf(of(fileName)).median,
    unit
  })
  const ratio: Measurement = {
    metric: `${load.name}, against a bare file`,
    value: results.ratio(logName, fileName),
    unit: "x",
    better: "higher",
    goal: load.goal,
    floor: results.named(fileName)
  }
  const rate: Measurement = {
    metric: `${load.name}, durable`,
    value: results.spread(logName),
    unit: "records/s",
    better: "higher"
  }
  const p99: Measurement = {
    metric: `${load.name}, p99 of a wait, against a bare file`,
    value: spreadOf(pairedRatios(waits(logName), waits(fileName))),
    unit: "x",
    better: "lower",
    ...(load.p99Goal === undefined ? {} : { goal: load.p99Goal }),
    floor: named(waits, "ms")
  }
  const processor: Measurement = {
    metric: `${load.name}, processor for a record`,
    value: spreadOf(cpu(logName)),
    unit: "µs",
    better: "lower",
    ...(load.cpuGoal === undefined ? {} : { goal: load.cpuGoal }),
    floor: named(cpu, "µs")
  }
  return [ratio, rate, p99, processor]
}

const againstPeers = ({ load, opened, results }: Measured): ReadonlyArray<Measurement> =>
  opened.peers.map(({ isDurable, name, note }) => ({
    metric: `${load.name}, against ${name}`,
    value: results.ratio(logName, name),
    unit: "x",
    better: "higher",
    ...(isDurable ? { goal: load.peerGoals?.[name] ?? 1 } : {}),
    peer: results.named(name),
    ...(note === undefined ? {} : { note })
  }))

/** Long enough for what is compiled while it runs: a short round would measure little else. */
const warmMillis = 1_000

/** Serves the widest load and the narrowest one, in a log that is not measured. */
const warmUp = async (context: BenchContext): Promise<void> => {
  const path = join(context.folder, "warm")
  const payloads = payloadsOf(1, recordBytes)
  await withLocalLog(path, async (wal) => {
    for (const callers of [256, 1]) await logRound(wal, { callers, batch: 1 }, payloads)(warmMillis)
  })
  rmSync(path, { recursive: true })
}

/** Two dozen contenders: in a quick run each has less time than elsewhere. */
const quickShare = 0.5

export const local: Bench = {
  name: "local",
  about: `durable records of ${recordBytes} bytes on this disk, against a bare file and what a user would pick instead`,
  run: async (bench) => {
    const context = bench.quick ? { ...bench, roundMillis: bench.roundMillis * quickShare } : bench
    const lines: Array<Measurement> = []
    await warmUp(context)
    for (const [nth, load] of loads.entries()) {
      const measured = await measureLoad(context, load, nth)
      const { missing } = measured.opened
      const [first, ...others] = againstFile(measured)
      if (first !== undefined) {
        lines.push(missing.length === 0 ? first : { ...first, note: `left out: ${missing.join(", ")}` })
      }
      lines.push(...others, ...againstPeers(measured))
    }
    return lines
  }
}
