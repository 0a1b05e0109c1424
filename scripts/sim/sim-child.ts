/** Walks the seeds that the command line names, every nth of them, and says what came of it, so many at a time. */
import type { AnswerCounts } from "../../packages/testing/src/simulation/AnswerCount.ts"
import { BranchCounter } from "./BranchCount.ts"
import { addWalk, noWalks, type WalkSums } from "./WalkSums.ts"

const [from = 0, end = 0, step = 1, untilMillis = Infinity, counts = 0, walksOfPart = 25] = process.argv.slice(2).map(
  Number
)
/** Before the first import of what is counted. */
const counter = counts === 1 ? new BranchCounter() : undefined
const answers: AnswerCounts = new Map()
const { walk } = await import("../../packages/testing/src/simulation/Walk.ts")
const { LongLog } = await import("../../packages/testing/src/simulation/LongLog.ts")
const { nodeDigest } = await import("../../packages/core/src/node/NodeDigest.ts")
const { storeOfSeed } = await import("./S3Dress.ts")

const say = (sums: WalkSums) => process.stdout.write(`${JSON.stringify(sums)}\n`)
const options = { digest: nodeDigest, longLog: new LongLog(nodeDigest), ...(counter === undefined ? {} : { answers }) }

// That the code is there and runs is known from here on.
say(noWalks)
let sums = noWalks
for (let seed = from; seed < end && new Date().getTime() < untilMillis; seed += step) {
  sums = addWalk(sums, walk(seed, { ...options, makeStore: storeOfSeed(seed) }))
  if (sums.walks < walksOfPart && sums.found.length === 0) continue
  say(sums)
  sums = noWalks
  // So that the pipe is emptied, and a parent that is gone is noticed.
  await new Promise((resolve) => setImmediate(resolve))
}
counter?.take()
say({ ...sums, ...(counter === undefined ? {} : { branches: counter.counts(answers) }) })
