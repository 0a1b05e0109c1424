/** Twins of the shutdown cases: closing what is fenced, closing twice, closing while it opens. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  drive,
  holdPuts,
  isDone,
  key,
  makeGates,
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
  store
} from "../support/LogWorld.ts"

const options: Options = { ...still, segment: { maxEntries: 1 }, parallelPut: { workers: 2, shutdownTimeout: "10s" } }

describe("closing", () => {
  it.effect("[kind R] a log that is fenced while a PUT of it never ends: in time, with the exact range, writing nothing", () =>
    Effect.gen(function*() {
      const log = yield* open(options)
      yield* store(log.wal, records(3))
      log.faults.rule((request) => request.key === key(3) ? { _tag: "Silence" } : undefined)
      yield* log.wal.append(records(2, 4))
      yield* settle
      // The newer one puts its marker where the silent PUT was to go.
      const newer = yield* open({ ...options, host: "newer" }, { memory: log.memory })
      yield* store(newer.wal, records(1, 4))
      const written = () => log.memory.requests.filter((one) => one.operation === "replace").length
      const before = [written(), log.memory.objects.get(manifest)?.tag]
      const beganAt = yield* Clock.currentTimeMillis
      const closing = yield* start(Effect.zip(log.wal.close, Clock.currentTimeMillis))
      yield* TestClock.adjust("11 seconds")
      const [report, endedAt] = yield* Fiber.join(closing)
      assert.isAtMost(endedAt - beganAt, 10_000)
      assert.deepInclude(report, { durable: 3, lost: { from: 4, to: 5 }, manifestWritten: false })
      const [tried, tag] = [written(), log.memory.objects.get(manifest)?.tag]
      assert.deepStrictEqual([tried - Number(before[0]), tag], [1, before[1]], "one try, refused by its condition")
      assert.deepInclude(yield* log.wal.status, { state: "fenced", newOwner: "newer" })
    }))

  it.effect("[kind R] a log that was taken over and does not know it yet: what the newer one has is untouched", () =>
    Effect.gen(function*() {
      const log = yield* open(options)
      yield* store(log.wal, records(3))
      yield* log.wal.commit(2)
      const newer = yield* open({ ...options, host: "newer" }, { memory: log.memory })
      yield* store(newer.wal, records(2, 4))
      yield* newer.wal.commit(4)
      yield* newer.wal.close
      const closing = yield* start(log.wal.close)
      yield* TestClock.adjust("11 seconds")
      const report = yield* Fiber.join(closing)
      assert.deepInclude(report, { durable: 3, lost: null, manifestWritten: false })
      const last = yield* reopen(log, options)
      assert.deepInclude((yield* last.wal.status).cursors["default"], { mark: 4 })
      assert.deepStrictEqual(seqs(yield* readAll(last.wal)), range(1, 5))
    }))

  it.effect("[kind R] a second time while the first drains, and by a caller that is interrupted: one report, nothing lost", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open(options, { rules: [holdPuts(gates.of)] })
      yield* log.wal.append(records(2))
      yield* settle
      const impatient = yield* start(log.wal.close)
      yield* settle
      const [second, third] = [yield* start(log.wal.close), yield* start(log.end)]
      yield* Effect.forkChild(Fiber.interrupt(impatient), { startImmediately: true })
      yield* settle
      assert.isFalse(isDone(second))
      for (const slot of [0, 1]) yield* gates.open(key(slot))
      const report = yield* drive(Fiber.join(second))
      yield* drive(Fiber.join(third))
      assert.deepInclude(report, { durable: 2, lost: null })
      assert.strictEqual(yield* log.wal.close, report)
      const again = yield* reopen(log, options)
      assert.deepStrictEqual(seqs(yield* readAll(again.wal)), [1, 2])
    }))

  it.effect("[kind R] an opening that is interrupted anywhere leaves a log that opens, and the identity is free", () =>
    Effect.gen(function*() {
      const first = yield* open(options)
      yield* store(first.wal, records(3))
      yield* first.wal.close
      for (let nth = 0; nth < 8; nth++) {
        const hold = Deferred.makeUnsafe<void>()
        let count = 0
        const opening = yield* start(Effect.exit(open(options, {
          memory: first.memory,
          rules: [() => count++ === nth ? { _tag: "HoldBefore", gate: hold } : undefined]
        })))
        yield* settle
        yield* Fiber.interrupt(opening)
        yield* Deferred.done(hold, Exit.void)
        yield* settle
        const log = yield* open(options, { memory: first.memory })
        assert.deepStrictEqual(seqs(yield* readAll(log.wal)), range(1, 3), `request ${nth}`)
        yield* log.wal.close
      }
    }))
})
