/** What sending slow PUTs once more brings under a heavy tail, and what it costs. */
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import { pairedRatios, quantile, spreadOf } from "../Stats.ts"
import { type StoreProcess, withStore } from "../store/StoreProcess.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withRemoteLog } from "../support/RemoteLog.ts"

const workers = 8
const depth = 4
const recordBytes = 4_096

interface Tail {
  readonly p99: number
  readonly p999: number
  readonly requestsASegment: number
}

/** Segments of one record, as many under way as the window holds: the time of each from append to durability. */
const tailOf = (
  store: StoreProcess,
  hedge: "off" | "p95",
  millis: number
): Promise<Tail> =>
  withRemoteLog(
    store,
    {
      parallelPut: { workers, pipelineDepth: depth, hedge },
      segment: { maxEntries: 1, linger: "0ms" },
      manifest: { maxSegments: 65_536, maxDelay: "1h" }
    },
    (wal) =>
      Effect.gen(function*() {
        const records = recordsOf(payloadsOf(1, recordBytes))
        const times: Array<number> = []
        yield* Effect.promise(() => store.counts())
        const startedAt = nowMillis()
        // One after the other in each lane, and no lane behind another one: what is slow is slow for its own caller only.
        const lane = Effect.gen(function*() {
          while (nowMillis() - startedAt < millis) {
            const before = nowMillis()
            const { durable } = yield* wal.append(records)
            yield* durable
            times.push(nowMillis() - before)
          }
        })
        yield* Effect.all(Array.from({ length: workers * depth }, () => lane), {
          concurrency: "unbounded",
          discard: true
        })
        const { GET, PUT } = yield* Effect.promise(() => store.counts())
        return {
          p99: quantile(times, 0.99),
          p999: quantile(times, 0.999),
          requestsASegment: (GET + PUT) / times.length
        }
      })
  )

/** Longer rounds than others: one of 1,000 has to be seen often. */
const longer = 4

const run = async (context: BenchContext, store: StoreProcess) => {
  const plain: Array<Tail> = []
  const hedged: Array<Tail> = []
  for (let round = 0; round < context.rounds; round++) {
    context.progress(round / context.rounds, "off and p95")
    plain.push(await tailOf(store, "off", longer * context.roundMillis))
    hedged.push(await tailOf(store, "p95", longer * context.roundMillis))
  }
  const ratio = (of: (tail: Tail) => number) => spreadOf(pairedRatios(hedged.map(of), plain.map(of)))
  const floor = (name: string, of: (tail: Tail) => number) => ({
    name,
    value: spreadOf(plain.map(of)).median,
    unit: "ms"
  })
  return [
    {
      metric: "p99 of durability, p95 against off",
      value: ratio(({ p99 }) => p99),
      unit: "x",
      better: "lower",
      goal: 0.85,
      floor: floor("off", ({ p99 }) => p99)
    },
    {
      metric: "p99.9 of durability, p95 against off",
      value: ratio(({ p999 }) => p999),
      unit: "x",
      better: "lower",
      goal: 0.7,
      floor: floor("off", ({ p999 }) => p999)
    },
    {
      metric: "requests, p95 against off",
      value: ratio(({ requestsASegment }) => requestsASegment),
      unit: "x",
      better: "lower",
      goal: 1.06
    }
  ] as const
}

export const hedge: Bench = {
  name: "hedge",
  about: "slow PUTs sent once more, log-normal latency with a median of 40 ms and a p99 of 250 ms",
  run: (context) =>
    withStore(
      { latency: { kind: "tail", medianMillis: 40, p99Millis: 250 }, keepsSegments: true },
      (store) => run(context, store)
    )
}
