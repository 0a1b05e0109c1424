/** What appending and waiting take, against the records that the log has taken already. */
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { BenchContext } from "../Bench.ts"
import { type Contender, type Results, takeTurns } from "../Rounds.ts"
import { quantile } from "../Stats.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { type Curve, type CurveLine, flat } from "./Curve.ts"
import type { GrownLog } from "./GrownLogs.ts"

const batch = 100
const recordBytes = 16
/** Few of each, so that a small log stays small. */
const callsATime = 10
const times = 5
const acks = 50

/** Median of so many repeats, microseconds. */
export const medianMicros = (repeats: number, once: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function*() {
    const micros: Array<number> = []
    for (let nth = 0; nth < repeats; nth++) {
      const before = nowMillis()
      yield* once
      micros.push((nowMillis() - before) * 1_000)
    }
    return quantile(micros, 0.5)
  })

const appendTime = ({ wal }: GrownLog) => {
  const records = recordsOf(payloadsOf(batch, recordBytes))
  const once = Effect.gen(function*() {
    for (let call = 0; call < callsATime; call++) yield* wal.append(records)
    yield* wal.flush
  })
  return Effect.map(medianMicros(times, once), (micros) => micros / (callsATime * batch))
}

const ackTime = ({ wal }: GrownLog) =>
  medianMicros(acks, Effect.flatMap(wal.append(recordsOf(payloadsOf(1, recordBytes))), ({ durable }) => durable))

/** One contender for each log, by its size. */
export const contendersOf = (
  logs: ReadonlyArray<GrownLog>,
  { name, of, unit }: {
    readonly name: string
    readonly unit: string
    readonly of: (log: GrownLog) => Effect.Effect<number, unknown>
  }
): ReadonlyArray<Contender> =>
  logs.map((log) => ({ name: `${name} ${log.records}`, unit, round: () => Effect.runPromise(of(log)) }))

/** What the contenders of a name have reached, over the size of their logs as `xOf` answers it. */
export const lineOf = (
  results: Results,
  logs: ReadonlyArray<GrownLog>,
  { name, says, xOf }: { readonly name: string; readonly says: string; readonly xOf: (log: GrownLog) => number }
): CurveLine => ({
  name: says,
  points: logs.map((log) => ({ x: xOf(log), rounds: results.rounds(`${name} ${log.records}`) }))
})

export const appendCurve = async (context: BenchContext, logs: ReadonlyArray<GrownLog>): Promise<Curve> => {
  const results = await takeTurns(context, [
    ...contendersOf(logs, { name: "append", unit: "µs", of: appendTime }),
    ...contendersOf(logs, { name: "ack", unit: "µs", of: ackTime })
  ])
  const now = new Map<GrownLog, number>()
  for (const log of logs) now.set(log, (await Effect.runPromise(log.wal.status)).lastAccepted)
  // What was measured was appended too.
  const xOf = (log: GrownLog) => ((now.get(log) ?? 0) + log.records) / 2
  const append = lineOf(results, logs, { name: "append", xOf, says: "a record, appended and stored" })
  const ack = lineOf(results, logs, { name: "ack", xOf, says: "the wait for durability of one record" })
  return {
    name: "append",
    title: "Appending and waiting, against records in the log",
    x: { label: "records in the log" },
    y: { label: "time", unit: "µs" },
    lines: [append, ack],
    verdicts: [
      flat(append, { metric: "append time, records in the log" }),
      flat(ack, { metric: "ack latency, records in the log" })
    ]
  }
}
