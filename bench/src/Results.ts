/** The last whole run, kept in the repository: `bench/results/latest.jsonl`, a line for the machine and one a measurement. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { join } from "node:path"
import type { BenchLine } from "./Line.ts"

/** Where a run was measured, and how. */
export interface Machine {
  readonly date: string
  readonly node: string
  readonly processor: string
  readonly cores: number
  readonly memoryGigabytes: number
}

export interface Results {
  /** Of each benchmark, as it was measured. */
  readonly machines: Readonly<Record<string, Machine>>
  readonly lines: ReadonlyArray<BenchLine>
}

const fileOf = (folder: string): string => join(folder, "latest.jsonl")

/** This machine, today. */
export const thisMachine = (): Machine => {
  const processors = cpus()
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    processor: processors[0]?.model.trim() ?? "unknown",
    cores: processors.length,
    memoryGigabytes: Math.round(totalmem() / 1e9)
  }
}

/** What is kept in the folder; nothing where none is. */
export const readResults = (folder: string): Results => {
  if (!existsSync(fileOf(folder))) return { machines: {}, lines: [] }
  const [machines = "{}", ...lines] = readFileSync(fileOf(folder), "utf8").trimEnd().split("\n")
  return { machines: JSON.parse(machines), lines: lines.map((line) => JSON.parse(line)) }
}

/** Keeps the lines; those of benchmarks that were not run stay as they are. `order`: the names of all benchmarks. */
export const keepResults = (folder: string, order: ReadonlyArray<string>, run: Results): Results => {
  const old = readResults(folder)
  const measured = new Set(Object.keys(run.machines))
  const all = [...old.lines.filter(({ bench }) => !measured.has(bench)), ...run.lines]
  const lines = order.flatMap((name) => all.filter(({ bench }) => bench === name))
  const known = { ...old.machines, ...run.machines }
  const machines = Object.fromEntries(order.flatMap((name) => known[name] === undefined ? [] : [[name, known[name]]]))
  mkdirSync(folder, { recursive: true })
  writeFileSync(fileOf(folder), [machines, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""))
  return { machines, lines }
}
