/**
 * `node scripts/branch-example.ts`: runs `sim/ExampleLog.ts` and prints how often each branch of the protocol was taken, as
 * JSON. `branches.test.ts` runs it: a test runner rewrites the sources, so places in them are found in a plain process only.
 * With `late` the log has run once before counting starts, which is refused.
 */
import { Effect } from "effect"
import type { AnswerCounts } from "../packages/testing/src/simulation/AnswerCount.ts"
import { BranchCounter } from "./sim/BranchCount.ts"

const run = async (): Promise<AnswerCounts> => {
  // Not loaded with this file: what is compiled before the start is not counted.
  const { exampleLog } = await import("./sim/ExampleLog.ts")
  const answers: AnswerCounts = new Map()
  await Effect.runPromise(exampleLog(answers))
  return answers
}

if (process.argv.includes("late")) await run()
const counter = new BranchCounter()
const answers = await run()
counter.take()
process.stdout.write(`${JSON.stringify(counter.counts(answers))}\n`)
counter.stop()
