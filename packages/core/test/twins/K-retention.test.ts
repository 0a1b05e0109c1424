/** Case 17 as a whole, and its twins: time that jumps, deletes that fail, readers in the middle. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Logger, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  drive,
  encode,
  isSegmentKey,
  open,
  type Options,
  range,
  readAll,
  records,
  reopen,
  seqs,
  settle,
  slotKeys,
  start,
  still,
  store,
  storeSegments
} from "../support/LogWorld.ts"

const yearsMillis = 10 * 365 * 24 * 3_600_000
const dayMillis = 24 * 3_600_000

/** The wall clock of a machine that can be stepped; its timers go on as ever. */
const steppedClock = Effect.gen(function*() {
  const real = yield* Clock.Clock
  let stepMillis = 0
  const clock: Clock.Clock = {
    ...real,
    currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe() + stepMillis,
    currentTimeMillis: Effect.map(real.currentTimeMillis, (now) => now + stepMillis)
  }
  return {
    clock,
    step: (millis: number) => {
      stepMillis = millis
    }
  }
})

const tens: Options = { segment: { maxEntries: 10 }, manifest: { maxSegments: 1, maxDelay: "1s" } }

describe("retention", () => {
  it.effect.each([[35, 30], [39, 30], [40, 40]] as const)(
    "[case 17] [kind K] the cursor at %i: at most 1-%i go, before and after steps of the clock by +10 years and -1 day",
    ([cursor, gone]) =>
      Effect.gen(function*() {
        const { clock, step } = yield* steppedClock
        const log = yield* open({ ...tens, retention: { policy: "committed", minAge: "1s" } }).pipe(
          Effect.provideService(Clock.Clock, clock)
        )
        yield* storeSegments(log.wal, 10, 10)
        yield* log.wal.commit(cursor)
        for (const millis of [0, yearsMillis, yearsMillis - dayMillis, -dayMillis]) {
          step(millis)
          yield* TestClock.adjust("10 minutes")
          yield* start(log.wal.trim(100))
          yield* settle
          assert.isAtMost((yield* log.wal.status).trimmedTo, gone)
          assert.includeMembers([...seqs(yield* readAll(log.wal))], [...range(gone + 1, 100)])
        }
        // What may go goes in the end: the limit is the cursor, not the clock.
        for (let count = 0; count < 4; count++) {
          yield* TestClock.adjust("10 minutes")
          yield* storeSegments(log.wal, 1, 10)
          yield* settle
        }
        assert.strictEqual((yield* log.wal.status).trimmedTo, gone)
      })
  )

  it.effect("[case 17] [kind K] by size down to one byte takes all that has an end, says so to readers, and the log goes on", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...tens, retention: { policy: "age", maxBytes: 1 } })
      yield* storeSegments(log.wal, 10, 10)
      yield* log.wal.commit(35)
      yield* TestClock.adjust("10 minutes")
      yield* storeSegments(log.wal, 1, 10)
      yield* TestClock.adjust("2 minutes")
      // `age` was chosen: it does not ask the cursor.
      const error = yield* Effect.flip(Stream.runDrain(log.wal.replay({ until: "durable-end" })))
      assert.deepInclude(error, { _tag: "Trimmed", from: 36 })
      const { trimmedTo } = yield* log.wal.status
      assert.isAtLeast(trimmedTo, 100)
      const { first } = yield* store(log.wal, records(1))
      assert.strictEqual(first, 111)
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(trimmedTo + 1, 111))
    }))

  it.effect("[case 17] [kind K] timers go on through every step of the clock: what is appended is sealed on time", () =>
    Effect.gen(function*() {
      const { clock, step } = yield* steppedClock
      const log = yield* open({ ...still, segment: { flushInterval: "1s", linger: "1s" }, sync: "periodic" }).pipe(
        Effect.provideService(Clock.Clock, clock)
      )
      const steps = [0, yearsMillis, yearsMillis - dayMillis, -dayMillis]
      for (const [index, millis] of steps.entries()) {
        step(millis)
        yield* log.wal.append(records(1))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* log.wal.status).durable, index + 1)
      }
      const times = (yield* readAll(log.wal)).map((record) => record.appendedAt)
      assert.deepStrictEqual(times, times.slice().sort((left, right) => left - right))
    }))

  it.effect("[case 17] [kind K] timestamps of any unit come back unchanged, decide nothing, and survive a restart", () =>
    Effect.gen(function*() {
      const timestamps = [0, -1, 1_785_000_000, 1_785_000_000_000_000, 9e15, -9e15, 0.5, Number.MAX_VALUE, -0]
      const options: Options = { ...tens, retention: { policy: "age", maxAge: "1h" } }
      const log = yield* open(options)
      yield* store(log.wal, timestamps.map((timestamp) => ({ payload: encode("x"), timestamp })))
      yield* TestClock.adjust("10 minutes")
      yield* store(log.wal, records(1))
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* log.wal.status).trimmedTo, 0)
      yield* log.wal.close
      const again = yield* reopen(log, options)
      const read = yield* readAll(again.wal)
      assert.deepStrictEqual(read.slice(0, -1).map((record) => record.timestamp), timestamps)
      assert.deepStrictEqual(
        seqs(yield* Stream.runCollect(again.wal.read({ from: { appendedAtMillis: 1 } }))),
        [timestamps.length + 1]
      )
    }))

  it.effect("[case 17] [kind K] deletes that fail inside a success are counted, tried again, and no key is forgotten", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const remove = memory.store.remove
      const asked: Array<ReadonlyArray<string>> = []
      Object.assign(memory.store, {
        remove: (keys: ReadonlyArray<string>) =>
          Effect.suspend(() => {
            asked.push(keys)
            if (asked.length > 5) return remove(keys)
            const [first = "", ...rest] = keys
            return Effect.as(remove(rest), [{ key: first, code: "AccessDenied" }])
          })
      })
      const log = yield* open({ ...tens, retention: { policy: "committed" } }, { memory })
      yield* storeSegments(log.wal, 5, 10)
      yield* log.wal.commit(40)
      assert.strictEqual(yield* log.wal.trim(40), 40)
      yield* settle
      assert.strictEqual(slotKeys(memory).length, 2)
      yield* TestClock.adjust("5 minutes")
      assert.strictEqual(slotKeys(memory).length, 1)
      assert.deepStrictEqual(asked.map((keys) => keys.length), [4, 1, 1, 1, 1, 1])
      assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(41, 50))
    }))

  it.effect("[case 17] [kind K] what the store says of versioning and life-cycle rules is a warning when the log opens", () =>
    Effect.gen(function*() {
      const advice = ["the bucket is versioned: deletes free nothing", "a rule deletes below the prefix after 7 days"]
      const memory = yield* MemoryObjectStore.make({ advice })
      const told: Array<unknown> = []
      const logger = Logger.make(({ logLevel, message }) => {
        if (logLevel === "Warn") told.push(...[message].flat())
      })
      yield* open(tens, { memory, logLevel: "Warn" }).pipe(Effect.provide(Logger.layer([logger])))
      assert.deepStrictEqual(told, advice)
    }))
})

describe("time stamps of the store that jump", () => {
  /** Sets when the store says a segment was written. */
  const stamp = (memory: MemoryObjectStore["Service"], key: string, modifiedMillis: number) => {
    const object = memory.objects.get(key)
    if (object === undefined) throw new Error(`no ${key}`)
    memory.objects.set(key, { ...object, modifiedMillis })
  }

  const minAge: Options = { ...tens, retention: { policy: "committed", minAge: "1h" } }

  it.effect("[kind K] years ahead for one segment: it and what follows is kept, what was before it goes", () =>
    Effect.gen(function*() {
      const log = yield* open(minAge)
      yield* storeSegments(log.wal, 5, 10)
      yield* log.wal.commit(50)
      const third = slotKeys(log.memory)[2] ?? ""
      stamp(log.memory, third, yearsMillis)
      yield* TestClock.adjust("3 hours")
      for (let count = 0; count < 3; count++) {
        yield* storeSegments(log.wal, 1, 10)
        yield* TestClock.adjust("2 minutes")
      }
      assert.strictEqual((yield* log.wal.status).trimmedTo, 20)
      assert.strictEqual(slotKeys(log.memory)[0], third)
      // The clock of the store is right again: so is the age.
      stamp(log.memory, third, 0)
      for (let count = 0; count < 3; count++) {
        yield* storeSegments(log.wal, 1, 10)
        yield* TestClock.adjust("2 minutes")
      }
      assert.strictEqual((yield* log.wal.status).trimmedTo, 50)
    }))

  it.effect("[kind K] absent, or the manifest's own in the past: nothing is old enough", () =>
    Effect.gen(function*() {
      for (const back of [undefined, -dayMillis]) {
        const memory = yield* MemoryObjectStore.make()
        const list = memory.store.list
        Object.assign(memory.store, {
          list: (request: Parameters<typeof list>[0]) =>
            Effect.map(list(request), (page) => ({
              ...page,
              objects: page.objects.map((object) => {
                if (isSegmentKey(object.key)) return object
                const { modifiedMillis: _, ...rest } = object
                return back === undefined ? rest : { ...rest, modifiedMillis: back }
              })
            }))
        })
        const log = yield* open(minAge, { memory })
        yield* storeSegments(log.wal, 5, 10)
        yield* log.wal.commit(50)
        yield* TestClock.adjust("3 hours")
        yield* storeSegments(log.wal, 1, 10)
        yield* TestClock.adjust("3 hours")
        assert.strictEqual((yield* log.wal.status).trimmedTo, 0)
      }
    }))
})

describe("deletion under a reader", () => {
  it.effect("[kind K] that has stopped in the middle of a segment: it gets the rest of what it holds, then Trimmed", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...tens, retention: { policy: "committed" }, tailBufferBytes: 0, prefetch: 2 })
      yield* storeSegments(log.wal, 10, 10)
      const seen: Array<number> = []
      const gate = yield* Deferred.make<void>()
      const reading = yield* start(
        Effect.flip(Stream.runForEach(log.wal.read(), (record) =>
          Effect.suspend(() => {
            seen.push(record.seq)
            return record.seq === 5 ? Deferred.await(gate) : Effect.void
          })))
      )
      yield* settle
      yield* log.wal.commit(100)
      assert.strictEqual(yield* log.wal.trim(100), 100)
      yield* settle
      yield* Deferred.succeed(gate, undefined)
      const error = yield* drive(Fiber.join(reading))
      assert.strictEqual(error._tag, "Trimmed")
      assert.deepStrictEqual(seen, [...range(1, seen.length)])
      assert.isAtLeast(seen.length, 10)
    }))
})
