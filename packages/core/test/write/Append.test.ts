import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { WalRecord } from "../../src/WalRecord.ts"
import {
  decode,
  encode,
  holdPuts,
  isDone,
  key,
  makeGates,
  open,
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
  store,
  stored,
  texts
} from "../support/LogWorld.ts"

/** Two records fill the buffer: content plus 32 bytes each. */
const small = { maxRecordBytes: 1_000, maxBufferedBytes: 3_000, segment: { maxBytes: 1_000 } }

describe("append", () => {
  it.effect("copies the bytes: a caller may reuse its buffer", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const buffer = encode("first")
      const one = yield* wal.append([{ payload: buffer }])
      buffer.set(encode("other"))
      yield* wal.append([{ payload: buffer }])
      buffer.fill(0)
      yield* one.durable
      yield* wal.flush
      assert.deepStrictEqual(texts(yield* readAll(wal)), ["first", "other"])
    }))

  it.effect("gives dense numbers from 1, and carries every field", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const full = {
        payload: encode("p"),
        key: "k\u00e9y",
        headers: { "content": "\"x\"\n\u0000", ["__proto__"]: "kept" },
        contentType: "text/plain",
        timestamp: -1.5
      }
      const answers = [yield* wal.append(records(3)), yield* wal.append([full]), yield* wal.append(records(2))]
      assert.deepStrictEqual(answers.map(({ first, last, epoch }) => [first, last, epoch]), [[1, 3, 1], [4, 4, 1], [
        5,
        6,
        1
      ]])
      yield* wal.flush
      const read: ReadonlyArray<WalRecord> = yield* readAll(wal)
      assert.deepStrictEqual(seqs(read), range(1, 6))
      const { appendedAt, ...fourth } = read[3] ?? { appendedAt: -1 }
      assert.deepStrictEqual(fourth, { ...full, seq: 4 })
      assert.strictEqual(appendedAt, 0)
    }))

  it.effect("splits a batch over segments, in order", () =>
    Effect.gen(function*() {
      const { memory, wal } = yield* open({ ...still, segment: { maxEntries: 4 } })
      yield* store(wal, records(10))
      const parts = yield* Effect.forEach(slotKeys(memory), (at) => stored(memory, at))
      assert.deepStrictEqual(parts.map(({ header }) => [header.firstSeq, header.count]), [[1, 4], [5, 4], [9, 2]])
    }))

  it.effect("uses no number for an empty batch, and stores nothing [case 25]", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      const empty = yield* store(log.wal, [])
      assert.deepStrictEqual([empty.first, empty.last], [1, 0])
      const now = yield* log.wal.appendNow([])
      assert.deepStrictEqual([now.first, now.last], [1, 0])
      assert.strictEqual(yield* log.wal.flush, 0)
      assert.deepStrictEqual(puts(log), [])
      assert.strictEqual((yield* store(log.wal, records(1))).first, 1)
    }))

  it.effect("refuses a call with a bad record whole, and names the field", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const payload = encode("x")
      const cases: ReadonlyArray<readonly [string, object]> = [
        ["key", { payload, key: "\ud800" }],
        ["contentType", { payload, contentType: "a\udfff" }],
        ["timestamp", { payload, timestamp: Number.NaN }],
        ["timestamp", { payload, timestamp: Number.POSITIVE_INFINITY }],
        ["headers[\"a\"]", { payload, headers: { a: "\udc00" } }],
        // What JSON would show as something else, or as nothing.
        ["headers", { payload, headers: ["a"] }],
        ["headers", { payload, headers: null }],
        ["headers", { payload, headers: new Map([["a", "b"]]) }],
        ["headers", { payload, headers: new Headers({ a: "b" }) }],
        ["headers", { payload, headers: Object.create({ toJSON: () => "" }) }],
        ["payload", { payload: "text" }],
        ["payload", {}]
      ]
      for (const [field, bad] of cases) {
        const batch = [{ payload }, bad] as Parameters<typeof wal.append>[0]
        const error = yield* Effect.flip(wal.append(batch))
        assert.strictEqual(error._tag, "InvalidRecord")
        assert.deepInclude(error, { index: 1, field })
        assert.strictEqual((yield* Effect.flip(wal.appendNow(batch)))._tag, "InvalidRecord")
      }
      assert.strictEqual((yield* store(wal, records(1))).last, 1)
    }))

  it.effect("keeps headers of any name", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const names = ["__proto__", "constructor", "toJSON", "", "\ufeff", "\u0000", "😀"]
      const headers = Object.fromEntries(names.map((name) => [name, `of ${name}`]))
      const bare = Object.assign(Object.create(null), { a: "b" })
      yield* store(wal, [{ payload: encode("x"), headers }, { payload: encode("y"), headers: bare }])
      const read = yield* readAll(wal)
      assert.deepStrictEqual(Object.entries(read[0]?.headers ?? {}), Object.entries(headers))
      assert.deepStrictEqual({ ...read[1]?.headers }, { a: "b" })
    }))

  it.effect("is not hurt by the interruption of another caller", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, ...small }, { rules: [holdPuts(gates.of)] })
      // Seven records of 400 bytes are all that fits.
      yield* log.wal.append(range(1, 6).map(() => sized(400)))
      const victim = yield* start(log.wal.append([sized(900, 1)]))
      const waiting = yield* start(log.wal.append([sized(900, 2)]))
      yield* settle
      assert.isFalse(isDone(victim) || isDone(waiting))
      yield* Fiber.interrupt(victim)
      for (const slot of range(0, 9)) yield* gates.open(key(slot))
      const { durable, first } = yield* Fiber.join(waiting)
      yield* durable
      const read = yield* readAll(log.wal)
      assert.strictEqual(first, 7)
      assert.deepStrictEqual(read.map((record) => record.payload[0]), [7, 7, 7, 7, 7, 7, 2])
    }))

  it.effect("keeps the order of callers that wait for room", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, ...small }, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append(range(1, 3).map(() => sized(900, 0)))
      const waiting = yield* Effect.forEach(range(1, 5), (fill) => start(log.wal.append([sized(900, fill)])))
      yield* settle
      // One that would fit is not let past those that wait.
      const late = yield* start(log.wal.append([sized(0)]))
      assert.strictEqual((yield* Effect.flip(log.wal.appendNow([sized(1)])))._tag, "BufferFull")
      for (const slot of range(0, 12)) yield* gates.open(key(slot))
      const firsts = yield* Effect.forEach([...waiting, late], (fiber) =>
        Effect.map(Fiber.join(fiber), (one) => one.first))
      assert.deepStrictEqual(firsts, range(4, 9))
    }))

  it.effect("appendNow accepts all or nothing", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, ...small }, { rules: [holdPuts(gates.of)] })
      yield* log.wal.appendNow([sized(900), sized(900)])
      const error = yield* Effect.flip(log.wal.appendNow([sized(900), sized(900)]))
      assert.strictEqual(error._tag, "BufferFull")
      assert.deepInclude(error, { bufferedBytes: 2 * 932, limitBytes: 3_000 })
      assert.strictEqual((yield* log.wal.status).lastAccepted, 2)
      assert.strictEqual((yield* log.wal.appendNow([sized(900, 9)])).last, 3)
      for (const slot of range(0, 5)) yield* gates.open(key(slot))
      yield* log.wal.flush
      assert.strictEqual((yield* log.wal.appendNow([sized(900), sized(900)])).last, 5)
    }))

  it.effect("appendNow fails when the queue of sealed segments is full, although bytes are free", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, segment: { maxEntries: 1 } }, { rules: [holdPuts(gates.of)] })
      // One under way, 16 queued, one open that is full.
      yield* log.wal.appendNow(records(1))
      yield* settle
      yield* log.wal.appendNow(records(17, 2))
      assert.strictEqual((yield* Effect.flip(log.wal.appendNow(records(1))))._tag, "BufferFull")
      assert.deepInclude((yield* log.wal.status).buffered, { queuedSegments: 16 })
      yield* gates.open(key(0))
      assert.strictEqual((yield* log.wal.appendNow(records(1, 19))).last, 19)
    }))

  it.effect("appendNow takes a call of more segments than the queue holds, whole, once one has a place", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, segment: { maxEntries: 1 } }, { rules: [holdPuts(gates.of)] })
      yield* log.wal.appendNow(records(1))
      yield* settle
      // Not while the queue is full: one under way, 16 queued, one open that is full.
      yield* log.wal.appendNow(records(17, 2))
      assert.strictEqual((yield* Effect.flip(log.wal.appendNow(records(40, 19))))._tag, "BufferFull")
      assert.strictEqual((yield* log.wal.status).lastAccepted, 18)
      for (const slot of range(0, 2)) yield* gates.open(key(slot))
      yield* settle
      const { durable, last } = yield* log.wal.appendNow(records(40, 19))
      assert.strictEqual(last, 58)
      // It counts: nothing more goes in beside it.
      assert.strictEqual((yield* Effect.flip(log.wal.appendNow(records(1))))._tag, "BufferFull")
      for (const slot of range(3, 57)) yield* gates.open(key(slot))
      yield* durable
      assert.deepStrictEqual(texts(yield* readAll(log.wal)), range(1, 58).map((n) => `r${n}`))
    }))

  it.effect("stamps appended_at from the clock, and never lets it fall when the clock steps back", () =>
    Effect.gen(function*() {
      const { wal } = yield* open(still)
      const years = 10 * 365 * 24 * 3_600_000
      yield* TestClock.setTime(1_000)
      yield* store(wal, [{ payload: encode("a"), timestamp: 9e15 }])
      yield* TestClock.setTime(years)
      yield* store(wal, [{ payload: encode("b"), timestamp: -1 }])
      yield* TestClock.setTime(years - 24 * 3_600_000)
      yield* store(wal, [{ payload: encode("c") }])
      yield* TestClock.setTime(years + 5)
      yield* store(wal, [{ payload: encode("d") }])
      const read = yield* readAll(wal)
      assert.deepStrictEqual(
        read.map((record) => [decode(record.payload), record.appendedAt, record.timestamp]),
        [["a", 1_000, 9e15], ["b", years, -1], ["c", years, undefined], ["d", years + 5, undefined]]
      )
    }))

  it.effect("seals by the interval although the wall clock has stepped back a day", () =>
    Effect.gen(function*() {
      const real = yield* Clock.Clock
      let stepMillis = 0
      const stepped: Clock.Clock = {
        ...real,
        currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + stepMillis,
        currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now + stepMillis)
      }
      const log = yield* open({ ...still, segment: { flushInterval: "1s" } }).pipe(
        Effect.provideService(Clock.Clock, stepped)
      )
      stepMillis = 48 * 3_600_000
      yield* store(log.wal, records(1))
      stepMillis = 0
      yield* log.wal.append(records(1, 2))
      yield* settle
      assert.strictEqual(puts(log).length, 1)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(puts(log).length, 2)
      const read = yield* readAll(log.wal)
      assert.deepStrictEqual(read.map((record) => record.appendedAt), [48 * 3_600_000, 48 * 3_600_000])
    }))
})
