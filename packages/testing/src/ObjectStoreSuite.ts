/**
 * What every `ObjectStore` must do, as a suite that is run against each of them.
 *
 * Each test works below a key prefix of its own and removes it afterwards, so the suite runs on a shared bucket too.
 * Clock and timers are the real ones; nothing is timed.
 */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import type { ObjectStoreError, Reason } from "@effect-wal/core/store/ObjectStoreError"
import { assert, layer } from "@effect/vitest"
import type { Layer } from "effect"
import { Effect, Result } from "effect"
import { crc32 } from "node:zlib"
import { listTests, removeTests } from "./suite/ListTests.ts"
import type { It, ObjectStoreSuiteOptions, Settings } from "./suite/SuiteStore.ts"
import { bytes, freshPrefix, keysOf, listAll, reasonOf, text } from "./suite/SuiteStore.ts"

export type { ObjectStoreSuiteOptions } from "./suite/SuiteStore.ts"

const objectTests = (it: It, settings: Settings) => {
  it.effect("what was created is read back, and a second create is refused and changes nothing", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const key = `${yield* freshPrefix(settings)}a`
      yield* store.create(key, bytes("first"), { crc32: crc32("first") })
      assert.strictEqual(yield* reasonOf(store.create(key, bytes("second"))), "AlreadyExists")
      assert.strictEqual(yield* reasonOf(store.create(key, bytes("first"))), "AlreadyExists")
      assert.strictEqual(text((yield* store.get(key)).body), "first")
    }))

  it.effect("a key that was never written is NotFound, with operation and key in the error", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const key = `${yield* freshPrefix(settings)}none`
      const error = yield* Effect.flip(store.get(key))
      assert.deepStrictEqual([error.reason, error.operation, error.key], ["NotFound", "get", key])
      assert.strictEqual(yield* reasonOf(store.get(key, { firstBytes: 10 })), "NotFound")
    }))

  it.effect("empty, one-byte and large bodies come back whole", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const prefix = yield* freshPrefix(settings)
      for (const length of [0, 1, settings.largeBytes]) {
        const body = Uint8Array.from({ length }, (_, index) => (index * 2_654_435_761) >>> 13)
        yield* store.create(`${prefix}${length}`, body, { crc32: crc32(body) })
        assert.strictEqual(Buffer.compare((yield* store.get(`${prefix}${length}`)).body, body), 0, `${length} bytes`)
      }
    }), settings.timeoutMillis)

  it.effect("firstBytes answers a prefix, the whole when the object is shorter, nothing of an empty one", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const prefix = yield* freshPrefix(settings)
      yield* store.create(`${prefix}ten`, bytes("0123456789"))
      const tag = yield* store.create(`${prefix}empty`, bytes(""))
      const first = (key: string, firstBytes: number) =>
        Effect.map(store.get(`${prefix}${key}`, { firstBytes }), (object) => text(object.body))
      assert.strictEqual(yield* first("ten", 1), "0")
      assert.strictEqual(yield* first("ten", 4), "0123")
      assert.strictEqual(yield* first("ten", 10), "0123456789")
      assert.strictEqual(yield* first("ten", 4_096), "0123456789")
      assert.strictEqual(yield* first("empty", 4_096), "")
      const part = yield* store.get(`${prefix}empty`, { firstBytes: 1 })
      yield* store.replace(`${prefix}empty`, bytes("by the tag of a part"), part.tag)
      assert.strictEqual(yield* reasonOf(store.replace(`${prefix}empty`, bytes("x"), tag)), "PreconditionFailed")
    }))

  it.effect("the store keeps its own copy: neither the buffer written nor the one read is shared", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const key = `${yield* freshPrefix(settings)}copy`
      const body = bytes("unchanged")
      yield* store.create(key, body)
      body.fill(0)
      const read = yield* store.get(key)
      assert.strictEqual(text(read.body), "unchanged")
      read.body.fill(0)
      assert.strictEqual(text((yield* store.get(key)).body), "unchanged")
    }))

  it.effect("every character of the key alphabet, long parts and dots in them", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const prefix = yield* freshPrefix(settings)
      const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-"
      const keys = [
        alphabet,
        `${"n".repeat(128)}/${"s".repeat(128)}/segments/0000000001/000000000000.seg`,
        "...",
        "..a/.b",
        "-/_/.tmp/-._",
        ...[...alphabet].filter((character) => character !== ".").map((character) => `one/${character}`)
      ].map((key) => prefix + key)
      yield* Effect.forEach(keys, (key) => store.create(key, bytes(key)), { concurrency: 8 })
      for (const key of keys) assert.strictEqual(text((yield* store.get(key)).body), key)
      assert.deepStrictEqual(keysOf(yield* listAll({ prefix })), keys.toSorted())
    }))
}

const replaceTests = (it: It, settings: Settings) => {
  it.effect("a replace by the current tag succeeds, from a write or from a read; a stale tag changes nothing", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const key = `${yield* freshPrefix(settings)}manifest.json`
      const created = yield* store.create(key, bytes("1"))
      const replaced = yield* store.replace(key, bytes("two"), created, { crc32: crc32("two") })
      assert.strictEqual(yield* reasonOf(store.replace(key, bytes("x"), created)), "PreconditionFailed")
      assert.strictEqual(text((yield* store.get(key)).body), "two")
      yield* store.replace(key, bytes("three"), replaced)
      assert.strictEqual(yield* reasonOf(store.replace(key, bytes("x"), replaced)), "PreconditionFailed")
      yield* store.replace(key, bytes("four"), (yield* store.get(key)).tag)
      assert.strictEqual(text((yield* store.get(key)).body), "four")
      assert.strictEqual(yield* reasonOf(store.create(key, bytes("x"))), "AlreadyExists")
      const sizes = (yield* listAll({ prefix: key })).map((object) => object.sizeBytes)
      assert.deepStrictEqual(sizes, [4])
    }))

  it.effect("tags are opaque: one that the store never gave is refused, whatever it looks like", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const key = `${yield* freshPrefix(settings)}object.seg`
      yield* store.create(key, bytes("body"))
      for (const tag of ["\"0123456789abcdef0123456789abcdef\"", "\"no-such-tag\"", "\"99999999\""]) {
        assert.strictEqual(yield* reasonOf(store.replace(key, bytes("x"), tag)), "PreconditionFailed", tag)
      }
      assert.strictEqual(text((yield* store.get(key)).body), "body")
    }))

  it.effect("a replace of a key that is not there does not create it", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const prefix = yield* freshPrefix(settings)
      const tag = yield* store.create(`${prefix}other`, bytes("other"))
      // Some S3 implementations answer 412 instead of 404; nothing above the store depends on which.
      const answers: ReadonlyArray<Reason> = ["NotFound", "PreconditionFailed"]
      assert.include(answers, yield* reasonOf(store.replace(`${prefix}none`, bytes("x"), tag)))
      assert.strictEqual(yield* reasonOf(store.get(`${prefix}none`)), "NotFound")
      yield* store.remove([`${prefix}other`])
      assert.include(answers, yield* reasonOf(store.replace(`${prefix}other`, bytes("x"), tag)))
      assert.strictEqual(yield* reasonOf(store.get(`${prefix}other`)), "NotFound")
    }))

  it.effect("many replaces in a row: each tag holds until the next", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const key = `${yield* freshPrefix(settings)}manifest.json`
      let tag = yield* store.create(key, bytes("0"))
      for (let version = 1; version <= 40; version++) {
        const next = yield* store.replace(key, bytes(`${version}`), tag)
        assert.strictEqual(yield* reasonOf(store.replace(key, bytes("late"), tag)), "PreconditionFailed")
        assert.strictEqual(text((yield* store.get(key)).body), `${version}`)
        tag = next
      }
    }))
}

/** Runs the 8 writes at once; answers the body of the only one that won. */
const onlyWinner = Effect.fnUntraced(
  function*<R>(write: (body: string) => Effect.Effect<unknown, ObjectStoreError, R>, losing: ReadonlyArray<Reason>) {
    const bodies = Array.from({ length: 8 }, (_, index) => `body ${index} ${"x".repeat(index * 100)}`)
    const results = yield* Effect.forEach(bodies, (body) => Effect.result(write(body)), { concurrency: "unbounded" })
    const winners = bodies.filter((_, index) => Result.isSuccess(results[index] ?? assert.fail("no result")))
    for (const result of results) if (Result.isFailure(result)) assert.include(losing, result.failure.reason)
    assert.strictEqual(winners.length, 1)
    return winners[0]
  }
)

const raceTests = (it: It, settings: Settings) => {
  const rounds = Array.from({ length: settings.raceRounds }, (_, index) => index)

  it.effect("8 creates at once: exactly one wins, and the object is its body", () =>
    Effect.gen(function*() {
      const store = yield* ObjectStore
      const prefix = yield* freshPrefix(settings)
      for (const round of rounds) {
        const key = `${prefix}race-${round}`
        const winner = yield* onlyWinner((body) => store.create(key, bytes(body)), ["AlreadyExists", "Conflict"])
        assert.strictEqual(text((yield* store.get(key)).body), winner)
      }
    }), settings.timeoutMillis)

  it.effect(
    "8 replaces of one tag at once: exactly one wins, and the object is its body",
    () =>
      Effect.gen(function*() {
        const store = yield* ObjectStore
        const key = `${yield* freshPrefix(settings)}manifest.json`
        yield* store.create(key, bytes("start"))
        for (const round of rounds) {
          const { tag } = yield* store.get(key)
          const write = (body: string) => store.replace(key, bytes(`${round} ${body}`), tag)
          // Ceph 18 and 16 answer some losers of such a race with a 500: not applied, which the read below shows.
          const winner = yield* onlyWinner(write, ["PreconditionFailed", "Conflict", "Unavailable"])
          assert.strictEqual(text((yield* store.get(key)).body), `${round} ${winner}`)
        }
      }),
    settings.timeoutMillis
  )
}

/**
 * Registers the suite for the store of `storeLayer`, built once for all tests.
 *
 * What is asked for beyond the contract: nothing about order or repeats in listings, nor whether two equal bodies get two
 * tags.
 */
export const objectStoreSuite = <E>(
  name: string,
  storeLayer: Layer.Layer<ObjectStore, E>,
  options: ObjectStoreSuiteOptions = {}
): void => {
  const settings: Settings = {
    prefix: "suite",
    raceRounds: 3,
    manyKeys: 1_050,
    largeBytes: 5 << 20,
    timeoutMillis: 60_000,
    ...options
  }
  layer(storeLayer, { excludeTestServices: true, timeout: settings.timeoutMillis })(name, (it) => {
    objectTests(it, settings)
    replaceTests(it, settings)
    raceTests(it, settings)
    listTests(it, settings)
    removeTests(it, settings)
  })
}
