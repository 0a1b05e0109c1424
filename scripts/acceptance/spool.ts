/** Outages of the gateway and `kill -9` of the server, again and again, with a spool: what was answered is there in the end. */
import { renameSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Gateway } from "./Gateway.ts"
import { workFolder } from "./Places.ts"
import { readNdjson } from "./ReadBack.ts"
import { grouped, nowMillis, pause, type Run, type Scenario, seededChance, seedOf } from "./Run.ts"
import { ServerProcess, writeConfig } from "./ServerProcess.ts"
import { drained, type Level, ordinalOf, post, type Poster, SpoolLedger, watch } from "./SpoolLoad.ts"
import { s3Block } from "./Store.ts"

const limitSeconds = 360

const help =
  `spool: outages of a real S3 server and kill -9 of a server with a spool; nothing acknowledged may be missing

  --rounds 30     outages: each the gateway killed and started again, or frozen and thawed
  --seed N        repeats the chances of a run
  --posters 4     POSTs at a time, each of 1 to 20 records; 60 % ack=spooled, 15 % durable, 25 % accepted

In most rounds the server is killed at a random moment before, in or after the outage, and started again; in one of five
another server with its own spool has the log in between. At the end all is read: durable records under their numbers,
spooled ones exactly once, and of those that were only accepted one suffix of a life of the server may be missing, no
more than its status called at risk and what it accepted afterwards.`

const padding = "x".repeat(200)

/** No round begins after this: a slow machine has fewer of them, and the result says how many. */
const roundsWithinMillis = 270_000

interface Stage {
  readonly run: Run
  readonly gateway: Gateway
  readonly ledger: SpoolLedger
  readonly chance: () => number
  readonly answers: Map<number, number>
  readonly posters: number
  /** Where the server keeps what it has spooled. */
  readonly spoolPath: string
  readonly start: (which: "main" | "other") => ServerProcess
  readonly counts: { killed: number; frozen: number; serverKills: number; takeovers: number }
}

/** A server with its load and its watch. */
interface Life {
  readonly server: ServerProcess
  readonly stop: () => Promise<void>
}

const levelBy = (chance: () => number): Level => {
  const dice = chance()
  return dice < 0.6 ? "spooled" : dice < 0.75 ? "durable" : "accepted"
}

const begin = (stage: Stage, server: ServerProcess): Life => {
  const { answers, chance, ledger } = stage
  let over = false
  const poster: Poster = {
    ledger,
    answers,
    padding,
    pauseMillis: 10,
    level: () => levelBy(chance),
    count: () => 1 + Math.floor(chance() * 20),
    until: () => over
  }
  const running = [
    watch(ledger, server, () => over),
    ...Array.from({ length: stage.posters }, () => post(poster, server))
  ]
  const stop = async () => {
    over = true
    await Promise.all(running)
  }
  return { server, stop }
}

/** One outage; answers how it ends. */
const beginOutage = async (stage: Stage): Promise<() => Promise<void>> => {
  const { chance, counts, gateway } = stage
  if (chance() < 0.5) {
    counts.killed++
    await gateway.kill()
    return gateway.restart
  }
  counts.frozen++
  await gateway.freeze()
  return gateway.thaw
}

const kill = async (stage: Stage, life: Life): Promise<void> => {
  stage.counts.serverKills++
  await life.server.kill()
  await life.stop()
}

/** Another server has the log for a moment. It does not see the spool of the first one, as if it were another machine. */
const takeOver = async (stage: Stage): Promise<void> => {
  stage.counts.takeovers++
  const away = `${stage.spoolPath}-of-another-machine`
  renameSync(stage.spoolPath, away)
  const server = stage.start("other")
  if (!await server.ready()) throw new Error("the other server ended by itself; see its log")
  const life = begin(stage, server)
  await pause(300)
  await life.stop()
  stage.run.promise(await server.stop() === 0, "the other server did not end with 0")
  renameSync(away, stage.spoolPath)
}

const round = async (stage: Stage, life: Life): Promise<Life> => {
  const { chance } = stage
  await pause(200 + 400 * chance())
  const end = await beginOutage(stage)
  await pause(2_000 * chance())
  const moment = chance()
  if (moment >= 0.85) {
    // The server lives through it, and sends what it has spooled.
    await end()
    await pause(500 * chance())
    return life
  }
  if (moment >= 0.5) {
    await end()
    await pause(400 * chance())
    await kill(stage, life)
  } else {
    await kill(stage, life)
    await end()
  }
  if (chance() < 0.2) await takeOver(stage)
  const server = stage.start("main")
  if (!await server.ready()) throw new Error("the server ended by itself; see its log")
  return begin(stage, server)
}

const readAll = async (run: Run, server: ServerProcess): Promise<ReadonlyMap<number, number>> => {
  const read = new Map<number, number>()
  for await (const { payload, seq } of readNdjson(server, 1)) {
    run.promise(seq === read.size + 1, `a hole: record ${seq} where ${read.size + 1} must stand`)
    read.set(seq, ordinalOf(payload))
  }
  return read
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: "string", default: "30" },
      seed: { type: "string" },
      posters: { type: "string", default: "4" }
    }
  })
  const seed = seedOf(values.seed)
  const rounds = Number(values.rounds)
  run.progress(`seed ${seed}; ${rounds} rounds`)
  const folder = workFolder(run)
  const gateway = await Gateway.open(run)
  const { s3 } = s3Block(gateway.s3)
  const configure = (name: string) =>
    writeConfig(folder, name, {
      prefix: `spool-${process.pid}`,
      s3: { ...s3, attempt_deadline: "2s", small_request_deadline: "2s", connect_timeout: "1s" },
      segment_tuning: { strategy: "low_latency" },
      parallel_put: { workers: 2 },
      retry: { base: "20ms", cap: "300ms" },
      retention: { policy: "keep" },
      spool: { path: join(folder, `spool-${name}`), after: "300ms" }
    }, { limits: { ack_timeout: "2s" } })
  const configs = { main: configure("main"), other: configure("other") }
  const stage: Stage = {
    run,
    gateway,
    ledger: new SpoolLedger(run),
    chance: seededChance(seed),
    answers: new Map(),
    posters: Number(values.posters),
    spoolPath: join(folder, "spool-main"),
    start: (which) => new ServerProcess(run, configs[which], join(folder, `server-${which}.log`)),
    counts: { killed: 0, frozen: 0, serverKills: 0, takeovers: 0 }
  }
  const first = stage.start("main")
  if (!await first.ready()) throw new Error("the server ended by itself; see its log")
  let life = begin(stage, first)
  const startedAt = nowMillis()
  let done = 0
  while (done < rounds && nowMillis() - startedAt < roundsWithinMillis) {
    const count = ++done
    life = await round(stage, life)
    if (count % 5 === 0) {
      run.progress(`round ${count}: ${grouped(stage.ledger.sent)} sent, ${JSON.stringify(stage.counts)}`)
    }
  }
  await life.stop()
  await drained(run, life.server, 30_000)
  const readAt = nowMillis()
  const read = await readAll(run, life.server)
  const judged = stage.ledger.judge(read)
  run.promise(await life.server.stop() === 0, "the server did not end with 0 after SIGTERM")
  Object.assign(run.result, {
    seed,
    ceph: gateway.version,
    rounds: done,
    ...stage.counts,
    sent: stage.ledger.sent,
    answered: stage.ledger.answered,
    read: read.size,
    ...judged,
    answers: Object.fromEntries(stage.answers),
    readSeconds: Math.round((nowMillis() - readAt) / 100) / 10
  })
}

/** The scenario `spool`. */
export const spool: Scenario = { help, limitSeconds, scenario }
