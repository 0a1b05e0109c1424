import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  holdPuts,
  isDone,
  key,
  makeGates,
  open,
  type Options,
  puts,
  range,
  readAll,
  records,
  seqs,
  settle,
  sized,
  slotKeys,
  start,
  still,
  stored,
  type TestLog
} from "../support/LogWorld.ts"

const counts = (log: TestLog) =>
  Effect.forEach(slotKeys(log.memory), (at) => Effect.map(stored(log.memory, at), ({ header }) => header.count))

const durableOf = (log: TestLog, count: number, from = 1) =>
  Effect.flatMap(log.wal.append(records(count, from)), ({ durable }) => start(durable))

describe("sealing", () => {
  it.effect("by entries, at once", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 5, flushInterval: "1h" } })
      yield* log.wal.append(records(4))
      yield* settle
      assert.deepStrictEqual(yield* counts(log), [])
      yield* log.wal.append(records(1, 5))
      yield* settle
      assert.deepStrictEqual(yield* counts(log), [5])
    }))

  it.effect("by bytes, at once", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxBytes: 100, flushInterval: "1h" } })
      yield* log.wal.append([sized(60), sized(39)])
      yield* settle
      assert.deepStrictEqual(yield* counts(log), [])
      yield* log.wal.append([sized(2)])
      yield* settle
      assert.deepStrictEqual(yield* counts(log), [2])
    }))

  it.effect("by the interval since the first record, with nobody waiting", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { flushInterval: "10s" } })
      yield* TestClock.adjust("7 seconds")
      yield* log.wal.append(records(1))
      yield* TestClock.adjust("6 seconds")
      yield* log.wal.append(records(1, 2))
      yield* TestClock.adjust("3999 millis")
      assert.deepStrictEqual(yield* counts(log), [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* counts(log), [2])
    }))

  it.effect("for a caller that was refused for want of room, after linger", () =>
    Effect.gen(function*() {
      const log = yield* open({
        ...still,
        segment: { maxBytes: 1_000, flushInterval: "1h", linger: "50ms" },
        maxRecordBytes: 1_000,
        maxBufferedBytes: 3_000
      })
      yield* log.wal.appendNow([sized(900)])
      assert.strictEqual(
        (yield* Effect.flip(log.wal.appendNow([sized(900), sized(900), sized(900)])))._tag,
        "BufferFull"
      )
      yield* TestClock.adjust("49 millis")
      assert.deepStrictEqual(yield* counts(log), [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* counts(log), [1])
    }))

  it.effect("by flush, without waiting for anything", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { flushInterval: "1h", linger: "1m" } })
      yield* log.wal.append(records(3))
      assert.strictEqual(yield* log.wal.flush, 3)
      assert.deepStrictEqual(yield* counts(log), [3])
      // Nothing new: no empty segment.
      assert.strictEqual(yield* log.wal.flush, 3)
      assert.strictEqual(puts(log).length, 1)
    }))

  it.effect("by demand after linger, when somebody waits [predecessor 18]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, preset: "aggressive", segment: { linger: "1s" } })
      const waiting = yield* durableOf(log, 1)
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(puts(log).length, 0)
      yield* TestClock.adjust("1 millis")
      assert.isTrue(isDone(waiting))
    }))

  for (const [preset, linger] of [["aggressive", 1_000], ["balanced", 100], ["low_latency", 5]] as const) {
    it.effect(`the preset ${preset} lingers ${linger} ms for who waits [predecessor 18]`, () =>
      Effect.gen(function*() {
        const log = yield* open({ ...still, preset, segment: { linger } })
        const waiting = yield* durableOf(log, 1)
        yield* TestClock.adjust(linger - 1)
        assert.isFalse(isDone(waiting))
        yield* TestClock.adjust(1)
        assert.isTrue(isDone(waiting))
      }))
  }

  it.effect("a full window of waiting callers goes on by itself: no timer in the loop [predecessor 18]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 1_000, flushInterval: "1h" } })
      // The next call is made when the one before is durable: 200 rounds without the clock.
      yield* Effect.forEach(range(1, 200), (n) => Effect.flatMap(log.wal.append(records(1, n)), (one) => one.durable))
      assert.strictEqual((yield* log.wal.status).durable, 200)
    }))

  it.effect("64 callers that wait share one PUT while a PUT is under way", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(still, { rules: [holdPuts(gates.of)] })
      const first = yield* durableOf(log, 1)
      yield* settle
      const rest = yield* Effect.forEach(range(2, 65), (n) => Effect.tap(durableOf(log, 1, n), () => settle))
      // Not for the interval's sake either: it is not over.
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(puts(log), [key(0)])
      yield* gates.open(key(0))
      yield* settle
      assert.deepStrictEqual(puts(log), [key(0), key(1)])
      yield* gates.open(key(1))
      yield* Effect.forEach([first, ...rest], Fiber.join)
      assert.deepStrictEqual(yield* counts(log), [1, 64])
    }))

  it.effect("demand waits while the window is full although a worker has nothing to do", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, parallelPut: { workers: 2 } }, {
        rules: [holdPuts((name) => name === key(0) ? gates.of(name) : undefined)]
      })
      yield* durableOf(log, 1)
      yield* settle
      yield* durableOf(log, 1, 2)
      yield* settle
      yield* durableOf(log, 1, 3)
      yield* durableOf(log, 1, 4)
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(puts(log), [key(0), key(1)])
      yield* gates.open(key(0))
      assert.deepStrictEqual(yield* counts(log), [1, 1, 2])
    }))

  it.effect("periodic seals by the interval only, whoever waits [predecessor 35]", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, sync: "periodic", segment: { flushInterval: "10s", linger: "0ms" } })
      const waiting = yield* durableOf(log, 1)
      yield* TestClock.adjust("9999 millis")
      assert.isFalse(isDone(waiting))
      yield* TestClock.adjust("1 millis")
      assert.isTrue(isDone(waiting))
      assert.strictEqual(puts(log).length, 1)
    }))

  for (const flushInterval of ["30d", "365d"] as const) {
    it.effect(`a flush_interval of ${flushInterval} does not fire early, and does fire [case 21]`, () =>
      Effect.gen(function*() {
        const days = Number(flushInterval.slice(0, -1))
        const log = yield* open({ ...still, segment: { flushInterval } })
        yield* log.wal.append(records(1))
        yield* TestClock.adjust("1 minute")
        yield* TestClock.adjust(`${days * 24 * 60 - 2} minutes`)
        assert.strictEqual(puts(log).length, 0)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(puts(log).length, 1)
      }))
  }

  it.effect("flushes everything accepted before, in all segments, and nothing waits behind it", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const options: Options = { ...still, segment: { maxEntries: 1, flushInterval: "1h" } }
      const log = yield* open(options, { rules: [holdPuts(gates.of)] })
      // 1 under way, 16 queued, one more open: flush has to wait for a place in the queue.
      yield* log.wal.append(records(1))
      yield* settle
      yield* log.wal.append(records(17, 2))
      const flushing = yield* start(log.wal.flush)
      for (const slot of range(0, 16)) yield* gates.open(key(slot))
      assert.isFalse(isDone(flushing))
      yield* gates.open(key(17))
      assert.strictEqual(yield* Fiber.join(flushing), 18)
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 18))
    }))
})
