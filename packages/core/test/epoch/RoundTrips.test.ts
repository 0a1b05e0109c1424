/** How many requests follow each other while a log is opened. */
import { type MemoryHandles, MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { RoundTrips } from "@effect-wal/testing/RoundTrips"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Stream } from "effect"
import { probeStore } from "../../src/epoch/StoreProbe.ts"
import { parseSlotKey } from "../../src/format/ObjectKey.ts"
import { ObjectStore } from "../../src/store/ObjectStore.ts"
import { open, prefix, range, records, seqs, settle, start, still, store } from "../support/LogWorld.ts"

const fives = { ...still, segment: { maxEntries: 5 } }

/** Opens the log as another process does, appends a record and waits until it is durable. */
const openAndStore = (memory: MemoryHandles, trips: RoundTrips) =>
  Effect.flatMap(
    open(fives, { memory: { ...memory, store: trips.hold(memory.store) } }),
    ({ wal }) => store(wal, records(1))
  )

describe("round trips of an opening", () => {
  it.effect("six to the first durable record, from a writer that is still there, and no wait for a clock", () =>
    Effect.gen(function*() {
      const log = yield* open(fives)
      yield* store(log.wal, records(50))
      const trips = new RoundTrips()
      assert.strictEqual(yield* trips.count(openAndStore(log.memory, trips)), 6)
    }))

  it.effect("six for a new log", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const trips = new RoundTrips()
      assert.strictEqual(yield* trips.count(openAndStore(memory, trips)), 6)
    }))

  it.effect("five for the probe, four for its races, which go on side by side, and one to clean up", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const trips = new RoundTrips()
      const backoff = { base: Duration.millis(10), cap: Duration.seconds(1) }
      const probing = Effect.provideService(probeStore({ prefix, backoff }), ObjectStore, trips.hold(memory.store))
      assert.strictEqual(yield* trips.count(probing), 10)
    }))
})

describe("the live epoch is listed while the manifest is claimed", () => {
  it.effect("once, where nobody replaced the manifest meanwhile", () =>
    Effect.gen(function*() {
      const log = yield* open(fives)
      yield* store(log.wal, records(50))
      let lists = 0
      const next = yield* open(fives, {
        memory: log.memory,
        rules: [({ operation }) => {
          if (operation === "list") lists++
          return undefined
        }]
      })
      assert.strictEqual(lists, 1)
      assert.deepStrictEqual(seqs(yield* Stream.runCollect(next.wal.read())), range(1, 50))
    }))

  it.effect("again, where the old writer replaced it: what was seen before does not count", () =>
    Effect.gen(function*() {
      const log = yield* open(fives)
      yield* store(log.wal, records(50))
      const gate = Deferred.makeUnsafe<void>()
      let claims = 0
      let lists = 0
      const markers: Array<string> = []
      const opening = yield* start(open(fives, {
        memory: log.memory,
        rules: [({ key, operation }) => {
          if (operation === "list") lists++
          if (operation === "create" && parseSlotKey(prefix, key) !== undefined) markers.push(key)
          return operation === "replace" && claims++ === 0 ? { _tag: "HoldBefore", gate } : undefined
        }]
      }))
      yield* settle
      assert.deepStrictEqual([claims, lists], [1, 1])
      yield* store(log.wal, records(25, 51))
      // Writes the manifest, whether there is something to trim or not.
      yield* log.wal.trim(10)
      yield* Deferred.succeed(gate, undefined)
      const next = yield* Fiber.join(opening)
      assert.strictEqual(lists, 2)
      // One try: with the earlier listing it would have been put where a segment stands by now.
      assert.strictEqual(markers.length, 1)
      assert.deepStrictEqual(seqs(yield* Stream.runCollect(next.wal.read())), range(1, 75))
    }))
})
