/** Memory of a log whose store is away, against how long that lasts: on a virtual clock, under load all the time. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { ObjectStoreError } from "@effect-wal/core/store/ObjectStoreError"
import { Effect, References } from "effect"
import { TestClock } from "effect/testing"
import type { BenchContext } from "../Bench.ts"
import { spreadOf } from "../Stats.ts"
import { usedBytes } from "../support/Heap.ts"
import { LargeStore } from "../support/LargeStore.ts"
import { openLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { type Curve, type CurveLine, flat } from "./Curve.ts"

const mebibyte = 1_048_576
const bufferMebibytes = 32
/** Calls of a virtual second, and what each brings: 4 MiB a second, so that the buffer is full after 8 s. */
const callsASecond = 4
const recordsACall = 1_024
const recordBytes = 1_024
const fullAfterSeconds = 10
/** With fewer, the number of segments that may wait is the tighter bound. */
const workers = 4

/** A store that can be away: then it refuses every segment. */
const makeStore = () => {
  const state = { isAway: false }
  const { store } = new LargeStore()
  const away = (key: string) =>
    Effect.fail(new ObjectStoreError({ operation: "create", key, reason: "Unavailable", detail: "the store is away" }))
  const create: typeof store.create = (key, body, options) =>
    Effect.suspend(() => state.isAway ? away(key) : store.create(key, body, options))
  return { state, store: ObjectStore.of({ ...store, create }) }
}

interface Looks {
  /** Virtual seconds after which to look, ascending. */
  readonly atSeconds: ReadonlyArray<number>
  readonly onSecond: (second: number) => void
}

/** One outage: by second what is held beside what was before it, bytes, and what the log counts of it. */
const outage = Effect.fnUntraced(function*({ atSeconds, onSecond }: Looks) {
  const { state, store } = makeStore()
  const wal = yield* openLog(store, { maxBufferedBytes: `${bufferMebibytes}MiB`, parallelPut: { workers } })
  const records = recordsOf(payloadsOf(recordsACall, recordBytes))
  const before = usedBytes()
  state.isAway = true
  const seen: Array<{ readonly usedBytes: number; readonly bufferedBytes: number }> = []
  for (let second = 1; second <= (atSeconds.at(-1) ?? 0); second++) {
    for (let call = 0; call < callsASecond; call++) {
      yield* Effect.ignore(wal.appendNow(records))
      yield* TestClock.adjust(1_000 / callsASecond)
    }
    onSecond(second)
    if (!atSeconds.includes(second)) continue
    const { buffered } = yield* wal.status
    seen.push({ usedBytes: usedBytes() - before, bufferedBytes: buffered.bytes })
  }
  state.isAway = false
  // Every pause between two tries passes, and all is stored: closing waits for nothing.
  yield* TestClock.adjust("5 minutes")
  yield* wal.flush
  return seen
}, Effect.scoped)

export const outageCurve = async (context: BenchContext): Promise<Curve> => {
  const atSeconds = context.quick ? [1, fullAfterSeconds, 100] : [1, fullAfterSeconds, 100, 1_000, 10_000]
  const longest = atSeconds.at(-1) ?? 0
  const onSecond = (second: number) => context.progress(second / longest, `${second} s without the store`)
  const seen = await Effect.runPromise(
    outage({ atSeconds, onSecond }).pipe(
      Effect.provide(TestClock.layer()),
      Effect.provideService(References.MinimumLogLevel, "None")
    )
  )
  const lineOf = (name: string, bytesAt: (index: number) => number): CurveLine => ({
    name,
    points: atSeconds.map((x, index) => ({ x, rounds: [bytesAt(index) / mebibyte] }))
  })
  const used = lineOf("in use, more than before the outage", (index) => seen[index]?.usedBytes ?? Number.NaN)
  const buffered = lineOf("counted by the log as buffered", (index) => seen[index]?.bufferedBytes ?? Number.NaN)
  const most = Math.max(...seen.map((one) => one.usedBytes)) / mebibyte
  return {
    name: "outage",
    title: "Memory, against the length of an outage",
    x: { label: "outage under 4 MiB/s", unit: "s" },
    y: { label: "memory", unit: "MiB" },
    lines: [used, buffered],
    verdicts: [
      flat(used, { metric: "memory in an outage, full buffer", from: fullAfterSeconds, goal: 1.2 }),
      {
        metric: `most memory in an outage, against a bound of ${bufferMebibytes} MiB`,
        value: spreadOf([most / bufferMebibytes]),
        unit: "x",
        better: "lower",
        goal: 1.5
      }
    ]
  }
}
