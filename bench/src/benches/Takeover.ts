/** How many store requests follow each other from deciding to open a log to the first durable ack. */
import { ProcessRegistry, ProcessRegistryState } from "@effect-wal/core/ProcessRegistry"
import type { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { WalService } from "@effect-wal/core/WalService"
import { type MemoryHandles, MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { RoundTrips } from "@effect-wal/testing/RoundTrips"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { spreadOf } from "../Stats.ts"
import { withStore } from "../store/StoreProcess.ts"
import { type LogOptions, openLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withClient } from "../support/RemoteLog.ts"

const segments = 100
const latencyMillis = 20
const goal = 6
const options: LogOptions = { segment: { maxEntries: 1, linger: "0ms" }, retention: { policy: "keep" } }
const record = recordsOf(payloadsOf(1, 1_024))

const store = (wal: WalService) => Effect.flatMap(wal.append(record), ({ durable }) => durable)

/** What an opener finds. */
type Before = "nothing" | "idle writer" | "busy writer"

/** A process of its own: `proven`, where it has probed the store before, for another log. */
const openIn = (memory: MemoryHandles, held: ObjectStore["Service"], proven: boolean) => {
  const registry = new ProcessRegistryState()
  if (proven) registry.probed.add(memory.store.id)
  return Effect.provideService(openLog(held, options), ProcessRegistry, registry)
}

/** From deciding to the first durable ack, while whoever had the log is still there. No clock goes on. */
const tripsFrom = (before: Before, proven: boolean): Effect.Effect<number, unknown> =>
  Effect.gen(function*() {
    const memory = yield* MemoryObjectStore.make()
    const trips = new RoundTrips()
    const held = trips.hold(memory.store)
    if (before !== "nothing") {
      const writer = yield* openIn(memory, held, true)
      for (let nth = 0; nth < segments; nth++) yield* store(writer)
      // Stores a slot in each round trip, until it is fenced.
      if (before === "busy writer") yield* Effect.forkScoped(Effect.forever(store(writer)))
    }
    return yield* trips.count(Effect.flatMap(openIn(memory, held, proven), store))
  }).pipe(Effect.scoped, Effect.provide(TestClock.layer()))

const counted = Effect.gen(function*() {
  const line = (metric: string, trips: number): Measurement => ({
    metric,
    value: spreadOf([trips]),
    unit: "round trips",
    better: "lower"
  })
  return [
    {
      ...line("from an idle writer", yield* tripsFrom("idle writer", true)),
      goal,
      note: "counted while no clock goes on: what waited for one would never end"
    },
    line("a new log", yield* tripsFrom("nothing", true)),
    line("from a writer that stores a segment in each round trip", yield* tripsFrom("busy writer", true)),
    {
      ...line("from an idle writer, and the store's probe first", yield* tripsFrom("idle writer", false)),
      note: "conditional writes are probed once a process and store"
    }
  ]
})

/** The same over S3's protocol, in time: each opening takes the log over from the one before. */
const timed = ({ progress, rounds }: BenchContext): Promise<Measurement> =>
  withStore(
    { latency: { kind: "fixed", millis: latencyMillis }, keepsSegments: true },
    (process) =>
      withClient(process, (client) =>
        Effect.gen(function*() {
          const times: Array<number> = []
          const takeOnce = Effect.gen(function*() {
            const decidedAt = nowMillis()
            yield* store(yield* openLog(client, options))
            times.push(nowMillis() - decidedAt)
          })
          for (let round = 0; round <= rounds; round++) {
            progress(round / (rounds + 1), `${latencyMillis} ms a request`)
            yield* Effect.scoped(takeOnce)
          }
          return {
            metric: `in time, ${latencyMillis} ms a request`,
            // The first one has found no log, and has probed the store.
            value: spreadOf(times.slice(1)),
            unit: "ms",
            better: "lower",
            floor: { name: `${goal} × latency`, value: goal * latencyMillis, unit: "ms" }
          }
        }))
  )

export const takeover: Bench = {
  name: "takeover",
  about: "round trips from deciding to open to the first durable ack",
  run: async (context) => [...await Effect.runPromise(counted), await timed(context)]
}
