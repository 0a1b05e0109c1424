import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Random, Stream } from "effect"
import { TestClock } from "effect/testing"
import { cursorsOf as cursorsIn } from "../../src/format/Extensions.ts"
import type { SegmentHeader } from "../../src/format/SegmentHeader.ts"
import {
  isSegmentKey,
  key,
  manifest,
  open,
  type Options,
  range,
  readAll,
  records,
  reopen,
  seqs,
  settle,
  start,
  still,
  store,
  stored,
  type TestLog
} from "../support/LogWorld.ts"

const decodeCursors = (header: SegmentHeader) => cursorsIn(header)?.marks

const cursorsOf = (log: TestLog) => Effect.map(log.wal.status, (status) => status.cursors)
const markOf = (log: TestLog, name = "default") => Effect.map(cursorsOf(log), (cursors) => cursors[name]?.mark)
const manifestWrites = (log: TestLog) =>
  log.memory.requests.filter((one) => one.operation === "replace" && one.keys[0] === manifest).length

const hundred = (options: Options = still) => Effect.tap(open(options), (log) => store(log.wal, records(100)))

describe("ack and commit", () => {
  it.effect("the mark moves over what is contiguous, and replay starts there [predecessor 2]", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      yield* log.wal.ack({ from: 2, to: 50 })
      yield* log.wal.ack(99)
      assert.strictEqual(yield* markOf(log), 0)
      yield* log.wal.ack(1)
      assert.strictEqual(yield* markOf(log), 50)
      const rest = yield* Stream.runCollect(log.wal.replay({ until: "durable-end" }))
      assert.deepStrictEqual(seqs(rest), range(51, 100))
    }))

  it.effect("random order with failures: exactly the failed one and what follows is replayed after a restart [predecessor 2]", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      const failed = 41
      const order = yield* Random.shuffle(range(1, 100)).pipe(Random.withSeed("acks"))
      for (const seq of order) if (seq !== failed) yield* log.wal.ack(seq)
      yield* log.wal.close
      const again = yield* reopen(log, still)
      assert.strictEqual(yield* markOf(again), failed - 1)
      assert.strictEqual(seqs(yield* Stream.runCollect(again.wal.replay({ until: "durable-end" })))[0], failed)
    }))

  it.effect("refuses what is no sequence number", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      for (const bad of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
        assert.strictEqual((yield* Effect.flip(log.wal.commit(bad)))._tag, "InvalidCursor")
        assert.strictEqual((yield* Effect.flip(log.wal.ack(bad)))._tag, "InvalidCursor")
        assert.strictEqual((yield* Effect.flip(log.wal.trim(bad)))._tag, "InvalidCursor")
      }
      assert.strictEqual((yield* Effect.flip(log.wal.ack(0)))._tag, "InvalidCursor")
      assert.strictEqual((yield* Effect.flip(log.wal.ack({ from: 5, to: 4 })))._tag, "InvalidCursor")
      assert.strictEqual(yield* markOf(log), 0)
    }))

  it.effect("refuses what is not durable", () =>
    Effect.gen(function*() {
      const log = yield* hundred({ ...still, segment: { flushInterval: "1h" } })
      yield* log.wal.append(records(5))
      for (const call of [log.wal.commit(101), log.wal.ack(101), log.wal.ack({ from: 100, to: 101 })]) {
        const error = yield* Effect.flip(call)
        assert.deepInclude(error, { _tag: "CommitBeyondDurable", requested: 101, durable: 100 })
      }
      yield* log.wal.commit(100)
      assert.strictEqual(yield* markOf(log), 100)
    }))

  it.effect("holds at most max_ahead ranges above the mark", () =>
    Effect.gen(function*() {
      const log = yield* hundred({ ...still, cursor: { ...still.cursor, maxAhead: 3 } })
      for (const seq of [10, 20, 30]) yield* log.wal.ack(seq)
      const error = yield* Effect.flip(log.wal.ack(40))
      assert.deepInclude(error, { _tag: "CursorTooFarAhead", mark: 0, limit: 3 })
      // Joining ranges, repeats and the oldest open record are welcome.
      yield* log.wal.ack(11)
      yield* log.wal.ack(20)
      yield* log.wal.ack({ from: 1, to: 9 })
      assert.strictEqual(yield* markOf(log), 11)
      yield* log.wal.ack(40)
    }))

  it.effect("8 commits at once, in any order: the highest wins; a lower one later is a no-op [case 19]", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      const order = yield* Random.shuffle(range(1, 8)).pipe(Random.withSeed("commits"))
      yield* Effect.all(order.map((n) => log.wal.commit(n * 10)), { concurrency: 8 })
      assert.strictEqual(yield* markOf(log), 80)
      yield* log.wal.commit(50)
      yield* log.wal.commit(40)
      yield* log.wal.commit(0)
      assert.strictEqual(yield* markOf(log), 80)
      yield* log.wal.close
      const again = yield* reopen(log, still)
      assert.strictEqual(yield* markOf(again), 80)
      // One handle that is stuck at 10 goes on sending it.
      yield* again.wal.commit(10)
      yield* again.wal.close
      assert.strictEqual(yield* markOf(yield* reopen(again, still)), 80)
    }))

  it.effect("kill 0.2 s after a commit: replay from what was stored, no hole; close stores exactly [case 19]", () =>
    Effect.gen(function*() {
      const options: Options = { ...still, cursor: { interval: "1s" } }
      const log = yield* hundred(options)
      yield* log.wal.commit(30)
      yield* TestClock.adjust("2 seconds")
      assert.deepInclude((yield* cursorsOf(log))["default"], { mark: 30, persisted: 30, lag: 70 })
      yield* log.wal.commit(60)
      yield* TestClock.adjust("200 millis")
      assert.deepInclude((yield* cursorsOf(log))["default"], { mark: 60, persisted: 30 })
      const killed = yield* reopen(log, options)
      assert.strictEqual(yield* markOf(killed), 30)
      assert.deepStrictEqual(
        seqs(yield* Stream.runCollect(killed.wal.replay({ until: "durable-end" }))),
        range(31, 100)
      )
      yield* killed.wal.commit(60)
      yield* killed.wal.close
      assert.strictEqual(yield* markOf(yield* reopen(killed, options)), 60)
    }))
})

describe("what is stored of cursors", () => {
  it.effect("acks do no requests [predecessor 17]", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      log.memory.clearRequests()
      for (const seq of range(1, 100)) yield* log.wal.ack(seq)
      yield* settle
      assert.deepStrictEqual(log.memory.requests, [])
    }))

  it.effect("segment headers carry the cursors: no manifest write while segments flow", () =>
    Effect.gen(function*() {
      const options: Options = {
        ...still,
        cursor: { interval: "1s", maxEntries: 10 },
        segment: { flushInterval: "500ms" }
      }
      const log = yield* open(options)
      for (let n = 1; n <= 40; n++) {
        yield* log.wal.append(records(5, n * 5 - 4))
        yield* TestClock.adjust("250 millis")
        yield* log.wal.commit((yield* log.wal.status).durable)
      }
      assert.strictEqual(manifestWrites(log), 0)
      const persisted = (yield* cursorsOf(log))["default"]?.persisted ?? 0
      assert.isAtLeast(persisted, 180)
      const again = yield* reopen(log, options)
      assert.isAtLeast((yield* markOf(again)) ?? 0, persisted)
    }))

  it.effect("the cursor in a header counts only once its slot is durable", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      yield* log.wal.commit(70)
      const { durable } = yield* log.wal.append(records(1))
      assert.deepInclude((yield* cursorsOf(log))["default"], { persisted: 0 })
      yield* durable
      assert.deepInclude((yield* cursorsOf(log))["default"], { persisted: 70 })
      const { header } = yield* stored(log.memory, key(1))
      assert.deepStrictEqual(decodeCursors(header), { default: 70 })
    }))

  it.effect("the manifest is written after the interval when no segment is due", () =>
    Effect.gen(function*() {
      const log = yield* hundred({ ...still, cursor: { interval: "1s" } })
      yield* log.wal.commit(70)
      yield* TestClock.adjust("999 millis")
      assert.strictEqual(manifestWrites(log), 0)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(manifestWrites(log), 1)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(manifestWrites(log), 1)
    }))

  it.effect("the manifest is written after cursor.max_entries when no segment is due", () =>
    Effect.gen(function*() {
      const log = yield* hundred({ ...still, cursor: { interval: "1h", maxEntries: 50 } })
      yield* log.wal.commit(49)
      yield* settle
      assert.strictEqual(manifestWrites(log), 0)
      yield* log.wal.ack(50)
      yield* settle
      assert.strictEqual(manifestWrites(log), 1)
      assert.strictEqual((yield* cursorsOf(log))["default"]?.persisted, 50)
    }))

  it.effect("a segment that comes too late is no carrier", () =>
    Effect.gen(function*() {
      const log = yield* hundred({ ...still, cursor: { interval: "1s" }, segment: { flushInterval: "1h" } })
      yield* log.wal.append(records(1))
      yield* log.wal.commit(70)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(manifestWrites(log), 1)
      assert.isFalse(log.memory.requests.some((one) =>
        one.operation === "create" && isSegmentKey(one.keys[0] ?? "") && one.keys[0] !== key(0)
      ))
    }))
})

describe("named cursors", () => {
  it.effect("are made by commit or ack, move alone, and come back after a restart", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      yield* log.wal.commit(10, { cursor: "billing" })
      yield* log.wal.ack({ from: 1, to: 20 }, { cursor: "search" })
      yield* log.wal.commit(5)
      yield* log.wal.close
      const again = yield* reopen(log, still)
      const cursors = yield* cursorsOf(again)
      assert.deepStrictEqual(Object.entries(cursors).map(([name, one]) => [name, one.mark]).sort(), [["billing", 10], [
        "default",
        5
      ], ["search", 20]])
      const read = yield* Stream.runCollect(again.wal.replay({ cursor: "billing", until: "durable-end" }))
      assert.deepStrictEqual(seqs(read), range(11, 100))
      assert.deepInclude(yield* again.wal.status, { state: "open" })
    }))

  it.effect("replay of one that does not exist is a typed error", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      const error = yield* Effect.flip(Stream.runDrain(log.wal.replay({ cursor: "nobody" })))
      assert.strictEqual(error._tag, "InvalidCursor")
    }))

  it.effect("a removed one stays removed, whatever older headers say", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      yield* log.wal.commit(10, { cursor: "old" })
      yield* store(log.wal, records(1))
      assert.deepStrictEqual(decodeCursors((yield* stored(log.memory, key(1))).header), { default: 0, old: 10 })
      yield* log.wal.removeCursor("old")
      yield* log.wal.close
      const again = yield* reopen(log, still)
      assert.deepStrictEqual(Object.keys(yield* cursorsOf(again)), ["default"])
      assert.strictEqual((yield* Effect.flip(again.wal.removeCursor("old")))._tag, "InvalidCursor")
      assert.strictEqual((yield* Effect.flip(again.wal.removeCursor("default")))._tag, "InvalidCursor")
    }))

  it.effect("at most 64, with names of the alphabet", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      for (const n of range(1, 63)) yield* log.wal.commit(1, { cursor: `c${n}` })
      assert.strictEqual((yield* Effect.flip(log.wal.commit(1, { cursor: "c64" })))._tag, "InvalidCursor")
      assert.strictEqual((yield* Effect.flip(log.wal.ack(1, { cursor: "c64" })))._tag, "InvalidCursor")
      yield* log.wal.commit(2, { cursor: "c63" })
      yield* log.wal.removeCursor("c1")
      yield* log.wal.commit(1, { cursor: "c64" })
      for (const cursor of ["", ".", "..", "a/b", "a b", "\u00e9", "x".repeat(129)]) {
        assert.strictEqual((yield* Effect.flip(log.wal.commit(1, { cursor })))._tag, "InvalidCursor")
      }
      assert.strictEqual(Object.keys(yield* cursorsOf(log)).length, 64)
      yield* log.wal.close
      assert.strictEqual(Object.keys(yield* cursorsOf(yield* reopen(log, still))).length, 64)
    }))

  it.effect("may have a name that objects have a use for", () =>
    Effect.gen(function*() {
      const log = yield* hundred()
      for (const cursor of ["__proto__", "constructor", "toString"]) yield* log.wal.commit(7, { cursor })
      yield* log.wal.close
      const again = yield* reopen(log, still)
      for (const cursor of ["__proto__", "constructor", "toString"]) {
        const rest = yield* Stream.runCollect(again.wal.replay({ cursor, until: "durable-end" }))
        assert.strictEqual(seqs(rest)[0], 8)
      }
    }))

  it.effect("the slowest holds back deletion, and the status says which", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, retention: { policy: "committed" }, segment: { maxEntries: 10 } })
      yield* store(log.wal, records(100))
      yield* log.wal.commit(90)
      yield* log.wal.commit(35, { cursor: "slow" })
      assert.strictEqual((yield* log.wal.status).heldBackBy, "slow")
      const trimming = yield* start(log.wal.trim(100))
      yield* settle
      assert.strictEqual(yield* Fiber.join(trimming), 30)
      assert.deepStrictEqual(seqs(yield* readAll(log.wal))[0], 31)
    }))
})
