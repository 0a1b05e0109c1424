/** What opening a log and reading what is not committed takes, against committed and against uncommitted segments. */
import { Effect, References, Stream } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { BenchContext } from "../Bench.ts"
import { type Contender, takeTurns } from "../Rounds.ts"
import { quantile } from "../Stats.ts"
import { LargeStore } from "../support/LargeStore.ts"
import { openLog } from "../support/OpenLog.ts"
import { commitTo, recordsASegment, storedLogOptions, writeLog } from "../support/StoredLog.ts"
import { type Curve, flat, linear } from "./Curve.ts"

/** So many segments are left where all others are committed. */
const leftSegments = 10

/** What a writer has left, in two states. */
interface LeftLog {
  readonly segments: number
  /** Nothing is committed. */
  readonly whole: LargeStore
  /** All but a few segments are, and none is deleted. */
  readonly committed: LargeStore
}

const writeOne = Effect.fnUntraced(function*(segments: number) {
  const whole = new LargeStore()
  yield* writeLog(whole.store, segments)
  const committed = whole.fork()
  yield* commitTo(committed.store, (segments - leftSegments) * recordsASegment)
  return { segments, whole, committed } satisfies LeftLog
})

/** Opens the log as another process would, and reads all after its cursor: milliseconds, and requests to the store. */
const recoverFrom = Effect.fnUntraced(function*(left: LargeStore) {
  const fork = left.fork()
  const startedAt = nowMillis()
  const wal = yield* openLog(fork.store, storedLogOptions)
  yield* Stream.runDrain(wal.replay({ until: "durable-end" }))
  return { millis: nowMillis() - startedAt, requests: fork.requests }
}, Effect.scoped)

const run = <A>(effect: Effect.Effect<A, unknown>): Promise<A> =>
  Effect.runPromise(Effect.provideService(effect, References.MinimumLogLevel, "None"))

/** So often what is short is done in a round, of which the median counts: a collection of garbage falls into one of them. */
const times = 5

const contenderOf = (name: string, left: LargeStore, { isShort }: { readonly isShort: boolean }): Contender => ({
  name,
  unit: "ms",
  round: async () => {
    const millis: Array<number> = []
    for (let nth = 0; nth < (isShort ? times : 1); nth++) millis.push((await run(recoverFrom(left))).millis)
    return quantile(millis, 0.5)
  }
})

export const recoveryCurve = async (context: BenchContext): Promise<Curve> => {
  const sizes = context.quick ? [100, 1_000, 10_000] : [100, 1_000, 10_000, 100_000]
  const logs: Array<LeftLog> = []
  for (const [index, segments] of sizes.entries()) {
    context.progress(0.3 * index / sizes.length, `writing ${segments} segments`)
    logs.push(await run(writeOne(segments)))
  }
  const contenders = logs.flatMap(({ committed, segments, whole }) => [
    contenderOf(`committed ${segments}`, committed, { isShort: true }),
    contenderOf(`uncommitted ${segments}`, whole, { isShort: segments <= 1_000 })
  ])
  const results = await takeTurns(context, contenders, { from: 0.3 })
  const lineOf = (name: string, says: string) => ({
    name: says,
    points: sizes.map((segments) => ({ x: segments, rounds: results.rounds(`${name} ${segments}`) }))
  })
  const committed = lineOf("committed", `all but ${leftSegments} segments committed, none deleted`)
  const uncommitted = lineOf("uncommitted", "no segment committed")
  const requests = {
    name: "requests",
    points: await Promise.all(logs.map(async (log) => {
      const asked = await run(recoverFrom(log.committed))
      return { x: log.segments, rounds: [asked.requests] }
    }))
  }
  return {
    name: "recovery",
    title: "Recovery, against segments in the log",
    x: { label: "segments in the log" },
    y: { label: "time to the last record", unit: "ms" },
    lines: [committed, uncommitted],
    verdicts: [
      flat(committed, { metric: "recovery time, committed segments" }),
      flat(requests, { metric: "requests of a recovery, committed segments", from: 1_000 }),
      linear(uncommitted, { metric: "recovery time, uncommitted segments", from: 1_000 })
    ]
  }
}
