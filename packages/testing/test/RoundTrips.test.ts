/** What counts as a round trip. */
import { MemoryObjectStore } from "@effect-wal/testing/MemoryObjectStore"
import { RoundTrips } from "@effect-wal/testing/RoundTrips"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"

const held = Effect.gen(function*() {
  const memory = yield* MemoryObjectStore.make()
  for (const key of ["a", "b", "c"]) memory.put(key, new Uint8Array(1))
  const trips = new RoundTrips()
  return { trips, store: trips.hold(memory.store) }
})

describe("round trips", () => {
  it.effect("are requests one after the other; what is asked at the same time is one", () =>
    Effect.gen(function*() {
      const { store, trips } = yield* held
      const all = Effect.forEach(["a", "b", "c"], (key) => store.get(key), { concurrency: "unbounded" })
      assert.strictEqual(yield* trips.count(all), 1)
      assert.strictEqual(yield* trips.count(Effect.forEach(["a", "b", "c"], (key) => store.get(key))), 3)
      assert.strictEqual(yield* trips.count(Effect.void), 0)
    }))

  it.effect("are of every kind", () =>
    Effect.gen(function*() {
      const { store, trips } = yield* held
      const work = Effect.gen(function*() {
        const tag = yield* store.create("d", new Uint8Array(1))
        yield* store.replace("d", new Uint8Array(2), tag)
        yield* store.list({ prefix: "" })
        yield* store.remove(["d"])
        yield* store.advice("")
      })
      assert.strictEqual(yield* trips.count(work), 5)
    }))

  it.effect("end with the failure of what is counted, and hold nothing afterwards", () =>
    Effect.gen(function*() {
      const { store, trips } = yield* held
      assert.strictEqual((yield* Effect.flip(trips.count(store.get("none")))).reason, "NotFound")
      assert.strictEqual((yield* store.get("a")).body.length, 1)
    }))

  it.effect("are told apart from a wait for a clock", () =>
    Effect.gen(function*() {
      const { store, trips } = yield* held
      const work = Effect.andThen(store.get("a"), Effect.sleep("1 millis"))
      const exit = yield* Effect.exit(trips.count(work))
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("it waits, and not for the store"))
    }))
})
