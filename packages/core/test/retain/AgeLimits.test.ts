/** What age and size let go, on a log in memory whose clock is the test's. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import {
  drive,
  isDone,
  key,
  open,
  type Options,
  records,
  reopen,
  settle,
  slotKeys,
  start,
  store,
  storeSegments,
  type TestLog
} from "../support/LogWorld.ts"

const eager: Options = { segment: { maxEntries: 10 }, manifest: { maxSegments: 1, maxDelay: "1s" } }

describe("retention by age", () => {
  it.effect("keeps what is younger than max_age, from the first segment on", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...eager, retention: { policy: "age", maxAge: "1h" } })
      for (let minute = 0; minute < 10; minute++) {
        yield* storeSegments(log.wal, 1, 10)
        yield* TestClock.adjust("2 minutes")
      }
      assert.strictEqual((yield* log.wal.status).trimmedTo, 0)
      assert.strictEqual(slotKeys(log.memory).length, 10)
    }))

  it.effect("deletes what is older, and only that", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...eager, retention: { policy: "age", maxAge: "1h" } })
      yield* storeSegments(log.wal, 3, 10)
      yield* TestClock.adjust("50 minutes")
      yield* storeSegments(log.wal, 2, 10)
      yield* TestClock.adjust("15 minutes")
      // The store's own time is that of its newest manifest: two more writes let it be seen, and used.
      for (let count = 0; count < 2; count++) {
        yield* storeSegments(log.wal, 1, 10)
        yield* TestClock.adjust("2 minutes")
      }
      assert.strictEqual((yield* log.wal.status).trimmedTo, 30)
      assert.strictEqual(slotKeys(log.memory).length, 4)
    }))

  it.effect("no cursor holds it back, and the status names none", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...eager, retention: { policy: "age", maxAge: "1h" } })
      yield* storeSegments(log.wal, 1, 10)
      assert.isUndefined((yield* log.wal.status).heldBackBy)
    }))

  it.effect("max_bytes deletes the oldest beyond it", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...eager, retention: { policy: "age", maxBytes: 2_000 } })
      for (let count = 0; count < 12; count++) {
        yield* storeSegments(log.wal, 1, 10)
        yield* TestClock.adjust("2 minutes")
      }
      const sizes = slotKeys(log.memory).map((name) => log.memory.objects.get(name)?.body.length ?? 0)
      const total = sizes.reduce((sum, size) => sum + size, 0)
      // One segment more than fits can stand until the next look.
      assert.isAtMost(total, 2_000 + 2 * Math.max(...sizes))
      assert.isAtLeast(total, 2_000 - Math.max(...sizes))
    }))
})

describe("min_age", () => {
  it.effect("holds back what is committed and young, from the first segment on", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...eager, retention: { policy: "committed", minAge: "1h" } })
      for (let count = 1; count <= 10; count++) {
        yield* storeSegments(log.wal, 1, 10)
        yield* log.wal.commit(count * 10)
        yield* TestClock.adjust("2 minutes")
      }
      assert.strictEqual((yield* log.wal.status).trimmedTo, 0)
      assert.strictEqual(slotKeys(log.memory).length, 10)
    }))

  it.effect("holds back what is young after a restart, where only some boundaries are known", () =>
    Effect.gen(function*() {
      const options: Options = {
        ...eager,
        segment: { maxEntries: 1 },
        retention: { policy: "committed", minAge: "1h" }
      }
      const writer = yield* open(options)
      yield* storeSegments(writer.wal, 400, 1)
      yield* writer.wal.commit(400)
      yield* writer.wal.close
      const log = yield* reopen(writer, options)
      for (let count = 0; count < 3; count++) {
        yield* store(log.wal, records(1))
        yield* TestClock.adjust("2 minutes")
      }
      yield* log.wal.trim(400)
      yield* settle
      assert.strictEqual((yield* log.wal.status).trimmedTo, 0)
    }))

  it.effect("a trim right after a start looks first, and lets go what is old", () =>
    Effect.gen(function*() {
      const options: Options = { ...eager, retention: { policy: "committed", minAge: "1h" } }
      const writer = yield* open(options)
      yield* storeSegments(writer.wal, 5, 10)
      yield* writer.wal.commit(50)
      yield* writer.wal.close
      yield* TestClock.adjust("2 hours")
      const log = yield* reopen(writer, options)
      // The store's own time is that of its newest manifest, which is that of the opening.
      assert.strictEqual(yield* drive(log.wal.trim(50)), 50)
      yield* drive(log.wal.close)
      assert.deepStrictEqual(slotKeys(log.memory).filter((name) => name.includes("/0000000001/")), [key(5)])
    }))

  it.effect("asks for nothing where no limit is set", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const log = yield* open({ ...eager, retention: { policy: "committed" } }, { memory })
      for (let count = 0; count < 3; count++) {
        yield* storeSegments(log.wal, 1, 10)
        yield* TestClock.adjust("2 minutes")
      }
      assert.strictEqual(memory.count("list"), 0)
    }))
})

const lists = (log: TestLog): number => log.faults.requests.filter(({ operation }) => operation === "list").length

describe("a look at what has aged", () => {
  const aged: Options = { ...eager, retention: { policy: "age", maxAge: "1h" } }

  /** Listings wait before they reach the store. */
  const holdLists = (log: TestLog) => {
    const gate = Deferred.makeUnsafe<void>()
    log.faults.rule(({ operation }) => operation === "list" ? { _tag: "HoldBefore", gate } : undefined)
    return gate
  }

  /** A log of which 30 records have aged, and a look at that which waits. */
  const heldLook = Effect.gen(function*() {
    const log = yield* open(aged)
    yield* storeSegments(log.wal, 3, 10)
    yield* TestClock.adjust("2 hours")
    const gate = holdLists(log)
    yield* storeSegments(log.wal, 1, 10)
    return { log, gate }
  })

  it.effect("holds back neither a manifest nor closing, and ends with the log", () =>
    Effect.gen(function*() {
      const log = yield* open(aged)
      const before = lists(log)
      const gate = holdLists(log)
      yield* storeSegments(log.wal, 2, 10)
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(lists(log), before + 1)
      const cursor = yield* start(log.wal.commit(10, { cursor: "fresh" }))
      yield* settle
      assert.isTrue(isDone(cursor))
      const closing = yield* start(log.wal.close)
      yield* settle
      assert.isTrue(isDone(closing))
      assert.isTrue((yield* log.wal.close).manifestWritten)
      yield* log.end
      yield* Deferred.done(gate, Exit.void)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(lists(log), before + 1)
    }))

  it.effect("has what it found deleted, though nobody writes any more", () =>
    Effect.gen(function*() {
      const { gate, log } = yield* heldLook
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* log.wal.status).trimmedTo, 0)
      yield* Deferred.done(gate, Exit.void)
      yield* settle
      assert.strictEqual((yield* log.wal.status).trimmedTo, 30)
      assert.strictEqual(slotKeys(log.memory).length, 1)
      const before = log.faults.requests.length
      yield* TestClock.adjust("5 hours")
      assert.strictEqual(log.faults.requests.length, before)
    }))

  it.effect("does not have a manifest tried again and again that is refused", () =>
    Effect.gen(function*() {
      const { gate, log } = yield* heldLook
      yield* TestClock.adjust("1 minute")
      let refuses = true
      log.faults.rule(({ operation }) =>
        refuses && operation === "replace" ? { _tag: "Fail", reason: "AccessDenied" } : undefined
      )
      const before = log.faults.requests.length
      yield* Deferred.done(gate, Exit.void)
      yield* TestClock.adjust("10 minutes")
      const tries = log.faults.requests.slice(before).filter(({ operation }) => operation === "replace").length
      assert.isAtLeast(tries, 2)
      // One for each pause of the longest kind, and some shorter ones before.
      assert.isAtMost(tries, 200)
      refuses = false
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* log.wal.status).trimmedTo, 30)
    }))

  it.effect("that dies ends the log", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const log = yield* open(aged, { memory })
      log.faults.rule(({ operation }) => {
        if (operation === "list") throw new Error("no such thing")
        return undefined
      })
      yield* storeSegments(log.wal, 1, 10)
      yield* settle
      assert.deepInclude(yield* log.wal.ended, { _tag: "WalFailed", cause: "trimming: no such thing" })
    }))

  it.effect("is not given up for a page that is refused once", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make({ pageSize: 2 })
      const log = yield* open(aged, { memory })
      yield* storeSegments(log.wal, 10, 10)
      yield* TestClock.adjust("2 hours")
      log.faults.rule(({ nth, operation }) =>
        operation === "list" && nth % 2 === 1 ? { _tag: "Fail", reason: "Throttled" } : undefined
      )
      yield* storeSegments(log.wal, 1, 10)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* log.wal.status).trimmedTo, 100)
    }))

  it.effect("that fails in the end is made again after a pause for all its pages", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make({ pageSize: 1 })
      const log = yield* open({ ...aged, segment: { maxEntries: 1 } }, { memory })
      yield* storeSegments(log.wal, 120, 1)
      yield* TestClock.adjust("10 minutes")
      const first = lists(log)
      log.faults.rule(({ nth, operation }) =>
        operation === "list" && nth >= first + 90 ? { _tag: "Fail", reason: "AccessDenied" } : undefined
      )
      yield* store(log.wal, records(1))
      yield* TestClock.adjust("80 seconds")
      const failed = lists(log)
      assert.strictEqual(failed, first + 91)
      yield* store(log.wal, records(1))
      yield* settle
      assert.strictEqual(lists(log), failed)
      yield* TestClock.adjust("30 seconds")
      yield* store(log.wal, records(1))
      yield* TestClock.adjust("5 seconds")
      assert.isAbove(lists(log), failed)
    }))
})
