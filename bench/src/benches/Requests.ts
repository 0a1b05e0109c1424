/** Requests that a log makes for each segment, counted on a clock of its own, and what they cost. */
import { requestDollars, type Requests } from "@effect-wal/core/model/CostModel"
import { countingStore, LogStats } from "@effect-wal/core/observe/LogStats"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { hoursPerMonth, s3StandardUsEast1 } from "@effect-wal/core/StorePrices"
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, References, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { spreadOf } from "../Stats.ts"
import * as NullStore from "../support/NullStore.ts"
import { type LogOptions, openLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"

const putMillis = 60

/**
 * Segments a second, in how many calls each comes (one: all at once, and nothing until the next), and how many PUTs have to
 * be under way for it.
 */
const loads = [
  { rate: 1, calls: 50, workers: 1 },
  { rate: 10, calls: 10, workers: 1 },
  { rate: 50, calls: 4, workers: 4 },
  { rate: 200, calls: 4, workers: 16 },
  { rate: 1, calls: 1, workers: 1 },
  { rate: 10, calls: 1, workers: 1 }
] as const
/** As many as the default options take into a segment. */
const recordsASegment = 1_000

/** What was asked while a steady load went on, and in an hour without one after it. */
interface Counted {
  readonly asked: Requests
  readonly idle: number
}

interface Setting {
  readonly name: string
  readonly options: LogOptions
  readonly goals: { readonly aSegment: number; readonly dollars: number }
  /** The options as they stand in a file. */
  readonly told: string
}

const settings: ReadonlyArray<Setting> = [
  { name: "defaults", options: {}, goals: { aSegment: 1.13, dollars: 147 }, told: "the default options" },
  {
    name: "max_segments 128",
    // So that neither a slow log nor a cursor that has moved far asks for a manifest of its own.
    options: {
      manifest: { maxSegments: 128, maxDelay: "5m" },
      cursor: { maxEntries: 100_000, interval: "1m" }
    },
    goals: { aSegment: 1.01, dollars: 131 },
    told: "manifest { max_segments: 128, max_delay: 5m }, cursor { max_entries: 100000, interval: 1m }"
  }
]

interface Load {
  readonly segments: number
  readonly rate: number
  readonly calls: number
  readonly workers: number
  readonly recordBytes: number
}

/** PUTs take `pace.millis`. */
const slowed = (store: ObjectStore["Service"], pace: { readonly millis: number }): ObjectStore["Service"] => ({
  ...store,
  create: (...request) => Effect.suspend(() => Effect.delay(store.create(...request), pace.millis)),
  replace: (...request) => Effect.suspend(() => Effect.delay(store.replace(...request), pace.millis))
})

/** A reader that keeps up, and commits what it has been given. */
const follow = (wal: WalService) =>
  Stream.runForEachArray(wal.replay(), (records) => wal.commit(records.at(-1)?.seq ?? 0))

/** Segments are filled, stored, read, committed, and deleted as retention says. */
const countRequests = Effect.fnUntraced(
  function*(options: LogOptions, { calls, rate, recordBytes, segments, workers }: Load) {
    const { counts, store } = yield* NullStore.make
    const stats = new LogStats()
    const pipelineDepth = Math.ceil(workers / 8)
    const parallelPut = { workers: workers / pipelineDepth, pipelineDepth }
    // Only while the clock goes on: not while the log is opened and closed.
    const pace = { millis: 0 }
    const wal = yield* openLog(slowed(countingStore(store, stats), pace), { parallelPut, ...options })
    pace.millis = putMillis
    yield* Effect.forkScoped(follow(wal))
    const records = recordsOf(payloadsOf(recordsASegment / calls, recordBytes))
    const now = (): Requests => {
      const { create, get, list, replace } = stats.requests
      return { segmentPuts: counts.segments, manifestPuts: create + replace - counts.segments, gets: get, lists: list }
    }
    const atStart = now()
    for (let nth = 0; nth < segments * calls; nth++) {
      yield* wal.append(records)
      yield* TestClock.adjust(1_000 / rate / calls)
    }
    const asked = less(now(), atStart)
    // Whatever was put off is done by then.
    yield* TestClock.adjust("10 minutes")
    const settled = now()
    yield* TestClock.adjust("1 hour")
    pace.millis = 0
    return { asked, idle: sum(less(now(), settled)) } satisfies Counted
  },
  Effect.scoped,
  Effect.provide(TestClock.layer()),
  Effect.provideService(References.MinimumLogLevel, "None")
)

const less = (left: Requests, right: Requests): Requests => ({
  segmentPuts: left.segmentPuts - right.segmentPuts,
  manifestPuts: left.manifestPuts - right.manifestPuts,
  gets: left.gets - right.gets,
  lists: left.lists - right.lists
})

const sum = ({ gets, lists, manifestPuts, segmentPuts }: Requests): number => segmentPuts + manifestPuts + gets + lists

const aSegment = (asked: Requests): number => sum(asked) / asked.segmentPuts

const source = { name: "the source's document", value: 1.24, unit: "requests" }
const others = "wal3: 2.0, a fragment and the manifest that links it (its README)"

/** A multiple of all that one manifest covers. */
const segmentsOf = ({ quick }: BenchContext): number => quick ? 640 : 1_280

const rateLines = Effect.fnUntraced(function*(context: BenchContext, { goals, name, options, told }: Setting) {
  const lines: Array<Measurement> = []
  let idle = 0
  for (const load of loads) {
    const counted = yield* countRequests(options, { ...load, recordBytes: 10, segments: segmentsOf(context) })
    idle += counted.idle
    lines.push({
      metric: `${name}: requests a segment, ${load.rate} segments/s${load.calls === 1 ? ", each in one call" : ""}`,
      value: spreadOf([aSegment(counted.asked)]),
      unit: "requests",
      better: "lower",
      goal: goals.aSegment,
      peer: source,
      note: `${told}; ${others}`
    })
  }
  lines.push({
    metric: `${name}: requests in an idle hour`,
    value: spreadOf([idle]),
    unit: "requests",
    better: "lower",
    goal: 0
  })
  return lines
})

/** 10,000 records of 1,000 bytes a second: the load of the source's example. */
const tenMegabytes = { rate: 10, calls: 10, workers: 1, recordBytes: 1_000 }

const dollarLine = Effect.fnUntraced(function*(context: BenchContext, { goals, name, options, told }: Setting) {
  const segments = segmentsOf(context)
  const { asked } = yield* countRequests(options, { ...tenMegabytes, segments })
  const months = segments / tenMegabytes.rate / 3_600 / hoursPerMonth
  const dollars = requestDollars(asked).total / months
  return {
    metric: `${name}: dollars a month for requests, 10 MB/s`,
    value: spreadOf([dollars]),
    unit: "$",
    better: "lower",
    goal: goals.dollars,
    note: `${told}; ${s3StandardUsEast1.name}, ${s3StandardUsEast1.asOf}`
  } satisfies Measurement
})

const run = (context: BenchContext) =>
  Effect.gen(function*() {
    const lines: Array<Measurement> = []
    for (const [index, setting] of settings.entries()) {
      context.progress(index / settings.length, setting.name)
      context.say(`${setting.name}: ${setting.told}`)
      lines.push(...yield* rateLines(context, setting), yield* dollarLine(context, setting))
    }
    return lines
  })

export const requests: Bench = {
  name: "requests",
  about: "PUT, GET and LIST requests a segment, by rate, and what they cost",
  run: (context) => Effect.runPromise(run(context))
}
