/** The command line of `pnpm sim`. */
import { randomInt } from "node:crypto"
import { parseArgs } from "node:util"
import { wholeOption } from "../WholeOption.ts"

export const usage = `usage: pnpm sim [options]

Walks the real code through a simulated world: processes of one log that are killed and stopped, a store that loses,
delays, repeats and refuses requests, and callers that append, read, commit. Each walk ends with a healed world, in which
everything must drain and be there. One seed is one walk, byte for byte. A seed whose last digit but one is odd (10 to 19,
30 to 39, ...) has a store in S3's dress: answers of HTTP in every form that stores and proxies give them, through the code of
the S3 package; the others are told what the answers mean.

  --walks N        so many walks (default 1000)
  --from SEED      the first seed; the walks have the seeds from there on (default: a fresh one, which is printed;
                   with --mutations 1, so that two runs say the same)
  --processes N    side by side (default 2)
  --minutes N      start no walk after so long; what was walked is reported
  --trace SEED     one walk, with everything that happens in it; of a walk that was counted only together with --branches
  --branches       count how often each branch of opening and of putting segments is taken, and print them; slower, and
                   other walks: what is counted takes steps of its own
  --least N        with --branches: fail where one was taken less often (default 1)
  --mutations      leave a rule out of the code, one at a time, and walk until that is found; --walks and --minutes are for each
  --mutation WORD  only the mutations with that word in their name
  --json           the last line, or each mutation, as a line of JSON

Progress goes to standard error. The exit code is 0 when no promise was broken (or every mutation was found), 1 when one
was, 2 for a wrong option. A broken promise is printed with its seed: pnpm sim --trace SEED shows how it came to it.`

export interface SimOptions {
  readonly walks: number
  readonly from: number
  readonly processes: number
  readonly minutes: number
  readonly trace: number | undefined
  readonly branches: boolean
  readonly least: number
  /** Part of the name of the mutations to try; empty for all of them, absent for none. */
  readonly mutation: string | undefined
  readonly json: boolean
}

const words = {
  walks: { type: "string" },
  from: { type: "string" },
  processes: { type: "string", default: "2" },
  minutes: { type: "string" },
  trace: { type: "string" },
  branches: { type: "boolean", default: false },
  least: { type: "string", default: "1" },
  mutations: { type: "boolean", default: false },
  mutation: { type: "string" },
  json: { type: "boolean", default: false },
  help: { type: "boolean", default: false }
} as const

const largestFreshSeed = 2 ** 40
const defaultWalks = 1_000
const walksOfMutation = 20_000

/** Mutations are tried with the same walks each time, so that one run says the same as another. */
const firstSeed = (mutation: string | undefined): number => mutation === undefined ? randomInt(largestFreshSeed) : 1

/** The options, or `help`. Throws an error whose message is for the user. */
export const readOptions = (args: ReadonlyArray<string>): SimOptions | "help" => {
  const { values } = parseArgs({ args: args.filter((word) => word !== "--"), options: words })
  if (values.help) return "help"
  const mutation = values.mutation ?? (values.mutations ? "" : undefined)
  const walks = mutation === undefined ? defaultWalks : walksOfMutation
  return {
    walks: values.walks === undefined ? walks : wholeOption("walks", values.walks, 1),
    from: values.from === undefined ? firstSeed(mutation) : wholeOption("from", values.from, 0),
    processes: wholeOption("processes", values.processes, 1),
    minutes: values.minutes === undefined ? Infinity : wholeOption("minutes", values.minutes, 1),
    trace: values.trace === undefined ? undefined : wholeOption("trace", values.trace, 0),
    branches: values.branches,
    least: wholeOption("least", values.least, 1),
    mutation,
    json: values.json
  }
}
