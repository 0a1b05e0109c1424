import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  drive,
  fills,
  holdPuts,
  isDone,
  isSegmentKey,
  key,
  makeGates,
  open,
  puts,
  range,
  readAll,
  records,
  refusePuts,
  seqs,
  settle,
  sized,
  slotKeys,
  start,
  still,
  store,
  stored
} from "../support/LogWorld.ts"

describe("an outage", () => {
  it.effect("fills the buffer to its bound and no further; input resumes by itself [predecessor 15] [predecessor 16]", () =>
    Effect.gen(function*() {
      let down = true
      const limit = 20_000
      const log = yield* open({
        ...still,
        segment: { maxBytes: 2_000 },
        maxRecordBytes: 1_000,
        maxBufferedBytes: limit,
        parallelPut: { workers: 2 }
      }, { rules: [refusePuts("Unavailable", () => down)] })
      const appending = yield* start(
        Effect.forEach(range(1, 60), (n) => log.wal.append([sized(900, n)]), { discard: true })
      )
      yield* TestClock.adjust("1 hour")
      assert.isFalse(isDone(appending))
      const status = yield* log.wal.status
      assert.isAtMost(status.buffered.bytes, limit)
      assert.isAbove(status.buffered.bytes, limit - 1_000)
      assert.deepInclude(status, { state: "open", durable: 0, storeFailingSinceMillis: 0 })
      assert.include(status.lastStoreError ?? "", "Unavailable")
      assert.strictEqual((yield* Effect.flip(log.wal.appendNow([sized(900)])))._tag, "BufferFull")
      down = false
      yield* drive(Fiber.join(appending))
      yield* drive(log.wal.flush)
      assert.deepStrictEqual(fills(yield* readAll(log.wal)), range(1, 60))
      // What gathered during the outage goes out in segments of the usual size.
      const parts = yield* Effect.forEach(slotKeys(log.memory), (at) => stored(log.memory, at))
      assert.isTrue(parts.every(({ header }) => header.count <= 2))
      assert.notProperty(yield* log.wal.status, "storeFailingSinceMillis")
    }))

  it.effect("counts segments too: a queue of 16 for each worker", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, segment: { maxEntries: 1 }, parallelPut: { workers: 2 } }, {
        rules: [holdPuts(gates.of)]
      })
      const appending = yield* start(
        Effect.forEach(range(1, 60), (n) => log.wal.append(records(1, n)), { discard: true })
      )
      yield* settle
      assert.isFalse(isDone(appending))
      const status = yield* log.wal.status
      assert.strictEqual(status.buffered.queuedSegments, 32)
      assert.strictEqual(status.lastAccepted, 2 + 32 + 1)
    }))

  for (const reason of ["AccessDenied", "NoSuchBucket", "CredentialsUnavailable", "StoreFull"] as const) {
    it.effect(`keeps everything while the store answers ${reason}, and goes on without a restart [case 7]`, () =>
      Effect.gen(function*() {
        let broken = true
        const log = yield* open({ ...still, segment: { maxEntries: 2 }, parallelPut: { workers: 2 } }, {
          rules: [refusePuts(reason, () => broken)]
        })
        const { durable } = yield* log.wal.append(records(7))
        const waiting = yield* start(durable)
        yield* TestClock.adjust("2 hours")
        assert.isFalse(isDone(waiting))
        assert.include((yield* log.wal.status).lastStoreError ?? "", reason)
        broken = false
        yield* drive(Fiber.join(waiting))
        assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 7))
      }))
  }

  it.effect("retries with growing, capped, jittered pauses; no two workers in step [case 6]", () =>
    Effect.gen(function*() {
      const times = new Map<string, Array<number>>()
      const clock = yield* Clock.Clock
      let down = true
      const log = yield* open({ ...still, segment: { maxEntries: 1 }, parallelPut: { workers: 4 } }, {
        onCreate: (name) => {
          times.set(name, [...times.get(name) ?? [], clock.currentTimeMillisUnsafe()])
        },
        rules: [refusePuts("Throttled", () => down)]
      })
      const { durable } = yield* log.wal.append(records(4))
      const waiting = yield* start(durable)
      yield* drive(Effect.sleep("30 seconds"))
      const tries = range(0, 3).map((slot) => times.get(key(slot)) ?? [])
      for (const one of tries) {
        assert.isBelow(one.length, 25)
        assert.isAbove(one.length, 8)
        const pauses = one.slice(1).map((at, index) => at - (one[index] ?? 0))
        assert.isTrue(pauses.every((pause) => pause <= 5_000 + 50))
        assert.isAbove(pauses.at(-1) ?? 0, 2_000)
        assert.isBelow(pauses[0] ?? 0, 200)
      }
      const after = tries.map((one) => new Set(one.slice(3)))
      const shared = [...after[0] ?? []].filter((at) => after.slice(1).every((other) => other.has(at)))
      assert.deepStrictEqual(shared, [])
      down = false
      yield* drive(Fiber.join(waiting))
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 4))
    }))

  it.effect("never comes back sooner than the store asked [case 6]", () =>
    Effect.gen(function*() {
      const times: Array<number> = []
      const clock = yield* Clock.Clock
      const log = yield* open(still, { onCreate: () => times.push(clock.currentTimeMillisUnsafe()) })
      times.length = 0
      let failures = 3
      log.faults.rule((request) =>
        isSegmentKey(request.key) && failures-- > 0
          ? { _tag: "Fail", reason: "Throttled", retryAfterMillis: 3_000 }
          : undefined
      )
      yield* drive(store(log.wal, records(1)), 100)
      const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0))
      assert.deepStrictEqual(pauses.map((pause) => pause >= 3_000 && pause < 3_500), [true, true, true])
    }))

  it.effect("sends each retry once: tries and answers add up [case 6]", () =>
    Effect.gen(function*() {
      const answers: ReadonlyArray<Reason> = [
        "Throttled",
        "Unavailable",
        "TimedOut",
        "Conflict",
        "UnexpectedResponse",
        "NotSupported"
      ]
      let nth = 0
      const log = yield* open(still)
      log.faults.rule((request) => {
        const reason = isSegmentKey(request.key) ? answers[nth++] : undefined
        return reason === undefined ? undefined : { _tag: "Fail", reason }
      })
      yield* drive(store(log.wal, records(1)))
      assert.strictEqual(puts(log).length, answers.length + 1)
    }))
})
