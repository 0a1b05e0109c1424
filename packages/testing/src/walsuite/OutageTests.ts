/** A store that refuses or falls silent, a log that has nothing to do, and closing in both. */
import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Suite } from "./Suite.ts"
import { open } from "./SuiteProcess.ts"
import { dense, failureOf, isPut, keyAt, range, readAll, records, sized, store } from "./SuiteRecords.ts"
import { drive, isDone, settle, start, until } from "./SuiteTime.ts"

const outageTests = ({ backend, test }: Suite) => {
  const reasons: ReadonlyArray<Reason> = ["Unavailable", backend.onDisk ? "TimedOut" : "StoreFull", "AccessDenied"]
  for (const reason of reasons) {
    test(`the store answers ${reason}: bounded, visible, and input goes on by itself afterwards [predecessor 15] [predecessor 16] [case 7]`, (place) =>
      Effect.gen(function*() {
        let down = true
        const limit = 20_000
        const process = yield* open(place, {
          segment: { maxBytes: 2_000 },
          maxRecordBytes: 1_000,
          maxBufferedBytes: limit
        })
        const { wal } = process
        process.faults.rule((request) => down && isPut(request) ? { _tag: "Fail", reason } : undefined)
        const appending = yield* start(
          Effect.forEach(range(1, 60), (n) => wal.append([sized(900, n)]), { discard: true })
        )
        yield* until(Effect.map(wal.status, (status) => status.buffered.bytes > limit - 1_000))
        yield* until(Effect.map(wal.status, (status) => status.lastStoreError !== undefined))
        yield* TestClock.adjust("1 minute")
        assert.isFalse(isDone(appending))
        const status = yield* wal.status
        assert.isAtMost(status.buffered.bytes, limit)
        assert.deepInclude(status, { state: "open", durable: 0 })
        assert.include(status.lastStoreError ?? "", reason)
        assert.strictEqual((yield* failureOf(wal.appendNow([sized(900)])))._tag, "BufferFull")
        down = false
        yield* drive(Fiber.join(appending))
        yield* drive(wal.flush)
        const read = yield* drive(Stream.runCollect(wal.read()))
        assert.deepStrictEqual([...read].map((record) => record.payload[0]), [...range(1, 60)])
        assert.notProperty(yield* wal.status, "storeFailingSinceMillis")
        yield* process.crash
        const next = yield* open(place)
        assert.strictEqual((yield* next.wal.status).durable, 60)
      }))
  }

  test("an outage of the manifest alone stops no append; the changes are stored later [predecessor 24]", (place) =>
    Effect.gen(function*() {
      let down = true
      const process = yield* open(place, { manifest: { maxSegments: 1, maxDelay: "1s" } })
      process.faults.rule((request) =>
        down && request.operation === "replace" ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      yield* store(process.wal, records(30))
      yield* process.wal.commit(20)
      yield* TestClock.adjust("10 seconds")
      yield* store(process.wal, records(10, 31))
      down = false
      assert.deepInclude(yield* process.close, { durable: 40, lost: null, manifestWritten: true })
      const next = yield* open(place)
      assert.strictEqual((yield* next.wal.status).cursors["default"]?.mark, 20)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(40))
    }))
}

const fullTests = ({ backend, test }: Suite) => {
  if (!backend.onDisk) return
  test("a full disk refuses appends with DiskFull, keeps what it took, and takes more once there is room [case 20]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place)
      const { wal } = process
      yield* store(wal, records(5))
      let full = true
      process.faults.rule((request) => full && isPut(request) ? { _tag: "Fail", reason: "StoreFull" } : undefined)
      const { durable } = yield* wal.append(records(5, 6))
      const waiting = yield* start(durable)
      yield* until(Effect.map(wal.status, (status) => status.lastStoreError?.includes("StoreFull") === true))
      for (const append of [wal.append, wal.appendNow, wal.append]) {
        const error = yield* failureOf(append([sized(1)]))
        assert.strictEqual(error._tag, "DiskFull")
        assert.property(error, "path")
      }
      assert.isFalse(isDone(waiting))
      full = false
      yield* drive(Fiber.join(waiting))
      const { first } = yield* store(wal, records(5, 11))
      assert.strictEqual(first, 11)
      yield* process.crash
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(15))
    }))

  test("a call of which a part was accepted before the disk was full is not refused: all of it is stored, once", (place) =>
    Effect.gen(function*() {
      const limits = { segment: { maxBytes: 2_000 }, maxRecordBytes: 1_000, maxBufferedBytes: 20_000 }
      const { faults, wal } = yield* open(place, limits)
      let full = true
      faults.rule((request) => full && isPut(request) ? { _tag: "Fail", reason: "StoreFull" } : undefined)
      const appending = yield* start(wal.append(range(1, 60).map((n) => sized(900, n))))
      yield* until(Effect.map(wal.status, (status) => status.lastStoreError?.includes("StoreFull") === true))
      const { lastAccepted } = yield* wal.status
      assert.isTrue(lastAccepted > 0 && lastAccepted < 60, String(lastAccepted))
      // A flush seals what is open, which wakes who waits for room.
      yield* start(wal.flush)
      yield* TestClock.adjust("1 minute")
      assert.isFalse(isDone(appending))
      assert.strictEqual((yield* failureOf(wal.append([sized(1)])))._tag, "DiskFull")
      full = false
      assert.deepInclude(yield* drive(Fiber.join(appending)), { first: 1, last: 60 })
      yield* drive(wal.flush)
      const read = yield* drive(Stream.runCollect(wal.read()))
      assert.deepStrictEqual([...read].map((record) => record.payload[0]), [...range(1, 60)])
    }))
}

const idleTests = ({ test }: Suite) => {
  test("an idle log asks for nothing and writes nothing, fresh or used [case 25] [predecessor 26]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, {
        segment: { flushInterval: "100ms" },
        manifest: { maxSegments: 8, maxDelay: "100ms" },
        cursor: { interval: "100ms" },
        retention: { policy: "committed" }
      })
      yield* process.pass("5 seconds")
      const fresh = process.faults.requests.length
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.strictEqual(process.faults.requests.length, fresh)
      yield* store(process.wal, records(25))
      yield* process.wal.commit(25)
      // The cursor, the manifest and the deletes of what it lets go.
      yield* until(Effect.map(process.wal.status, (status) => status.trimmedTo === 25))
      yield* process.pass("5 seconds")
      const used = process.faults.requests.length
      yield* TestClock.adjust("1 hour")
      yield* settle
      assert.strictEqual(process.faults.requests.length, used)
    }))

  test("one PUT a segment [predecessor 27]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place)
      const before = process.faults.requests.length
      yield* store(process.wal, records(200))
      const made = process.faults.requests.slice(before).map(({ operation }) => operation)
      assert.deepStrictEqual(made, range(1, 20).map(() => "create"))
    }))
}

const closeTests = ({ test }: Suite) => {
  test("closing refuses appends from its start on, and every later call the same way [case 26]", (place) =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(place)
      yield* store(wal, records(4))
      yield* wal.append(records(5, 5))
      const [one, two] = yield* drive(Effect.all([wal.close, wal.close], { concurrency: 2 }))
      assert.deepInclude(one, { streamId: "log", durable: 9, lost: null, manifestWritten: true })
      assert.strictEqual(one, two)
      const requests = faults.requests.length
      const calls: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }>> = [
        wal.append(records(1)),
        wal.append([]),
        wal.appendNow(records(1)),
        wal.flush,
        wal.ack(1),
        wal.commit(1),
        wal.removeCursor("x"),
        wal.trim(1),
        Stream.runDrain(wal.read())
      ]
      for (const call of calls) assert.strictEqual((yield* failureOf(call))._tag, "WalClosed")
      assert.strictEqual((yield* wal.ended)._tag, "WalClosed")
      assert.strictEqual((yield* wal.status).state, "closed")
      assert.strictEqual(faults.requests.length, requests)
    }))

  test("what could not be stored in time is the exact range, and exactly that is missing [case 26] [predecessor 23]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, { parallelPut: { workers: 1, shutdownTimeout: "2s" } })
      const gate = yield* Deferred.make<void>()
      process.faults.rule((request) =>
        isPut(request) && request.key === keyAt(place, 3) ? { _tag: "HoldBefore", gate } : undefined
      )
      const { durable } = yield* process.wal.append(records(55))
      const waiting = yield* start(failureOf(durable))
      yield* until(Effect.map(process.wal.status, (status) => status.durable === 30))
      yield* process.wal.commit(17)
      const report = yield* process.close
      assert.deepInclude(report, {
        streamId: "log",
        durable: 30,
        lost: { from: 31, to: 55 },
        manifestWritten: true
      })
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "WalClosed")
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(30))
      assert.strictEqual((yield* next.wal.status).cursors["default"]?.mark, 17)
      assert.strictEqual((yield* store(next.wal, records(1, 31))).first, 31)
    }))

  test("closing ends although the store refuses or never answers [case 26]", (place) =>
    Effect.gen(function*() {
      for (const fault of [{ _tag: "Silence" }, { _tag: "Fail", reason: "Unavailable" }] as const) {
        const process = yield* open(place, { parallelPut: { workers: 1, shutdownTimeout: "100ms" } })
        const { durable } = yield* process.wal.status
        process.faults.rule(() => fault)
        yield* process.wal.append(records(15))
        const report = yield* process.close
        assert.deepInclude(report, { durable, lost: { from: durable + 1, to: durable + 15 }, manifestWritten: false })
      }
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), [])
    }))
}

export const outageAndCloseTests = (suite: Suite): void => {
  outageTests(suite)
  fullTests(suite)
  idleTests(suite)
  closeTests(suite)
}
