import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Stream } from "effect"
import { TestClock } from "effect/testing"
import { s3StandardUsEast1 } from "../../src/StorePrices.ts"
import {
  drive,
  holdPuts,
  isDone,
  key,
  makeGates,
  open,
  type Options,
  records,
  refusePuts,
  reopen,
  settle,
  sized,
  slotKeys,
  start,
  still,
  store,
  storeSegments,
  type TestLog
} from "../support/LogWorld.ts"

/** The series of one log. */
const series = (stream = "log") =>
  Effect.map(Metric.snapshot, (all) => all.filter((one) => one.attributes?.["stream"] === stream))

/** Counters and gauges of one log as numbers; `name{label}` where there is a further label. */
const values = (stream = "log") =>
  Effect.map(series(stream), (all) =>
    Object.fromEntries(all.flatMap((one) => {
      const label = one.attributes?.["operation"] ?? one.attributes?.["class"]
      const name = label === undefined ? one.id : `${one.id}{${label}}`
      if (one.type === "Counter") return [[name, Number(one.state.count)]]
      return one.type === "Gauge" ? [[name, Number(one.state.value)]] : []
    })))

const histogram = (id: string) =>
  Effect.map(series(), (all) => {
    const found = all.find((one) => one.id === id)
    return found?.type === "Histogram" ? found.state : undefined
  })

const tens: Options = { ...still, segment: { maxEntries: 10, flushInterval: "1h" } }

/** Opens, runs, and closes whatever happens, so that no series is left for the next test. */
const withLog = <A, E>(
  run: (log: TestLog) => Effect.Effect<A, E>,
  options: Options = tens,
  parts: Parameters<typeof open>[1] = {}
) => Effect.acquireUseRelease(open(options, parts), run, (log) => drive(log.end))

describe("metrics", () => {
  it.effect("say what a run did", () =>
    withLog((log) =>
      Effect.gen(function*() {
        yield* storeSegments(log.wal, 5, 10)
        yield* log.wal.append(records(4, 51))
        yield* log.wal.commit(30)
        yield* log.wal.commit(20, { cursor: "slow" })
        yield* Stream.runDrain(log.wal.replay({ until: "durable-end" }))
        yield* TestClock.adjust("7 seconds")
        const seen = yield* values()
        const objects = slotKeys(log.memory).map((at) => log.memory.objects.get(at)?.body.length ?? 0)
        assert.deepInclude(seen, {
          wal_records_appended_total: 54,
          wal_records_durable_total: 50,
          wal_records_committed: 20,
          wal_segment_puts_total: 5,
          wal_cursor_lag_entries: 30,
          wal_durable_seq: 50,
          wal_at_risk_entries: 4,
          wal_queue_segments: 0,
          wal_in_flight_segments: 0,
          wal_epoch: 1,
          wal_open: 1,
          wal_compression_ratio: 1,
          wal_manifest_conflicts_total: 0,
          wal_records_lost_total: 0,
          wal_takeovers_total: 0,
          "wal_store_requests_total{create}": 5 + 1,
          wal_oldest_at_risk_age_seconds: 7
        })
        assert.isAbove(seen["wal_at_risk_bytes"] ?? 0, 0)
        assert.strictEqual(seen["wal_buffered_bytes"], seen["wal_at_risk_bytes"])
        assert.strictEqual(seen["wal_segment_raw_bytes_total"], seen["wal_segment_stored_bytes_total"])
        const size = yield* histogram("wal_segment_size_bytes")
        assert.deepInclude(size, { count: 5, sum: objects.reduce((sum, one) => sum + one, 0) })
        assert.deepInclude(yield* histogram("wal_segment_put_latency_seconds"), { count: 5, sum: 0 })
        assert.deepInclude(yield* histogram("wal_recovery_latency_seconds"), { count: 1 })
        const requests = (operation: string) => seen[`wal_store_requests_total{${operation}}`] ?? 0
        const { per1000Gets, per1000Lists, per1000Puts } = s3StandardUsEast1
        const dollars = (requests("create") + requests("replace")) * per1000Puts / 1_000 +
          requests("get") * per1000Gets / 1_000 + requests("list") * per1000Lists / 1_000
        assert.isAbove(dollars, 0)
        assert.approximately(seen["wal_estimated_request_cost_dollars_total"] ?? 0, dollars, 1e-12)
      })
    ))

  it.effect("count the producers that are remembered, and the repeats that were answered", () =>
    withLog((log) =>
      Effect.gen(function*() {
        assert.deepInclude(yield* values(), { wal_producers: 0, wal_producer_repeats_total: 0 })
        for (const id of ["a", "b", "a"]) yield* log.wal.append(records(1), { producer: { id, sequence: 1 } })
        yield* Effect.flip(log.wal.append(records(2), { producer: { id: "a", sequence: 1 } }))
        assert.deepInclude(yield* values(), { wal_producers: 2, wal_producer_repeats_total: 1 })
        yield* log.wal.flush
        yield* log.wal.append(records(1), { producer: { id: "b", sequence: 1 } })
        assert.deepInclude(yield* values(), {
          wal_producers: 2,
          wal_producer_repeats_total: 2,
          wal_records_appended_total: 2
        })
      })
    ))

  it.effect("say how often the budget stretched linger, and by how much", () =>
    withLog(
      (log) =>
        Effect.gen(function*() {
          const none = { wal_lingers_stretched_total: 0, wal_linger_stretched_seconds_total: 0 }
          yield* drive(store(log.wal, records(1)), 100)
          assert.deepInclude(yield* values(), none)
          // The first PUT was at 0.1 s: the next one is within the budget 2 s later, and would have been sent at 0.2 s.
          yield* drive(store(log.wal, records(1, 2)), 100)
          assert.deepInclude(yield* values(), {
            wal_lingers_stretched_total: 1,
            wal_linger_stretched_seconds_total: 1.9
          })
          // Not longer than the interval, and not at all once flush asks.
          yield* drive(log.wal.flush)
          const { durable } = yield* log.wal.append(records(1, 3))
          yield* start(durable)
          yield* TestClock.adjust("600 millis")
          yield* log.wal.flush
          assert.deepInclude(yield* values(), {
            wal_lingers_stretched_total: 2,
            wal_linger_stretched_seconds_total: 2.4
          })
        }),
      { ...still, budget: { putsPerSecond: 0.5 }, segment: { linger: "100ms", flushInterval: "10s" } }
    ))

  it.effect("the time of a PUT is from the first try to the confirmation, in seconds", () =>
    withLog(
      (log) =>
        Effect.gen(function*() {
          const storing = yield* start(store(log.wal, records(10)))
          yield* TestClock.adjust("30 millis")
          assert.isTrue(isDone(storing))
          assert.deepInclude(yield* histogram("wal_segment_put_latency_seconds"), { count: 1, sum: 0.03 })
        }),
      tens,
      { latencyMillis: 30 }
    ))

  it.effect("count retries by class, never by message or key", () =>
    Effect.suspend(() => {
      const reasons = ["Throttled", "Throttled", "TimedOut", "AccessDenied"] as const
      let nth = 0
      return withLog((log) =>
        Effect.gen(function*() {
          log.faults.rule((request) => {
            const reason = request.operation === "create" ? reasons[nth++] : undefined
            return reason === undefined ? undefined : { _tag: "Fail", reason }
          })
          yield* drive(store(log.wal, records(1)))
          const seen = yield* values()
          assert.deepInclude(seen, {
            "wal_put_retries_total{Throttled}": 2,
            "wal_put_retries_total{TimedOut}": 1,
            "wal_put_retries_total{AccessDenied}": 1,
            "wal_put_retries_total{Unavailable}": 0
          })
        })
      )
    }))

  it.effect("show what is at risk while PUTs are under way", () =>
    Effect.suspend(() => {
      const gates = makeGates()
      return withLog(
        (log) =>
          Effect.gen(function*() {
            yield* log.wal.append(records(35))
            yield* settle
            assert.deepInclude(yield* values(), {
              wal_at_risk_entries: 35,
              wal_in_flight_segments: 1,
              wal_queue_segments: 2,
              wal_durable_seq: 0
            })
            for (const slot of [0, 1, 2, 3]) yield* gates.open(key(slot))
            yield* log.wal.flush
            assert.deepInclude(yield* values(), {
              wal_at_risk_entries: 0,
              wal_at_risk_bytes: 0,
              wal_in_flight_segments: 0
            })
          }),
        tens,
        { rules: [holdPuts(gates.of)] }
      )
    }))

  it.effect("count records of a call that was interrupted half-way", () =>
    Effect.suspend(() => {
      let down = true
      return withLog(
        (log) =>
          Effect.gen(function*() {
            const appending = yield* start(log.wal.append(Array.from({ length: 10 }, () => sized(900))))
            yield* settle
            appending.interruptUnsafe()
            yield* settle
            const accepted = (yield* log.wal.status).lastAccepted
            assert.isAbove(accepted, 0)
            assert.deepInclude(yield* values(), { wal_records_appended_total: accepted })
            down = false
            yield* drive(log.wal.flush)
            assert.deepInclude(yield* values(), { wal_records_durable_total: accepted })
          }),
        { ...still, maxRecordBytes: 1_000, maxBufferedBytes: 4_000, segment: { maxBytes: 1_000 } },
        {
          rules: [refusePuts("Unavailable", () => down)]
        }
      )
    }))

  it.effect("the ratio is raw bytes for each stored byte, and take-overs are counted", () =>
    Effect.gen(function*() {
      const first = yield* open(still)
      const log = yield* reopen(first, { ...still, compression: { type: "zstd" } })
      yield* store(log.wal, [sized(200_000)])
      const seen = yield* values()
      assert.isAbove(seen["wal_compression_ratio"] ?? 0, 100)
      assert.strictEqual(seen["wal_epoch"], 2)
      assert.strictEqual(seen["wal_takeovers_total"], 1)
      yield* log.end
      yield* drive(first.end)
    }))

  it.effect("the ratio holds while a lower slot is still on its way", () =>
    Effect.suspend(() => {
      const gates = makeGates()
      return withLog(
        (log) =>
          Effect.gen(function*() {
            for (const _ of [0, 1, 2]) {
              yield* log.wal.append(records(10))
              yield* settle
            }
            for (const slot of [1, 2]) yield* gates.open(key(slot))
            assert.deepInclude(yield* values(), { wal_records_durable_total: 0, wal_compression_ratio: 1 })
            yield* gates.open(key(0))
          }),
        { ...tens, parallelPut: { workers: 3 } },
        { rules: [holdPuts(gates.of)] }
      )
    }))

  it.effect("an opening after one that never became a writer ends nobody's epoch", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      let claims = 0
      const refused = yield* Effect.exit(open(still, {
        memory,
        rules: [(request) =>
          request.operation === "replace" && claims++ > 0 ? { _tag: "Fail", reason: "AccessDenied" } : undefined]
      }))
      assert.strictEqual(refused._tag, "Failure")
      const log = yield* open(still, { memory })
      const seen = yield* values()
      assert.strictEqual(seen["wal_epoch"], 2)
      assert.strictEqual(seen["wal_takeovers_total"], 0)
      yield* log.end
    }))

  it.effect("go with the log: 1,000 logs opened and closed leave no series [case 27]", () =>
    Effect.gen(function*() {
      for (let n = 0; n < 1_000; n++) {
        const log = yield* open({ ...still, streamId: `s${n}` })
        yield* store(log.wal, records(1))
        yield* Stream.runDrain(log.wal.replay({ until: "durable-end" }))
        if (n % 100 === 0) assert.isAbove((yield* series(`s${n}`)).length, 30)
        yield* log.end
      }
      const left = (yield* Metric.snapshot).filter((one) => one.id.startsWith("wal_"))
      assert.deepStrictEqual(left, [])
    }))

  it.effect("names are counters in _total, base units, labels of a known set [case 27]", () =>
    withLog((log) =>
      Effect.gen(function*() {
        yield* store(log.wal, records(1))
        const all = yield* series()
        for (const one of all) {
          assert.match(one.id, /^wal_[a-z_]+$/)
          assert.strictEqual(one.type === "Counter", one.id.endsWith("_total"), one.id)
          if (one.type === "Histogram") assert.match(one.id, /_(seconds|bytes)$/)
          const labels = Object.keys(one.attributes ?? {}).filter((name) => name !== "unit" && name !== "time_unit")
          assert.isTrue(labels.every((name) => ["stream", "node", "operation", "class"].includes(name)), labels.join())
          assert.isAbove(one.description?.length ?? 0, 0)
        }
      })
    ))
})
