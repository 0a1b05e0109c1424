/** How many syncs a mode of the local log takes for the same load, counted by the kernel's own interface. */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { workFolder } from "./Places.ts"
import type { Run, Scenario } from "./Run.ts"
import { type SyncLoad, syncModes, type SyncReport } from "./SyncTalk.ts"

const limitSeconds = 600

const help =
  `syncs: fdatasync calls against records and acknowledgements, each sync mode of a local log, counted by strace

  --appends 480        appends of each run; each waits for durability
  --batch 4            records of an append
  --producers 16       appends at a time, in the run with several; the other has one
  --record-bytes 300

Needs strace. What opening and closing a log takes is measured first and taken off.`

const counted = ["fdatasync", "fsync", "pwrite64", "pwritev", "pwritev2", "write"] as const

/** A row of `strace -c`: share, seconds, microseconds a call, calls, errors if there are any, name. */
const rowPattern = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)\s*$/

type Calls = Readonly<Record<typeof counted[number], number>>

const readCounts = (path: string): Calls => {
  const calls = { fdatasync: 0, fsync: 0, pwrite64: 0, pwritev: 0, pwritev2: 0, write: 0 }
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const [, count, name] = rowPattern.exec(line) ?? []
    const known = counted.find((one) => one === name)
    if (known !== undefined) calls[known] = Number(count)
  }
  return calls
}

const requireStrace = (): void => {
  const { error, status } = spawnSync("strace", ["--version"])
  if (error !== undefined || status !== 0) {
    throw new Error("this scenario counts system calls with strace, which is not installed here (package strace)")
  }
}

interface Traced {
  readonly calls: Calls
  readonly report: SyncReport
}

const trace = (folder: string, name: string, load: Omit<SyncLoad, "path">): Traced => {
  const summary = join(folder, `${name}.strace`)
  const program = join(import.meta.dirname, "sync-load.ts")
  const setup = JSON.stringify({ ...load, path: join(folder, name) } satisfies SyncLoad)
  const options = ["-f", "-c", "-e", `trace=${counted.join(",")}`, "-o", summary]
  const done = spawnSync("strace", [...options, process.execPath, program, setup], { encoding: "utf8" })
  if (done.status !== 0) {
    throw new Error(`strace of the load ${name} ended with ${String(done.status)}: ${done.stderr}${done.stdout}`)
  }
  // The last line: what the log says of itself comes before.
  return { calls: readCounts(summary), report: JSON.parse(done.stdout.trimEnd().split("\n").at(-1) ?? "") }
}

/** What must hold whatever the machine is like. */
const judge = (run: Run, name: string, load: Omit<SyncLoad, "path">, syncs: number, report: SyncReport): void => {
  const { appends, batch, producers, sync } = load
  const records = appends * batch
  run.promise(report.durable === records, `${name}: ${report.durable} records are durable, ${records} were appended`)
  // An answered append had a sync after its last byte; at most as many appends as there are producers shared it.
  run.promise(
    syncs >= appends / producers,
    `${name}: ${syncs} syncs answered ${appends} appends of ${producers} producers`
  )
  run.promise(syncs <= report.segments, `${name}: ${syncs} syncs for ${report.segments} segments`)
  if (sync === "per_entry") run.promise(syncs === records, `${name}: ${syncs} syncs for ${records} records`)
  else run.promise(syncs <= appends, `${name}: ${syncs} syncs for ${appends} appends`)
  if (sync !== "per_entry" && producers > 1) {
    run.promise(syncs <= appends / 2, `${name}: ${syncs} syncs, though ${producers} appends wait at a time`)
  }
}

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      appends: { type: "string", default: "480" },
      batch: { type: "string", default: "4" },
      producers: { type: "string", default: "16" },
      "record-bytes": { type: "string", default: "300" }
    }
  })
  requireStrace()
  const folder = workFolder(run)
  const [appends, batch, several] = [Number(values.appends), Number(values.batch), Number(values.producers)]
  const size = { batch, recordBytes: Number(values["record-bytes"]) }
  const results: Array<unknown> = []
  for (const sync of syncModes) {
    const idle = trace(folder, `${sync}-idle`, { ...size, sync, producers: 1, appends: 0 })
    for (const producers of [1, several]) {
      const load = { ...size, sync, producers, appends }
      const name = `${sync}-${producers}`
      const { calls, report } = trace(folder, name, load)
      const syncs = calls.fdatasync - idle.calls.fdatasync
      judge(run, name, load, syncs, report)
      const row = {
        sync,
        producers,
        records: report.durable,
        acknowledgements: appends,
        fdatasyncs: syncs,
        recordsPerSync: Math.round(report.durable / syncs * 100) / 100,
        acknowledgementsPerSync: Math.round(appends / syncs * 100) / 100,
        segments: report.segments,
        writes: calls.pwritev + calls.pwritev2 + calls.pwrite64 - idle.calls.pwritev - idle.calls.pwritev2 -
          idle.calls.pwrite64,
        fsyncs: calls.fsync,
        fsyncsIdle: idle.calls.fsync,
        seconds: Math.round(report.seconds * 100) / 100
      }
      results.push(row)
      run.progress(JSON.stringify(row))
    }
  }
  Object.assign(run.result, { results })
}

/** The scenario `syncs`. */
export const syncs: Scenario = { help, limitSeconds, scenario }
