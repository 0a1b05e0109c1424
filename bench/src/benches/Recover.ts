/** Opening a log after its writer is gone, and reading what is not committed. */
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { RoundTrips } from "@effect-wal/testing/RoundTrips"
import { Effect, References, Stream } from "effect"
import { TestClock } from "effect/testing"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { pairedRatios, spreadOf } from "../Stats.ts"
import { type StoreProcess, withStore } from "../store/StoreProcess.ts"
import { usedBytes } from "../support/Heap.ts"
import { openLog } from "../support/OpenLog.ts"
import { withClient } from "../support/RemoteLog.ts"
import { commitTo, recordsASegment, storedLogOptions, writeLog } from "../support/StoredLog.ts"

type Client = ObjectStore["Service"]

const latencyMillis = 20
/** GETs under way at one time: the default of `prefetch`. */
const parallel = 16
/** Of a round: fewer are too few for the clock. */
const leastGets = 1_000
const shares = [0, 0.99, 1] as const

const options = { ...storedLogOptions, prefetch: parallel }

/** What was read, in which time. */
interface Fetched {
  readonly segments: number
  readonly millis: number
  /** Seconds of this process's processor. */
  readonly cpuSeconds: number
}

/** What one recovery came to, from the decision to open on. */
interface Recovered extends Fetched {
  readonly firstRecordMillis: number
}

/** Times what answers how many segments it has fetched. */
const timed = Effect.fnUntraced(function*<E, R>(work: Effect.Effect<number, E, R>) {
  const startedAt = nowMillis()
  const cpu = process.cpuUsage()
  const segments = yield* work
  const { system, user } = process.cpuUsage(cpu)
  return { segments, millis: nowMillis() - startedAt, cpuSeconds: (system + user) / 1e6 } satisfies Fetched
})

/** Opens the log and reads all after its cursor. `onSegment` is told how many segments have been delivered. */
const recoverLog = Effect.fnUntraced(function*(client: Client, onSegment: (segments: number) => void = () => {}) {
  const decidedAt = nowMillis()
  let firstRecordMillis = 0
  const fetched = yield* timed(Effect.gen(function*() {
    const wal = yield* openLog(client, options)
    let records = 0
    yield* Stream.runForEachArray(wal.replay({ until: "durable-end" }), (some) =>
      Effect.sync(() => {
        if (records === 0) firstRecordMillis = nowMillis() - decidedAt
        records += some.length
        onSegment(records / recordsASegment)
      }))
    return records / recordsASegment
  }))
  return { ...fetched, firstRecordMillis } satisfies Recovered
}, Effect.scoped)

/** The same objects, as fast as the same client gets them: of many, each round another part. */
const getAll = (client: Client, keys: ReadonlyArray<string>) =>
  timed(Effect.as(
    Effect.forEach(keys, (key) => client.get(key), { concurrency: parallel, discard: true }),
    keys.length
  ))

const perSecond = ({ millis, segments }: Fetched): number => segments / millis * 1_000

const cpuOf1000 = ({ cpuSeconds, segments }: Fetched): number => cpuSeconds / segments * 1_000

const segmentKeys = Effect.fnUntraced(function*(client: Client) {
  const keys: Array<string> = []
  let page: string | undefined
  do {
    const listed = yield* client.list({ prefix: "node/log/segments/", ...(page === undefined ? {} : { page }) })
    keys.push(...listed.objects.map(({ key }) => key))
    page = listed.next
  } while (page !== undefined)
  return keys
})

/** Bytes in use after a tenth of the segments, and after all of them. */
const memoryOf = Effect.fnUntraced(function*(client: Client, segments: number) {
  const used = new Map<number, number>()
  yield* recoverLog(client, (delivered) => {
    if (delivered === segments / 10 || delivered === segments) used.set(delivered, usedBytes())
  })
  return { tenth: used.get(segments / 10) ?? Number.NaN, all: used.get(segments) ?? Number.NaN }
})

const fromTheStart = Effect.fnUntraced(function*(context: BenchContext, client: Client, segments: number) {
  const keys = yield* segmentKeys(client)
  const ours: Array<Recovered> = []
  const raw: Array<Fetched> = []
  const part = Math.max(leastGets, Math.ceil(segments / context.rounds))
  for (let round = 0; round < context.rounds; round++) {
    context.progress(0.1 + 0.7 * round / context.rounds, `${segments} segments`)
    const from = round * part % keys.length
    raw.push(yield* getAll(client, keys.slice(from, from + part)))
    ours.push(yield* recoverLog(client))
  }
  context.progress(0.8, "memory")
  const { all, tenth } = yield* memoryOf(client, segments)
  const lines: ReadonlyArray<Measurement> = [
    {
      metric: "cursor at 0, segments a second, opening included, against raw GETs",
      value: spreadOf(pairedRatios(ours.map(perSecond), raw.map(perSecond))),
      unit: "x",
      better: "higher",
      goal: 0.8,
      floor: { name: `${parallel} GETs at a time`, value: spreadOf(raw.map(perSecond)).median, unit: "segments/s" }
    },
    {
      metric: "processor for 1,000 segments",
      value: spreadOf(ours.map(cpuOf1000)),
      unit: "s",
      better: "lower",
      floor: { name: "raw GETs", value: spreadOf(raw.map(cpuOf1000)).median, unit: "s" }
    },
    {
      metric: `in use after ${segments} segments, against after ${segments / 10}`,
      value: spreadOf([all / tenth]),
      unit: "x",
      better: "lower",
      goal: 1.3,
      note: `${((all - tenth) / 1e6).toFixed(2)} MB more`
    },
    {
      metric: `first record, ${latencyMillis} ms a request`,
      value: spreadOf(ours.map(({ firstRecordMillis }) => firstRecordMillis)),
      unit: "ms",
      better: "lower"
    }
  ]
  return lines
})

/** Opens with the cursor at a share of the log: what is fetched, and how long it takes. */
const fromCursor = Effect.fnUntraced(
  function*(client: Client, server: StoreProcess, segments: number, share: number) {
    const left = Math.round(segments * (1 - share))
    yield* commitTo(client, (segments - left) * recordsASegment)
    yield* Effect.promise(() => server.counts())
    const recovered = yield* recoverLog(client)
    const fetched = yield* Effect.promise(() => server.counts())
    const name = `cursor at ${share * 100} %`
    const lines: ReadonlyArray<Measurement> = [
      {
        metric: `${name}, segments fetched`,
        value: spreadOf([fetched.segments]),
        unit: "GETs",
        better: "lower",
        goal: left,
        note: `${left} are left; besides, ${fetched.headers} headers were read to find the end and the first of them`
      },
      { metric: `${name}, in time`, value: spreadOf([recovered.millis]), unit: "ms", better: "lower" }
    ]
    return lines
  }
)

/** Round trips from the decision to open to the first record; with nothing left to the word that there is nothing. */
const tripsToFirst = Effect.fnUntraced(function*(segments: number) {
  const memory = yield* MemoryObjectStore.make()
  yield* writeLog(memory.store, segments)
  const lines: Array<Measurement> = []
  for (const share of shares) {
    if (share > 0) yield* commitTo(memory.store, segments * share * recordsASegment)
    const trips = new RoundTrips()
    const first = Effect.flatMap(
      openLog(trips.hold(memory.store), options),
      (wal) => Stream.runHead(wal.replay({ until: "durable-end" }))
    )
    lines.push({
      metric: `cursor at ${share * 100} %, to the first record`,
      value: spreadOf([yield* Effect.scoped(trips.count(first))]),
      unit: "round trips",
      better: "lower",
      goal: 8
    })
  }
  return lines
}, Effect.provide(TestClock.layer()))

const run = (context: BenchContext, server: StoreProcess): Promise<ReadonlyArray<Measurement>> =>
  withClient(server, (client) =>
    Effect.gen(function*() {
      const segments = context.quick ? 1_000 : 10_000
      context.progress(0, `writing ${segments} segments`)
      yield* writeLog(client, segments)
      yield* Effect.promise(() => server.setLatency({ kind: "fixed", millis: latencyMillis }))
      const whole = yield* fromTheStart(context, client, segments)
      const some: Array<Measurement> = []
      for (const share of shares.slice(1)) some.push(...yield* fromCursor(client, server, segments, share))
      context.progress(0.95, "round trips")
      return [...whole, ...yield* tripsToFirst(segments), ...some]
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None")))

export const recover: Bench = {
  name: "recover",
  about: `opening and reading 10,000 segments, ${latencyMillis} ms a GET, cursor at 0, 99 % and 100 %`,
  run: (context) => withStore({ latency: { kind: "none" }, keepsSegments: true }, (server) => run(context, server))
}
