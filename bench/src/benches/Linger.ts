/** What gathering callers for `linger` brings and costs, and what a budget of PUTs makes of it. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { putsPerSecondFor } from "@effect-wal/core/StorePrices"
import type { WalService } from "@effect-wal/core/WalService"
import { SeededRandom } from "@effect-wal/testing/simulation/SeededRandom"
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { quantile, spreadOf } from "../Stats.ts"
import { withStore } from "../store/StoreProcess.ts"
import { type LogOptions, withLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withClient } from "../support/RemoteLog.ts"

const callers = 50
const latencyMillis = 60
const recordBytes = 1_024
const workers = 4
/** Longest pause of a caller between two calls: they come at any time, not in step. */
const pauseMillis = 150
const flushMillis = 1_000
const putsPerSecond = 4

interface Variant {
  readonly name: string
  readonly options: LogOptions
}

const variants: ReadonlyArray<Variant> = [
  { name: "linger 0", options: { segment: { linger: "0ms" } } },
  { name: "linger 100 ms, the default", options: {} },
  { name: `a budget of ${putsPerSecond} PUTs a second`, options: { budget: { putsPerSecond } } }
]

/** Counts the PUTs of one log, of segments and of the manifest. */
const countingPuts = (client: ObjectStore["Service"]) => {
  const counts = { puts: 0 }
  const counted = <A>(put: A): A => {
    counts.puts++
    return put
  }
  const store: ObjectStore["Service"] = {
    ...client,
    create: (key, body, options) => Effect.suspend(() => counted(client.create(key, body, options))),
    replace: (key, body, tag, options) => Effect.suspend(() => counted(client.replace(key, body, tag, options)))
  }
  return { counts, store }
}

interface Opened {
  readonly variant: Variant
  readonly wal: WalService
  readonly counts: { readonly puts: number }
}

/** Opens a log of each kind, all of them at a time, so that their rounds can take turns. */
const withLogs = <A>(
  client: ObjectStore["Service"],
  use: (logs: ReadonlyArray<Opened>) => Promise<A>,
  opened: ReadonlyArray<Opened> = []
): Promise<A> => {
  const variant = variants[opened.length]
  if (variant === undefined) return use(opened)
  const { counts, store } = countingPuts(client)
  const options = { prefix: `linger-${opened.length}`, parallelPut: { workers }, ...variant.options }
  return withLog(
    store,
    options,
    (wal) => Effect.promise(() => withLogs(client, use, [...opened, { variant, wal, counts }]))
  )
}

interface Round {
  readonly p50: number
  readonly putsPerSecond: number
  readonly recordsPerPut: number
  /** PUTs, by those that the budget allows in this time. */
  readonly ofBudget: number
}

const roundOf = ({ counts, variant, wal }: Opened, seed: number, millis: number): Promise<Round> =>
  Effect.runPromise(Effect.gen(function*() {
    const records = recordsOf(payloadsOf(1, recordBytes))
    const random = new SeededRandom(seed)
    const times: Array<number> = []
    // What a rest has saved of the budget is spent first.
    if (variant.options.budget !== undefined) {
      yield* Effect.repeat(Effect.andThen(wal.append(records), wal.flush), { times: putsPerSecond })
    }
    const startedAt = nowMillis()
    const before = counts.puts
    const caller = Effect.gen(function*() {
      while (nowMillis() - startedAt < millis) {
        yield* Effect.sleep(random.next() * pauseMillis)
        const from = nowMillis()
        const { durable } = yield* wal.append(records)
        yield* durable
        times.push(nowMillis() - from)
      }
    })
    yield* Effect.all(Array.from({ length: callers }, () => caller), { concurrency: "unbounded", discard: true })
    const seconds = (nowMillis() - startedAt) / 1_000
    const puts = counts.puts - before
    return {
      p50: quantile(times, 0.5),
      putsPerSecond: puts / seconds,
      recordsPerPut: times.length / puts,
      // One may have been saved up to the first moment.
      ofBudget: puts / (seconds * putsPerSecond + 1)
    }
  }))

/** Rounds are longer than others: a budget is kept to in seconds. */
const longer = 1.25

const linesOf = ({ name, options }: Variant, rounds: ReadonlyArray<Round>): ReadonlyArray<Measurement> => {
  const spread = (of: (round: Round) => number) => spreadOf(rounds.map(of))
  const figures: ReadonlyArray<Measurement> = [
    { metric: `p50 until durable, ${name}`, value: spread(({ p50 }) => p50), unit: "ms", better: "lower" },
    {
      metric: `PUTs a second, ${name}`,
      value: spread((round) => round.putsPerSecond),
      unit: "PUT/s",
      better: "lower"
    },
    {
      metric: `callers that share a PUT, ${name}`,
      value: spread(({ recordsPerPut }) => recordsPerPut),
      unit: "callers",
      better: "higher"
    },
    {
      metric: `PUTs of 30 days, ${name}`,
      value: spread((round) => round.putsPerSecond / putsPerSecondFor(1)),
      unit: "$",
      better: "lower"
    }
  ]
  if (options.budget === undefined) return figures
  return [
    ...figures,
    {
      metric: "PUTs, against the budget of the time",
      value: spread(({ ofBudget }) => ofBudget),
      unit: "x",
      better: "lower",
      goal: 1,
      floor: { name: "the budget", value: putsPerSecond, unit: "PUT/s" },
      note: "segments and manifest; what a rest has saved is spent before each round"
    },
    {
      metric: "p50 with a budget, against flush_interval",
      value: spread(({ p50 }) => p50 / flushMillis),
      unit: "x",
      better: "lower",
      goal: 1,
      floor: { name: "flush_interval", value: flushMillis, unit: "ms" }
    }
  ]
}

/** Rounds of all in turn; answers those of each. */
const runRounds = async (context: BenchContext, logs: ReadonlyArray<Opened>): Promise<ReadonlyArray<Measurement>> => {
  const rounds = logs.map((): Array<Round> => [])
  for (let round = 0; round < context.rounds; round++) {
    for (const [index, log] of logs.entries()) {
      context.progress((round + index / logs.length) / context.rounds, log.variant.name)
      rounds[index]?.push(await roundOf(log, round, longer * context.roundMillis))
    }
  }
  return logs.flatMap(({ variant }, index) => linesOf(variant, rounds[index] ?? []))
}

export const linger: Bench = {
  name: "linger",
  about:
    `${callers} callers that wait, in front of a store that takes ${latencyMillis} ms: linger 0, the default, a budget`,
  run: (context) =>
    withStore(
      { latency: { kind: "fixed", millis: latencyMillis }, keepsSegments: false },
      (store) =>
        withClient(store, (client) => Effect.promise(() => withLogs(client, (logs) => runRounds(context, logs))))
    )
}
