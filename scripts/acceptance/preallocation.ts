/** What a sync costs on a file that grows, on one that was only made long, and on one that was filled with zeroes before. */
import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, mkdirSync, openSync, statfsSync, writeSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { workFolder } from "./Places.ts"
import { nowMillis, type Run, type Scenario } from "./Run.ts"

const limitSeconds = 600

const help = `preallocation: the time of write and fdatasync on a growing, a sparse and a zero-filled file

  --dir PATH        where to measure: a folder is made in it (default: the folder for temporary files)
  --writes 400      writes of each kind in each round, each followed by fdatasync
  --bytes 4096      bytes of a write
  --rounds 5        rounds; the kinds take turns within a round

A local log rotates files that grow. Files filled before would write all bytes twice; this shows what that would buy.`

const kinds = ["growing", "sparse", "zeroFilled"] as const
type Kind = typeof kinds[number]

interface Measured {
  /** Microseconds of each write with its sync. */
  readonly syncMicros: Array<number>
  /** Milliseconds to make each file ready before its first write. */
  readonly prepareMillis: Array<number>
}

interface Load {
  readonly writes: number
  readonly bytes: number
}

const prepare = (file: number, kind: Kind, { bytes, writes }: Load): void => {
  if (kind === "sparse") ftruncateSync(file, bytes * writes)
  if (kind === "zeroFilled") {
    const zeroes = Buffer.alloc(Math.min(1_048_576, bytes * writes))
    for (let at = 0; at < bytes * writes;) {
      at += writeSync(file, zeroes, 0, Math.min(zeroes.length, bytes * writes - at), at)
    }
  }
  fsyncSync(file)
}

const measure = (path: string, kind: Kind, load: Load, measured: Measured): void => {
  const file = openSync(path, "wx+")
  const preparedAt = nowMillis()
  prepare(file, kind, load)
  measured.prepareMillis.push(nowMillis() - preparedAt)
  // Not zeroes: a file system or a disk may know those.
  const record = Buffer.alloc(load.bytes, 0xa7)
  for (let index = 0; index < load.writes; index++) {
    const startedAt = nowMillis()
    writeSync(file, record, 0, record.length, index * record.length)
    fdatasyncSync(file)
    measured.syncMicros.push((nowMillis() - startedAt) * 1_000)
  }
  closeSync(file)
}

const mean = (sample: ReadonlyArray<number>): number => sample.reduce((sum, value) => sum + value, 0) / sample.length

const median = (sample: ReadonlyArray<number>): number =>
  sample.toSorted((left, right) => left - right)[Math.floor(sample.length / 2)] ?? Number.NaN

const twoDigits = (value: number): number => Math.round(value * 100) / 100

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      dir: { type: "string" },
      writes: { type: "string", default: "400" },
      bytes: { type: "string", default: "4096" },
      rounds: { type: "string", default: "5" }
    }
  })
  const load: Load = { writes: Number(values.writes), bytes: Number(values.bytes) }
  const rounds = Number(values.rounds)
  if (values.dir !== undefined) mkdirSync(values.dir, { recursive: true })
  const folder = workFolder(run, values.dir)
  const measured: Record<Kind, Measured> = {
    growing: { syncMicros: [], prepareMillis: [] },
    sparse: { syncMicros: [], prepareMillis: [] },
    zeroFilled: { syncMicros: [], prepareMillis: [] }
  }
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < kinds.length; turn++) {
      const kind = kinds[(round + turn) % kinds.length] ?? "growing"
      measure(join(folder, `${round}-${kind}`), kind, load, measured[kind])
    }
    run.progress(
      `round ${round + 1} of ${rounds}: ${
        kinds.map((kind) => `${kind} ${Math.round(median(measured[kind].syncMicros))} µs`).join(", ")
      }`
    )
  }
  const { growing, sparse, zeroFilled } = measured
  const ratio = (one: Measured, other: Measured) => ({
    median: twoDigits(median(one.syncMicros) / median(other.syncMicros)),
    mean: twoDigits(mean(one.syncMicros) / mean(other.syncMicros))
  })
  Object.assign(run.result, {
    dir: folder,
    fileSystemType: `0x${(statfsSync(folder).type >>> 0).toString(16)}`,
    ...load,
    rounds,
    micros: Object.fromEntries(kinds.map((kind) => [kind, {
      median: Math.round(median(measured[kind].syncMicros)),
      mean: Math.round(mean(measured[kind].syncMicros))
    }])),
    fillMillis: Math.round(mean(zeroFilled.prepareMillis)),
    growingToZeroFilled: ratio(growing, zeroFilled),
    growingToSparse: ratio(growing, sparse),
    // With the filling counted in: above 1, filling before pays.
    growingToZeroFilledWithFilling: twoDigits(
      mean(growing.syncMicros) / (mean(zeroFilled.syncMicros) + mean(zeroFilled.prepareMillis) * 1_000 / load.writes)
    )
  })
}

/** The scenario `preallocation`. */
export const preallocation: Scenario = { help, limitSeconds, scenario }
