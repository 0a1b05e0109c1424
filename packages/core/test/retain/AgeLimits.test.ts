/** What age and size let go, on a log in memory whose clock is the test's. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { open, type Options, records, reopen, settle, slotKeys, store, storeSegments } from "../support/LogWorld.ts"

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
