/** Several writers of one identity, and several PUTs of one writer. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import type { Suite } from "./Suite.ts"
import { open } from "./SuiteProcess.ts"
import {
  dense,
  encode,
  failureOf,
  isPut,
  isSlot,
  isStored,
  keyAt,
  range,
  readAll,
  records,
  store
} from "./SuiteRecords.ts"
import { drive, isDone, settle, start, until } from "./SuiteTime.ts"

const takeOverTests = ({ test }: Suite) => {
  test("a second writer takes over, the first is fenced for good, all that was durable is there [case 10] [predecessor 10]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place, { host: "a" })
      yield* store(first.wal, records(10))
      const second = yield* open(place, { host: "b" })
      yield* store(second.wal, records(10, 11))
      const late = yield* first.wal.append([{ payload: encode("late") }])
      assert.strictEqual((yield* failureOf(late.durable))._tag, "WriterFenced")
      assert.strictEqual((yield* failureOf(first.wal.append(records(1))))._tag, "WriterFenced")
      assert.strictEqual((yield* failureOf(first.wal.commit(1)))._tag, "WriterFenced")
      assert.deepInclude(yield* first.wal.status, { state: "fenced", newOwner: "b" })
      const writes = first.faults.requests.filter(({ operation }) => operation === "create" || operation === "replace")
      assert.deepInclude(yield* first.close, { durable: 10, lost: { from: 11, to: 11 } })
      assert.deepStrictEqual(
        first.faults.requests.filter(({ operation }) => operation === "create" || operation === "replace"),
        writes
      )
      assert.deepStrictEqual(yield* readAll(second.wal), dense(20))
      yield* second.crash
      const third = yield* open(place)
      assert.deepStrictEqual(yield* readAll(third.wal), dense(20))
    }))

  test("a second writer gets through while the first is busy; nothing acknowledged is lost or doubled [case 10]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place, { segment: { maxEntries: 3 } })
      const acked = new Map<number, string>()
      const writing = yield* start(Effect.exit(Effect.forever(Effect.gen(function*() {
        const texts = range(1, 4).map((n) => `${acked.size}.${n}`)
        const { durable, first: from } = yield* first.wal.append(texts.map((text) => ({ payload: encode(text) })))
        yield* durable
        texts.forEach((text, index) => acked.set(from + index, text))
      }))))
      yield* until(Effect.sync(() => acked.size >= 12))
      const second = yield* open(place, { openTimeout: "5s" })
      yield* store(second.wal, [{ payload: encode("second") }])
      yield* drive(Fiber.join(writing))
      assert.strictEqual((yield* first.wal.ended)._tag, "WriterFenced")
      const read = yield* readAll(second.wal)
      for (const [seq, text] of acked) assert.strictEqual(read[seq - 1], `${seq}:${text}`)
      assert.strictEqual(new Set(read.map((line) => line.split(":")[1])).size, read.length)
    }))

  test("the first log of a process proves the store, and leaves nothing of the proof behind [predecessor 13]", (place) =>
    Effect.gen(function*() {
      const process = yield* open(place, {}, { probes: true })
      yield* store(process.wal, records(3))
      assert.isTrue(process.faults.requests.some(({ key }) => key.includes("/probe/")))
      const base = keyAt(place, 0).slice(0, -"segments/0000000001/000000000000.seg".length)
      assert.deepStrictEqual((yield* process.store.list({ prefix: `${base}probe/` })).objects, [])
      assert.deepStrictEqual(yield* readAll(process.wal), dense(3))
    }))
}

const refusalTests = ({ test }: Suite) => {
  test("a second writer is refused at once; when the first is gone it opens, with no manual step [case 10]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      yield* store(first.wal, records(10))
      for (let tries = 0; tries < 2; tries++) {
        assert.strictEqual((yield* failureOf(open(place)))._tag, "DirectoryLocked")
      }
      yield* store(first.wal, records(5, 11))
      yield* first.crash
      const second = yield* open(place)
      assert.deepStrictEqual(yield* readAll(second.wal), dense(15))
      assert.strictEqual((yield* failureOf(open(place)))._tag, "DirectoryLocked")
      yield* second.close
      const third = yield* open(place)
      assert.strictEqual((yield* third.wal.status).epoch, 3)
    }))
}

const parallelTests = ({ backend, test }: Suite) => {
  if (backend.window === 1) return
  const parallel = { parallelPut: { workers: 4 } } as const

  test("PUTs end in any order, acks come in theirs [predecessor 3] [case 8]", (place) =>
    Effect.gen(function*() {
      const { faults, store: raw, wal } = yield* open(place, parallel)
      const gates = yield* Effect.forEach(range(0, 3), () => Deferred.make<void>())
      faults.rule((request) => {
        const at = range(0, 3).find((slot) => request.key === keyAt(place, slot))
        const gate = at === undefined ? undefined : gates[at]
        return isPut(request) && gate !== undefined ? { _tag: "HoldBefore", gate } : undefined
      })
      const appended = yield* Effect.forEach(range(0, 3), (slot) => wal.append(records(10, slot * 10 + 1)))
      const waiting = yield* Effect.forEach(appended, ({ durable }) => start(durable))
      const stored = (slot: number) =>
        Effect.map(Effect.exit(raw.get(keyAt(place, slot), { firstBytes: 1 })), Exit.isSuccess)
      for (const slot of [3, 1, 2]) {
        yield* Deferred.done(gates[slot] ?? assert.fail("no gate"), Exit.void)
        yield* until(stored(slot))
        yield* settle
        assert.isFalse(waiting.some(isDone))
        assert.strictEqual((yield* wal.status).durable, 0)
      }
      yield* Deferred.done(gates[0] ?? assert.fail("no gate"), Exit.void)
      for (const fiber of waiting) yield* drive(Fiber.join(fiber))
      assert.deepStrictEqual(yield* readAll(wal), dense(40))
    }))

  test("behind a hole that a crash left nothing is delivered, and every start says the same [case 8]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place, parallel)
      const gate = yield* Deferred.make<void>()
      first.faults.rule((request) =>
        isPut(request) && request.key === keyAt(place, 0) ? { _tag: "HoldBefore", gate } : undefined
      )
      yield* first.wal.append(records(40))
      const flush = yield* start(first.wal.flush)
      for (const slot of [1, 2, 3]) yield* until(isStored(first, keyAt(place, slot)))
      yield* settle
      assert.isFalse(isDone(flush))
      yield* first.crash
      for (let start = 0; start < 2; start++) {
        const process = yield* open(place, parallel)
        assert.deepStrictEqual(yield* readAll(process.wal), [])
        yield* process.crash
      }
      const next = yield* open(place, parallel)
      yield* store(next.wal, [{ payload: encode("new") }])
      assert.deepStrictEqual(yield* readAll(next.wal), ["1:new"])
      yield* next.crash
      const last = yield* open(place, parallel)
      assert.deepStrictEqual(yield* readAll(last.wal), ["1:new"])
    }))

  test("a slow PUT stalls no other worker [predecessor 21]", (place) =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(place, { parallelPut: { workers: 2, pipelineDepth: 4 } })
      const gate = yield* Deferred.make<void>()
      faults.rule((request) =>
        isPut(request) && request.key === keyAt(place, 1) ? { _tag: "HoldBefore", gate } : undefined
      )
      const { durable } = yield* wal.append(records(80))
      const waiting = yield* start(durable)
      // The whole window goes on: slot 8 is the last that may be sent while slot 1 is not confirmed.
      yield* until(
        Effect.sync(() => faults.requests.filter((request) => isPut(request) && isSlot(request.key)).length >= 8)
      )
      yield* Deferred.done(gate, Exit.void)
      yield* drive(Fiber.join(waiting))
      assert.deepStrictEqual(yield* readAll(wal), dense(80))
    }))
}

export const writerTests = (suite: Suite): void => {
  if (suite.backend.secondWriter === "takes-over") takeOverTests(suite)
  else refusalTests(suite)
  parallelTests(suite)
}
