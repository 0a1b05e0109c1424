/** A run of a benchmark: so many callers, each with one append after the other, until all records are durable. */
import type { WalService } from "@effect-wal/core/WalService"
import { Effect, Metric } from "effect"
import { measured } from "../Measure.ts"
import { type Percentiles, percentilesOf } from "../Percentiles.ts"
import { type PayloadKind, payloadOf } from "./Payload.ts"

/** What is appended. */
export interface BenchLoad {
  /** Records in all. */
  readonly records: number
  readonly recordBytes: number
  /** Records of one append. */
  readonly batch: number
  /** Callers at a time; each waits until its append is durable before it makes the next one. */
  readonly concurrency: number
  readonly payload: PayloadKind
}

/** What was measured. */
export interface BenchResult extends BenchLoad {
  readonly millis: number
  readonly recordsPerSecond: number
  /** Of payloads. */
  readonly bytesPerSecond: number
  /** From the call of an append to its durability. */
  readonly ackMillis: Percentiles
  readonly requests: Readonly<Record<"create" | "replace" | "get" | "list" | "remove", number>>
  readonly segments: number
  /** Raw bytes for each stored byte. */
  readonly compressionRatio: number
}

/** The callers' shared place in the run. */
const batchesOf = ({ batch, records }: BenchLoad): ReadonlyArray<{ readonly from: number; readonly count: number }> =>
  Array.from({ length: Math.ceil(records / batch) }, (_, index) => ({
    from: index * batch,
    count: Math.min(batch, records - index * batch)
  }))

const counters = ["create", "replace", "get", "list", "remove"] as const

/** Sum of the counter's or gauge's series of one log. */
const readMetrics = (streamId: string) =>
  Effect.map(Metric.snapshot, (all) => (name: string, operation?: string): number =>
    all.reduce((sum, each) => {
      const { attributes = {}, id, state } = each
      const isIt = id === name && attributes["stream"] === streamId &&
        (operation === undefined || attributes["operation"] === operation)
      if (!isIt) return sum
      const value = "count" in state ? state.count : "value" in state ? state.value : 0
      return sum + Number(value)
    }, 0))

/** Appends all of it; `onDurable` is told of each append that is durable. */
export const runBench = Effect.fnUntraced(function*(
  log: WalService,
  load: BenchLoad,
  onDurable: (records: number) => Effect.Effect<void>
) {
  const { streamId } = yield* log.status
  const before = yield* readMetrics(streamId)
  const append = ({ count, from }: { readonly from: number; readonly count: number }) => {
    const records = Array.from({ length: count }, (_, index) => ({
      payload: payloadOf(load.payload, from + index, load.recordBytes)
    }))
    return Effect.tap(
      measured(Effect.flatMap(log.append(records), ({ durable }) => durable)),
      () => onDurable(count)
    )
  }
  const run = yield* measured(Effect.forEach(batchesOf(load), append, { concurrency: load.concurrency }))
  const after = yield* readMetrics(streamId)
  const grown = (name: string, operation?: string): number => after(name, operation) - before(name, operation)
  const [create = 0, replace = 0, get = 0, list = 0, remove = 0] = counters.map((operation) =>
    grown("wal_store_requests_total", operation)
  )
  const stored = grown("wal_segment_stored_bytes_total")
  return {
    ...load,
    millis: run.millis,
    recordsPerSecond: load.records * 1_000 / run.millis,
    bytesPerSecond: load.records * load.recordBytes * 1_000 / run.millis,
    ackMillis: percentilesOf(run.value.map(({ millis }) => millis)),
    requests: { create, replace, get, list, remove },
    segments: grown("wal_segment_puts_total"),
    compressionRatio: stored === 0 ? 1 : grown("wal_segment_raw_bytes_total") / stored
  } satisfies BenchResult as BenchResult
})
