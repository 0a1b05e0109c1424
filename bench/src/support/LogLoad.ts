/** Loads that are put on a log of whatever kind, and what is seen of it meanwhile. */
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import type { LogReads, WalService } from "@effect-wal/core/WalService"
import { Effect, Stream } from "effect"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import { Pace } from "./Pace.ts"

type Records = ReadonlyArray<AppendRecord>

const bytesOf = (records: Records): number => records.reduce((sum, { payload }) => sum + payload.length, 0)

/** One call that waits until its records are durable. */
export const durably = (wal: WalService, records: Records) =>
  Effect.flatMap(wal.append(records), ({ durable }) => durable)

/** So many calls that do not wait for durability, and then until all is stored; microseconds of one call, on average. */
export const acceptedMicros = Effect.fnUntraced(function*(wal: WalService, records: Records, calls: number) {
  const startedAt = nowMillis()
  for (let nth = 0; nth < calls; nth++) yield* wal.append(records)
  const micros = (nowMillis() - startedAt) * 1_000 / calls
  yield* wal.flush
  return micros
})

/** Milliseconds between two looks at a log. */
const lookMillis = 2
/** A look that finds too little goes on so much longer than asked at most. */
const longest = 10

export interface FullSpeed {
  readonly megabytesPerSecond: number
  /** Milliseconds since something became durable first. */
  readonly millis: number
}

/**
 * What becomes durable while as much is appended as there is room for: between two moments at which something became
 * durable, so that it does not matter how large the steps are. `onFirst` runs at the first of them.
 */
export const fullSpeed = Effect.fnUntraced(
  function*(wal: WalService, records: Records, millis: number, onFirst: Effect.Effect<unknown> = Effect.void) {
    const recordBytes = bytesOf(records) / records.length
    const steps: Array<{ readonly at: number; readonly seq: number }> = []
    const watch = Effect.gen(function*() {
      const startedAt = nowMillis()
      let seen = (yield* wal.status).durable
      for (let passed = 0; passed < millis || steps.length < 3 && passed < longest * millis;) {
        yield* Effect.sleep(lookMillis)
        const { durable: seq } = yield* wal.status
        const at = nowMillis()
        passed = at - startedAt
        if (seq === seen) continue
        if (steps.push({ at, seq }) === 1) yield* onFirst
        seen = seq
      }
    })
    yield* Effect.raceFirst(watch, Effect.forever(wal.append(records)))
    const [first, last] = [steps[0], steps.at(-1)]
    if (first === undefined || last === undefined) return { megabytesPerSecond: 0, millis } satisfies FullSpeed
    const megabytesPerSecond = (last.seq - first.seq) * recordBytes / (last.at - first.at) / 1_000
    return { megabytesPerSecond, millis: nowMillis() - first.at } satisfies FullSpeed
  }
)

/** Appends so many records a second for so long; the records at risk at each look. */
export const recordsAtRisk = Effect.fnUntraced(
  function*(
    wal: WalService,
    records: Records,
    { millis, perSecond }: { readonly millis: number; readonly perSecond: number }
  ) {
    const seen: Array<number> = []
    const startedAt = nowMillis()
    const pace = new Pace(perSecond)
    while (nowMillis() - startedAt < millis) {
      yield* Effect.sleep(Math.max(lookMillis, pace.waitFor(records.length)))
      yield* wal.append(records)
      seen.push((yield* wal.status).atRisk.records)
    }
    yield* wal.flush
    return seen
  }
)

/** Megabytes of payload a second from the cursor to the durable end. */
export const replaySpeed = Effect.fnUntraced(function*(log: LogReads) {
  const startedAt = nowMillis()
  let bytes = 0
  yield* Stream.runForEachArray(log.replay({ until: "durable-end" }), (records) =>
    Effect.sync(() => {
      bytes += bytesOf(records)
    }))
  return bytes / (nowMillis() - startedAt) / 1_000
})

/** Appends that many bytes, and waits until they are stored. */
export const fill = Effect.fnUntraced(function*(wal: WalService, records: Records, bytes: number) {
  for (let left = bytes; left > 0; left -= bytesOf(records)) yield* wal.append(records)
  yield* wal.flush
})
