import { Wal } from "@effect-wal/core/Wal"
import { WalTest } from "@effect-wal/testing/WalTest"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"

const records = (count: number) => Array.from({ length: count }, () => ({ payload: new Uint8Array(3) }))

const open = Wal.make({ nodeId: "node", streamId: "off", enabled: false })

describe("a log that is switched off", () => {
  it.effect("numbers what passes through, keeps nothing and asks no store", () =>
    Effect.gen(function*() {
      const { memory } = yield* WalTest
      memory.clearRequests()
      const wal = yield* open
      const appended = yield* wal.append(records(3))
      yield* appended.durable
      assert.deepStrictEqual([appended.first, appended.last, (yield* wal.append(records(1))).first], [1, 3, 4])
      assert.deepStrictEqual(yield* Stream.runCollect(wal.replay({ until: "durable-end" })), [])
      yield* wal.commit(4)
      assert.strictEqual((yield* Effect.flip(wal.commit(5)))._tag, "CommitBeyondDurable")
      assert.strictEqual((yield* Effect.flip(wal.ack({ from: 3, to: 2 })))._tag, "InvalidCursor")
      assert.strictEqual((yield* wal.status).cursors["default"]?.mark, 4)
      assert.strictEqual(yield* wal.flush, 4)
      assert.strictEqual(yield* Stream.run(Stream.fromIterable(records(2)), wal.sink), 6)
      assert.strictEqual(yield* Stream.run(Stream.empty, wal.sink), 0)
      assert.strictEqual((yield* wal.status).atRisk.records, 0)
      assert.strictEqual(memory.requests.length, 0)
    }).pipe(Effect.provide(WalTest.layer()), Effect.scoped))

  it.effect("answers repeats of a producer's call as every log does, as long as it runs", () =>
    Effect.gen(function*() {
      const wal = yield* Wal.make({
        nodeId: "node",
        streamId: "off",
        enabled: false,
        segment: { maxEntries: 3 },
        producers: { ttl: "1m" }
      })
      const by = (sequence: number) => ({ producer: { id: "p", sequence } })
      assert.deepInclude(yield* wal.append(records(2), by(4)), { first: 1, last: 2 })
      assert.deepInclude(yield* wal.appendNow(records(2), by(4)), { first: 1, last: 2, epoch: 0, isRepeat: true })
      const tags = yield* Effect.forEach([
        wal.append(records(1), by(4)),
        wal.append(records(1), by(3)),
        wal.append(records(1), by(-1)),
        wal.append(records(4), by(5))
      ], (call) => Effect.map(Effect.flip(call), ({ _tag }) => _tag))
      assert.deepStrictEqual(tags, [
        "ProducerConflict",
        "ProducerSequenceTooOld",
        "InvalidProducer",
        "ProducerCallTooLarge"
      ])
      yield* TestClock.adjust("61 seconds")
      assert.deepInclude(yield* wal.append(records(2), by(4)), { first: 3, last: 4 })
    }).pipe(Effect.provide(WalTest.layer()), Effect.scoped))

  it.effect("checks records as every log does, and is over when its scope ends", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const wal = yield* Scope.provide(open, scope)
      const bad = yield* Effect.flip(wal.append([{ payload: new Uint8Array(1), timestamp: Number.NaN }]))
      assert.strictEqual(bad._tag, "InvalidRecord")
      const live = yield* Effect.forkChild(Effect.exit(Stream.runDrain(wal.replay())), { startImmediately: true })
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(live)))
      assert.strictEqual((yield* Effect.flip(wal.append(records(1))))._tag, "WalClosed")
      assert.strictEqual((yield* wal.status).state, "closed")
    }).pipe(Effect.provide(WalTest.layer())))
})
