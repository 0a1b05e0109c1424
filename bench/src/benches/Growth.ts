/** How cost grows: curves over the size of a log, of an outage, of a lag, and over the number of streams. */
import { Effect } from "effect"
import type { Bench, BenchContext } from "../Bench.ts"
import { appendCurve } from "../growth/Append.ts"
import { commitCurves } from "../growth/Commit.ts"
import type { Curve } from "../growth/Curve.ts"
import { growLogs } from "../growth/GrownLogs.ts"
import { idleCurves } from "../growth/IdleStreams.ts"
import { outageCurve } from "../growth/Outage.ts"
import { svgOf } from "../growth/Plot.ts"
import { readerLagCurve } from "../growth/ReaderLag.ts"
import { recoveryCurve } from "../growth/Recovery.ts"

/** A stretch of the whole bench: its own progress goes from 0 to 1. */
const stretch = (context: BenchContext, from: number, to: number): BenchContext => ({
  ...context,
  progress: (share, what) => context.progress(from + (to - from) * share, what)
})

const logCurves = (context: BenchContext): Promise<ReadonlyArray<Curve>> => {
  const sizes = context.quick ? [1e4, 1e5, 1e6] : [1e4, 1e5, 1e6, 1e7, 1e8]
  return Effect.runPromise(
    Effect.scoped(Effect.flatMap(growLogs(stretch(context, 0, 0.8), sizes), (logs) =>
      Effect.promise(async () => [
        await appendCurve(stretch(context, 0.8, 0.9), logs),
        ...await commitCurves(stretch(context, 0.9, 1), logs)
      ])))
  )
}

/** Each with about the share of the time that it takes. */
const parts: ReadonlyArray<
  { readonly share: number; readonly run: (context: BenchContext) => Promise<Curve | ReadonlyArray<Curve>> }
> = [
  { share: 0.4, run: logCurves },
  { share: 0.3, run: recoveryCurve },
  { share: 0.1, run: outageCurve },
  { share: 0.1, run: readerLagCurve },
  { share: 0.1, run: idleCurves }
]

export const growth: Bench = {
  name: "growth",
  about: "how cost grows with records, segments, the length of an outage, the lag of a reader, and streams",
  run: async (context) => {
    const curves: Array<Curve> = []
    let from = 0
    for (const { run, share } of parts) {
      curves.push(...[await run(stretch(context, from, from + share))].flat())
      from += share
    }
    for (const curve of curves) context.picture?.(curve.name, svgOf(curve))
    return curves.flatMap(({ verdicts }) => verdicts)
  }
}
