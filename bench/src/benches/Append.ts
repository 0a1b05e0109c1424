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
  /** Between calls; absent: none. */
  readonly pauseMillis?: number
  /** Microseconds of each call. */
  readonly calls: Array<number>
}

/**
 * Appends batches until the time is over and everything is stored: one after the other, or with a pause after each.
 * Answers records a second.
 */
const appendFor = Effect.fnUntraced(function*(
  { calls, millis, pauseMillis = 0, wal }: Load,
  records: ReturnType<typeof recordsOf>
) {
  const startedAt = nowMillis()
  let count = 0
  while (nowMillis() - startedAt < millis) {
    const before = nowMillis()
    yield* wal.append(records)
    calls.push((nowMillis() - before) * 1_000)
    count += batch
    if (pauseMillis > 0) yield* Effect.sleep(pauseMillis)
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
        const slowest = { "flat out": new Array<number>(), paced: new Array<number>() }
        const round = async (millis: number, kind: keyof typeof slowest) => {
          const calls: Array<number> = []
          const pauseMillis = kind === "paced" ? 1 : 0
          const rate = await Effect.runPromise(appendFor({ wal, millis, calls, pauseMillis }, records))
          slowest[kind].push(quantile(calls, 0.99))
          return rate
        }
        // The first round is to warm up.
        const p99 = (kind: keyof typeof slowest) => spreadOf(slowest[kind].slice(1))
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
          { name: "append", unit: "records/s", round: (millis) => round(millis, "flat out") },
          { name: "paced", unit: "records/s", round: (millis) => round(millis, "paced") }
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
          {
            metric: "p99 of a call, a millisecond between calls",
            value: p99("paced"),
            unit: "µs",
            better: "lower",
            goal: 50,
            note: "the copy of 100 KiB included; what is done with sealed segments falls between the calls"
          },
          {
            metric: "p99 of a call, flat out",
            value: p99("flat out"),
            unit: "µs",
            better: "lower",
            note:
              "every tenth call seals a segment, and one thread does everything: calls wait while segments are packed"
          }
        ] as const
      }))
}
