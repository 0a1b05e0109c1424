import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { ReplayProgress } from "../../src/WalService.ts"
import {
  drive,
  encode,
  holdPuts,
  isDone,
  isSegmentKey,
  key,
  makeGates,
  open,
  type Options,
  range,
  readAll,
  records,
  reopen,
  seqs,
  settle,
  sized,
  start,
  still,
  store,
  storeSegments,
  type TestLog,
  texts
} from "../support/LogWorld.ts"

const tens: Options = { ...still, segment: { maxEntries: 10 } }
const gets = (log: TestLog) => log.memory.count("get")
const segmentGets = (log: TestLog) =>
  log.memory.requests.filter((one) => one.operation === "get" && isSegmentKey(one.keys[0] ?? "")).length

/** A log whose memory holds nothing of what is stored: reads go to the store. */
const storedLog = Effect.fnUntraced(function*(segments: number, options: Options = tens) {
  const writer = yield* open({ ...options, parallelPut: { workers: 4 } })
  yield* storeSegments(writer.wal, segments, 10)
  yield* writer.wal.close
  return yield* reopen(writer, options)
})

const replayed = (log: TestLog) => Effect.map(Stream.runCollect(log.wal.replay({ until: "durable-end" })), seqs)

describe("replay", () => {
  it.effect("starts at cursor + 1, in the middle of a segment, in this run and the next", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(5)
      yield* log.wal.commit(27)
      assert.deepStrictEqual(yield* replayed(log), range(28, 50))
      yield* log.wal.close
      assert.deepStrictEqual(yield* replayed(yield* reopen(log, tens)), range(28, 50))
    }))

  it.effect("fetches no segment that is committed as a whole [predecessor 19]", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(50)
      yield* log.wal.commit(455)
      log.memory.clearRequests()
      assert.deepStrictEqual(yield* replayed(log), range(456, 500))
      const fetched = log.memory.requests.flatMap((one) => one.operation === "get" ? one.keys : [])
      assert.isTrue(fetched.every((name) => name >= key(45)))
      assert.strictEqual(fetched.length, 5)
    }))

  it.effect("ends at the durable end that it finds there, live goes on", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(3)
      const live = yield* start(Stream.runCollect(log.wal.replay().pipe(Stream.take(35))))
      yield* settle
      assert.deepStrictEqual(yield* replayed(log), range(1, 30))
      assert.isFalse(isDone(live))
      yield* store(log.wal, records(5, 31))
      assert.deepStrictEqual(seqs(yield* Fiber.join(live)), range(1, 35))
    }))

  it.effect("shows nothing that is not durable", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(tens, { rules: [holdPuts(gates.of)] })
      const live = yield* start(Stream.runHead(log.wal.replay()))
      yield* log.wal.append(records(10))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(yield* readAll(log.wal), [])
      assert.isFalse(isDone(live))
      yield* gates.open(key(0))
      assert.isTrue(isDone(live))
    }))

  it.effect("says how far it is, after each segment", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(4)
      yield* log.wal.commit(15)
      const seen: Array<ReplayProgress> = []
      const onProgress = (progress: ReplayProgress) => Effect.sync(() => seen.push(progress)).pipe(Effect.asVoid)
      yield* Stream.runDrain(log.wal.replay({ until: "durable-end", onProgress }))
      assert.deepStrictEqual(seen.map(({ records, segments, segmentsTotal }) => [records, segments, segmentsTotal]), [
        [5, 1, 3],
        [15, 2, 3],
        [25, 3, 3]
      ])
      assert.isTrue(seen.every(({ bytes }, index) => bytes > (seen[index - 1]?.bytes ?? 0)))
    }))

  it.effect("stops fetching when the reader goes away", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(200)
      log.memory.clearRequests()
      yield* Stream.runDrain(log.wal.replay().pipe(Stream.take(25)))
      yield* settle
      assert.isAtMost(segmentGets(log), 3 + 16 + 2)
    }))
})

describe("a live reader", () => {
  it.effect("is fed from memory: no request at all", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      const reading = yield* start(Stream.runCollect(log.wal.replay().pipe(Stream.take(500))))
      yield* settle
      for (let n = 0; n < 50; n++) yield* store(log.wal, records(10, n * 10 + 1))
      assert.deepStrictEqual(texts(yield* Fiber.join(reading)), range(1, 500).map((n) => `r${n}`))
      assert.strictEqual(gets(log) + log.memory.count("list"), 0)
    }))

  it.effect("falls back to the store when it is slower, and misses nothing", () =>
    Effect.gen(function*() {
      // Two segments fit in memory.
      const log = yield* open({ ...tens, tailBufferBytes: 5_000 })
      const gates = makeGates()
      const read: Array<number> = []
      const reading = yield* start(Stream.runForEach(log.wal.replay().pipe(Stream.take(300)), (record) =>
        Effect.gen(function*() {
          read.push(record.seq)
          if (record.seq === 5) yield* Deferred.await(gates.of("slow"))
        })))
      yield* settle
      for (let n = 0; n < 30; n++) {
        yield* store(log.wal, records(10, n * 10 + 1))
      }
      assert.strictEqual(gets(log), 0)
      yield* gates.open("slow")
      yield* Fiber.join(reading)
      assert.deepStrictEqual(read, range(1, 300))
      assert.isAbove(segmentGets(log), 0)
    }))

  it.effect("gets Trimmed when deletion has overtaken it", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...tens, retention: { policy: "committed" }, tailBufferBytes: 0, prefetch: 1 })
      const gates = makeGates()
      const reading = yield* start(Effect.flip(Stream.runForEach(log.wal.read({ until: "live" }), (record) =>
        record.seq === 5 ? Deferred.await(gates.of("slow")) : Effect.void)))
      for (let n = 0; n < 30; n++) {
        yield* store(log.wal, records(10, n * 10 + 1))
      }
      yield* log.wal.commit(200)
      yield* log.wal.trim(200)
      yield* settle
      yield* gates.open("slow")
      const error = yield* Fiber.join(reading)
      assert.strictEqual(error._tag, "Trimmed")
      assert.deepInclude(error, { trimmedTo: 200 })
    }))

  it.effect("ends with the reason when the log ends", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      const reading = yield* start(Effect.flip(Stream.runDrain(log.wal.replay())))
      yield* store(log.wal, records(3))
      yield* log.wal.close
      assert.strictEqual((yield* Fiber.join(reading))._tag, "WalClosed")
    }))

  it.effect("may read from a number that does not exist yet", () =>
    Effect.gen(function*() {
      const log = yield* open(tens)
      const reading = yield* start(Stream.runCollect(log.wal.read({ from: 15, until: "live", limit: 3 })))
      yield* store(log.wal, records(10))
      yield* settle
      assert.isFalse(isDone(reading))
      yield* store(log.wal, records(10, 11))
      assert.deepStrictEqual(seqs(yield* Fiber.join(reading)), [15, 16, 17])
    }))
})

describe("read", () => {
  it.effect("by number: inclusive, limited, over epochs", () =>
    Effect.gen(function*() {
      const first = yield* storedLog(12)
      yield* store(first.wal, records(15, 121))
      const log = yield* reopen(first, tens)
      yield* store(log.wal, records(5, 136))
      for (const from of [1, 10, 11, 55, 119, 120, 121, 135, 136, 140, 141, 1_000]) {
        assert.deepStrictEqual(seqs(yield* readAll(log.wal, from)), range(from, 140))
        assert.deepStrictEqual(
          seqs(yield* Stream.runCollect(log.wal.read({ from, limit: 2 }))),
          range(from, Math.min(140, from + 1))
        )
      }
      for (const from of [0, -1, 1.5, Number.NaN]) {
        assert.strictEqual((yield* Effect.flip(readAll(log.wal, from)))._tag, "InvalidCursor")
      }
    }))

  it.effect("from below the trim point: Trimmed; without a start: from the oldest", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...tens, retention: { policy: "committed" } })
      yield* storeSegments(log.wal, 5, 10)
      yield* log.wal.commit(29)
      yield* log.wal.trim(29)
      yield* settle
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(21, 50))
      const error = yield* Effect.flip(readAll(log.wal, 20))
      assert.deepInclude(error, { _tag: "Trimmed", from: 20, trimmedTo: 20 })
      assert.deepStrictEqual(seqs(yield* readAll(log.wal, 21)), range(21, 50))
    }))

  it.effect("by time: the first record appended at or after it, though the clock stepped back", () =>
    Effect.gen(function*() {
      const first = yield* open({ ...still, segment: { maxEntries: 3 } })
      // Four records at each of these times; the third is a step back.
      const times = [1_000, 2_000, 1_500, 3_000, 3_000, 4_000]
      for (const [index, time] of times.entries()) {
        yield* TestClock.setTime(time)
        yield* store(first.wal, records(4, index * 4 + 1))
      }
      yield* first.wal.close
      const again = yield* reopen(first, still)
      const at = (wal: TestLog["wal"], appendedAtMillis: number) =>
        Effect.map(Stream.runCollect(wal.read({ from: { appendedAtMillis } })), (read) => seqs(read)[0])
      const table = [[0, 1], [1_000, 1], [1_001, 5], [1_999, 5], [2_000, 5], [2_001, 13], [3_000, 13], [3_001, 21], [
        4_000,
        21
      ], [4_001, undefined]]
      for (const [time, seq] of table) assert.strictEqual(yield* at(again.wal, time ?? 0), seq)
      // What `Date.parse` answers for what is no date.
      const error = yield* Effect.flip(at(again.wal, Number.NaN))
      assert.deepInclude(error, { _tag: "InvalidCursor", cursor: "from" })
    }))

  it.effect("by time: nothing older comes after a loss either", () =>
    Effect.gen(function*() {
      const options: Options = { ...still, segment: { maxEntries: 2, flushInterval: "1h" } }
      const first = yield* open(options)
      // Record n at second n, two a segment; after a restart only every second boundary is known.
      for (const second of range(1, 400)) {
        yield* TestClock.setTime(second * 1_000)
        yield* first.wal.append(records(1, second))
      }
      yield* first.wal.close
      const again = yield* reopen(first, options)
      for (const slot of range(100, 103)) {
        const harmed = again.memory.objects.get(key(slot))
        again.memory.objects.delete(key(slot))
        const appendedAtMillis = (2 * slot + 4) * 1_000
        const read = yield* drive(
          Stream.runCollect(again.wal.read({ from: { appendedAtMillis }, onDamage: "skip", limit: 5 }))
        )
        const found = read.find((one) => !("_tag" in one))
        assert.deepInclude(found, { seq: 2 * slot + 4 })
        again.memory.put(key(slot), harmed?.body ?? encode(""))
      }
    }))
})

describe("sink", () => {
  it.effect("appends what flows in and ends when it is durable", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(tens, { rules: [holdPuts(gates.of)] })
      const running = yield* start(Stream.run(Stream.fromIterable(records(25)).pipe(Stream.rechunk(4)), log.wal.sink))
      for (const slot of range(0, 1)) yield* gates.open(key(slot))
      assert.isFalse(isDone(running))
      yield* gates.open(key(2))
      assert.strictEqual(yield* Fiber.join(running), 25)
      assert.deepStrictEqual(texts(yield* readAll(log.wal)), range(1, 25).map((n) => `r${n}`))
      assert.strictEqual(yield* Stream.run(Stream.empty, log.wal.sink), 0)
    }))

  it.effect("fails with the error of a record, and what came before is kept", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...tens, maxRecordBytes: 100 })
      const input = Stream.fromIterable([{ payload: encode("good") }, sized(101)]).pipe(Stream.rechunk(1))
      assert.strictEqual((yield* Effect.flip(Stream.run(input, log.wal.sink)))._tag, "RecordTooLarge")
      yield* log.wal.flush
      assert.deepStrictEqual(texts(yield* readAll(log.wal)), ["good"])
    }))
})
