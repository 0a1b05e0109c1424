/** Durable bytes a second in front of a distant store, against what its latency and its connections allow. */
import type { WalService } from "@effect-wal/core/WalService"
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { pairedRatios, spreadOf } from "../Stats.ts"
import { type StoreProcess, withStore } from "../store/StoreProcess.ts"
import { barePuts } from "../support/BarePut.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withRemoteLog } from "../support/RemoteLog.ts"

const segmentBytes = 1_048_576
const recordBytes = 16_384
const batch = segmentBytes / recordBytes
const latencyMillis = 60
const megabytesPerSecond = 90

/** The law: so many PUTs under way, each of latency and transfer. Bytes a second. */
const lawOf = (lanes: number): number =>
  lanes * segmentBytes / (latencyMillis / 1_000 + segmentBytes / (megabytesPerSecond * 1e6))

const goalOf = (lanes: number): number => lanes <= 16 ? 0.95 : lanes <= 32 ? 0.85 : 0.65

const lanesTried = [[1, 1], [2, 1], [4, 1], [8, 1], [8, 2], [8, 4], [8, 8]] as const
const mostLanes = 64

/** When the watermark moves next: a round from one move to another has no half PUT at its ends. */
const nextMove = Effect.fnUntraced(function*(wal: WalService) {
  const before = (yield* wal.status).durable
  let seq = before
  while (seq === before) {
    yield* Effect.sleep(1)
    seq = (yield* wal.status).durable
  }
  return { at: nowMillis(), seq }
})

/** Fills the window for so long; answers durable bytes a second, once the first window has been answered. */
const bytesPerSecond = (store: StoreProcess, workers: number, pipelineDepth: number, millis: number): Promise<number> =>
  withRemoteLog(
    store,
    {
      parallelPut: { workers, pipelineDepth },
      segment: { maxBytes: segmentBytes, maxEntries: 1_000_000 },
      maxBufferedBytes: (workers * pipelineDepth + 16) * 2 * segmentBytes,
      tailBufferBytes: 0,
      manifest: { maxSegments: 65_536, maxDelay: "1h" }
    },
    (wal) =>
      Effect.gen(function*() {
        const records = recordsOf(payloadsOf(batch, recordBytes))
        let isOver = false
        const feed = Effect.gen(function*() {
          while (!isOver) yield* wal.append(records)
        })
        const measure = Effect.gen(function*() {
          yield* Effect.sleep(3 * latencyMillis)
          const from = yield* nextMove(wal)
          yield* Effect.sleep(millis)
          const to = yield* nextMove(wal)
          isOver = true
          return (to.seq - from.seq) * recordBytes / (to.at - from.at) * 1_000
        })
        const [, rate] = yield* Effect.all([feed, measure], { concurrency: "unbounded" })
        return rate
      })
  )

/** As many PUTs under way, of bodies that lie ready: what the machine does without a log. */
const bareBytesPerSecond = async (store: StoreProcess, lanes: number, millis: number): Promise<number> => {
  const bare = barePuts(store.endpoint, lanes, payloadsOf(1, segmentBytes)[0] ?? new Uint8Array(segmentBytes))
  try {
    let nth = 0
    let counted = 0
    const from = nowMillis() + 3 * latencyMillis
    const lane = async () => {
      while (nowMillis() < from + millis) {
        const isCounted = nowMillis() >= from
        await bare.put(nth++)
        if (isCounted) counted++
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    return counted * segmentBytes / (nowMillis() - from) * 1_000
  } finally {
    bare.close()
  }
}

const run = async (context: BenchContext, store: StoreProcess): Promise<ReadonlyArray<Measurement>> => {
  const rates = new Map<number, Array<number>>(lanesTried.map(([workers, depth]) => [workers * depth, []]))
  const bare: Array<number> = []
  for (let round = 0; round < context.rounds; round++) {
    for (const [index, [workers, depth]] of lanesTried.entries()) {
      const lanes = workers * depth
      context.progress((round + index / lanesTried.length) / context.rounds, `${lanes} PUTs under way`)
      rates.get(lanes)?.push(await bytesPerSecond(store, workers, depth, context.roundMillis))
    }
    bare.push(await bareBytesPerSecond(store, mostLanes, context.roundMillis))
  }
  const rateOf = (lanes: number) => rates.get(lanes) ?? []
  return [
    ...[...rates].map(([lanes, reached]): Measurement => ({
      metric: `${lanes} PUTs under way, against the law`,
      value: spreadOf(reached.map((rate) => rate / lawOf(lanes))),
      unit: "x",
      better: "higher",
      goal: goalOf(lanes),
      floor: { name: "W × size ÷ (latency + size ÷ bandwidth)", value: lawOf(lanes) / 1e6, unit: "MB/s" }
    })),
    {
      metric: `${mostLanes} PUTs under way, bare node:http, against the law`,
      value: spreadOf(bare.map((rate) => rate / lawOf(mostLanes))),
      unit: "x",
      better: "higher",
      note: "bodies that lie ready, no log: what the store's core and the client's leave of the law"
    },
    {
      metric: "8 workers against 1",
      value: spreadOf(pairedRatios(rateOf(8), rateOf(1))),
      unit: "x",
      better: "higher",
      goal: 7.5,
      note: "the source document says 2.7"
    }
  ]
}

export const law: Bench = {
  name: "law",
  about: `segments of 1 MiB, ${latencyMillis} ms and ${megabytesPerSecond} MB/s a connection, 1 to 64 PUTs under way`,
  run: (context) => {
    const latency = { kind: "fixed", millis: latencyMillis } as const
    return withStore({ latency, megabytesPerSecond, keepsSegments: false }, (store) => run(context, store))
  }
}
