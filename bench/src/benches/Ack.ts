/** How long a caller waits for durability, against the PUT that it takes. */
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench, BenchContext } from "../Bench.ts"
import type { Measurement } from "../Line.ts"
import { quantile, spreadOf } from "../Stats.ts"
import { type StoreProcess, withStore } from "../store/StoreProcess.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"
import { withClient, withRemoteLog } from "../support/RemoteLog.ts"

const latencyMillis = 60
const callers = 64
const recordBytes = 1_024

/** Milliseconds of one after the other, for about so long. */
const timesOf = (millis: number, once: Effect.Effect<unknown, unknown>) =>
  Effect.gen(function*() {
    const startedAt = nowMillis()
    const times: Array<number> = []
    while (nowMillis() - startedAt < millis || times.length < 3) {
      const before = nowMillis()
      yield* once
      times.push(nowMillis() - before)
    }
    return times
  })

/** Alternating rounds: the p50 of a log's append and of a bare PUT of the same bytes, and by how much they differ. */
const oneCaller = (context: BenchContext, store: StoreProcess): Promise<ReadonlyArray<Measurement>> =>
  withRemoteLog(
    store,
    { segment: { linger: "0ms" } },
    (wal) =>
      Effect.promise(() =>
        withClient(store, (client) =>
          Effect.gen(function*() {
            const [record] = recordsOf(payloadsOf(1, recordBytes))
            const append = Effect.flatMap(
              wal.append(record === undefined ? [] : [record]),
              ({ durable }) => durable
            )
            const body = new Uint8Array(recordBytes + 400)
            let nth = 0
            const put = Effect.suspend(() => client.create(`raw/${nth++}.seg`, body))
            const ours: Array<number> = []
            const raw: Array<number> = []
            for (let round = 0; round <= context.rounds; round++) {
              context.progress(round / (context.rounds + 2), "one caller")
              const [a, b] = [yield* timesOf(context.roundMillis, put), yield* timesOf(context.roundMillis, append)]
              if (round === 0) continue
              raw.push(quantile(a, 0.5))
              ours.push(quantile(b, 0.5))
            }
            const more = ours.map((millis, round) => millis - (raw[round] ?? 0))
            return [
              {
                metric: "p50 of one caller, more than a bare PUT",
                value: spreadOf(more),
                unit: "ms",
                better: "lower",
                goal: 2,
                floor: { name: "PUT", value: spreadOf(raw).median, unit: "ms" }
              },
              { metric: "p50 of one caller", value: spreadOf(ours), unit: "ms", better: "lower" }
            ] as const
          }))
      )
  )

/** Callers that wait at the same time: PUTs a round of them. */
const manyCallers = (context: BenchContext, store: StoreProcess): Promise<ReadonlyArray<Measurement>> =>
  withRemoteLog(store, { segment: { linger: "0ms" } }, (wal) =>
    Effect.gen(function*() {
      const [record] = recordsOf(payloadsOf(1, recordBytes))
      const append = Effect.flatMap(wal.append(record === undefined ? [] : [record]), ({ durable }) => durable)
      const puts: Array<number> = []
      const round = Effect.all(Array.from({ length: callers }, () => append), {
        concurrency: "unbounded",
        discard: true
      })
      yield* round
      for (let nth = 0; nth < context.rounds; nth++) {
        context.progress((context.rounds + nth / context.rounds) / (context.rounds + 2), `${callers} callers`)
        yield* Effect.promise(() => store.counts())
        yield* round
        puts.push((yield* Effect.promise(() => store.counts())).PUT)
      }
      return [{
        metric: `PUTs for ${callers} callers at once`,
        value: spreadOf(puts),
        unit: "PUTs",
        better: "lower",
        // The first caller finds a free worker; all others share the next one.
        goal: 2
      }] as const
    }))

export const ack: Bench = {
  name: "ack",
  about: `the wait for durability in front of a store that takes ${latencyMillis} ms, linger 0`,
  run: (context) =>
    withStore({ latency: { kind: "fixed", millis: latencyMillis }, keepsSegments: false }, async (store) => [
      ...await oneCaller(context, store),
      ...await manyCallers(context, store)
    ])
}
