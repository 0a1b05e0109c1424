/** The manifest, against the segments in the log: how many bytes it has, and what replacing it takes. */
import type { BenchContext } from "../Bench.ts"
import { takeTurns } from "../Rounds.ts"
import { contendersOf, lineOf, medianMicros } from "./Append.ts"
import { type Curve, flat } from "./Curve.ts"
import type { GrownLog } from "./GrownLogs.ts"

const commits = 10

/** Nothing is trimmed by it, but it waits until the manifest is written. */
const commitTime = ({ wal }: GrownLog) => medianMicros(commits, wal.trim(0))

/** Below so many segments the index of the manifest is not full. */
const fullFrom = 1_000

export const commitCurves = async (
  context: BenchContext,
  logs: ReadonlyArray<GrownLog>
): Promise<ReadonlyArray<Curve>> => {
  const results = await takeTurns(context, [
    ...contendersOf(logs, { name: "commit", unit: "µs", of: commitTime }),
    ...contendersOf(logs, { name: "bytes", unit: "bytes", of: ({ manifestBytes }) => manifestBytes })
  ])
  const xOf = ({ segments }: GrownLog) => segments
  const time = lineOf(results, logs, { name: "commit", xOf, says: "one replacement of the manifest" })
  const bytes = lineOf(results, logs, { name: "bytes", xOf, says: "manifest.json" })
  const x = { label: "segments in the log" }
  const note = `up to ${fullFrom} segments the index fills up`
  return [
    {
      name: "manifest-bytes",
      title: "Size of the manifest, against segments in the log",
      x,
      y: { label: "size", unit: "bytes" },
      lines: [bytes],
      verdicts: [flat(bytes, { metric: "manifest bytes, segments in the log", from: fullFrom, note })]
    },
    {
      name: "manifest-commit",
      title: "Writing the manifest, against segments in the log",
      x,
      y: { label: "time", unit: "µs" },
      lines: [time],
      verdicts: [flat(time, { metric: "commit time, segments in the log", from: fullFrom, note })]
    }
  ]
}
