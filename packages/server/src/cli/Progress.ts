/**
 * How far long work is, on stderr: a bar with rate and time left where that is a terminal, else a line now and then;
 * nothing with `--json`.
 *
 * All time is the Clock's. The rate is that of the last seconds, so that the time left follows a store that gets slower.
 */
import { Clock, Context, Effect, Schedule } from "effect"
import type { Scope } from "effect"
import { environment } from "./Environment.ts"
import { humanText, type Kind, plainText } from "./HumanText.ts"
import { Json, type JsonFlag } from "./Output.ts"

/** Where progress is written: stderr, in tests a list. */
export class ProgressOutput extends Context.Reference<{
  readonly isTerminal: boolean
  /** Cells of a line. */
  readonly columns: number
  readonly write: (text: string) => Effect.Effect<void>
}>("@effect-wal/server/cli/ProgressOutput", {
  defaultValue: () => ({
    isTerminal: process.stderr.isTTY && environment()["TERM"] !== "dumb",
    columns: process.stderr.columns > 0 ? process.stderr.columns : 80,
    write: (text) => Effect.sync(() => process.stderr.write(text))
  })
}) {}

/** What is counted. */
export interface ProgressOptions {
  /** What is being done, as in `appending`. */
  readonly label: string
  /** Of `done` and `total`: `bytes` reads as `1.5 MB`, `count` as `1,500`. */
  readonly kind: Extract<Kind, "bytes" | "count">
  /** The unit behind a count, as in `records`. */
  readonly unit?: string
  /** Where the end is known. */
  readonly total?: number
}

/** Handle of the work. */
export interface Progress {
  /** So much more is done. */
  readonly advance: (by: number) => Effect.Effect<void>
  /** So much is done in all; for work that counts by itself. */
  readonly set: (done: number) => Effect.Effect<void>
  /** The end is known now. */
  readonly expect: (total: number) => Effect.Effect<void>
}

/** One look at the work. */
export interface Sample {
  readonly millis: number
  readonly done: number
}

/** How often a terminal is drawn to, and a file or a pipe. */
const drawMillis = 200
const lineMillis = 5_000

/** Samples that the rate is taken over, one each `drawMillis`: the last ten seconds. */
const keptSamples = 50

const barCells = 20

/** Units a second between the first and the last sample; 0 where no time has passed. */
export const rateOf = (samples: ReadonlyArray<Sample>): number => {
  const first = samples[0]
  const last = samples.at(-1)
  return first === undefined || last === undefined || last.millis <= first.millis
    ? 0
    : (last.done - first.done) * 1_000 / (last.millis - first.millis)
}

const clockText = (seconds: number): string => {
  const whole = Math.ceil(seconds)
  const two = (value: number) => String(value).padStart(2, "0")
  const minutes = Math.floor(whole / 60)
  return minutes < 60
    ? `${minutes}:${two(whole % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}`
}

/** The line of a look: label, bar and share where the end is known, amount, rate, time left. */
export const progressLine = (options: ProgressOptions, done: number, rate: number): string => {
  const { kind, label, total, unit } = options
  const amount = (value: number) => humanText(kind, value)
  const share = total === undefined || total <= 0 ? undefined : Math.min(1, done / total)
  const filled = Math.floor((share ?? 0) * barCells)
  const known = share === undefined ? [] : [
    `[${"#".repeat(filled)}${".".repeat(barCells - filled)}]`,
    `${Math.floor(share * 100)} %`
  ]
  const of = total === undefined ? "" : ` of ${amount(total)}`
  const left = total === undefined || rate <= 0 || done >= total ? [] : [`${clockText((total - done) / rate)} left`]
  return [
    plainText(label),
    ...known,
    `${amount(done)}${of}${unit === undefined ? "" : ` ${unit}`}`,
    ...rate > 0 ? [humanText(kind === "bytes" ? "byteRate" : "rate", rate)] : [],
    ...left
  ].join("  ")
}

const silent: Progress = { advance: () => Effect.void, set: () => Effect.void, expect: () => Effect.void }

/** Shows progress until the scope ends; then one last line stands. */
export const progress = Effect.fnUntraced(
  function*(options: ProgressOptions): Effect.fn.Return<Progress, never, Scope.Scope | JsonFlag> {
    if (yield* Json) return silent
    const { columns, isTerminal, write } = yield* ProgressOutput
    let total = options.total
    let done = 0
    const samples: Array<Sample> = [{ millis: yield* Clock.currentTimeMillis, done }]
    const look = Effect.map(Clock.currentTimeMillis, (millis) => {
      samples.push({ millis, done })
      if (samples.length > keptSamples) samples.shift()
    })
    const line = (rate: number) => progressLine({ ...options, ...total === undefined ? {} : { total } }, done, rate)
    // A terminal's line is drawn over itself, so it must not be wider than the terminal.
    const draw = Effect.suspend(() =>
      write(isTerminal ? `\r\u001b[K${line(rateOf(samples)).slice(0, columns - 1)}` : `${line(rateOf(samples))}\n`)
    )
    const began = samples[0]
    const last = Effect.suspend(() => {
      const now = samples.at(-1)
      const average = began === undefined || now === undefined ? 0 : rateOf([began, now])
      return write(`${isTerminal ? "\r\u001b[K" : ""}${line(average)}\n`)
    })
    yield* Effect.addFinalizer(() => Effect.andThen(look, last))
    const drawn = Math.round((isTerminal ? drawMillis : lineMillis) / drawMillis)
    let looks = 0
    yield* look.pipe(
      Effect.andThen(Effect.suspend(() => ++looks % drawn === 0 ? draw : Effect.void)),
      Effect.schedule(Schedule.spaced(drawMillis)),
      Effect.forkScoped({ startImmediately: true })
    )
    const set = (value: number) =>
      Effect.sync(() => {
        done = value
      })
    return {
      set,
      advance: (by) => Effect.suspend(() => set(done + by)),
      expect: (value) =>
        Effect.sync(() => {
          total = value
        })
    }
  }
)
