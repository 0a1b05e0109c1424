/** Appending: numbers, durability, sizes, batches. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import type { Suite } from "./Suite.ts"
import { open } from "./SuiteProcess.ts"
import { dense, encode, failureOf, isPut, keyAt, range, readAll, records, sized, store } from "./SuiteRecords.ts"
import { drive, isDone, settle, start, until } from "./SuiteTime.ts"

const mebibyte = 1_048_576

const numberTests = ({ backend, test }: Suite) => {
  test("gives dense numbers from 1, carries every field, and copies the bytes", (place) =>
    Effect.gen(function*() {
      const { wal } = yield* open(place)
      const buffer = encode("first")
      const one = yield* wal.append([{ payload: buffer }])
      buffer.fill(0)
      const full = {
        payload: encode("p"),
        key: "k\u00e9y",
        headers: { content: "\"x\"\n\u0000", ["__proto__"]: "kept" },
        contentType: "text/plain",
        timestamp: -1.5
      }
      const two = yield* wal.append([full])
      const three = yield* wal.append(records(2))
      assert.deepStrictEqual([one, two, three].map(({ epoch, first, last }) => [first, last, epoch]), [
        [1, 1, 1],
        [2, 2, 1],
        [3, 4, 1]
      ])
      assert.strictEqual(yield* drive(wal.flush), 4)
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual(read.map((record) => record.seq), range(1, 4))
      assert.deepStrictEqual(read[0]?.payload.slice(), encode("first"))
      const { appendedAt, payload, ...second } = read[1] ?? assert.fail("not there")
      assert.deepStrictEqual(second, {
        key: full.key,
        headers: full.headers,
        contentType: full.contentType,
        timestamp: -1.5,
        seq: 2
      })
      assert.deepStrictEqual(payload.slice(), full.payload)
      assert.isTrue(Number.isSafeInteger(appendedAt))
    }))

  test("calls one another keep their order: many at once are dense and each is whole", (place) =>
    Effect.gen(function*() {
      const { wal } = yield* open(place, { parallelPut: { workers: backend.window === 1 ? 1 : 4 } })
      const answers = yield* drive(Effect.forEach(range(1, 40), (n) =>
        Effect.gen(function*() {
          const appended = yield* wal.append([{ payload: encode(`${n}a`) }, { payload: encode(`${n}b`) }])
          yield* appended.durable
          return appended
        }), { concurrency: "unbounded" }))
      const read = yield* readAll(wal)
      answers.forEach(({ first, last }, index) => {
        assert.strictEqual(last, first + 1)
        assert.deepStrictEqual(read.slice(first - 1, last), [`${first}:${index + 1}a`, `${last}:${index + 1}b`])
      })
      assert.strictEqual(read.length, 80)
    }))

  test("is durable, shown and committable only once it is stored [predecessor 1]", (place) =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(place)
      const gate = yield* Deferred.make<void>()
      faults.rule((request) => isPut(request) ? { _tag: "HoldBefore", gate } : undefined)
      const { durable } = yield* wal.append(records(3))
      const waiting = yield* start(durable)
      const flush = yield* start(wal.flush)
      yield* until(Effect.sync(() => faults.requests.some(isPut)))
      yield* settle
      assert.isFalse(isDone(waiting) || isDone(flush))
      const status = yield* wal.status
      assert.deepStrictEqual([status.lastAccepted, status.durable, status.atRisk.records], [3, 0, 3])
      assert.deepStrictEqual(yield* readAll(wal), [])
      assert.strictEqual((yield* failureOf(wal.commit(1)))._tag, "CommitBeyondDurable")
      assert.strictEqual((yield* failureOf(wal.ack(1)))._tag, "CommitBeyondDurable")
      yield* Deferred.done(gate, Exit.void)
      yield* drive(Fiber.join(waiting))
      assert.strictEqual(yield* drive(Fiber.join(flush)), 3)
      assert.deepStrictEqual(yield* readAll(wal), dense(3))
      assert.deepInclude((yield* wal.status).atRisk, { records: 0, bytes: 0 })
    }))

  test("a batch spans segments; a crash in the middle of it leaves a prefix", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place)
      const gate = yield* Deferred.make<void>()
      process.faults.rule((request) =>
        isPut(request) && request.key === keyAt(place, 1) ? { _tag: "HoldBefore", gate } : undefined
      )
      const { durable, last } = yield* process.wal.append(records(25))
      assert.strictEqual(last, 25)
      const waiting = yield* start(durable)
      yield* until(Effect.map(process.wal.status, (status) => status.durable === 10))
      assert.isFalse(isDone(waiting))
      yield* process.crash
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(10))
      const again = yield* store(next.wal, records(25, 11))
      assert.deepStrictEqual([again.first, again.epoch], [11, 2])
      assert.deepStrictEqual(yield* readAll(next.wal), dense(35))
    }))

  test("the sink appends what flows in, and ends when it is durable", (place) =>
    Effect.gen(function*() {
      const { wal } = yield* open(place)
      const last = yield* drive(Stream.fromIterable(records(25)).pipe(Stream.rechunk(7), Stream.run(wal.sink)))
      assert.strictEqual(last, 25)
      assert.strictEqual((yield* wal.status).durable, 25)
      assert.deepStrictEqual(yield* readAll(wal), dense(25))
    }))
}

const sizeTests = ({ test }: Suite) => {
  test("an empty batch uses no number and stores nothing; records of zero bytes are real ones [case 25]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place)
      const empty = yield* store(process.wal, [])
      assert.deepStrictEqual([empty.first, empty.last], [1, 0])
      assert.strictEqual(yield* drive(process.wal.flush), 0)
      assert.isFalse(process.faults.requests.some(isPut))
      yield* store(process.wal, [sized(0)])
      const three = yield* store(process.wal, [sized(0), sized(0), sized(0)])
      assert.deepStrictEqual([three.first, three.last], [2, 4])
      yield* process.crash
      const { wal } = yield* open(place)
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual(read.map((record) => [record.seq, record.payload.length]), range(1, 4).map((n) => [n, 0]))
    }))

  test("records around max_bytes come back whole; one that is too large is refused for that call only [case 25]", (place) =>
    Effect.gen(function*() {
      const options = { segment: { maxBytes: mebibyte, maxEntries: 1_000 }, maxRecordBytes: 4 * mebibyte }
      const process = yield* open(place, options)
      const sizes = [10, mebibyte, 20, mebibyte + 1, 30, 4 * mebibyte, 40]
      yield* store(process.wal, sizes.map((size, index) => sized(size, index)))
      const error = yield* failureOf(process.wal.append([sized(1), sized(4 * mebibyte + 1)]))
      assert.deepInclude(error, {
        _tag: "RecordTooLarge",
        index: 1,
        sizeBytes: 4 * mebibyte + 1,
        limitBytes: 4 * mebibyte
      })
      assert.strictEqual((yield* store(process.wal, [sized(50, 7)])).first, 8)
      yield* process.crash
      const { wal } = yield* open(place, options)
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual(
        read.map((record) => [record.payload.length, record.payload[0], record.payload.at(-1)]),
        [...sizes, 50].map((size, index) => [size, index, index])
      )
    }))

  test("200,000 records of one byte in one call: 200 segments, numbers whole [case 25]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, { segment: { maxEntries: 1_000 } })
      const payload = encode("x")
      const appended = yield* store(process.wal, Array.from({ length: 200_000 }, () => ({ payload })))
      assert.deepStrictEqual([appended.first, appended.last], [1, 200_000])
      assert.strictEqual(process.faults.requests.filter(isPut).length, 200)
      let expected = 1
      yield* drive(Stream.runForEachArray(process.wal.read(), (chunk) =>
        Effect.sync(() => {
          for (const record of chunk) {
            if (record.seq !== expected++) assert.fail(`${record.seq} came where ${expected - 1} should`)
          }
        })))
      assert.strictEqual(expected, 200_001)
    }))

  test("a batch larger than the buffer, of more segments than the queue holds, goes on piece by piece [case 25]", (place) =>
    Effect.gen(function*() {
      const limit = 4_000
      const { wal } = yield* open(place, {
        segment: { maxBytes: 1_000 },
        maxRecordBytes: 1_000,
        maxBufferedBytes: limit
      })
      const appending = yield* start(wal.append(range(1, 60).map((fill) => sized(500, fill))))
      while (!isDone(appending)) {
        assert.isAtMost((yield* wal.status).buffered.bytes, limit)
        yield* settle
      }
      const { durable, first, last } = yield* Fiber.join(appending)
      yield* drive(durable)
      assert.deepStrictEqual([first, last], [1, 60])
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual([...read].map((record) => record.payload[0]), [...range(1, 60)])
    }))
}

export const appendTests = (suite: Suite): void => {
  numberTests(suite)
  sizeTests(suite)
}
