/** Real faults for as long as one likes: processes killed and stopped, full disks, a bad way to the store; flat memory. */
import { parseArgs } from "node:util"
import { faultKinds } from "./FaultPlan.ts"
import { ProcessSamples } from "./ProcessSamples.ts"
import { grouped, nowMillis, pause, type Run, type Scenario, seedOf } from "./Run.ts"
import { countBucket, judge, settle, type Work } from "./SoakEnd.ts"
import {
  besetLocal,
  besetPair,
  besetSteady,
  type Contested,
  type FaultCounts,
  makeWeather,
  type Stage
} from "./SoakFaults.ts"
import { flushNowAndThen, type KeyedCounts, type LoadShape, postSoak } from "./SoakLoad.ts"
import { Consumer, LiveTail } from "./SoakReaders.ts"
import { setUp, type Soak } from "./SoakSetup.ts"
import type { Level } from "./SpoolLoad.ts"

/** How much longer than asked for a run may take: for its start, the faults that are under way, and the last checks. */
const extraSeconds = 600

const defaultMinutes = "30"

const progressEveryMillis = 10_000

/** In a run of so many minutes each kind of fault must have come up. */
const minutesForAll = 10

/** How long the last records are left uncommitted, so that there is something above the cursor at the end. */
const uncommittedMillis = 4_000

const help =
  `soak: servers under real faults for a long time: kill -9, SIGSTOP, take-overs, full disks, a bad way to the store

  --minutes 30   of load and faults
  --seed N       repeats the chances of a run

Three logs: one that two servers with one identity and a spool each take from each other, the old one often stopped and
woken up later; one whose server lives for the whole run, with a bounded heap; a local one. The ways to a real S3 server
lead through proxies that cut, delay, swallow, refuse and let requests through late. The spools and the local log lie on
small disks that are filled and freed. Each log has appends of each level, calls with an Idempotency-Key that are
repeated, a consumer that commits, a live tail, and deletion behind the consumer. Nothing acknowledged may be lost, and
memory, handles and fibers of the server that lives on must stay flat. Needs root.`

/** Appends that wait for an answer that means something, some of them with a key. */
const shapeOf = (chance: () => number, levels: ReadonlyArray<Level>): LoadShape => ({
  chance,
  levels,
  batch: 20,
  pauseMillis: 120,
  keyed: 0.25
})

/** Small appends that wait for nothing, so that a crash has something to take. */
const hasty = (chance: () => number): LoadShape => ({
  chance,
  levels: ["accepted"],
  batch: 5,
  pauseMillis: 25,
  keyed: 0
})

const begin = async (soak: Soak, contested: Contested, levels: ReadonlyArray<Level>, keyed: KeyedCounts) => {
  const { log } = contested
  // All chances before anything is waited for: else the order of the servers would decide who gets which.
  const shapes = [shapeOf(soak.chance(), levels), shapeOf(soak.chance(), levels), hasty(soak.chance())]
  const flushChance = soak.chance()
  const consumer = new Consumer(log, soak.chance())
  await contested.install(contested.begin())
  const posters = shapes.map((shape, index) => postSoak(log, shape, keyed, `${log.name}-${index}`))
  return {
    contested,
    consumer,
    load: [...posters, flushNowAndThen(log, flushChance)],
    readers: [consumer.run(), new LiveTail(log).run()]
  } satisfies Work
}

const sumOf = (numbers: Iterable<number>): number => [...numbers].reduce((sum, one) => sum + one, 0)

/** What the run has done so far. */
const totals = (soak: Soak, counts: FaultCounts, keyed: KeyedCounts) => {
  const logs = [soak.pair.log, soak.steady.log, soak.local.log]
  const onTheWay = (kind: typeof faultKinds[number] | "refused") =>
    sumOf(soak.proxies.map((proxy) => proxy.counts[kind]))
  return {
    records: {
      sent: sumOf(logs.map(({ ledger }) => ledger.sent)),
      acknowledged: sumOf(logs.flatMap(({ ledger }) => Object.values(ledger.answered))),
      durable: sumOf(logs.map(({ ledger }) => ledger.answered.durable)),
      read: sumOf(logs.map(({ seen }) => seen.size))
    },
    keyed: { ...keyed },
    faults: {
      ...counts,
      requests: sumOf(soak.proxies.map(({ requests }) => requests)),
      refused: onTheWay("refused"),
      cutBody: onTheWay("cutRequestBody") + onTheWay("cutAnswerBody"),
      ...Object.fromEntries(faultKinds.map((kind) => [kind, onTheWay(kind)]))
    }
  }
}

const tell = async (soak: Soak, samples: ProcessSamples, now: () => ReturnType<typeof totals>): Promise<void> => {
  while (soak.steady.log.reading) {
    await pause(progressEveryMillis)
    const { faults, records } = now()
    const onTheWay = sumOf(soak.proxies.map(({ counts }) => sumOf(Object.values(counts))))
    const { fibers, heapMiB, openFiles, residentMiB } = samples.latest
    soak.run.progress(
      `${grouped(records.acknowledged)} acknowledged, ${grouped(records.read)} read; ${faults.kill9} kills, ` +
        `${faults.sigstop} stops, ${faults.takeovers} take-overs, ${faults.enospc} full disks, ${faults.outages} outages, ` +
        `${grouped(onTheWay)} of ${grouped(faults.requests)} requests spoilt; ` +
        `${residentMiB} MiB, heap ${heapMiB}, ${openFiles} files, ${fibers} fibers`
    )
  }
}

const optionsOf = (args: ReadonlyArray<string>) => {
  const { values } = parseArgs({
    args: [...args],
    options: { minutes: { type: "string", default: defaultMinutes }, seed: { type: "string" } }
  })
  const minutes = Number(values.minutes)
  if (!(minutes > 0 && minutes <= 1_440)) throw new Error(`--minutes ${values.minutes}: must be above 0, at most 1440`)
  return { minutes, seed: values.seed }
}

/** Never fails: what is wrong with the options is told by the scenario. */
const limitSeconds = (args: ReadonlyArray<string>): number => {
  const { values } = parseArgs({ args: [...args], options: { minutes: { type: "string" } }, strict: false })
  return (Number(values.minutes ?? defaultMinutes) || 0) * 60 + extraSeconds
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { minutes, seed: givenSeed } = optionsOf(args)
  const seed = seedOf(givenSeed)
  run.progress(`seed ${seed}; ${minutes} minutes`)
  const soak = await setUp(run, seed)
  const counts: FaultCounts = {
    kill9: 0,
    killsWhileOpening: 0,
    sigstop: 0,
    enospc: 0,
    killsWhileFull: 0,
    takeovers: 0,
    zombies: 0,
    outages: 0,
    gatewayFreezes: 0
  }
  const keyed: KeyedCounts = { calls: 0, repeats: 0, replayed: 0 }
  const now = () => totals(soak, counts, keyed)
  Object.assign(run.result, { seed, minutes, ceph: soak.gateway.version })
  const works = await Promise.all([
    begin(soak, soak.pair, ["durable", "durable", "spooled", "spooled", "accepted"], keyed),
    begin(soak, soak.steady, ["durable", "durable", "spooled", "accepted"], keyed),
    begin(soak, soak.local, ["durable", "durable", "accepted"], keyed)
  ])
  const until = nowMillis() + minutes * 60_000
  const stageOf = (): Stage => ({ run, chance: soak.chance(), counts, goesOn: () => nowMillis() < until })
  const stage = stageOf()
  const samples = new ProcessSamples()
  const { gateway, localDisk, proxies, spoolDisk } = soak
  const sampling = samples.run(soak.steady.holder, () => nowMillis() >= until)
  const telling = tell(soak, samples, now)
  const all = Promise.all([sampling, telling, ...works.flatMap(({ load, readers }) => [...load, ...readers])])
  const besetting = Promise.all([
    makeWeather(stageOf(), { proxies, gateway, spoolDisk }),
    besetPair(stage, soak.pair),
    besetSteady(stageOf(), soak.steady),
    besetLocal(stageOf(), soak.local, localDisk)
  ])
  try {
    // Whatever ends one of them in an error ends the run.
    await Promise.race([besetting, all.then(() => besetting)])
    run.progress("the faults are over")
    for (const { consumer } of works) consumer.commits = false
    await pause(uncommittedMillis)
    for (const { contested } of works) contested.log.loading = false
    await Promise.all(works.flatMap(({ load }) => load))
    await settle(soak, stage, works)
    await all
  } catch (error) {
    Object.assign(run.result, now())
    throw error
  }
  Object.assign(run.result, now(), samples.judge(run))
  const bucket = await countBucket(soak)
  const logs: Record<string, unknown> = {}
  for (const work of works) logs[work.contested.log.name] = await judge(work)
  Object.assign(run.result, { bucket, logs })
  if (minutes < minutesForAll) return
  // A run that met none of something shows nothing of it.
  for (const [kind, count] of Object.entries(now().faults)) {
    run.promise(count > 0, `there was no fault of the kind ${kind}`)
  }
  const refused = soak.local.log.answers.get(507) ?? 0
  run.promise(refused > 0, "the local log never answered that its disk is full")
}

/** The scenario `soak`. */
export const soak: Scenario = {
  help,
  limitSeconds,
  scenario
}
