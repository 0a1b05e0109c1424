/** Reading: by number, by time, live, from cursors, without writing. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ReplayProgress } from "@effect-wal/core/Wal"
import { WalReader } from "@effect-wal/core/WalReader"
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as FaultyObjectStore from "../FaultyObjectStore.ts"
import type { Suite } from "./Suite.ts"
import { open } from "./SuiteProcess.ts"
import { decode, dense, failureOf, lines, range, readAll, records, seqs, sized, store } from "./SuiteRecords.ts"
import { drive, isDone, settle, start, until } from "./SuiteTime.ts"

const hourMillis = 3_600_000

const storedReads = ({ test }: Suite) => {
  test("by number, with a limit, and beyond the end", (place) =>
    Effect.gen(function*() {
      const { wal } = yield* open(place)
      yield* store(wal, records(45))
      assert.deepStrictEqual(yield* readAll(wal, 44), dense(45, 44))
      const some = yield* drive(Stream.runCollect(wal.read({ from: 8, limit: 5 })))
      assert.deepStrictEqual(seqs(some), range(8, 12))
      assert.deepStrictEqual(yield* readAll(wal, 46), [])
      const segments = yield* drive(Stream.runCollect(wal.read({ from: 1, limit: 45 })))
      assert.strictEqual(segments.length, 45)
    }))

  test("by time: the first record appended at or after it, also after a restart", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place)
      for (let hour = 1; hour <= 4; hour++) {
        yield* TestClock.setTime(hour * hourMillis)
        yield* store(first.wal, records(12, hour * 12 - 11))
      }
      const check = (wal: typeof first.wal) =>
        Effect.gen(function*() {
          for (const [at, from] of [[0, 1], [1, 1], [2, 13], [3, 25], [4, 37]] as const) {
            const read = yield* drive(
              Stream.runCollect(wal.read({ from: { appendedAtMillis: at * hourMillis }, limit: 1 }))
            )
            assert.deepStrictEqual(seqs(read), [from], `hour ${at}`)
          }
          const later = wal.read({ from: { appendedAtMillis: 5 * hourMillis } })
          assert.deepStrictEqual(yield* drive(Stream.runCollect(later)), [])
        })
      yield* check(first.wal)
      yield* first.crash
      const second = yield* open(place)
      yield* check(second.wal)
    }))

  test("a replay starts after the mark, ends at the durable end, and tells how far it is [predecessor 19]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place, { segment: { maxEntries: 5 } })
      yield* store(first.wal, records(100))
      yield* first.wal.commit(42)
      yield* first.close
      const second = yield* open(place)
      const progress: Array<ReplayProgress> = []
      const before = second.faults.requests.length
      const read = yield* drive(Stream.runCollect(second.wal.replay({
        until: "durable-end",
        onProgress: (seen) => Effect.sync(() => progress.push(seen))
      })))
      assert.deepStrictEqual(lines(read), dense(100, 43))
      assert.deepInclude(progress.at(-1), { records: 58, segments: 12, segmentsTotal: 12 })
      // What is committed as a whole is not fetched: 8 of the 20 segments.
      const gets = second.faults.requests.slice(before).filter(({ operation }) => operation === "get")
      assert.isAtMost(gets.length, 15)
    }))

  test("120 segments come in order, whatever is fetched first [case 13]", (place) =>
    Effect.gen(function*() {
      const first = yield* open(place, { segment: { maxEntries: 2 } })
      yield* store(first.wal, records(240))
      yield* first.crash
      const { wal } = yield* open(place, { tailBufferBytes: 0 })
      assert.deepStrictEqual(yield* readAll(wal), dense(240))
    }))
}

const liveReads = ({ test }: Suite) => {
  test("a live read goes on with what becomes durable, and asks for nothing while it keeps up", (place) =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(place)
      yield* store(wal, records(5))
      const seen: Array<string> = []
      const tail = yield* start(
        wal.read({ from: 4, until: "live" }).pipe(
          Stream.take(22),
          Stream.runForEach((record) => Effect.sync(() => seen.push(decode(record.payload))))
        )
      )
      yield* until(Effect.sync(() => seen.length === 2))
      const gets = faults.requests.filter(({ operation }) => operation === "get").length
      for (const from of [6, 16]) yield* store(wal, records(10, from))
      yield* drive(Fiber.join(tail))
      assert.deepStrictEqual(seen, range(4, 25).map((n) => `r${n}`))
      assert.strictEqual(faults.requests.filter(({ operation }) => operation === "get").length, gets)
    }))

  test("nothing that is not durable reaches a live reader", (place) =>
    Effect.gen(function*() {
      const { faults, wal } = yield* open(place)
      const gate = yield* Deferred.make<void>()
      faults.rule((request) => request.operation === "create" ? { _tag: "HoldBefore", gate } : undefined)
      const tail = yield* start(Stream.runCollect(wal.replay().pipe(Stream.take(3))))
      const { durable } = yield* wal.append(records(3))
      const waiting = yield* start(durable)
      yield* settle
      assert.isFalse(isDone(tail))
      yield* Deferred.done(gate, Exit.void)
      yield* drive(Fiber.join(waiting))
      assert.deepStrictEqual(lines(yield* drive(Fiber.join(tail))), dense(3))
    }))

  test("a live reader that is slower than the buffer of recent records reads on from the store", (place) =>
    Effect.gen(function*() {
      const { wal } = yield* open(place, { tailBufferBytes: 200 })
      const gate = yield* Deferred.make<void>()
      const seen: Array<number> = []
      const tail = yield* start(
        wal.read({ until: "live" }).pipe(
          Stream.take(100),
          Stream.runForEach((record) =>
            Effect.andThen(
              Effect.sync(() => seen.push(record.seq)),
              record.seq === 1 ? Deferred.await(gate) : Effect.void
            )
          )
        )
      )
      yield* store(wal, [sized(100)])
      yield* until(Effect.sync(() => seen.length === 1))
      yield* store(wal, range(2, 100).map(() => sized(100)))
      yield* Deferred.done(gate, Exit.void)
      yield* drive(Fiber.join(tail))
      assert.deepStrictEqual(seen, range(1, 100))
    }))
}

const foreignReads = ({ backend, test }: Suite) => {
  // A reader of its own needs a store that two processes can reach.
  if (backend.secondWriter !== "takes-over") return
  test("a reader of its own sees what is durable and writes nothing", (place) =>
    Effect.gen(function*() {
      const writer = yield* open(place)
      yield* store(writer.wal, records(15))
      yield* writer.wal.commit(4)
      const faults = FaultyObjectStore.make(yield* place.connect)
      const identity = {
        nodeId: "node",
        streamId: "log",
        ...(place.prefix === undefined ? {} : { prefix: place.prefix })
      }
      const reader = yield* drive(Effect.provideService(WalReader.make(identity), ObjectStore, faults.store))
      assert.deepStrictEqual(lines(yield* drive(Stream.runCollect(reader.read()))), dense(15))
      yield* store(writer.wal, records(5, 16))
      assert.deepStrictEqual(lines(yield* drive(Stream.runCollect(reader.read({ from: 14 })))), dense(20, 14))
      assert.deepInclude(yield* drive(reader.status), { durable: 20, epoch: 1 })
      assert.isTrue(faults.requests.every(({ operation }) => operation === "get" || operation === "list"))
      assert.strictEqual((yield* store(writer.wal, records(1, 21))).first, 21)
    }))

  test("a reader of its own of no log: ManifestMissing, and nothing is made", (place) =>
    Effect.gen(function*() {
      const reached = yield* place.connect
      const make = WalReader.make({ nodeId: "node", streamId: "log", prefix: "nowhere" })
      const error = yield* failureOf(Effect.provideService(make, ObjectStore, reached))
      assert.strictEqual(error._tag, "ManifestMissing")
      assert.deepStrictEqual((yield* reached.list({ prefix: "nowhere/" })).objects, [])
    }))
}

export const readTests = (suite: Suite): void => {
  storedReads(suite)
  liveReads(suite)
  foreignReads(suite)
}
