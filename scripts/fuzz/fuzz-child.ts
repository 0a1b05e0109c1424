/**
 * A child of `pnpm fuzz`: runs one target over a range of inputs and sends the report.
 *
 * Its own process, so that an input that never ends, takes all memory, or brings down native code ends the child only.
 */
import { Effect, Logger } from "effect"
import { runFuzz } from "../../packages/testing/src/fuzz/FuzzRun.ts"
import { Beat, type FuzzResult, type FuzzTask, isTask } from "./FuzzTask.ts"
import { loadTarget } from "./Targets.ts"

const run = Effect.fnUntraced(function*({ beatPath, ...request }: FuzzTask) {
  const target = yield* Effect.promise(() => loadTarget(request.target))
  const beat = new Beat(beatPath, "w")
  let input = request.from
  let calls = 0
  const watched = {
    ...target,
    check: (bytes: Uint8Array) => {
      beat.write(input, ++calls)
      return target.check(bytes)
    }
  }
  const onInput = (index: number) => {
    input = index
    beat.write(input, ++calls)
  }
  // What decoders log about the damage that they find is not what is looked for here.
  return yield* Effect.provide(runFuzz(watched, { ...request, onInput }), Logger.layer([]))
})

process.once("message", (task) => {
  if (!isTask(task)) return
  void Effect.runPromise(run(task)).then((report) => {
    const result: FuzzResult = { report, peakResidentMiB: Math.round(process.resourceUsage().maxRSS / 1_024) }
    process.send?.(result, () => process.disconnect())
  })
})
