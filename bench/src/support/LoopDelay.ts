/** How late the event loop is while something is going on. */
import { monitorEventLoopDelay } from "node:perf_hooks"

/** Milliseconds between two looks of the loop. */
const tickMillis = 1

/** The 99th percentile, milliseconds, with the tick of one millisecond in it that an idle loop shows too. */
export const loopDelayWhile = async (run: () => Promise<unknown>): Promise<number> => {
  const delays = monitorEventLoopDelay({ resolution: tickMillis })
  delays.enable()
  try {
    await run()
  } finally {
    delays.disable()
  }
  return delays.percentile(99) / 1e6
}
