/** What every acceptance run has: progress lines, promises that can break, a time limit, things to end, seeded chance. */
import { randomInt } from "node:crypto"

/** Milliseconds of a clock that only goes forward. */
export const nowMillis = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000

/** Waits; a run paces its load with it and never proves anything by it. */
export const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** A number as people read it. */
export const grouped = (value: number): string => Math.round(value).toLocaleString("en-US")

/** The value below which `share` (0 to 1) of the sample lies; 0 for an empty one. */
const percentile = (sample: ReadonlyArray<number>, share: number): number => {
  const sorted = sample.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

/** Median, 95th percentile and largest of a sample of milliseconds, rounded. */
export const spread = (sample: ReadonlyArray<number>) => ({
  p50: Math.round(percentile(sample, 0.5)),
  p95: Math.round(percentile(sample, 0.95)),
  max: Math.round(Math.max(0, ...sample))
})

/** Chance that can be repeated: the same seed gives the same numbers, each from 0 (inclusive) to 1 (exclusive). */
export const seededChance = (seed: number): () => number => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}

/** The seed that the command line names, else a fresh one. */
export const seedOf = (given: string | undefined): number => given === undefined ? randomInt(2 ** 31) : Number(given)

/** Broken promises that are kept word for word; of the rest only the count is. */
const keptBroken = 20

/** One run of one scenario. */
export class Run {
  readonly name: string
  /** What the last line of the output says besides `name`, `ok`, `seconds` and `broken`. */
  readonly result: Record<string, unknown> = {}
  private readonly broken: Array<string> = []
  private brokenCount = 0
  private readonly startedAt = nowMillis()
  private readonly endings: Array<() => Promise<void> | void> = []
  private over = false
  /** Told by a signal to stop: what is left then is no evidence of anything. */
  interrupted = false

  constructor(name: string) {
    this.name = name
  }

  get ok(): boolean {
    return this.brokenCount === 0
  }

  /** One line of progress, with the seconds since the start. */
  progress(line: string): void {
    process.stdout.write(`[${((nowMillis() - this.startedAt) / 1_000).toFixed(1).padStart(6)}s] ${line}\n`)
  }

  /** Something that must hold, until the run is over: what is ended then fails in all kinds of ways. */
  promise(holds: boolean, what: string): void {
    if (holds || this.over) return
    this.brokenCount++
    if (this.broken.length < keptBroken) {
      this.broken.push(what)
      this.progress(`BROKEN: ${what}`)
    }
  }

  /** Done at the end, whatever happens, last one first; what is begun after the end is ended at once. */
  atEnd(ending: () => Promise<void> | void): void {
    if (this.over) void ending()
    else this.endings.push(ending)
  }

  /** Runs the scenario under its time limit and prints the last line; the result is the exit code. */
  async finish(scenario: () => Promise<void>, limitSeconds: number): Promise<number> {
    let limit: NodeJS.Timeout | undefined
    const overdue = new Promise<void>((_, reject) => {
      limit = setTimeout(() => reject(new Error(`not finished after ${limitSeconds} s`)), limitSeconds * 1_000)
    })
    try {
      await Promise.race([scenario(), overdue, this.signalled()])
    } catch (error) {
      const place = error instanceof Error && !this.interrupted ? error.stack : undefined
      this.promise(false, place ?? (error instanceof Error ? error.message : String(error)))
    }
    this.over = true
    clearTimeout(limit)
    for (const ending of this.endings.toReversed()) await ending()
    const seconds = Math.round((nowMillis() - this.startedAt) / 100) / 10
    const line = { name: this.name, ok: this.ok, seconds, ...this.result, brokenCount: this.brokenCount }
    process.stdout.write(`${JSON.stringify({ ...line, broken: this.broken })}\n`)
    return this.ok ? 0 : 1
  }

  /** Fails with the first SIGINT or SIGTERM, so that the run ends in order; the second one ends the process at once. */
  private signalled(): Promise<never> {
    return new Promise((_, reject) => {
      for (const signal of ["SIGINT", "SIGTERM"] as const) {
        process.on(signal, () => {
          if (this.interrupted) process.exit(1)
          this.interrupted = true
          reject(new Error(`stopped by ${signal}`))
        })
      }
    })
  }
}

/** What `pnpm acceptance` knows of a scenario. */
export interface Scenario {
  /** Its first line says what it does, in one sentence. */
  readonly help: string
  /** The run counts as broken when it takes longer; what it is asked for can decide how long that is. */
  readonly limitSeconds: number | ((args: ReadonlyArray<string>) => number)
  readonly scenario: (run: Run, args: ReadonlyArray<string>) => Promise<void>
}
