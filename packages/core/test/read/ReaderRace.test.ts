/** A reader that looks while the writer deletes what its manifest led to. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { WalReader } from "@effect-wal/core/WalReader"
import * as FaultyObjectStore from "@effect-wal/testing/FaultyObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { Compression } from "../../src/codec/Compression.ts"
import { Digest } from "../../src/codec/Digest.ts"
import { nodeCompression } from "../../src/node/NodeCompression.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import type { LostRange, WalRecord } from "../../src/WalRecord.ts"
import {
  drive,
  holdPuts,
  isSegmentKey,
  key,
  makeGates,
  open,
  range,
  records,
  seqs,
  settle,
  start,
  still,
  store,
  storeSegments
} from "../support/LogWorld.ts"

const identity = { nodeId: "node", streamId: "log" }

describe("a reader beside a writer that trims", () => {
  it.effect("looks again instead of calling missing what was deleted meanwhile", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 3, 10)
      yield* log.wal.trim(0)
      const faults = FaultyObjectStore.make(log.memory.store)
      const hold = Deferred.makeUnsafe<void>()
      const free = faults.rule((request) =>
        request.operation === "list" ? { _tag: "HoldBefore", gate: hold } : undefined
      )
      const opening = yield* start(
        Effect.scoped(Effect.flatMap(WalReader.make(identity), (reader) => reader.status)).pipe(
          Effect.provideService(ObjectStore, faults.store),
          Effect.provideService(Digest, Effect.succeed(nodeDigest)),
          Effect.provideService(Compression, Effect.succeed(nodeCompression))
        )
      )
      yield* settle
      assert.strictEqual(faults.requests.at(-1)?.operation, "list")
      free()
      yield* log.wal.commit(30)
      assert.strictEqual(yield* log.wal.trim(30), 30)
      yield* settle
      assert.strictEqual([...log.memory.objects.keys()].filter(isSegmentKey).length, 0)
      yield* Deferred.done(hold, Exit.void)
      const { durable, trimmedTo } = yield* drive(Fiber.join(opening))
      assert.deepStrictEqual([durable, trimmedTo], [30, 30])
    }))

  it.effect("reads on while an older look ends, of the same reader", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 3, 10)
      const faults = FaultyObjectStore.make(log.memory.store)
      const reader = yield* WalReader.make({ ...identity, prefetch: 2 }).pipe(
        Effect.provideService(ObjectStore, faults.store),
        Effect.provideService(Digest, Effect.succeed(nodeDigest)),
        Effect.provideService(Compression, Effect.succeed(nodeCompression))
      )
      const hold = Deferred.makeUnsafe<void>()
      const free = faults.rule((request) =>
        request.operation === "list" ? { _tag: "HoldAfter", gate: hold } : undefined
      )
      const older = yield* start(reader.status)
      yield* settle
      free()
      yield* store(log.wal, records(30, 31))
      const endOlder = Effect.andThen(Deferred.done(hold, Exit.void), Fiber.join(older))
      const seen: Array<WalRecord | LostRange> = []
      yield* drive(Stream.runForEach(reader.read({ onDamage: "skip" }), (one) => {
        seen.push(one)
        return seen.length === 35 ? endOlder : Effect.void
      }))
      assert.strictEqual((yield* Fiber.join(older)).durable, 30)
      assert.deepStrictEqual(seqs(seen), range(1, 60))
    }))

  it.effect("does not take a hole for the end of the log", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 6, 10)
      log.memory.objects.delete(key(2))
      const error = yield* drive(
        Effect.flip(WalReader.make(identity)).pipe(Effect.provideService(ObjectStore, log.memory.store))
      )
      assert.deepInclude(error, { _tag: "SegmentMissing", key: key(2), from: 21, to: 40 })
    }))

  it.effect("takes what is still on its way for the end of the log", () =>
    Effect.gen(function*() {
      const gates = makeGates()
      const log = yield* open({ ...still, segment: { maxEntries: 10 }, parallelPut: { workers: 4 } }, {
        rules: [holdPuts((name) => name === key(1) ? gates.of(name) : undefined)]
      })
      yield* log.wal.append(records(40))
      yield* settle
      assert.isTrue(log.memory.objects.has(key(3)))
      const reader = yield* drive(WalReader.make(identity).pipe(Effect.provideService(ObjectStore, log.memory.store)))
      assert.strictEqual((yield* reader.status).durable, 10)
      yield* gates.open(key(1))
      assert.strictEqual((yield* reader.status).durable, 40)
    }))

  it.effect("calls missing what is missing", () =>
    Effect.gen(function*() {
      const log = yield* open({ ...still, segment: { maxEntries: 10 } })
      yield* storeSegments(log.wal, 3, 10)
      yield* log.wal.trim(0)
      log.memory.objects.delete(key(2))
      const error = yield* drive(
        Effect.flip(WalReader.make(identity)).pipe(Effect.provideService(ObjectStore, log.memory.store))
      )
      assert.deepInclude(error, { _tag: "SegmentMissing", key: key(2) })
    }))
})
