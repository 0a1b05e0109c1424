/** Accepting records: what a caller waits for that does not wait for durability. */
import type { WalService } from "@effect-wal/core/WalService"
import { Effect } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { Bench } from "../Bench.ts"
import { ratePerSecond, takeTurns } from "../Rounds.ts"
import { quantile, spreadOf } from "../Stats.ts"
import { CopyFloor } from "../support/CopyFloor.ts"
import * as NullStore from "../support/NullStore.ts"
import { withLog } from "../support/OpenLog.ts"
import { payloadsOf, recordsOf } from "../support/Payloads.ts"

const batch = 100
const recordBytes = 1_024

interface Load {
  readonly wal: WalService
  readonly millis: number
  /** Microseconds of each call. */
  readonly calls: Array<number>
}

/** Appends batches one after the other, until the time is over and everything is stored; answers records a second. */
const appendFor = Effect.fnUntraced(function*({ calls, millis, wal }: Load, records: ReturnType<typeof recordsOf>) {
  const startedAt = nowMillis()
  let count = 0
  while (nowMillis() - startedAt < millis) {
    const before = nowMillis()
    yield* wal.append(records)
    calls.push((nowMillis() - before) * 1_000)
    count += batch
  }
  yield* wal.flush
  return count / (nowMillis() - startedAt) * 1_000
})

export const append: Bench = {
  name: "append",
  about: `accepted batches of ${batch} × ${recordBytes} bytes, into a store that takes no time`,
  run: async (bench) =>
    withLog((await Effect.runPromise(NullStore.make)).store, {}, (wal) =>
      Effect.promise(async () => {
        const payloads = payloadsOf(batch, recordBytes)
        const records = recordsOf(payloads)
        const floor = new CopyFloor(payloads)
        const calls: Array<number> = []
        const slowest: Array<number> = []
        const results = await takeTurns(bench, [
          {
            name: "copy + CRC",
            unit: "records/s",
            round: (millis) =>
              ratePerSecond(millis, () => {
                floor.once()
                return batch
              })
          },
          {
            name: "append",
            unit: "records/s",
            round: async (millis) => {
              calls.length = 0
              const rate = await Effect.runPromise(appendFor({ wal, millis, calls }, records))
              slowest.push(quantile(calls, 0.99))
              return rate
            }
          }
        ])
        const perRecord = results.rounds("append").map((rate) => 1e6 / rate)
        return [
          {
            metric: "time against copy + CRC, everything until it is stored",
            value: results.ratio("copy + CRC", "append"),
            unit: "x",
            better: "lower",
            goal: 2,
            floor: results.named("copy + CRC")
          },
          { metric: "a record", value: spreadOf(perRecord), unit: "µs", better: "lower", goal: 1 },
          { metric: "p99 of a call", value: spreadOf(slowest.slice(1)), unit: "µs", better: "lower", goal: 50 }
        ] as const
      }))
}
