import type { Fault, FaultyRequest } from "@effect-wal/testing/FaultyObjectStore"
import { type MemoryObject, MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  isDone,
  isSegmentKey,
  open,
  type Options,
  range,
  records,
  reopen,
  seqs,
  settle,
  start,
  still,
  store,
  storeSegments,
  type TestLog
} from "../support/LogWorld.ts"

const tens: Options = { ...still, segment: { maxEntries: 10 }, parallelPut: { workers: 8, pipelineDepth: 8 } }

/** Objects of logs of so many segments of ten records, closed; building a large one takes long. */
const built = new Map<number, ReadonlyMap<string, MemoryObject>>()

const objectsOf = Effect.fnUntraced(function*(segments: number) {
  const before = built.get(segments)
  if (before !== undefined) return before
  const writer = yield* open(tens)
  yield* storeSegments(writer.wal, segments, 10)
  yield* writer.wal.close
  built.set(segments, writer.memory.objects)
  return writer.memory.objects
})

/** What a log asked of the store for its segments. */
interface Gets {
  bodies: number
  headers: number
}

/** A log of so many segments, opened by a process that has nothing of it in memory. */
const storedLog = Effect.fnUntraced(function*(segments: number, options: Options = {}, commit = 0) {
  const memory = yield* MemoryObjectStore.make()
  for (const [name, object] of yield* objectsOf(segments)) memory.objects.set(name, object)
  const gets: Gets = { bodies: 0, headers: 0 }
  const onGet = (name: string, header: boolean) => {
    if (!isSegmentKey(name)) return
    if (header) gets.headers++
    else gets.bodies++
  }
  if (commit > 0) {
    const committer = yield* open(tens, { memory })
    yield* committer.wal.commit(commit)
    yield* committer.wal.close
  }
  const log = yield* open({ ...tens, ...options }, { memory, onGet })
  gets.headers = 0
  return { ...log, gets }
})

const isSegmentGet = (request: FaultyRequest): boolean => request.operation === "get" && isSegmentKey(request.key)

/** Gates every GET of a segment, and counts those under way. */
const gateGets = (log: TestLog) => {
  const waiting: Array<Deferred.Deferred<void>> = []
  let total = 0
  log.faults.rule((request): Fault | undefined => {
    if (!isSegmentGet(request)) return undefined
    total++
    const gate = Deferred.makeUnsafe<void>()
    waiting.push(gate)
    return { _tag: "HoldBefore", gate }
  })
  return {
    get total() {
      return total
    },
    get inFlight() {
      return waiting.length
    },
    /** Answers all that are under way, the newest first. */
    answer: Effect.suspend(() =>
      Effect.forEach(waiting.splice(0).reverse(), (gate) => Deferred.succeed(gate, undefined), { discard: true })
    )
  }
}

const prefetch = 16

describe("many segments", () => {
  it.effect("2,500: all 25,000 records, in order [case 13]", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(2_500)
      const read = yield* Stream.runCollect(log.wal.replay({ until: "durable-end" }))
      assert.deepStrictEqual(seqs(read), range(1, 25_000))
    }))

  it.effect("10,000: in order, GETs in flight within the prefetch, first record before the last GET [case 13] [predecessor 19]", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(10_000)
      const gets = gateGets(log)
      let next = 1
      let getsAtFirst = 0
      let highest = 0
      const reading = yield* start(
        Stream.runForEachArray(log.wal.replay({ until: "durable-end" }), (chunk) =>
          Effect.sync(() => {
            if (next === 1) getsAtFirst = gets.total
            for (const record of chunk) assert.strictEqual(record.seq, next++)
          }))
      )
      yield* settle
      while (!isDone(reading)) {
        highest = Math.max(highest, gets.inFlight)
        yield* gets.answer
        yield* Effect.yieldNow
        for (let turn = 0; turn < 50 && gets.inFlight === 0 && !isDone(reading); turn++) yield* Effect.yieldNow
      }
      yield* Fiber.join(reading)
      assert.strictEqual(next, 100_001)
      assert.strictEqual(gets.total, 10_000)
      assert.strictEqual(highest, prefetch)
      assert.isAtMost(getsAtFirst, 2 * prefetch)
    }))

  it.effect("10,000 and a reader that stops: what was fetched ahead stays bounded [case 13]", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(10_000)
      const go = Deferred.makeUnsafe<void>()
      let count = 0
      const reading = yield* start(
        Stream.runForEach(
          log.wal.replay({ until: "durable-end" }),
          () => count++ === 0 ? Deferred.await(go) : Effect.void
        )
      )
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(count, 1)
      assert.isAtMost(log.gets.bodies, prefetch + 2)
      assert.strictEqual(log.gets.headers, 0)
      yield* Fiber.interrupt(reading)
    }))

  it.effect("10,000, the cursor at 99 %: only what is left is fetched, and few headers [case 13]", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(10_000, {}, 99_000)
      const read = yield* Stream.runCollect(log.wal.replay({ until: "durable-end" }))
      assert.deepStrictEqual(seqs(read), range(99_001, 100_000))
      assert.isAtMost(log.gets.bodies, 101)
      assert.isAtMost(log.gets.headers, 14)
    }))

  it.effect("a sparse index costs a few header reads, in each half of the log [case 13]", () =>
    Effect.gen(function*() {
      const log = yield* storedLog(10_000)
      for (const from of [1, 12_345, 50_000, 77_777, 99_995]) {
        log.gets.headers = 0
        log.gets.bodies = 0
        const read = yield* Stream.runCollect(log.wal.read({ from, limit: 10 }))
        assert.deepStrictEqual(seqs(read), range(from, Math.min(100_000, from + 9)))
        assert.isAtMost(log.gets.headers, 14)
        assert.isAtMost(log.gets.bodies, 4 + 2 * prefetch)
        assert.strictEqual(log.memory.count("list"), 0)
      }
    }))

  for (const size of [1, 2, 3]) {
    it.effect(`a prefetch of ${size} is held to as well`, () =>
      Effect.gen(function*() {
        const log = yield* storedLog(20, { prefetch: size })
        const gets = gateGets(log)
        const reading = yield* start(Stream.runCollect(log.wal.replay({ until: "durable-end" })))
        yield* settle
        let highest = 0
        while (!isDone(reading)) {
          highest = Math.max(highest, gets.inFlight)
          yield* gets.answer
          yield* settle
        }
        assert.strictEqual(highest, size)
        assert.deepStrictEqual(seqs(yield* Fiber.join(reading)), range(1, 200))
      }))
  }

  it.effect("many epochs: each restart adds one, nothing is lost or read twice", () =>
    Effect.gen(function*() {
      let log = yield* open(tens)
      for (let n = 0; n < 40; n++) {
        yield* store(log.wal, records(7, n * 7 + 1))
        log = yield* reopen(log, tens)
      }
      assert.deepStrictEqual(seqs(yield* Stream.runCollect(log.wal.read())), range(1, 280))
      for (const from of [1, 8, 133, 274, 280]) {
        log.memory.clearRequests()
        assert.strictEqual(seqs(yield* Stream.runCollect(log.wal.read({ from, limit: 1 })))[0], from)
        assert.isAtMost(log.memory.count("get"), 8 + prefetch)
      }
    }))
})
