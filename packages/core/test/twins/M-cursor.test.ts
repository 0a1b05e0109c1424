/** Twins of the cursor cases: ranges in any order, names that are also something else, cursors that come back. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { WalReader } from "@effect-wal/core/WalReader"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Compression } from "../../src/codec/Compression.ts"
import { Digest } from "../../src/codec/Digest.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { open, range, records, reopen, seqs, still, store, type TestLog } from "../support/LogWorld.ts"

const names = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf"]

const replayed = (log: TestLog, cursor: string) =>
  Effect.map(Stream.runCollect(log.wal.replay({ cursor, until: "durable-end" })), seqs)

const readerOn = (log: TestLog) =>
  WalReader.make({ nodeId: "node", streamId: "log" }).pipe(
    Effect.provideService(ObjectStore, log.memory.store),
    Effect.provideService(Digest, Effect.succeed(nodeDigest)),
    Effect.provideService(Compression, Effect.succeed(nodeCompression))
  )

describe("acknowledged ranges", () => {
  it.effect("[kind M] overlapping, nested, doubled and in no order: the mark is where the first hole is", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      yield* store(log.wal, records(100))
      const mark = Effect.map(log.wal.status, ({ cursors }) => cursors["default"]?.mark)
      const ranges = [[60, 80], [20, 40], [70, 90], [21, 22], [35, 65], [91, 91], [20, 91]] as const
      for (const [from, to] of ranges) yield* log.wal.ack({ from, to })
      assert.strictEqual(yield* mark, 0)
      yield* log.wal.ack({ from: 2, to: 19 })
      assert.strictEqual(yield* mark, 0)
      yield* log.wal.ack(1)
      assert.strictEqual(yield* mark, 91)
      yield* log.wal.ack({ from: 1, to: 50 })
      assert.strictEqual(yield* mark, 91)
      for (const bad of [{ from: 5, to: 4 }, { from: 0, to: 3 }, { from: 1.5, to: 2 }, { from: 1, to: Number.NaN }]) {
        assert.strictEqual((yield* Effect.flip(log.wal.ack(bad)))._tag, "InvalidCursor")
      }
      assert.strictEqual((yield* Effect.flip(log.wal.ack({ from: 90, to: 101 })))._tag, "CommitBeyondDurable")
      assert.strictEqual(yield* mark, 91)
    }))
})

describe("a cursor whose name is also a property of every object", () => {
  it.effect("[kind M] is a cursor like any other: kept through a restart, and it holds deletion back", () =>
    Effect.gen(function*() {
      const writer = yield* open({ ...still, retention: { policy: "committed" }, segment: { maxEntries: 1 } })
      yield* store(writer.wal, records(10))
      for (const [index, name] of names.entries()) yield* writer.wal.commit(index + 1, { cursor: name })
      yield* writer.wal.commit(10)
      yield* writer.wal.close
      const log = yield* reopen(writer, { ...still, retention: { policy: "committed" } })
      for (const [index, name] of names.entries()) {
        assert.deepStrictEqual(yield* replayed(log, name), range(index + 2, 10), name)
      }
      assert.strictEqual(yield* log.wal.trim(10), 1)
      assert.strictEqual((yield* log.wal.status).heldBackBy, names[0])
    }))

  it.effect("[kind M] and does not exist until it is made: for the writer and for a reader", () =>
    Effect.gen(function*() {
      const log = yield* open(still)
      yield* store(log.wal, records(3))
      const reader = yield* readerOn(log)
      for (const cursor of names) {
        assert.strictEqual((yield* Effect.flip(replayed(log, cursor)))._tag, "InvalidCursor", cursor)
        const error = yield* Effect.flip(Stream.runDrain(reader.replay({ cursor, until: "durable-end" })))
        assert.strictEqual(error._tag, "InvalidCursor", cursor)
        assert.strictEqual((yield* Effect.flip(log.wal.removeCursor(cursor)))._tag, "InvalidCursor", cursor)
      }
    }))
})

describe("a cursor that was removed", () => {
  it.effect("[kind M] and made again starts where it is told, at the trim point at least, also after a restart", () =>
    Effect.gen(function*() {
      const writer = yield* open({ ...still, segment: { maxEntries: 1 } })
      yield* store(writer.wal, records(20))
      yield* writer.wal.commit(15, { cursor: "x" })
      yield* writer.wal.removeCursor("x")
      yield* writer.wal.commit(5)
      assert.strictEqual(yield* writer.wal.trim(5), 5)
      yield* writer.wal.ack({ from: 8, to: 9 }, { cursor: "x" })
      assert.deepStrictEqual(yield* replayed(writer, "x"), range(6, 20))
      yield* writer.wal.ack({ from: 6, to: 7 }, { cursor: "x" })
      assert.deepStrictEqual(yield* replayed(writer, "x"), range(10, 20))
      yield* writer.wal.close
      const log = yield* reopen(writer, still)
      assert.deepStrictEqual(yield* replayed(log, "x"), range(10, 20))
    }))

  it.effect("[kind M] and made again lower, then a crash: nothing between the two is passed over", () =>
    Effect.gen(function*() {
      const writer = yield* open({ ...still, segment: { maxEntries: 1 } })
      yield* store(writer.wal, records(20))
      yield* writer.wal.commit(15, { cursor: "x" })
      yield* writer.wal.removeCursor("x")
      yield* writer.wal.commit(3, { cursor: "x" })
      const log = yield* reopen(writer, still)
      assert.deepStrictEqual(yield* replayed(log, "x"), range(4, 20))
    }))

  it.effect("[kind M] stays removed after a crash, and one that was made is there", () =>
    Effect.gen(function*() {
      const writer = yield* open(still)
      yield* store(writer.wal, records(20))
      yield* writer.wal.commit(15, { cursor: "x" })
      yield* writer.wal.ack(1, { cursor: "y" })
      yield* writer.wal.removeCursor("x")
      const log = yield* reopen(writer, still)
      assert.hasAllKeys((yield* log.wal.status).cursors, ["default", "y"])
      assert.strictEqual((yield* log.wal.status).cursors["y"]?.mark, 1)
    }))
})
