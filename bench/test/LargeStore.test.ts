/** The store of very many objects does what a store must. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { objectStoreSuite } from "@effect-wal/testing/ObjectStoreSuite"
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { LargeStore } from "../src/support/LargeStore.ts"

objectStoreSuite("LargeStore", Layer.effect(ObjectStore, Effect.sync(() => new LargeStore().store)))

it.effect("a fork starts with what is there, and what happens to it is not seen below", () =>
  Effect.gen(function*() {
    const below = new LargeStore()
    for (const key of ["a", "c", "d", "x/1"]) yield* below.store.create(key, new Uint8Array(100))
    const { tag } = yield* below.store.get("a")
    const fork = below.fork()
    yield* fork.store.create("b", new Uint8Array(1))
    yield* fork.store.replace("a", new Uint8Array(20_000), tag)
    yield* fork.store.remove(["d", "e"])
    assert.strictEqual((yield* Effect.flip(fork.store.create("c", new Uint8Array(1)))).reason, "AlreadyExists")
    assert.strictEqual((yield* Effect.flip(fork.store.get("d"))).reason, "NotFound")
    const keys = (store: LargeStore) =>
      Effect.map(store.store.list({ prefix: "" }), ({ objects }) => objects.map((one) => [one.key, one.sizeBytes]))
    assert.deepStrictEqual(yield* keys(below), [["a", 100], ["c", 100], ["d", 100], ["x/1", 100]])
    assert.deepStrictEqual(yield* keys(fork), [["a", 20_000], ["b", 1], ["c", 100], ["x/1", 100]])
    assert.deepStrictEqual([below.requests, fork.requests], [6, 6])
    const first = yield* fork.store.list({ prefix: "", limit: 2 })
    assert.strictEqual(first.next, "b")
    assert.deepStrictEqual((yield* fork.store.list({ prefix: "", page: "b" })).objects.map(({ key }) => key), [
      "c",
      "x/1"
    ])
  }))
