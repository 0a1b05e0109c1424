/**
 * What the server knows of its streams and their logs do not say themselves: the state of each, also of one that cannot be
 * opened, how full its buffer may get, and since when its store has been failing.
 *
 * Read when somebody scrapes; nothing runs in between.
 */
import type { WalStatus } from "@effect-wal/core/WalService"
import { Clock, Context, Effect, Layer, Metric } from "effect"
import { type StreamEntry, Streams } from "../Streams.ts"
import { meaningOf } from "./MetricTable.ts"

const gauge = (name: string) => Metric.gauge(name, { description: meaningOf(name) })

const streamState = gauge("wal_stream_state")
const bufferLimit = gauge("wal_buffer_limit_bytes")
const storeFailing = gauge("wal_store_failing_seconds")

/** Every state that a stream can be in, as `wal_stream_state` has it. */
export const streamStates = ["opening", "open", "closing", "closed", "fenced", "failed", "refused"] as const

const stateOf = ({ state }: StreamEntry, status: WalStatus | undefined): typeof streamStates[number] => {
  if (state._tag === "Opening") return "opening"
  if (state._tag === "Refused") return state.error._tag === "WalFailed" ? "failed" : "refused"
  return status?.state ?? "open"
}

/** A log that has ended sends nothing: how its store answered before is no outage that goes on. */
const failingSeconds = ({ state, storeFailingSinceMillis: since }: WalStatus, nowMillis: number): number =>
  since === undefined || (state !== "open" && state !== "closing") ? 0 : Math.max(0, nowMillis - since) / 1_000

/** The gauges of one server. */
export class StreamMetrics extends Context.Service<StreamMetrics, {
  /** Brings the gauges up to date. */
  readonly refresh: Effect.Effect<void>
}>()("@effect-wal/server/StreamMetrics") {
  static readonly layer = Layer.effect(
    StreamMetrics,
    Effect.gen(function*() {
      const streams = yield* Streams
      const context = yield* Effect.context()
      const set = (metric: Metric.Gauge<number>, labels: Record<string, string>, value: number) =>
        Metric.withAttributes(metric, labels).updateUnsafe(value, context)

      const refreshOne = Effect.fnUntraced(function*(entry: StreamEntry) {
        const status = entry.state._tag === "Open" ? yield* entry.state.log.status : undefined
        const now = stateOf(entry, status)
        for (const state of streamStates) set(streamState, { stream: entry.id, state }, state === now ? 1 : 0)
        if (status === undefined) return
        const labels = { stream: status.streamId, node: status.nodeId }
        set(bufferLimit, labels, status.buffered.limitBytes)
        set(storeFailing, labels, failingSeconds(status, yield* Clock.currentTimeMillis))
      })
      const refresh = Effect.suspend(() => Effect.forEach(streams.entries(), refreshOne, { discard: true }))
      return StreamMetrics.of({ refresh })
    })
  )
}
