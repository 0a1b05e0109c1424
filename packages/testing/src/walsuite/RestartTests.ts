/** Ends of a process, in order or as a crash, and what the next one finds. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import type { FaultyHandles, FaultyRequest } from "../FaultyObjectStore.ts"
import type { Suite } from "./Suite.ts"
import type { WalPlace } from "./SuiteBackend.ts"
import { open, type OpenParts } from "./SuiteProcess.ts"
import { dense, isPut, isStored, keyAt, readAll, records, store } from "./SuiteRecords.ts"
import { settle, start, until } from "./SuiteTime.ts"

/** Answers a fault for the first request that is meant, and no other. */
const once = (
  which: (request: FaultyRequest) => boolean,
  fault: NonNullable<ReturnType<Parameters<FaultyHandles["rule"]>[0]>>
) => {
  let done = false
  return (request: FaultyRequest) => {
    if (done || !which(request)) return undefined
    done = true
    return fault
  }
}

const orderlyTests = ({ test }: Suite) => {
  test("after an end in order the next process goes on with the next number, in a higher epoch", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(25))
      yield* first.wal.commit(17)
      assert.deepInclude(yield* first.close, { streamId: "log", durable: 25, lost: null, manifestWritten: true })
      const second = yield* open(place)
      const status = yield* second.wal.status
      assert.deepInclude(status, { epoch: 2, durable: 25, lastAccepted: 25, state: "open" })
      assert.strictEqual(status.cursors["default"]?.mark, 17)
      assert.strictEqual(status.logId, (yield* first.wal.status).logId)
      yield* store(second.wal, records(10, 26))
      assert.deepStrictEqual(yield* readAll(second.wal), dense(35))
    }))

  test("the end of the scope stores what was only accepted", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* first.wal.append(records(7))
      yield* first.end
      const second = yield* open(place)
      assert.deepStrictEqual(yield* readAll(second.wal), dense(7))
    }))

  test("many short lives: each leaves its records, and no number twice", (place) =>
    Effect.gen(function*() {
      for (let life = 0; life < 8; life++) {
        const process = yield* open(place)
        const appended = yield* store(process.wal, records(3, life * 3 + 1))
        assert.deepStrictEqual([appended.first, appended.epoch], [life * 3 + 1, life + 1])
        yield* life % 2 === 0 ? process.crash : process.end
      }
      const last = yield* open(place)
      assert.deepStrictEqual(yield* readAll(last.wal), dense(24))
    }))
}

const crashTests = ({ test }: Suite) => {
  test("what was durable is adopted after a crash, once, and the same way by every start [case 9] [predecessor 5]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(10))
      yield* first.crash
      for (let start = 0; start < 2; start++) {
        const process = yield* open(place)
        assert.deepStrictEqual(yield* readAll(process.wal), dense(10))
        yield* process.crash
      }
      const next = yield* open(place)
      yield* store(next.wal, records(10, 11))
      yield* next.crash
      const last = yield* open(place)
      assert.deepStrictEqual(yield* readAll(last.wal), dense(20))
    }))

  test("a segment that was stored but not acknowledged is delivered exactly once [case 9]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      first.faults.rule(once(isPut, { _tag: "Silence", applied: true }))
      const { durable } = yield* first.wal.append(records(5))
      const waiting = yield* start(durable)
      yield* until(isStored(first, keyAt(place, 0)))
      assert.isUndefined(waiting.pollUnsafe())
      yield* first.crash
      for (let start = 0; start < 2; start++) {
        const process = yield* open(place)
        assert.deepStrictEqual(yield* readAll(process.wal), dense(5))
        yield* process.crash
      }
      const next = yield* open(place)
      assert.strictEqual((yield* store(next.wal, records(5, 6))).first, 6)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(10))
    }))

  test("what was only accepted goes as one suffix; its numbers are given again, in another epoch", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(12))
      const gate = yield* Deferred.make<void>()
      first.faults.rule((request) => isPut(request) ? { _tag: "HoldBefore", gate } : undefined)
      const lost = yield* first.wal.append(records(9, 13))
      assert.deepStrictEqual([lost.first, lost.last, lost.epoch], [13, 21, 1])
      yield* settle
      yield* first.crash
      // The request was still on its way: it must not arrive after the end of the process.
      yield* Deferred.done(gate, Exit.void)
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(12))
      const again = yield* store(next.wal, records(3, 13))
      assert.deepStrictEqual([again.first, again.epoch], [13, 2])
      assert.deepStrictEqual(yield* readAll(next.wal), dense(15))
    }))

  const crashWhileOpening = (place: WalPlace, nth: number, applied: boolean) =>
    Effect.gen(function*() {
      let count = 0
      let handle: FaultyHandles | undefined
      const parts: OpenParts = {
        onFaults: (faults) => {
          handle = faults
          faults.rule(() => {
            const at = count++
            return at < nth ? undefined : { _tag: "Silence", applied: applied && at === nth }
          })
        }
      }
      const opening = yield* start(Effect.scoped(open(place, {}, parts)))
      yield* until(Effect.sync(() => count > nth || opening.pollUnsafe() !== undefined))
      yield* settle
      handle?.crash()
      yield* Fiber.interrupt(opening)
      return count > nth
    })

  test("a crash at any request of an opening leaves a log that opens [case 9]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(20))
      yield* first.crash
      let crashed = 0
      for (const applied of [false, true]) {
        for (let nth = 0; nth < 20; nth++) {
          if (!(yield* crashWhileOpening(place, nth, applied))) break
          crashed++
        }
      }
      assert.isAbove(crashed, 6)
      const last = yield* open(place)
      assert.strictEqual((yield* store(last.wal, records(5, 21))).first, 21)
      assert.deepStrictEqual(yield* readAll(last.wal), dense(25))
    }))
}

const answerTests = ({ test }: Suite) => {
  test("a write that is taken and whose answer is lost counts once: segment and manifest [case 1]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      first.faults.rule(once(isPut, { _tag: "Fail", reason: "TimedOut", applied: true }))
      first.faults.rule(once((request) => request.operation === "replace", {
        _tag: "Fail",
        reason: "TimedOut",
        applied: true
      }))
      yield* store(first.wal, records(15))
      yield* first.wal.commit(9)
      assert.deepInclude(yield* first.close, { lost: null, manifestWritten: true })
      const second = yield* open(place)
      assert.deepStrictEqual(yield* readAll(second.wal), dense(15))
      assert.strictEqual((yield* second.wal.status).cursors["default"]?.mark, 9)
    }))

  test("a failed write is tried again as it was, what came meanwhile stays behind it [predecessor 4] [predecessor 6]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place)
      let failures = 5
      process.faults.rule((request) =>
        isPut(request) && failures-- > 0 ? { _tag: "Fail", reason: "Unavailable" } : undefined
      )
      const answers = yield* Effect.forEach([1, 13, 25], (from) => process.wal.append(records(12, from)))
      const waiting = yield* Effect.forEach(answers, ({ durable }) => start(durable))
      yield* until(Effect.map(process.wal.status, (status) => status.durable === 36))
      for (const fiber of waiting) yield* Fiber.join(fiber)
      assert.deepStrictEqual(yield* readAll(process.wal), dense(36))
      const puts = process.faults.requests.filter(isPut).map((request) => request.key)
      assert.isTrue(puts.slice(0, 6).every((key) => key === keyAt(place, 0)))
      yield* process.crash
      const next = yield* open(place)
      assert.deepStrictEqual(yield* readAll(next.wal), dense(36))
    }))
}

export const restartTests = (suite: Suite): void => {
  orderlyTests(suite)
  crashTests(suite)
  answerTests(suite)
}
