/**
 * The part of the object store suite that lists and removes.
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import type { It, Settings } from "./SuiteStore.ts"
import { bytes, freshPrefix, keysOf, listAll, reasonOf, text } from "./SuiteStore.ts"

/** Listing: prefixes, pages, limits. */
export const listTests = (it: It, settings: Settings) => {
  it.effect("a prefix lists what is below it, at any depth, and not its siblings", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const prefix = yield* freshPrefix(settings)
      const inside = ["main/a", "main/b/c", "main/b/d/e"].map((key) => prefix + key)
      const siblings = ["main2/a", "main.b", "main-c", "mai"].map((key) => prefix + key)
      for (const key of [...inside, ...siblings]) yield* store.create(key, bytes(key))
      const listed = yield* listAll({ prefix: `${prefix}main/` })
      assert.deepStrictEqual(keysOf(listed), inside)
      for (const object of listed) {
        assert.strictEqual(object.sizeBytes, object.key.length)
        assert.isTrue(object.modifiedMillis === undefined || Number.isFinite(object.modifiedMillis))
      }
      assert.deepStrictEqual(keysOf(yield* listAll({ prefix: `${prefix}main/b` })), inside.slice(1))
      assert.deepStrictEqual(
        keysOf(yield* listAll({ prefix: `${prefix}main` })),
        [...inside, ...siblings.slice(0, 3)].sort()
      )
      assert.deepStrictEqual(yield* listAll({ prefix: `${prefix}none/` }), [])
      assert.deepStrictEqual(yield* listAll({ prefix: `${prefix}main/a/` }), [])
    }))

  it.effect(
    "more keys than a page holds: every key exactly, with limit, startAfter and page",
    () =>
      Effect.gen(function*() {
        const store = yield* ObjectStore
        const prefix = yield* freshPrefix(settings)
        const keys = Array.from(
          { length: settings.manyKeys },
          (_, index) =>
            `${prefix}segments/${String(index % 3).padStart(10, "0")}/${String(index).padStart(12, "0")}.seg`
        ).sort()
        yield* Effect.forEach(keys, (key) => store.create(key, bytes("s")), { concurrency: 16, discard: true })
        assert.deepStrictEqual(keysOf(yield* listAll({ prefix })), keys)
        const page = yield* store.list({ prefix, limit: 7 })
        assert.isAtMost(page.objects.length, 7)
        assert.isDefined(page.next)
        const few = keys.slice(0, 25)
        assert.deepStrictEqual(
          keysOf(yield* listAll({ prefix: (few[0] ?? "").slice(0, -8), limit: 9 })),
          keys
            .filter((key) => key.startsWith((few[0] ?? "").slice(0, -8)))
        )
        const after = keys[Math.floor(keys.length / 2)] ?? assert.fail("no keys")
        // A store may ignore startAfter; what comes after it must all be there.
        const later = keysOf(yield* listAll({ prefix, startAfter: after, limit: 1_000 })).filter((key) => key > after)
        assert.deepStrictEqual(later, keys.filter((key) => key > after))
        yield* Effect.forEach([keys.slice(0, 1_000), keys.slice(1_000)], (batch) => store.remove(batch), {
          discard: true
        })
        assert.deepStrictEqual(yield* listAll({ prefix }), [])
      }),
    settings.timeoutMillis
  )
}

/** Removing, and what a store says about itself. */
export const removeTests = (it: It, settings: Settings) => {
  it.effect("a removed object is gone from get and list, others stay, the key is free again", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const prefix = yield* freshPrefix(settings)
      for (const name of ["a", "b", "a.b"]) yield* store.create(prefix + name, bytes(name))
      assert.deepStrictEqual(yield* store.remove([`${prefix}a`]), [])
      assert.strictEqual(yield* reasonOf(store.get(`${prefix}a`)), "NotFound")
      assert.deepStrictEqual(keysOf(yield* listAll({ prefix })), [`${prefix}a.b`, `${prefix}b`])
      yield* store.create(`${prefix}a`, bytes("again"))
      assert.strictEqual(text((yield* store.get(`${prefix}a`)).body), "again")
    }))

  it.effect("a replaced object is removed with all it was, and starts anew", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const key = `${yield* freshPrefix(settings)}manifest.json`
      yield* store.replace(key, bytes("two"), yield* store.create(key, bytes("one")))
      assert.deepStrictEqual(yield* store.remove([key]), [])
      assert.strictEqual(yield* reasonOf(store.get(key)), "NotFound")
      assert.deepStrictEqual(yield* listAll({ prefix: key }), [])
      const tag = yield* store.create(key, bytes("new"))
      assert.strictEqual(text((yield* store.get(key)).body), "new")
      yield* store.replace(key, bytes("newer"), tag)
      assert.strictEqual(text((yield* store.get(key)).body), "newer")
    }))

  it.effect(
    "keys that are not there count as removed; 1,000 of them go in one call, none in an empty one",
    () =>
      Effect.gen(function*() {
        const store = yield* ObjectStore
        const prefix = yield* freshPrefix(settings)
        yield* store.create(`${prefix}500`, bytes("x"))
        const keys = Array.from({ length: 1_000 }, (_, index) => `${prefix}${index}`)
        assert.deepStrictEqual(yield* store.remove(keys), [])
        assert.deepStrictEqual(yield* listAll({ prefix }), [])
        assert.deepStrictEqual(yield* store.remove([`${prefix}deep/er/none`, `${prefix}500`]), [])
        assert.deepStrictEqual(yield* store.remove([]), [])
      }),
    settings.timeoutMillis
  )

  it.effect("the store names itself and gives advice without failing", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      assert.isAbove(store.id.length, 0)
      assert.isArray(yield* store.advice(`${settings.prefix}/`))
    }))
}
