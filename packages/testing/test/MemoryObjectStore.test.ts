import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { MemoryObjectStore } from "../src/MemoryObjectStore.ts"
import { objectStoreSuite } from "../src/ObjectStoreSuite.ts"

objectStoreSuite("MemoryObjectStore", MemoryObjectStore.layer())
objectStoreSuite("MemoryObjectStore with pages of 3", MemoryObjectStore.layer({ pageSize: 3 }), { manyKeys: 60 })

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (body: Uint8Array): string => new TextDecoder().decode(body)

describe("MemoryObjectStore", () => {
  it.effect("logs and counts requests, failed ones too, and not what a handle does", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const memory = yield* MemoryObjectStore
      yield* store.create("a", bytes("1"))
      yield* Effect.flip(store.create("a", bytes("2")))
      yield* Effect.flip(store.replace("b", bytes("2"), "\"1\""))
      yield* store.list({ prefix: "x/" })
      yield* store.remove(["a", "b"])
      memory.put("c", bytes("3"))
      assert.deepStrictEqual(memory.requests, [
        { operation: "create", keys: ["a"] },
        { operation: "create", keys: ["a"] },
        { operation: "replace", keys: ["b"] },
        { operation: "list", keys: ["x/"] },
        { operation: "remove", keys: ["a", "b"] }
      ])
      assert.deepStrictEqual([memory.count("create"), memory.count("get")], [2, 0])
      memory.clearRequests()
      assert.strictEqual(memory.count("create"), 0)
      assert.deepStrictEqual([...memory.objects.keys()], ["c"])
    }).pipe(Effect.provide(MemoryObjectStore.layer())))

  it.effect("damage changes the bytes and keeps the tag; put gives a fresh one", () =>
    Effect.gen(function*() {
      const memory = yield* MemoryObjectStore.make()
      const tag = yield* memory.store.create("a", bytes("good"))
      memory.damage("a", (body) => body.fill(0x78, 1, 2))
      assert.deepStrictEqual(yield* Effect.map(memory.store.get("a"), (got) => [text(got.body), got.tag]), [
        "gxod",
        tag
      ])
      memory.put("a", bytes("new"))
      assert.strictEqual((yield* Effect.flip(memory.store.replace("a", bytes("x"), tag))).reason, "PreconditionFailed")
      assert.throws(() => memory.damage("none", (body) => body))
    }))

  it.effect("a write with a CRC-32 that is not the body's is refused and stores nothing", () =>
    Effect.gen(function*() {
      const { objects, store } = yield* MemoryObjectStore.make()
      const tag = yield* store.create("b", bytes("b"))
      assert.strictEqual((yield* Effect.flip(store.create("a", bytes("a"), { crc32: 1 }))).reason, "UnexpectedResponse")
      assert.strictEqual(
        (yield* Effect.flip(store.replace("b", bytes("a"), tag, { crc32: 1 }))).reason,
        "UnexpectedResponse"
      )
      assert.strictEqual((yield* Effect.flip(store.replace("none", bytes("a"), tag))).reason, "NotFound")
      assert.deepStrictEqual([...objects.keys()], ["b"])
    }))

  it.effect("identical bodies get two tags, stores get two ids, times come from the Clock", () =>
    Effect.gen(function*() {
      const { store } = yield* MemoryObjectStore.make({ advice: ["be careful"] })
      assert.notStrictEqual(store.id, (yield* MemoryObjectStore.make()).store.id)
      assert.strictEqual((yield* MemoryObjectStore.make({ id: "memory:x" })).store.id, "memory:x")
      yield* TestClock.setTime(1_000)
      assert.notStrictEqual(yield* store.create("a", bytes("same")), yield* store.create("b", bytes("same")))
      const { objects } = yield* store.list({ prefix: "" })
      assert.deepStrictEqual(objects.map((object) => object.modifiedMillis), [1_000, 1_000])
      assert.deepStrictEqual(yield* store.advice(""), ["be careful"])
      const many = Array.from({ length: 1_001 }, (_, index) => `${index}`)
      assert.strictEqual((yield* Effect.flip(store.remove(many))).reason, "UnexpectedResponse")
    }))
})
