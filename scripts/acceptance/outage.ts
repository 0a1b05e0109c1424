/** A minute without the store, under load, with a spool: memory, answers, and the time to be rid of what was spooled. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Gateway } from "./Gateway.ts"
import { workFolder } from "./Places.ts"
import { readNdjson } from "./ReadBack.ts"
import { grouped, nowMillis, pause, type Run, type Scenario, spread } from "./Run.ts"
import { ServerProcess, writeConfig } from "./ServerProcess.ts"
import { drained, ordinalOf, post, snapshotOf, SpoolLedger } from "./SpoolLoad.ts"
import { s3Block } from "./Store.ts"

const limitSeconds = 180

const help = `outage: the gateway of a real S3 server is frozen under load; memory and answers of a server with a spool

  --seconds 60     how long it is frozen
  --posters 4      POSTs at a time, ack=spooled, each of --batch records of 1,000 bytes
  --batch 20
  --pause 40       milliseconds between two POSTs of a poster
  --buffer 16MiB   max_buffered_bytes of the stream

Prints the resident memory of the server before, in and after the outage, how long the answers took, and the time from
the thaw to an empty spool while the load goes on.`

const padding = "x".repeat(980)

/** Longest wait for an empty spool after the thaw. */
const drainWithinMillis = 60_000

/** Resident memory in MiB. */
const residentMiB = (server: ServerProcess): number => {
  const status = readFileSync(`/proc/${server.child.pid}/status`, "latin1")
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024)
}

type Phase = "before" | "outage" | "after"

interface Samples {
  readonly memory: Record<Phase, Array<number>>
  readonly millis: Record<Phase, Array<number>>
}

const sampleMemory = async (server: ServerProcess, samples: Samples, phase: () => Phase, until: () => boolean) => {
  while (server.running && !until()) {
    samples.memory[phase()].push(residentMiB(server))
    await pause(250)
  }
}

/** Waits until the spool is empty; answers after how long. */
const emptied = async (run: Run, server: ServerProcess, since: number): Promise<number> => {
  for (;;) {
    const now = await snapshotOf(server)
    const millis = nowMillis() - since
    if (now?.spoolRecords === 0) return millis
    if (millis > drainWithinMillis) {
      run.promise(false, `the spool is not empty ${drainWithinMillis} ms after the thaw: ${JSON.stringify(now)}`)
      return millis
    }
    await pause(50)
  }
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: "string", default: "60" },
      posters: { type: "string", default: "4" },
      batch: { type: "string", default: "20" },
      pause: { type: "string", default: "40" },
      buffer: { type: "string", default: "16MiB" }
    }
  })
  const folder = workFolder(run)
  const gateway = await Gateway.open(run)
  const config = writeConfig(folder, `outage-${process.pid}`, {
    ...s3Block(gateway.s3),
    max_buffered_bytes: values.buffer,
    max_record_bytes: "1MiB",
    // What is kept is what was sent: the amounts mean what they say.
    compression: { type: "none" },
    retention: { policy: "keep" },
    spool: { path: join(folder, "spool") }
  })
  const server = new ServerProcess(run, config, join(folder, "server.log"))
  if (!await server.ready()) throw new Error("the server ended by itself; see its log")
  const ledger = new SpoolLedger(run)
  const answers = new Map<number, number>()
  const samples: Samples = {
    memory: { before: [], outage: [], after: [] },
    millis: { before: [], outage: [], after: [] }
  }
  let phase: Phase = "before"
  let over = false
  const posters = Array.from({ length: Number(values.posters) }, () =>
    post({
      ledger,
      answers,
      padding,
      pauseMillis: Number(values.pause),
      level: () => "spooled",
      count: () => Number(values.batch),
      until: () => over,
      onAnswer: (millis) => samples.millis[phase].push(millis)
    }, server))
  const sampling = sampleMemory(server, samples, () => phase, () => over)
  await pause(15_000)
  await gateway.freeze()
  phase = "outage"
  run.progress(`frozen after ${grouped(ledger.sent)} records, ${samples.memory.before.at(-1)} MiB`)
  await pause(Number(values.seconds) * 1_000)
  const spooled = await snapshotOf(server)
  await gateway.thaw()
  phase = "after"
  const thawedAt = nowMillis()
  run.progress(
    `thawed; the spool holds ${grouped(spooled?.spoolRecords ?? 0)} records, ${grouped(spooled?.spoolBytes ?? 0)} B`
  )
  const drainMillis = await emptied(run, server, thawedAt)
  run.progress(`the spool is empty ${Math.round(drainMillis)} ms after the thaw`)
  await pause(5_000)
  over = true
  await Promise.all([...posters, sampling])
  await drained(run, server, 20_000)
  const read = new Map<number, number>()
  for await (const { payload, seq } of readNdjson(server, 1)) read.set(seq, ordinalOf(payload))
  ledger.judge(read)
  run.promise(read.size === ledger.sent, `${ledger.sent} records were sent, ${read.size} are there`)
  run.promise([...answers.keys()].every((status) => status === 200), `answers: ${JSON.stringify([...answers])}`)
  run.promise((spooled?.spoolRecords ?? 0) > 0, "nothing was spooled")
  run.promise(await server.stop() === 0, "the server did not end with 0")
  const memory = (name: Phase) => spread(samples.memory[name])
  Object.assign(run.result, {
    ceph: gateway.version,
    frozenSeconds: Number(values.seconds),
    records: ledger.sent,
    spooled: { records: spooled?.spoolRecords, bytes: spooled?.spoolBytes },
    bufferBytes: values.buffer,
    residentMiB: { before: memory("before"), outage: memory("outage"), after: memory("after") },
    answerMillis: {
      before: spread(samples.millis.before),
      outage: spread(samples.millis.outage),
      after: spread(samples.millis.after)
    },
    thawToEmptyMillis: Math.round(drainMillis),
    answers: Object.fromEntries(answers)
  })
}

/** The scenario `outage`. */
export const outage: Scenario = { help, limitSeconds, scenario }
