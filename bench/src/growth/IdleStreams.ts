/** What open streams cost that nobody uses, against how many there are: memory, processor, timers, requests. */
import type { WalOptionsInput } from "@effect-wal/core/config/ResolveOptions"
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import { WalMap } from "@effect-wal/core/WalMap"
import type { WalService } from "@effect-wal/core/WalService"
import { Context, Effect, References } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { spreadOf } from "../Stats.ts"
import { usedBytes } from "../support/Heap.ts"
import { LargeStore } from "../support/LargeStore.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { medianMicros } from "./Append.ts"
import { type Curve, type CurveLine, type CurvePoint, flat, linear } from "./Curve.ts"

const mebibyte = 1_048_576
const acks = 100
/** Before that: after a pause and a collection of garbage the first ones are slower. */
const warmUpAcks = 1_000
const recordBytes = 1_024
const windowMillis = 500
const x = { label: "open streams" }

/** What was seen while so many streams were open and idle. */
interface Seen {
  readonly streams: number
  /** Beside what was with one. */
  readonly bytes: number
  /** Round by round, while nothing is asked for: milliseconds a second that the event loop has something to do, */
  readonly busy: ReadonlyArray<number>
  /** and those of the processor, the threads of V8 included. */
  readonly cpu: ReadonlyArray<number>
  /** In all those rounds. */
  readonly requests: number
  /** More than before the first stream. */
  readonly timers: number
  /** Until one record is durable in one of the streams, microseconds, round by round. */
  readonly ack: ReadonlyArray<number>
}

/** What this process does while nothing is asked of it, milliseconds a second. */
const idleWindow = Effect.gen(function*() {
  const startedAt = nowMillis()
  const before = process.cpuUsage()
  const loop = performance.eventLoopUtilization()
  yield* Effect.sleep(windowMillis)
  const seconds = (nowMillis() - startedAt) / 1_000
  const { system, user } = process.cpuUsage(before)
  return { busy: performance.eventLoopUtilization(loop).active / seconds, cpu: (system + user) / 1_000 / seconds }
})

/** A turn later: a timer that has just fired counts until it is done. */
const timersNow = Effect.yieldNow.pipe(
  Effect.map(() => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length)
)

/** Opened and closed first, so that no code that is loaded and compiled counts as memory of a stream. */
const warmUpStreams = 100

const repeat = <A>(rounds: number, effect: Effect.Effect<A, unknown>) =>
  Effect.forEach(Array.from({ length: rounds }), () => effect)

interface Open {
  readonly rounds: number
  readonly store: LargeStore
  /** The one stream that is used. */
  readonly used: WalService
  readonly before: { readonly bytes: number; readonly timers: number }
}

/** The wait for durability in the stream that is used; then that one is idle too. */
const ackTime = Effect.fnUntraced(function*(used: WalService, rounds: number) {
  const records = recordsOf(payloadsOf(1, recordBytes))
  const once = Effect.flatMap(used.append(records), ({ durable }) => durable)
  yield* medianMicros(warmUpAcks, once)
  const ack = yield* repeat(rounds, medianMicros(acks, once))
  // What it would write later is written now.
  yield* used.trim(0)
  return ack
})

const look = Effect.fnUntraced(function*({ before, rounds, store, used }: Open, streams: number) {
  const bytes = usedBytes() - before.bytes
  const requests = store.requests
  const windows = yield* repeat(rounds, idleWindow)
  const timers = yield* timersNow
  return {
    streams,
    bytes,
    busy: windows.map(({ busy }) => busy),
    cpu: windows.map(({ cpu }) => cpu),
    requests: store.requests - requests,
    timers: timers - before.timers,
    // At last: by then the garbage of opening is gone, and nobody is busy with it any more.
    ack: yield* ackTime(used, rounds)
  } satisfies Seen
})

/** The stream of this number, for the life of the scope. */
const openOne = (map: WalMap["Service"], nth: number) =>
  Effect.map(map.contextEffect(`stream-${nth}`), (found) => Context.get(found, Wal))

const openUpTo = Effect.fnUntraced(function*(context: BenchContext, counts: ReadonlyArray<number>) {
  const store = new LargeStore()
  const { rounds } = context
  const most = counts.at(-1) ?? 0
  // The window of newest segments of the stream that is used is full before the first look.
  const options = (streamId: string): WalOptionsInput => ({
    nodeId: "node",
    streamId,
    segment: { linger: "0ms" },
    tailBufferBytes: "64KiB"
  })
  return yield* Effect.gen(function*() {
    const timers = yield* timersNow
    const map = yield* WalMap
    const warmUp = Array.from({ length: warmUpStreams }, (_, nth) => openOne(map, nth))
    yield* Effect.scoped(Effect.flatMap(Effect.all(warmUp), (logs) => Effect.forEach(logs, (log) => log.trim(0))))
    const used = yield* openOne(map, 1)
    yield* ackTime(used, 1)
    const before = { bytes: usedBytes(), timers }
    const seen: Array<Seen> = []
    let open = 1
    for (const streams of counts) {
      while (open < streams) {
        yield* openOne(map, ++open)
        context.progress(open / most, `${open} streams`)
      }
      seen.push(yield* look({ rounds, store, used, before }, streams))
    }
    return seen
  }).pipe(Effect.provide(WalMap.layer(options)), Effect.provideService(ObjectStore, store.store))
}, Effect.scoped)

const lineOf = (name: string, seen: ReadonlyArray<Seen>, of: (one: Seen) => CurvePoint["rounds"]): CurveLine => ({
  name,
  points: seen.map((one) => ({ x: one.streams, rounds: of(one) }))
})

/** A count that must be 0. */
const none = (metric: string, count: number): Measurement => ({
  metric,
  value: spreadOf([count]),
  unit: "",
  better: "lower",
  goal: 0
})

const memoryCurve = (seen: ReadonlyArray<Seen>): Curve => {
  const memory = lineOf("open, and idle", seen, ({ bytes }) => [bytes / mebibyte])
  const last = seen.at(-1)
  return {
    name: "idle-memory",
    title: "Memory, against open streams",
    x,
    y: { label: "memory", unit: "MiB" },
    lines: [memory],
    verdicts: [
      linear(memory, { metric: "memory of idle streams", from: 100 }),
      {
        metric: "memory of an idle stream",
        value: spreadOf([(last?.bytes ?? Number.NaN) / (last?.streams ?? 1) / 1_024]),
        unit: "KiB",
        better: "lower"
      }
    ]
  }
}

export const idleCurves = async (context: BenchContext): Promise<ReadonlyArray<Curve>> => {
  const counts = context.quick ? [10, 100, 1_000] : [10, 100, 1_000, 10_000]
  const seen = await Effect.runPromise(
    Effect.provideService(openUpTo(context, counts), References.MinimumLogLevel, "None")
  )
  const last = seen.at(-1)
  const busy = lineOf("the event loop has something to do", seen, (one) => one.busy)
  const cpu = lineOf("processor, the threads of V8 included", seen, (one) => one.cpu)
  const ack = lineOf("one stream in use, all others idle", seen, (one) => one.ack)
  return [
    memoryCurve(seen),
    {
      name: "idle-work",
      title: "What an idle process does, against open streams",
      x,
      y: { label: "time", unit: "ms a second" },
      lines: [busy, cpu],
      verdicts: [
        flat(busy, { metric: "time of the event loop, idle streams" }),
        none("requests of idle streams", last?.requests ?? Number.NaN),
        none("timers of idle streams", last?.timers ?? Number.NaN)
      ]
    },
    {
      name: "idle-ack",
      title: "The wait for durability in one stream, against open streams",
      x,
      y: { label: "time", unit: "µs" },
      lines: [ack],
      verdicts: [flat(ack, { metric: "ack latency in one stream, idle streams beside it" })]
    }
  ]
}
