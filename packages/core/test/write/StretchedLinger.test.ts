/** A budget of PUTs stretches linger for who waits: so many PUTs, no wait beyond the interval, and an end at once. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  drive,
  isDone,
  key,
  open,
  type Options,
  puts,
  range,
  records,
  refusePuts,
  settle,
  sized,
  start,
  still,
  store,
  type TestLog
} from "../support/LogWorld.ts"

const latencyMillis = 60
const unlimited: Options = { ...still, segment: { flushInterval: "10s", linger: "100ms" } }
const limited: Options = { ...unlimited, budget: { putsPerSecond: 1 } }

const waitFor = ({ wal }: TestLog, from: number) =>
  Effect.flatMap(wal.append(records(1, from)), ({ durable }) => start(durable))

/** A caller that appends again as soon as it has its answer, for so long; answers how long it waited each time. */
const alwaysWaiting = Effect.fnUntraced(function*({ wal }: TestLog, seconds: number) {
  const waits: Array<number> = []
  const caller = yield* start(Effect.forever(Effect.gen(function*() {
    const from = yield* Clock.currentTimeMillis
    yield* store(wal, records(1))
    waits.push((yield* Clock.currentTimeMillis) - from)
  })))
  for (const _ of range(1, seconds * 20)) yield* TestClock.adjust(50)
  yield* Fiber.interrupt(caller)
  return waits
})

/** Of segments and of the manifest. */
const allPuts = ({ faults }: TestLog): number =>
  faults.requests.filter(({ operation }) => operation === "create" || operation === "replace").length

/** Opens a log, has it send what is free at first, and lets somebody wait. */
const openStretched = Effect.fnUntraced(function*(options: Options = limited) {
  const log = yield* open(options)
  yield* drive(store(log.wal, records(1)), 100)
  const waiting = yield* waitFor(log, 2)
  yield* TestClock.adjust("500 millis")
  assert.isFalse(isDone(waiting))
  assert.deepStrictEqual(puts(log), [key(0)])
  return { log, waiting }
})

describe("a caller that always waits", () => {
  it.effect("gets as many PUTs as the budget allows, and each answer within the interval", () =>
    Effect.gen(function*() {
      const seconds = 30
      const log = yield* open(limited, { latencyMillis })
      const waits = yield* alwaysWaiting(log, seconds)
      assert.closeTo(puts(log).length, seconds, 1)
      assert.isAtMost(Math.max(...waits), 1_000)
    }))

  it.effect("gets more without a budget", () =>
    Effect.gen(function*() {
      const seconds = 30
      const log = yield* open(unlimited, { latencyMillis })
      yield* alwaysWaiting(log, seconds)
      assert.isAtLeast(puts(log).length, 5 * seconds)
    }))

  it.effect("waits for the interval at the most, however small the budget", () =>
    Effect.gen(function*() {
      const options = { ...limited, budget: { putsPerSecond: 0.01 } }
      const waits = yield* alwaysWaiting(yield* open(options, { latencyMillis }), 60)
      const [linger, interval] = [100 + latencyMillis, 10_000 + latencyMillis]
      assert.deepStrictEqual(waits, [linger, ...range(1, 5).map(() => interval)])
    }))

  it.effect("pays for the manifest too", () =>
    Effect.gen(function*() {
      const seconds = 60
      const options: Options = { ...limited, manifest: { maxSegments: 2, maxDelay: "1h" } }
      const log = yield* open(options, { latencyMillis })
      const opening = allPuts(log)
      yield* alwaysWaiting(log, seconds)
      assert.closeTo(allPuts(log) - opening, seconds, 2)
      assert.closeTo(puts(log).length, seconds * 2 / 3, 2)
    }))
})

describe("beyond the budget", () => {
  it.effect("who waits is answered as soon as one PUT more is within it", () =>
    Effect.gen(function*() {
      const { waiting } = yield* openStretched()
      yield* TestClock.adjust("399 millis")
      assert.isFalse(isDone(waiting))
      yield* TestClock.adjust("101 millis")
      assert.isTrue(isDone(waiting))
    }))

  it.effect("tries again are PUTs like others", () =>
    Effect.gen(function*() {
      let refusals = 5
      const log = yield* open(limited, { rules: [refusePuts("Unavailable", () => refusals-- > 0)] })
      yield* drive(store(log.wal, records(1)))
      assert.strictEqual(puts(log).length, 6)
      const waiting = yield* waitFor(log, 2)
      yield* TestClock.adjust("900 millis")
      assert.isFalse(isDone(waiting))
      yield* TestClock.adjust("1100 millis")
      assert.isTrue(isDone(waiting))
    }))

  it.effect("a full segment is not held back, and is paid for by who waits later", () =>
    Effect.gen(function*() {
      const { log, waiting } = yield* openStretched({ ...limited, segment: { ...limited.segment, maxEntries: 3 } })
      yield* log.wal.append(records(2, 3))
      yield* settle
      assert.isTrue(isDone(waiting))
      const next = yield* waitFor(log, 5)
      yield* TestClock.adjust("1300 millis")
      assert.isFalse(isDone(next))
      yield* TestClock.adjust("200 millis")
      assert.isTrue(isDone(next))
    }))

  it.effect("flush is not held back", () =>
    Effect.gen(function*() {
      const { log, waiting } = yield* openStretched()
      assert.strictEqual(yield* log.wal.flush, 2)
      assert.isTrue(isDone(waiting))
    }))

  it.effect("who waits for room is not held back", () =>
    Effect.gen(function*() {
      const { log, waiting } = yield* openStretched({
        ...limited,
        segment: { ...limited.segment, maxBytes: 1_000 },
        maxRecordBytes: 1_000,
        maxBufferedBytes: 3_000
      })
      const refused = log.wal.appendNow([sized(900), sized(900), sized(900), sized(900)])
      assert.strictEqual((yield* Effect.flip(refused))._tag, "BufferFull")
      yield* settle
      assert.isTrue(isDone(waiting))
    }))
})

describe("a stretched linger", () => {
  it.effect("ends at once when the log is closed: what is open is stored", () =>
    Effect.gen(function*() {
      const { log, waiting } = yield* openStretched()
      const closing = yield* start(log.wal.close)
      yield* settle
      assert.isTrue(isDone(waiting))
      assert.deepInclude(yield* Fiber.join(closing), { durable: 2, lost: null })
      assert.deepStrictEqual(puts(log), [key(0), key(1)])
    }))

  it.effect("ends at once when a newer writer has the log: who waits is told, and nothing is sent", () =>
    Effect.gen(function*() {
      const { log, waiting } = yield* openStretched()
      yield* open(limited, { memory: log.memory })
      // The manifest tells.
      yield* start(Effect.exit(log.wal.trim(0)))
      yield* settle
      const told = waiting.pollUnsafe()
      assert.isTrue(told !== undefined && Exit.isFailure(told))
      assert.strictEqual((yield* Effect.flip(Fiber.join(waiting)))._tag, "WriterFenced")
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(puts(log), [key(0)])
    }))
})
