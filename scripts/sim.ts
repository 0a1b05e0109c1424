/** `pnpm sim`: the real code in a simulated world. `--help` says how. */
import { join } from "node:path"
import { nodeDigest } from "../packages/core/src/node/NodeDigest.ts"
import { walk } from "../packages/testing/src/simulation/Walk.ts"
import { rareBranches } from "./sim/BranchCount.ts"
import { tryMutations } from "./sim/Mutants.ts"
import { storeOfSeed, wearsS3 } from "./sim/S3Dress.ts"
import { readOptions, type SimOptions, usage } from "./sim/SimOptions.ts"
import { walkMany } from "./sim/WalkMany.ts"
import type { WalkSums } from "./sim/WalkSums.ts"

const root = join(import.meta.dirname, "..")
const say = (text: string) => process.stderr.write(`${text}\n`)
const print = (text: string) => process.stdout.write(`${text}\n`)

const tellFound = ({ branches }: SimOptions) => (part: WalkSums): void => {
  for (const { seed, violations } of part.found) {
    say(`seed ${seed}: ${violations.join("; ")}`)
    say(`  again: pnpm sim --trace ${seed}${branches ? " --branches" : ""}`)
  }
}

/** One walk, with all that happened in it. */
const trace = (seed: number, { branches }: SimOptions): boolean => {
  const counting = branches ? { answers: new Map() } : {}
  const result = walk(seed, { digest: nodeDigest, keepTrace: true, makeStore: storeOfSeed(seed), ...counting })
  for (const line of result.trace) print(line)
  const { steps, violations } = result
  const dress = wearsS3(seed) ? " in S3's dress" : ""
  print(`seed ${seed}${dress}: ${steps} steps, ${violations.length === 0 ? "nothing broken" : violations.join("; ")}`)
  return violations.length === 0
}

const lineOf = ({ found, walks, ...sums }: WalkSums, wallMs: number) => ({
  walks,
  steps: sums.steps,
  requests: sums.requests,
  crashes: sums.crashes,
  stops: sums.stops,
  ghosts: sums.ghosts,
  faults: sums.faults,
  takeovers: sums.takeovers,
  durable: sums.durable,
  violations: found.length,
  wallMs
})

const walks = async (options: SimOptions): Promise<boolean> => {
  say(`${options.walks} walks from seed ${options.from}`)
  const range = { ...options, root, stopsAtFirst: false }
  const { broken, sums, wallMs } = await walkMany(range, { onPart: tellFound(options), progress: say })
  if (broken !== undefined) say(`a process ended before its time:\n${broken}`)
  let isGood = broken === undefined && sums.found.length === 0
  if (sums.branches !== undefined) {
    for (const [branch, count] of Object.entries(sums.branches)) print(`${String(count).padStart(12)}  ${branch}`)
    const rare = rareBranches(sums.branches, options.least)
    for (const branch of rare) say(`taken less than ${options.least} times: ${branch.section} ${branch.branch}`)
    isGood &&= rare.length === 0
  }
  const line = lineOf(sums, wallMs)
  print(
    options.json
      ? JSON.stringify(line)
      : `${line.walks} walks from seed ${options.from}, ${line.requests} requests, ${line.crashes} crashes, ` +
        `${line.ghosts} ghosts, ${line.takeovers} take-overs: ${line.violations} broken`
  )
  return isGood
}

const run = (options: SimOptions): Promise<boolean> => {
  if (options.trace !== undefined) return Promise.resolve(trace(options.trace, options))
  return options.mutation === undefined ? walks(options) : tryMutations(options, { print, say })
}

try {
  const options = readOptions(process.argv.slice(2))
  if (options === "help") print(usage)
  else process.exitCode = await run(options) ? 0 : 1
} catch (cause) {
  say(cause instanceof Error ? cause.message : String(cause))
  process.exitCode = 2
}
