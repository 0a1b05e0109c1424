/** Ten minutes without the store in virtual time, under load, with a spool on a real disk: memory before, in and after. */
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { parseArgs } from "node:util"
import * as SpoolDirectory from "../../packages/core/src/node/SpoolDirectory.ts"
import { ObjectStore } from "../../packages/core/src/store/ObjectStore.ts"
import { Wal } from "../../packages/core/src/Wal.ts"
import type { WalStatus } from "../../packages/core/src/WalService.ts"
import * as FaultyObjectStore from "../../packages/testing/src/FaultyObjectStore.ts"
import { MemoryObjectStore } from "../../packages/testing/src/MemoryObjectStore.ts"
import { workFolder } from "./Places.ts"
import { grouped, pause, type Run, type Scenario } from "./Run.ts"

const limitSeconds = 600

const help = `virtual-outage: 10 minutes of an outage on a virtual clock, with a spool on a real disk

  --seconds 600    virtual seconds of the outage
  --rate 100       records of 1,000 bytes a virtual second

Prints what the log holds in memory and what it has spooled before, in and after the outage.`

/** Lets the disk answer: its calls take real time, the clock of the log does not move by itself. */
const turn = Effect.promise(() => pause(1))

/** Moves the clock on until it holds, at most so many virtual seconds. */
const advanceUntil = (holds: (status: WalStatus) => boolean, wal: Wal["Service"], seconds: number) =>
  Effect.gen(function*() {
    for (let second = 0; second < seconds; second += 0.1) {
      if (holds(yield* wal.status)) return second
      yield* turn
      yield* TestClock.adjust("100 millis")
    }
    return Number.POSITIVE_INFINITY
  })

interface Sample {
  readonly bufferedBytes: number
  readonly atRiskRecords: number
  readonly spoolBytes: number
  readonly spooledRecords: number
  readonly heapMiB: number
}

const heapMiB = (): number => {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 1_048_576)
}

const sampleOf = (status: WalStatus): Sample => ({
  bufferedBytes: status.buffered.bytes,
  atRiskRecords: status.atRisk.records,
  spoolBytes: status.spool?.bytes ?? 0,
  spooledRecords: status.spool?.records ?? 0,
  heapMiB: heapMiB()
})

const outage = Effect.fnUntraced(function*(run: Run, load: { readonly seconds: number; readonly rate: number }) {
  const memory = yield* MemoryObjectStore.make()
  const faults = FaultyObjectStore.make(memory.store)
  const wal = yield* Wal.make({
    nodeId: "node",
    streamId: "log",
    maxBufferedBytes: "24MiB",
    segment: { maxEntries: 1_000, maxBytes: "1MiB" }
  }).pipe(Effect.provideService(ObjectStore, faults.store))
  const records = Array.from({ length: load.rate }, () => ({ payload: new Uint8Array(1_000) }))
  const second = Effect.gen(function*() {
    const { spooled } = yield* wal.append(records)
    yield* Effect.forkChild(Effect.exit(spooled))
    yield* turn
    yield* TestClock.adjust("1 second")
    return sampleOf(yield* wal.status)
  })
  const before = yield* Effect.forEach(Array.from({ length: 10 }), () => second)
  const lift = faults.rule(() => ({ _tag: "Fail", reason: "TimedOut" }))
  const during: Array<Sample> = []
  for (let count = 1; count <= load.seconds; count++) {
    const sample = yield* second
    during.push(sample)
    if (count % 100 === 0) run.progress(`${count} s: ${grouped(sample.spooledRecords)} records spooled`)
  }
  lift()
  const drainSeconds = yield* advanceUntil(({ spool }) => spool?.records === 0, wal, 120)
  const after = yield* Effect.forEach(Array.from({ length: 10 }), () => second)
  yield* advanceUntil(({ durable, lastAccepted }) => durable === lastAccepted, wal, 120)
  const status = yield* wal.status
  const accepted = load.rate * (load.seconds + 20)
  run.promise(status.durable === accepted, `${status.durable} of ${accepted} records are durable`)
  const largest = Math.max(...during.map((sample) => sample.bufferedBytes))
  run.promise(largest <= 4 * 1_048_576, `${largest} bytes were in memory during the outage`)
  Object.assign(run.result, {
    ...load,
    before: before.at(-1),
    duringLargest: {
      bufferedBytes: largest,
      atRiskRecords: Math.max(...during.map((sample) => sample.atRiskRecords)),
      heapMiB: Math.max(...during.map((sample) => sample.heapMiB))
    },
    duringLast: during.at(-1),
    after: after.at(-1),
    drainVirtualSeconds: drainSeconds,
    durable: status.durable
  })
})

const scenario = async (run: Run, args: ReadonlyArray<string>): Promise<void> => {
  const { values } = parseArgs({
    args: [...args],
    options: { seconds: { type: "string", default: "600" }, rate: { type: "string", default: "100" } }
  })
  const path = workFolder(run)
  const layers = Layer.mergeAll(TestClock.layer(), SpoolDirectory.layer({ path }))
  await Effect.runPromise(
    Effect.scoped(outage(run, { seconds: Number(values.seconds), rate: Number(values.rate) })).pipe(
      Effect.provide(layers)
    )
  )
}

export const virtualOutage: Scenario = { help, limitSeconds, scenario }
