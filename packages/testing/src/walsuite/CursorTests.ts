/** Cursors: commits and acks, and what of them is there after an end. */
import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import type { Suite } from "./Suite.ts"
import { open, type Process } from "./SuiteProcess.ts"
import { shuffled } from "./SuiteRandom.ts"
import { failureOf, range, records, seqs, store } from "./SuiteRecords.ts"
import { drive, until } from "./SuiteTime.ts"

const markOf = (process: Process, cursor = "default") =>
  Effect.map(process.wal.status, (status) => status.cursors[cursor]?.mark)

const replay = (process: Process, cursor = "default") =>
  Effect.map(drive(Stream.runCollect(process.wal.replay({ cursor, until: "durable-end" }))), seqs)

const commitTests = ({ test }: Suite) => {
  test("a lower commit changes nothing, of many at once the highest stays, closing stores exactly it [case 19]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(100))
      yield* first.wal.commit(50)
      yield* first.wal.commit(40)
      assert.strictEqual(yield* markOf(first), 50)
      const marks = shuffled(range(1, 8).map((n) => n * 10), 19)
      yield* Effect.forEach(marks, (seq) => first.wal.commit(seq), { concurrency: "unbounded" })
      assert.strictEqual(yield* markOf(first), 80)
      yield* first.close
      const second = yield* open(place)
      assert.strictEqual(yield* markOf(second), 80)
      assert.deepStrictEqual(yield* replay(second), range(81, 100))
      yield* second.wal.commit(60)
      yield* second.close
      const third = yield* open(place)
      assert.strictEqual(yield* markOf(third), 80)
    }))

  test("killed 0.2 s after a commit: replay from what was stored, no hole [case 19]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place, { cursor: { interval: "1s" } })
      yield* store(first.wal, records(100))
      yield* first.wal.commit(60)
      yield* TestClock.adjust("200 millis")
      yield* first.crash
      const second = yield* open(place)
      const mark = (yield* markOf(second)) ?? assert.fail("no default cursor")
      assert.isAtMost(mark, 60)
      assert.deepStrictEqual(yield* replay(second), range(mark + 1, 100))
    }))

  test("stored by the interval, a commit survives a kill [case 19]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place, { cursor: { interval: "1s" } })
      yield* store(first.wal, records(20))
      yield* first.wal.commit(12)
      yield* TestClock.adjust("2 seconds")
      yield* until(Effect.map(first.wal.status, (status) => status.cursors["default"]?.persisted === 12))
      yield* first.crash
      const second = yield* open(place)
      assert.strictEqual(yield* markOf(second), 12)
    }))

  test("what is not durable, not a number or not a name is refused", (place) =>
    Effect.gen(function*() {
      const { wal } = yield* open(place)
      yield* store(wal, records(10))
      assert.deepInclude(yield* failureOf(wal.commit(11)), { _tag: "CommitBeyondDurable", requested: 11, durable: 10 })
      assert.strictEqual((yield* failureOf(wal.ack({ from: 9, to: 11 })))._tag, "CommitBeyondDurable")
      for (const bad of [-1, 1.5, Number.NaN]) {
        assert.strictEqual((yield* failureOf(wal.commit(bad)))._tag, "InvalidCursor")
      }
      assert.strictEqual((yield* failureOf(wal.commit(1, { cursor: "a/b" })))._tag, "InvalidCursor")
      assert.strictEqual((yield* failureOf(wal.removeCursor("default")))._tag, "InvalidCursor")
    }))

  test("named cursors are apart and survive; one that is removed stays removed [case 19]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(30))
      yield* first.wal.commit(5)
      yield* first.wal.commit(25, { cursor: "__proto__" })
      yield* first.wal.commit(9, { cursor: "gone" })
      yield* first.close
      const second = yield* open(place)
      assert.deepStrictEqual(yield* replay(second, "__proto__"), range(26, 30))
      assert.deepStrictEqual(yield* replay(second, "gone"), range(10, 30))
      yield* second.wal.removeCursor("gone")
      yield* second.close
      const third = yield* open(place)
      assert.deepStrictEqual(Object.keys((yield* third.wal.status).cursors).sort(), ["__proto__", "default"])
      assert.deepStrictEqual(yield* replay(third), range(6, 30))
    }))
}

const ackTests = ({ test }: Suite) => {
  test("acks in any order with failures: the first that failed is replayed, and what follows it [predecessor 2]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(100))
      const failed = [38, 41, 77]
      const done = shuffled(range(1, 100).filter((seq) => !failed.includes(seq)), 2)
      yield* Effect.forEach(done, (seq) => first.wal.ack(seq), { discard: true })
      assert.strictEqual(yield* markOf(first), 37)
      yield* first.wal.ack({ from: 38, to: 38 })
      assert.strictEqual(yield* markOf(first), 40)
      yield* first.close
      const second = yield* open(place)
      assert.deepStrictEqual(yield* replay(second), range(41, 100))
    }))

  test("more ranges above the mark than max_ahead are refused, until the oldest is done", (place) =>
    Effect.gen(function*() {
      const { wal } = yield* open(place, { cursor: { maxAhead: 2 } })
      yield* store(wal, records(20))
      yield* wal.ack(3)
      yield* wal.ack(5)
      assert.deepInclude(yield* failureOf(wal.ack(7)), { _tag: "CursorTooFarAhead", mark: 0, limit: 2 })
      yield* wal.ack({ from: 1, to: 2 })
      yield* wal.ack(7)
      assert.strictEqual((yield* wal.status).cursors["default"]?.mark, 3)
    }))
}

export const cursorTests = (suite: Suite): void => {
  commitTests(suite)
  ackTests(suite)
}
