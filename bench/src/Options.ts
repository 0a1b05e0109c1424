/** The command line of `pnpm bench`. */
import { parseArgs } from "node:util"
import type { Bench } from "./Bench.ts"

export interface BenchOptions {
  readonly names: ReadonlyArray<string>
  readonly json: boolean
  readonly quick: boolean
  readonly save: boolean
  /** The contender whose rounds are profiled. */
  readonly profile: string | undefined
}

export const usageOf = (benches: ReadonlyArray<Bench>): string =>
  `usage: pnpm bench [name ...] [options]

Measures the log side by side with what limits it (floors) and with what a user would pick instead (peers), in turns, within
one run. All ratios are of one machine in one run; absolute figures are context. A goal is missed only where the whole
middle half of the rounds is on the wrong side of it. Without a name: all of them.

  --quick   5 short rounds each, some minutes in all; else 5 rounds of 2 s
  --json    a line of JSON for each measurement, on standard output; the table goes to standard error
  --save    keep the results in bench/results and write them into docs/performance.md; not together with --quick
  --profile CONTENDER   also where the processor's time goes in its rounds; the name as the progress line shows it
  --help    this text

benches
${benches.map(({ about, name }) => `  ${name.padEnd(10)} ${about}`).join("\n")}

Exit status: 0 all goals that have one are met, 1 one is missed or a bench failed, 2 a wrong option.
`

/** `help` where that is asked for. Throws an error whose message is for the user. */
export const readOptions = (args: ReadonlyArray<string>, benches: ReadonlyArray<Bench>): BenchOptions | "help" => {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      save: { type: "boolean", default: false },
      profile: { type: "string" },
      help: { type: "boolean", default: false }
    }
  })
  if (values.help) return "help"
  const known = new Set(benches.map(({ name }) => name))
  const unknown = positionals.find((name) => !known.has(name))
  if (unknown !== undefined) throw new Error(`no bench ${unknown}: there are ${[...known].join(", ")}`)
  if (values.quick && values.save) throw new Error("--save keeps whole runs: leave --quick out")
  if (values.profile !== undefined && values.save) throw new Error("--profile slows what it looks at: leave --save out")
  return { names: positionals, json: values.json, quick: values.quick, save: values.save, profile: values.profile }
}
