/** The disk of a local log is full to the last byte in the middle of its load, and free again. */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { AtRisk } from "./AtRisk.ts"
import { Ledger } from "./Ledger.ts"
import { workFolder } from "./Places.ts"
import { readNdjson } from "./ReadBack.ts"
import { nowMillis, pause, type Run, type Scenario, seededChance, seedOf } from "./Run.ts"
import { append, type AppendAnswer, commit, ServerProcess, writeConfig } from "./ServerProcess.ts"
import { SmallDisk } from "./SmallDisk.ts"
import { localStore } from "./Store.ts"

const limitSeconds = 600

const help = `full-disk: a local log whose disk is filled to the last byte under load, and freed

  --times 3            how often the disk is filled and freed under the running server
  --mib 256            size of the disk, a tmpfs that is mounted for the run (needs root)
  --full 3000          milliseconds that it stays full
  --load 1500          milliseconds of load before and after
  --posters 4          POSTs at a time that wait for durability; one more does not
  --seed N

While the disk is full, appends are refused with 507 disk_full, and reading goes on; once it is free, appends go on
without a restart. A first start on the full disk, and kill -9 and a start while it is full, wait for room and open by
themselves. Everything acknowledged must be there at the end.`

/** How soon after the disk is free an append must be durable: the longest pause between two tries is 5 s. */
const resumeWithinMillis = 10_000

interface Load {
  readonly run: Run
  readonly ledger: Ledger
  readonly atRisk: AtRisk
  readonly chance: () => number
  readonly answers: Map<string, number>
  /** 507 so far. */
  diskFull: number
  running: boolean
}

const lineOf = (ordinal: number): Buffer =>
  Buffer.from(`{"n":${ordinal},"text":"${String(ordinal).padStart(8, "0").repeat(1 + ordinal % 120)}"}`)

const codePattern = /"code":"(\w+)"/

/** What an answer means for the records of its call. */
const note = (load: Load, ordinals: ReadonlyArray<number>, answer: AppendAnswer, ack: "durable" | "accepted"): void => {
  const { answers, atRisk, ledger, run } = load
  const kind = answer.status === 200 ? "200" : `${answer.status} ${codePattern.exec(answer.text)?.[1] ?? answer.text}`
  answers.set(kind, (answers.get(kind) ?? 0) + 1)
  if (answer.status === 200) {
    if (ack === "durable") ledger.acknowledge(ordinals, answer.firstSeq)
    else atRisk.accept(ordinals, answer.firstSeq)
    return
  }
  if (answer.text.includes("\"data\":\"not-durable\"")) ledger.forget(ordinals, "was refused as not stored")
  run.promise(kind === "507 disk_full", `an append was answered ${kind}`)
  run.promise(answer.retryAfter !== null, "a 507 has no Retry-After")
  load.diskFull++
}

const post = async (load: Load, server: ServerProcess, ack: "durable" | "accepted"): Promise<void> => {
  while (load.running && server.running) {
    const ordinals = load.ledger.take(1 + Math.floor(load.chance() * 50))
    const answer = await append(server, ordinals.map(lineOf), ack).catch(() => undefined)
    if (answer === undefined) return
    note(load, ordinals, answer, ack)
    await pause(answer.status === 200 && ack === "durable" ? 0 : 10)
  }
}

const startLoad = (load: Load, server: ServerProcess, posters: number) => {
  load.running = true
  const all = [
    ...Array.from({ length: posters }, () => post(load, server, "durable")),
    post(load, server, "accepted")
  ]
  return async (): Promise<void> => {
    load.running = false
    await Promise.all(all)
  }
}

const until = async (condition: () => Promise<boolean> | boolean, withinMillis: number): Promise<boolean> => {
  for (const startedAt = nowMillis(); nowMillis() - startedAt < withinMillis;) {
    if (await condition()) return true
    await pause(10)
  }
  return false
}

/** Reads all, which must be dense and hold what was acknowledged; answers the last number. */
const readAll = async (load: Load, server: ServerProcess): Promise<number> => {
  const highest = load.ledger.highestAcknowledged
  let expected = 1
  for await (const { payload, seq } of readNdjson(server, 1)) {
    load.run.promise(seq === expected, `a hole: record ${seq} where ${expected} must stand`)
    load.ledger.read(seq, payload)
    expected = seq + 1
  }
  load.run.promise(expected > highest, `records ${expected} to ${highest} are missing; they were acknowledged`)
  return expected - 1
}

/** Fills the disk and waits until that is felt. */
const fill = async (load: Load, server: ServerProcess, disk: SmallDisk, fullMillis: number): Promise<void> => {
  if (disk.freeBytes < disk.sizeBytes / 4) throw new Error("the log alone nearly fills the disk: give it more --mib")
  const before = load.diskFull
  disk.fill()
  const felt = await until(() => load.diskFull > before, 10_000)
  load.run.promise(felt, "no append was answered 507, 10 s after the disk was filled")
  await readAll(load, server)
  const durable = await server.number("", "durable")
  await commit(server, durable)
  await pause(fullMillis)
  const status = await server.json("")
  load.run.promise(status["state"] === "open", `the log is ${String(status["state"])} while the disk is full`)
  load.run.promise("last_store_error" in status, "the status does not name the error of the disk")
}

/** Frees the disk; answers how long it took until an append was durable again. */
const free = async (load: Load, server: ServerProcess, disk: SmallDisk): Promise<number> => {
  disk.free()
  const freedAt = nowMillis()
  const resumed = await until(async () => {
    const ordinals = load.ledger.take(1)
    const answer = await append(server, ordinals.map(lineOf))
    note(load, ordinals, answer, "durable")
    return answer.status === 200
  }, resumeWithinMillis)
  load.run.promise(resumed, `no append was durable ${resumeWithinMillis} ms after the disk was free again`)
  return Math.round(nowMillis() - freedAt)
}

interface Setting {
  readonly load: Load
  readonly disk: SmallDisk
  readonly posters: number
  readonly loadMillis: number
  readonly fullMillis: number
}

/** Full and free again under a running server. */
const cycle = async (setting: Setting, server: ServerProcess): Promise<number> => {
  const { disk, fullMillis, load, loadMillis, posters } = setting
  const stopLoad = startLoad(load, server, posters)
  await pause(loadMillis)
  await fill(load, server, disk, fullMillis)
  const resumeMillis = await free(load, server, disk)
  await pause(loadMillis)
  await stopLoad()
  const flushed = await until(
    async () => await server.number("", "durable") === await server.number("", "last_accepted"),
    10_000
  )
  load.run.promise(flushed, "what was accepted is not durable 10 s after the load")
  load.atRisk.reopened(await readAll(load, server))
  return resumeMillis
}

/** Started on a full disk, which is freed later: it opens by itself. */
const startWhileFull = async (setting: Setting, start: () => ServerProcess) => {
  const { disk, fullMillis } = setting
  disk.fill()
  const server = start()
  let isReady = false
  const ready = server.ready().then((answer) => isReady = answer)
  await server.listening()
  await pause(fullMillis)
  const readyWhileFull = isReady
  disk.free()
  const freedAt = nowMillis()
  if (!await ready) throw new Error("the server ended by itself; see its log")
  return { server, readyWhileFull, readyMillisAfterFree: Math.round(nowMillis() - freedAt) }
}

/** Killed while the disk is full, and started while it still is. */
const killWhileFull = async (setting: Setting, server: ServerProcess, start: () => ServerProcess) => {
  const { disk, fullMillis, load, loadMillis, posters } = setting
  const stopLoad = startLoad(load, server, posters)
  await pause(loadMillis)
  await fill(load, server, disk, fullMillis)
  load.atRisk.saw(await server.json(""))
  await server.kill()
  await stopLoad()
  const started = await startWhileFull(setting, start)
  load.atRisk.reopened(await readAll(load, started.server))
  return started
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      times: { type: "string", default: "3" },
      mib: { type: "string", default: "256" },
      full: { type: "string", default: "3000" },
      load: { type: "string", default: "1500" },
      posters: { type: "string", default: "4" },
      seed: { type: "string" }
    }
  })
  const seed = seedOf(values.seed)
  const folder = workFolder(run)
  const disk = new SmallDisk(run, folder, Number(values.mib))
  run.progress(`seed ${seed}; a disk of ${values.mib} MiB at ${disk.path}`)
  const configPath = writeConfig(folder, "full-disk", {
    ...localStore(join(disk.path, "wal")).block,
    segment_tuning: { strategy: "low_latency" },
    retention: { policy: "keep" }
  })
  const start = () => new ServerProcess(run, configPath, join(folder, "server.log"))
  const opened = async () => {
    const server = start()
    if (!await server.ready()) throw new Error("the server ended by itself; see its log")
    return server
  }
  const ledger = new Ledger(run, lineOf)
  const load: Load = {
    run,
    ledger,
    atRisk: new AtRisk(run, ledger),
    chance: seededChance(seed),
    answers: new Map(),
    diskFull: 0,
    running: false
  }
  const setting: Setting = {
    load,
    disk,
    posters: Number(values.posters),
    loadMillis: Number(values.load),
    fullMillis: Number(values.full)
  }
  const resumeMillis: Array<number> = []
  const { server: first, ...firstStart } = await startWhileFull(setting, start)
  run.progress(`first start on a full disk: ready ${firstStart.readyMillisAfterFree} ms after it was free`)
  for (let time = 1; time <= Number(values.times); time++) {
    resumeMillis.push(await cycle(setting, first))
    run.progress(`full and free, ${time}: ${load.diskFull} times 507, appends go on after ${resumeMillis.at(-1)} ms`)
  }
  const { server: next, ...killed } = await killWhileFull(setting, first, start)
  run.progress(`kill -9 while full: ready ${killed.readyMillisAfterFree} ms after the disk was free`)
  const afterKill = await cycle(setting, next)
  run.promise(await next.stop() === 0, "the server did not end with 0 after SIGTERM")
  const server = await opened()
  const durable = await readAll(load, server)
  const status = await server.json("")
  run.promise(Number(status["durable"]) === durable, `durable ${String(status["durable"])}, read ${durable}`)
  const stopLoad = startLoad(load, server, setting.posters)
  await pause(setting.loadMillis)
  await stopLoad()
  await readAll(load, server)
  run.promise(await server.stop() === 0, "the server did not end with 0 after SIGTERM")
  Object.assign(run.result, {
    seed,
    sent: ledger.sent,
    acknowledged: ledger.acknowledged,
    durable: status["durable"],
    epoch: status["epoch"],
    answers: Object.fromEntries(load.answers),
    resumeMillis: [...resumeMillis, afterKill],
    firstStartWhileFull: firstStart,
    killedWhileFull: killed,
    acceptedOnly: { accepted: load.atRisk.accepted, lost: load.atRisk.lost, largestLoss: load.atRisk.largestLoss },
    freeBytesAtEnd: disk.freeBytes
  })
}

/** The scenario `full-disk`. */
export const fullDisk: Scenario = { help, limitSeconds, scenario }
