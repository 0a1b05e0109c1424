import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { CloseReport } from "../../src/WalService.ts"
import {
  holdPuts,
  isDone,
  key,
  makeGates,
  manifest,
  open,
  type Options,
  puts,
  range,
  readAll,
  records,
  refusePuts,
  reopen,
  seqs,
  settle,
  sized,
  slotKeys,
  start,
  still,
  store,
  type TestLog
} from "../support/LogWorld.ts"

/** The set-up of the case: 12 sealed segments of ten records, half an open one, two workers. */
const rollout: Options = {
  ...still,
  segment: { maxEntries: 10, flushInterval: "60s" },
  parallelPut: { workers: 2, shutdownTimeout: "10s" }
}

/** Closes and answers the report with the time that it took. */
const timedClose = (log: TestLog) =>
  Effect.gen(function*() {
    const before = yield* Clock.currentTimeMillis
    const report = yield* log.wal.close
    return { report, millis: (yield* Clock.currentTimeMillis) - before }
  })

const steps = (seconds: number) =>
  Effect.forEach(range(1, seconds * 10), () => TestClock.adjust("100 millis"), { discard: true })

/** After a restart: the numbers that are there. */
const left = (log: TestLog) => Effect.flatMap(reopen(log, rollout), (again) => Effect.map(readAll(again.wal), seqs))

const assertExact = (report: CloseReport, there: ReadonlyArray<number | string>, accepted: number) => {
  assert.deepStrictEqual(there, range(1, report.durable))
  assert.deepStrictEqual(report.lost, report.durable === accepted ? null : { from: report.durable + 1, to: accepted })
}

describe("close", () => {
  it.effect("seals and stores what is open, then the manifest with the cursors, and needs no clock", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { flushInterval: "1h", linger: "1m" } })
      yield* log.wal.append(records(5))
      yield* log.wal.flush
      yield* log.wal.commit(4)
      yield* log.wal.append(records(3, 6))
      const report = yield* log.wal.close
      assert.deepStrictEqual(report, { streamId: "log", durable: 8, lost: null, spooled: null, manifestWritten: true })
      const last = log.memory.requests.at(-1)
      assert.deepStrictEqual(last, { operation: "replace", keys: [manifest] })
      assert.strictEqual((yield* log.wal.status).state, "closed")
      const again = yield* reopen(log, still)
      assert.deepInclude((yield* again.wal.status).cursors["default"], { mark: 4, persisted: 4 })
      assert.deepStrictEqual(seqs(yield* readAll(again.wal)), range(1, 8))
    }))

  it.effect("answers WalClosed to later calls, and the same report to each close", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      yield* store(log.wal, records(2))
      const [one, two] = yield* Effect.all([log.wal.close, log.wal.close], { concurrency: 2 })
      const requests = log.memory.requests.length
      assert.strictEqual(one, two)
      assert.strictEqual(yield* log.wal.close, one)
      yield* log.end
      assert.strictEqual(log.memory.requests.length, requests)
      const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        log.wal.append(records(1)),
        log.wal.append([]),
        log.wal.appendNow(records(1)),
        log.wal.flush,
        log.wal.ack(1),
        log.wal.commit(1),
        log.wal.removeCursor("x"),
        log.wal.trim(1),
        readAll(log.wal)
      ]
      for (const call of calls) assert.strictEqual((yield* Effect.flip(call))._tag, "WalClosed")
      assert.strictEqual((yield* log.wal.ended)._tag, "WalClosed")
    }))

  it.effect("the end of the scope closes: nothing accepted is lost", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { flushInterval: "1h" } })
      yield* log.wal.append(records(7))
      yield* log.end
      const again = yield* reopen(log, still)
      assert.deepStrictEqual(seqs(yield* readAll(again.wal)), range(1, 7))
    }))

  it.effect("refuses appends from its start on, also those that wait for room", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({
        ...still,
        maxBufferedBytes: 3_000,
        maxRecordBytes: 1_000,
        segment: { maxBytes: 1_000 }
      }, {
        rules: [holdPuts(gates.of)]
      })
      yield* log.wal.append([sized(900), sized(900), sized(900)])
      const waiting = yield* Effect.forEach([1, 2], () => start(Effect.flip(log.wal.append([sized(900)]))))
      yield* settle
      const closing = yield* start(log.wal.close)
      yield* settle
      assert.strictEqual((yield* log.wal.status).state, "closing")
      for (const fiber of waiting) assert.strictEqual((yield* Fiber.join(fiber))._tag, "WalClosed")
      assert.strictEqual((yield* Effect.flip(log.wal.append(records(1))))._tag, "WalClosed")
      for (const slot of range(0, 3)) yield* gates.open(key(slot))
      assert.deepInclude(yield* Fiber.join(closing), { durable: 3, lost: null })
    }))

  it.effect("stores what it can within the time-out and reports the rest exactly [case 26] [predecessor 23]", () =>
    Effect.gen(function*() {
      const log = yield* open(rollout)
      const gate = Deferred.makeUnsafe<void>()
      log.faults.rule(holdPuts((name) => name === key(3) ? gate : undefined))
      const { durable } = yield* log.wal.append(records(125))
      const waiting = yield* start(Effect.flip(durable))
      yield* settle
      const closing = yield* start(timedClose(log))
      yield* steps(11)
      const { millis, report } = yield* Fiber.join(closing)
      assert.isAtMost(millis, 10_000)
      // Slot 3 is never stored; slot 4 is, and does not count.
      assert.deepInclude(report, { durable: 30, lost: { from: 31, to: 125 }, manifestWritten: true })
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "WalClosed")
      // What was given up is not sent later.
      yield* Deferred.done(gate, Exit.void)
      yield* settle
      assert.notInclude(slotKeys(log.memory), key(3))
      assertExact(report, yield* left(log), 125)
    }))

  it.effect("12 segments of about two seconds each and half an open one: about ten are stored [case 26]", () =>
    Effect.gen(function*() {
      const log = yield* open(rollout, { latencyMillis: 1_900 })
      yield* log.wal.append(records(125))
      const closing = yield* start(timedClose(log))
      yield* steps(11)
      const { millis, report } = yield* Fiber.join(closing)
      assert.isAtMost(millis, 10_000)
      assert.strictEqual(report.durable, 100)
      assert.isTrue(report.manifestWritten)
      assertExact(report, yield* left(log), 125)
    }))

  it.effect("ends in time and reports all when the store is down [case 26] [predecessor 23]", () =>
    Effect.gen(function*() {
      const log = yield* open(rollout)
      yield* store(log.wal, records(20))
      yield* log.wal.commit(15)
      const recover = log.faults.rule(() => ({ _tag: "Fail", reason: "Unavailable" }))
      yield* log.wal.append(records(35, 21))
      const closing = yield* start(timedClose(log))
      yield* steps(11)
      const { millis, report } = yield* Fiber.join(closing)
      assert.isAtMost(millis, 10_000)
      assert.deepStrictEqual(report, {
        streamId: "log",
        durable: 20,
        lost: { from: 21, to: 55 },
        spooled: null,
        manifestWritten: false
      })
      recover()
      assertExact(report, yield* left(log), 55)
    }))

  it.effect("ends in time when the store never answers [case 26]", () =>
    Effect.gen(function*() {
      const log = yield* open(rollout)
      log.faults.rule(() => ({ _tag: "Silence" }))
      yield* log.wal.append(records(35))
      const closing = yield* start(timedClose(log))
      yield* steps(11)
      const { millis, report } = yield* Fiber.join(closing)
      assert.isAtMost(millis, 10_000)
      assert.deepInclude(report, { lost: { from: 1, to: 35 }, manifestWritten: false })
      yield* log.end
    }))

  it.effect("cuts running back-off pauses short [case 26]", () =>
    Effect.gen(function*() {
      let down = true
      const log = yield* open({ ...rollout, retry: { base: "1m", cap: "1h" } }, {
        rules: [refusePuts("Unavailable", () => down)]
      })
      yield* log.wal.append(records(10))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(puts(log).length, 1)
      down = false
      const closing = yield* start(timedClose(log))
      yield* settle
      const { report } = yield* Fiber.join(closing)
      assert.deepInclude(report, { durable: 10, lost: null, manifestWritten: true })
    }))

  it.effect("cursors committed while it drains are stored [case 19]", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(rollout, { rules: [holdPuts((name) => name === key(2) ? gates.of(name) : undefined)] })
      yield* log.wal.append(records(30))
      const closing = yield* start(log.wal.close)
      yield* settle
      yield* log.wal.commit(20)
      yield* gates.open(key(2))
      assert.deepInclude(yield* Fiber.join(closing), { durable: 30, manifestWritten: true })
      const again = yield* reopen(log, rollout)
      assert.deepInclude((yield* again.wal.status).cursors["default"], { mark: 20 })
    }))

  it.effect("one failed PUT does not skip the cursors [predecessor 23]", () =>
    Effect.gen(function*() {
      const log = yield* open(rollout)
      yield* store(log.wal, records(20))
      yield* log.wal.commit(17)
      log.faults.rule(refusePuts("AccessDenied"))
      yield* log.wal.append(records(1, 21))
      const closing = yield* start(log.wal.close)
      yield* steps(11)
      assert.deepInclude(yield* Fiber.join(closing), { durable: 20, lost: { from: 21, to: 21 }, manifestWritten: true })
      const again = yield* reopen(log, rollout)
      assert.deepInclude((yield* again.wal.status).cursors["default"], { mark: 17 })
      assert.strictEqual(slotKeys(log.memory).length, 3)
    }))

  it.effect("goes on although the caller is interrupted", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(rollout, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append(records(3))
      const first = yield* start(log.wal.close)
      const stop = yield* start(Fiber.interrupt(first))
      yield* settle
      yield* gates.open(key(0))
      yield* Fiber.join(stop)
      assert.isTrue(isDone(first))
      assert.deepInclude(yield* log.wal.close, { durable: 3, lost: null })
    }))
})
