/** `kill -9` of the server, again and again, in the middle of its load and in the middle of its start. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { AtRisk } from "./AtRisk.ts"
import { readCorpus } from "./Corpus.ts"
import { Ledger, type LineOf } from "./Ledger.ts"
import { workFolder } from "./Places.ts"
import { readNdjson } from "./ReadBack.ts"
import { grouped, nowMillis, pause, type Run, type Scenario, seededChance, seedOf, spread } from "./Run.ts"
import { append, commit, nodeId, ServerProcess, streamId, writeConfig } from "./ServerProcess.ts"
import { openStore } from "./Store.ts"

const limitSeconds = 1_800

const help = `kill-nine: kill -9 of the server at random moments of its load; nothing acknowledged may be missing

  --store directory|local|s3   which store (default directory)
  --sync group_commit|periodic|per_entry   when a record becomes durable (default group_commit)
  --kills 50              how often
  --seed N                repeats the chances of a run (the moment of each kill, the size of each batch)
  --posters 4             POSTs at a time, each of 1 to --batch records
  --accepted 1            more POSTs that do not wait for durability (ack=accepted)
  --batch 100
  --load 1200             longest load before a kill, milliseconds
  --codec zstd|lz4|none   (default zstd)
  --retention keep|committed   committed: what the cursor has passed is deleted meanwhile (default keep)

One kill in five falls into the opening of the log, after the server listens and before it is ready. After each start
all that became readable since is read and compared, with 1,000 records before it; at the end everything is. What was
only accepted may be lost: one run at the end, and no more than the log's status last said, with what was accepted
since.`

/** Records read once more after each start, from before what is new. */
const overlap = 1_000

interface Load {
  readonly run: Run
  readonly ledger: Ledger
  readonly lineOf: LineOf
  readonly chance: () => number
  readonly batch: number
  readonly atRisk: AtRisk
  /** Answers by status, 0 for a lost connection. */
  readonly answers: Map<number, number>
}

/** One poster: appends until the connection breaks. A batch whose answer is lost is never sent again. */
const post = async (load: Load, server: ServerProcess): Promise<void> => {
  const { answers, chance, ledger } = load
  const note = (status: number) => answers.set(status, (answers.get(status) ?? 0) + 1)
  while (server.running) {
    const ordinals = ledger.take(1 + Math.floor(chance() * load.batch))
    const answer = await append(server, ordinals.map(load.lineOf)).catch(() => undefined)
    note(answer?.status ?? 0)
    if (answer === undefined) return
    if (answer.status === 200) {
      const count = answer.lastSeq - answer.firstSeq + 1
      load.run.promise(count === ordinals.length, `an append of ${ordinals.length} got ${count} numbers`)
      ledger.acknowledge(ordinals, answer.firstSeq)
    } else {
      if (answer.text.includes("\"data\":\"not-durable\"")) ledger.forget(ordinals, "was refused as not stored")
      await pause(20)
    }
  }
}

/** A poster that never waits for durability. */
const postAccepted = async (load: Load, server: ServerProcess): Promise<void> => {
  const { atRisk, chance, ledger } = load
  while (server.running) {
    const ordinals = ledger.take(1 + Math.floor(chance() * load.batch))
    const answer = await append(server, ordinals.map(load.lineOf), "accepted").catch(() => undefined)
    if (answer === undefined) return
    if (answer.status === 200) atRisk.accept(ordinals, answer.firstSeq)
    else if (answer.text.includes("\"data\":\"not-durable\"")) ledger.forget(ordinals, "was refused as not stored")
    await pause(5)
  }
}

/** Asks for the status until the server is gone. */
const watch = async (load: Load, server: ServerProcess): Promise<void> => {
  while (server.running) {
    const status = await server.json("").catch(() => undefined)
    if (status === undefined) return
    load.atRisk.saw(status)
    await pause(10)
  }
}

/** What was read and what the cursor was told. */
interface Progress {
  /** Read so far. */
  readTo: number
  /** Highest commit that was sent, and highest one that the server said is stored. */
  committed: number
  persisted: number
}

/**
 * Reads from a number to the durable end as it is now: dense, and each record what it must be. Not to the end as it moves:
 * on two cores the load can write faster than it is read.
 */
const readAll = async (load: Load, server: ServerProcess, from: number): Promise<number> => {
  const until = await server.number("", "durable")
  let expected = from
  for await (const { payload, seq } of readNdjson(server, from)) {
    load.run.promise(seq === expected, `a hole: record ${seq} where ${expected} must stand`)
    load.ledger.read(seq, payload)
    expected = seq + 1
    if (seq >= until) break
  }
  return expected - 1
}

const check = async (load: Load, server: ServerProcess, progress: Progress, whole: boolean): Promise<void> => {
  const { ledger, run } = load
  const status = await server.json("")
  const trimmed = Number(status["trimmed_to"])
  run.promise(trimmed <= progress.committed, `trimmed to ${trimmed}, the cursor was only at ${progress.committed}`)
  const from = Math.max(1, trimmed + 1, whole ? 1 : progress.readTo - overlap)
  // Taken before reading: the load goes on meanwhile.
  const highest = Math.max(ledger.highestAcknowledged, progress.readTo)
  const end = await readAll(load, server, from)
  run.promise(end >= highest, `records ${end + 1} to ${highest} are missing; they were acknowledged or read before`)
  progress.readTo = Math.max(progress.readTo, end)
  const cursor = await server.json("/cursors/default")
  const seq = Number(cursor["seq"])
  run.promise(seq <= progress.committed, `the cursor stands at ${seq}, nobody committed beyond ${progress.committed}`)
  run.promise(seq >= progress.persisted, `the cursor stands at ${seq}, but ${progress.persisted} was stored`)
  progress.persisted = Math.max(progress.persisted, Number(cursor["persisted"]))
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: "string", default: "directory" },
      kills: { type: "string", default: "50" },
      seed: { type: "string" },
      sync: { type: "string", default: "group_commit" },
      posters: { type: "string", default: "4" },
      accepted: { type: "string", default: "1" },
      batch: { type: "string", default: "100" },
      load: { type: "string", default: "1200" },
      codec: { type: "string", default: "zstd" },
      retention: { type: "string", default: "keep" }
    }
  })
  const seed = seedOf(values.seed)
  const kills = Number(values.kills)
  run.progress(
    `seed ${seed}; ${kills} kills, store ${values.store}, sync ${values.sync}, codec ${values.codec}, ` +
      `retention ${values.retention}`
  )
  const chance = seededChance(seed)
  const folder = workFolder(run)
  const store = openStore(run, values.store, folder)
  const prefix = `kill-nine-${process.pid}-${values.codec}`
  const isLocal = store.name === "local"
  const configPath = writeConfig(folder, prefix, {
    ...store.block,
    sync: values.sync,
    segment_tuning: { strategy: "low_latency" },
    ...isLocal ? {} : { parallel_put: { workers: 2, pipeline_depth: 2 } },
    // A process of a run lives for a second or two, and what may go is decided with each manifest.
    ...values.retention === "committed" ? { manifest: { max_delay: "200ms" } } : {},
    compression: { type: values.codec },
    retention: { policy: values.retention }
  })
  const documents = readCorpus("packages").lines
  const lineOf: LineOf = (ordinal) =>
    Buffer.concat([
      Buffer.from(`{"n":${ordinal},"document":`),
      documents[ordinal % documents.length] ?? Buffer.from("null"),
      Buffer.from("}")
    ])
  const ledger = new Ledger(run, lineOf)
  const atRisk = new AtRisk(run, ledger)
  const load: Load = { run, ledger, lineOf, chance, batch: Number(values.batch), atRisk, answers: new Map() }
  const progress: Progress = { readTo: 0, committed: 0, persisted: 0 }
  const readyMillis: Array<number> = []
  /** From listening to ready: the store probe and the take-over. */
  const openMillis: Array<number> = []
  let killsWhileOpening = 0
  const logPath = join(folder, "server.log")
  const start = () => new ServerProcess(run, configPath, logPath)

  let server = start()
  let startedAt = nowMillis()
  for (let kill = 1; kill <= kills;) {
    const becomesReady = server.ready()
    if (kill > 1 && chance() < 0.2) {
      // The first half of opening is the store probe; from before the claim of the log to after it is taken.
      await server.listening()
      await pause((0.4 + 0.8 * chance()) * (openMillis.at(-1) ?? 200))
      killsWhileOpening++
    } else {
      await server.listening()
      const listensAt = nowMillis()
      if (!await becomesReady) throw new Error("the server ended by itself; see its log")
      readyMillis.push(nowMillis() - startedAt)
      openMillis.push(nowMillis() - listensAt)
      const before = ledger.acknowledged
      atRisk.reopened(await server.number("", "durable"))
      const posters = [
        ...Array.from({ length: Number(values.posters) }, () => post(load, server)),
        ...Array.from({ length: Number(values.accepted) }, () => postAccepted(load, server)),
        watch(load, server)
      ]
      // The load runs while the checks read: a reader and a writer at once.
      await check(load, server, progress, kill % 10 === 0)
      if (progress.readTo > 0) {
        progress.committed = Math.max(progress.committed, Math.floor(progress.readTo * chance()))
        await commit(server, progress.committed)
      }
      await pause(chance() * Number(values.load))
      await server.kill()
      await Promise.all(posters)
      if (kill % 5 === 0) {
        run.progress(
          `kill ${kill}: ${grouped(ledger.acknowledged)} acknowledged (${
            ledger.acknowledged - before
          } in this load), read to ${grouped(progress.readTo)}, ready after ${Math.round(readyMillis.at(-1) ?? 0)} ms`
        )
      }
    }
    await server.kill()
    await becomesReady
    kill++
    server = start()
    startedAt = nowMillis()
  }
  if (!await server.ready()) throw new Error("the server ended by itself; see its log")
  atRisk.reopened(await server.number("", "durable"))
  const readAt = nowMillis()
  await check(load, server, progress, true)
  const readSeconds = Math.round((nowMillis() - readAt) / 100) / 10
  const status = await server.json("")
  run.promise(
    Number(status["durable"]) === progress.readTo,
    `durable ${String(status["durable"])}, read ${progress.readTo}`
  )
  run.promise(ledger.acknowledged > 0, "nothing was ever acknowledged: the run shows nothing; make --load longer")
  run.promise(await server.stop() === 0, "the server did not end with 0 after SIGTERM")
  // The lock of a local log ends with its process: nobody was ever told that the directory is taken.
  run.promise(
    !readFileSync(logPath, "utf8").includes("is in use by another process"),
    "a server found the directory locked"
  )
  const stored = await store.count(`${prefix}/${nodeId}/${streamId}`)
  Object.assign(run.result, {
    store: store.name,
    sync: values.sync,
    seed,
    kills,
    killsWhileOpening,
    sent: ledger.sent,
    acknowledged: ledger.acknowledged,
    durable: progress.readTo,
    epoch: status["epoch"],
    trimmedTo: status["trimmed_to"],
    acceptedOnly: {
      accepted: atRisk.accepted,
      lost: atRisk.lost,
      crashes: atRisk.crashes,
      crashesWithLoss: atRisk.crashesWithLoss,
      largestLoss: atRisk.largestLoss,
      largestGauge: atRisk.largestGauge
    },
    answers: Object.fromEntries(load.answers),
    readyMillis: spread(readyMillis),
    openMillis: spread(openMillis),
    finalReadSeconds: readSeconds,
    segments: stored.segments,
    storedBytes: stored.segmentBytes
  })
}

/** The scenario `kill-nine`. */
export const killNine: Scenario = { help, limitSeconds, scenario }
