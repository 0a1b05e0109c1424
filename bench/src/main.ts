/** `pnpm bench`: see `--help`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Bench } from "./Bench.ts"
import { benches } from "./Benches.ts"
import { type BenchLine, lineOf } from "./Line.ts"
import { type BenchOptions, readOptions, usageOf } from "./Options.ts"
import { withResults } from "./PerformanceDocs.ts"
import { partsOf, profileText, RoundProfiler } from "./Profile.ts"
import { Progress } from "./Progress.ts"
import { keepResults, thisMachine } from "./Results.ts"
import { tableText } from "./Table.ts"

const rounds = 5
const roundMillis = 2_000
const quickRoundMillis = 400

const print = (text: string) => process.stdout.write(`${text}\n`)

interface Turn {
  readonly options: BenchOptions
  readonly progress: Progress
  readonly profiler: RoundProfiler | undefined
  /** Of the whole run, before and after this bench. */
  readonly from: number
  readonly to: number
}

const runOne = async (
  bench: Bench,
  { from, options, profiler, progress, to }: Turn
): Promise<ReadonlyArray<BenchLine>> => {
  const folder = mkdtempSync(join(tmpdir(), `effect-wal-bench-${bench.name}-`))
  try {
    const measured = await bench.run({
      rounds,
      roundMillis: options.quick ? quickRoundMillis : roundMillis,
      quick: options.quick,
      folder,
      around: (name, round) => profiler === undefined ? Promise.resolve(round()) : profiler.around(name, round),
      progress: (share, what) => progress.show(from + (to - from) * share, `${bench.name}: ${what}`),
      picture: (name, svg) => {
        if (options.save) writeFileSync(join(root, "docs/growth", `${name}.svg`), svg)
      },
      say: (text) => {
        progress.clear()
        process.stderr.write(`${bench.name}: ${text}\n`)
      }
    })
    return measured.map((one) => lineOf(bench.name, one))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const root = join(import.meta.dirname, "../..")
const docs = join(root, "docs/performance.md")

/** Keeps what was measured, and writes it into the documentation. */
const save = (measured: ReadonlySet<string>, lines: ReadonlyArray<BenchLine>): void => {
  const machine = thisMachine()
  const machines = Object.fromEntries([...measured].map((name) => [name, machine]))
  const names = benches.map(({ name }) => name)
  const results = keepResults(join(root, "bench/results"), names, { machines, lines })
  writeFileSync(docs, withResults(readFileSync(docs, "utf8"), results))
}

const tellProfile = ({ name, profiles }: RoundProfiler): void => {
  if (profiles.length === 0) throw new Error(`no contender ${name} in what was measured`)
  process.stderr.write(`\n${profileText(name, partsOf(profiles, root))}`)
}

const run = async (options: BenchOptions): Promise<boolean> => {
  const chosen = benches.filter(({ name }) => options.names.length === 0 || options.names.includes(name))
  const progress = new Progress(process.stderr)
  const profiler = options.profile === undefined ? undefined : new RoundProfiler(options.profile)
  const lines: Array<BenchLine> = []
  const measured = new Set<string>()
  let isWhole = true
  for (const [index, bench] of chosen.entries()) {
    const turn = { options, profiler, progress, from: index / chosen.length, to: (index + 1) / chosen.length }
    try {
      const more = await runOne(bench, turn)
      lines.push(...more)
      measured.add(bench.name)
      progress.clear()
      if (options.json) { for (const line of more) print(JSON.stringify(line)) }
    } catch (cause) {
      isWhole = false
      progress.clear()
      process.stderr.write(`${bench.name} failed: ${cause instanceof Error ? cause.stack : String(cause)}\n`)
    }
  }
  if (options.json) process.stderr.write(`${tableText(lines)}\n`)
  else print(tableText(lines))
  if (options.save) save(measured, lines)
  if (profiler !== undefined) tellProfile(profiler)
  return isWhole && lines.every(({ ok }) => ok !== false)
}

try {
  const options = readOptions(process.argv.slice(2), benches)
  if (options === "help") process.stdout.write(usageOf(benches))
  else process.exitCode = await run(options) ? 0 : 1
} catch (cause) {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`)
  process.exitCode = 2
}
