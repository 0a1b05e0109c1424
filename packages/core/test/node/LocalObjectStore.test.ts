import { objectStoreSuite } from "@effect-wal/testing/ObjectStoreSuite"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, References, Result } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { manifestKey, segmentsPrefix, slotKey } from "../../src/format/ObjectKey.ts"
import { encodeEndMarker } from "../../src/format/SegmentCodec.ts"
import { DiskFile, type DiskFileService, nodeDisk } from "../../src/node/DiskFile.ts"
import * as LocalObjectStore from "../../src/node/LocalObjectStore.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { NonceSource } from "../../src/Nonce.ts"
import { ObjectStore } from "../../src/store/ObjectStore.ts"
import { bytes, failure, freshDirectory, text } from "./fixtures/disks.ts"
import { changed, changedHandles } from "./journal/fixtures/journals.ts"

const prefix = "p/node/log/"

interface StoreOptions {
  readonly disk?: DiskFileService
  readonly maxFileBytes?: number
  readonly prefix?: string
}

const storeIn = (path: string, options: StoreOptions = {}) =>
  LocalObjectStore.make({
    path,
    prefix: options.prefix ?? prefix,
    ...(options.maxFileBytes === undefined ? {} : { maxFileBytes: options.maxFileBytes })
  }).pipe(
    Effect.provideService(DiskFile, options.disk ?? nodeDisk),
    Effect.provideService(References.MinimumLogLevel, "None")
  )

const layerWith = (of: string) =>
  Layer.effect(
    ObjectStore,
    Effect.flatMap(freshDirectory, (path) => storeIn(path, { prefix: of, maxFileBytes: 20_000 }))
  )

objectStoreSuite("LocalObjectStore, keys of others", layerWith(prefix))

// All tests of this run use one prefix, which is that of the log: its slots are in the journal.
objectStoreSuite(
  "LocalObjectStore, keys of the log",
  Layer.provideMerge(
    Layer.succeed(NonceSource, Effect.succeed("same")),
    layerWith("suite/same/")
  )
)

const key = (epoch: number, slot: number) => slotKey(prefix, epoch, slot)

const reasonOf = <A>(effect: Effect.Effect<A, { readonly reason: string }>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

const allPages = Effect.fnUntraced(
  function*(store: ObjectStore["Service"], request: Parameters<ObjectStore["Service"]["list"]>[0]) {
    const keys: Array<string> = []
    let page = yield* store.list(request)
    keys.push(...page.objects.map((object) => object.key))
    while (page.next !== undefined) {
      page = yield* store.list({ ...request, page: page.next })
      keys.push(...page.objects.map((object) => object.key))
    }
    return keys
  }
)

describe("LocalObjectStore and slots", () => {
  it.effect("a slot is created once, also by the next process, and its bytes come back", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* storeIn(path)
        assert.deepStrictEqual([store.id, store.disk, store.proven], [`local:${path}`, path, true])
        yield* store.create(key(1, 0), bytes("zero"), { crc32: crc32("zero") })
        assert.strictEqual(yield* reasonOf(store.create(key(1, 0), bytes("other"))), "AlreadyExists")
        assert.strictEqual(yield* reasonOf(store.create(key(1, 1), bytes("x"), { crc32: 7 })), "UnexpectedResponse")
        assert.strictEqual(yield* reasonOf(store.get(key(1, 1))), "NotFound")
        assert.strictEqual(yield* reasonOf(store.replace(key(1, 0), bytes("x"), "1")), "NotSupported")
      }))
      const store = yield* storeIn(path)
      assert.strictEqual(yield* reasonOf(store.create(key(1, 0), bytes("zero"))), "AlreadyExists")
      assert.strictEqual(text((yield* store.get(key(1, 0))).body), "zero")
      assert.strictEqual(text((yield* store.get(key(1, 0), { firstBytes: 2 })).body), "ze")
      // No file of its own: all slots are in the journal.
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, prefix))), ["~journal"])
    }))

  it.effect("of many creates of one slot at once exactly one wins", () =>
    Effect.gen(function*() {
      const store = yield* storeIn(yield* freshDirectory)
      for (let slot = 0; slot < 5; slot++) {
        const bodies = Array.from({ length: 8 }, (_, index) => `body ${index}`)
        const results = yield* Effect.forEach(
          bodies,
          (body) => Effect.result(store.create(key(1, slot), bytes(body))),
          { concurrency: "unbounded" }
        )
        const winners = bodies.filter((_, index) => Result.isSuccess(results[index] ?? assert.fail("no result")))
        assert.strictEqual(winners.length, 1)
        for (const result of results) {
          if (Result.isFailure(result)) assert.strictEqual(result.failure.reason, "AlreadyExists")
        }
        assert.strictEqual(text((yield* store.get(key(1, slot))).body), winners[0])
      }
    }))

  it.effect("whoever waits for another create takes the slot when that one fails, or is interrupted", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const reached = yield* Deferred.make<void>()
      let isFirst = true
      const disk = changedHandles((handle) => ({
        writeMany: (parts, position) => {
          if (!isFirst) return handle.writeMany(parts, position)
          isFirst = false
          return Effect.andThen(
            Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)),
            failure("ENOSPC")
          )
        }
      }))
      const store = yield* storeIn(yield* freshDirectory, { disk })
      const create = (body: string) =>
        Effect.forkChild(Effect.result(store.create(key(1, 0), bytes(body))), { startImmediately: true })
      const first = yield* create("first")
      yield* Deferred.await(reached)
      const interrupted = yield* create("interrupted")
      const second = yield* create("second")
      yield* Fiber.interrupt(interrupted)
      yield* Deferred.succeed(gate, undefined)
      const failed = yield* Fiber.join(first)
      assert.strictEqual(Result.isFailure(failed) && failed.failure.reason, "StoreFull")
      assert.isTrue(Result.isSuccess(yield* Fiber.join(second)))
      assert.strictEqual(text((yield* store.get(key(1, 0))).body), "second")
    }))

  it.effect("[case 20] a full disk is StoreFull and not applied; a failed sync or write is Unavailable and unknown", () =>
    Effect.gen(function*() {
      let broken: "write" | "sync" | "full" | undefined = undefined
      const fails = (call: string) => broken === call
      const disk = changedHandles((handle) => ({
        writeMany: (parts, position) =>
          fails("full") ? failure("ENOSPC") : fails("write") ? failure("EIO") : handle.writeMany(parts, position),
        syncData: Effect.suspend(() => fails("sync") ? failure("EIO") : handle.syncData)
      }))
      const store = yield* storeIn(yield* freshDirectory, { disk })
      const answers: Array<readonly [string, string | undefined, string]> = []
      for (const one of ["full", "write", "sync"] as const) {
        broken = one
        const error = yield* Effect.flip(store.create(key(1, 0), bytes("x")))
        answers.push([error.reason, error.code, error.outcome])
        assert.isTrue(error.isRetryable)
        assert.strictEqual(yield* reasonOf(store.get(key(1, 0))), "NotFound")
      }
      assert.deepStrictEqual(answers, [
        ["StoreFull", "full", "not-applied"],
        ["Unavailable", "failed", "unknown"],
        ["Unavailable", "sync-failed", "unknown"]
      ])
      broken = undefined
      yield* store.create(key(1, 0), bytes("x"))
      assert.strictEqual(text((yield* store.get(key(1, 0))).body), "x")
    }))

  it.effect("an end marker keeps no file from going, a segment does", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeIn(path, { maxFileBytes: 700 })
      const segment = bytes("s".repeat(200))
      const marker = encodeEndMarker({
        logId: "0".repeat(32),
        nonce: "1".repeat(32),
        epoch: 1,
        slot: 1,
        owner: { epoch: 2, host: "host" }
      }, nodeDigest)
      yield* store.create(key(1, 0), segment)
      yield* store.create(key(1, 1), marker)
      for (let slot = 0; slot < 5; slot++) yield* store.create(key(2, slot), segment)
      assert.deepStrictEqual(yield* store.remove([key(1, 0), key(2, 0)]), [])
      assert.strictEqual(yield* reasonOf(store.get(key(1, 1))), "NotFound")
      assert.deepStrictEqual(
        yield* allPages(store, { prefix: segmentsPrefix(prefix) }),
        [1, 2, 3, 4].map((slot) => key(2, slot))
      )
    }))

  it.effect("damaged bytes are handed out as they are, for the log to tell what is lost", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.scoped(Effect.gen(function*() {
        const store = yield* storeIn(path)
        for (let slot = 0; slot < 3; slot++) yield* store.create(key(1, slot), bytes("body"))
      }))
      const file = join(path, prefix, "~journal", "0000000001.journal")
      yield* Effect.promise(async () => {
        const content = await fs.readFile(file)
        content[128 + 60 + 56] = 0x42
        await fs.writeFile(file, content)
      })
      const store = yield* storeIn(path)
      assert.strictEqual(
        text((yield* Effect.provideService(store.get(key(1, 1)), References.MinimumLogLevel, "None")).body),
        "Body"
      )
      assert.strictEqual(text((yield* store.get(key(1, 2))).body), "body")
    }))
})

describe("LocalObjectStore and the rest of the keys", () => {
  it.effect("slots and files are one listing, in the order of the keys, whatever the page, the start and the prefix", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeIn(path, { maxFileBytes: 600 })
      const other = yield* storeIn(path, { prefix: "p/node/other/" })
      yield* other.create(slotKey("p/node/other/", 1, 0), bytes("x"))
      yield* other.create("p/node/other/manifest.json", bytes("{}"))
      const files = ["manifest.json", "probe/1", "segments/0000000002/note.txt", "segments/zzz", "zzz"]
      for (const file of files) yield* store.create(prefix + file, bytes(file))
      const slots = [...Array.from({ length: 12 }, (_, slot) => key(1, slot)), ...[0, 1, 7].map((slot) => key(2, slot))]
      for (const slot of slots.toReversed()) yield* store.create(slot, bytes("x".repeat(100)))
      const all = [...files.map((file) => prefix + file), ...slots, "p/node/other/manifest.json"].sort()
      const prefixes = ["", "p/", prefix, segmentsPrefix(prefix), `${prefix}segments/000000000`, key(1, 0).slice(0, -6)]
      for (const start of [...prefixes, key(2, 7), `${prefix}none`]) {
        const expected = all.filter((one) => one.startsWith(start))
        for (const limit of [1, 2, 3, 7, 1_000]) {
          assert.deepStrictEqual(yield* allPages(store, { prefix: start, limit }), expected, `${start} by ${limit}`)
        }
        for (const startAfter of [key(1, 5), key(1, 4).slice(0, -3), `${prefix}segments/0000000002/`, `${prefix}zzz`]) {
          const later = expected.filter((one) => one > startAfter)
          assert.deepStrictEqual(yield* allPages(store, { prefix: start, startAfter, limit: 2 }), later)
        }
      }
      const page = yield* store.list({ prefix: key(1, 0) })
      assert.deepStrictEqual(page.objects.map((object) => object.sizeBytes), [100])
      assert.isTrue(page.objects.every((object) => object.modifiedMillis !== undefined))
    }))

  it.effect("one removal takes slots and files; more than 1,000 keys are refused", () =>
    Effect.gen(function*() {
      const store = yield* storeIn(yield* freshDirectory)
      yield* store.create(manifestKey(prefix), bytes("{}"))
      for (const slot of [0, 1, 2]) yield* store.create(key(1, slot), bytes("x"))
      assert.deepStrictEqual(yield* store.remove([key(1, 0), manifestKey(prefix), key(1, 9)]), [])
      assert.deepStrictEqual(yield* allPages(store, { prefix: "" }), [key(1, 1), key(1, 2)])
      const many = Array.from({ length: 1_001 }, (_, slot) => key(1, slot))
      assert.strictEqual(yield* reasonOf(store.remove(many)), "UnexpectedResponse")
    }))

  it.effect("slots of another log are no slots of this one, and its journal is no object", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeIn(path)
      const foreign = slotKey("p/node/other/", 1, 0)
      yield* store.create(foreign, bytes("file"))
      assert.strictEqual(yield* Effect.promise(() => fs.readFile(join(path, foreign), "utf8")), "file")
      for (const inside of [`${prefix}~journal/0000000001.journal`, `${prefix}~journal/lock`]) {
        assert.strictEqual(yield* reasonOf(store.get(inside)), "UnexpectedResponse")
        assert.deepStrictEqual(yield* store.remove([inside]), [{ key: inside, code: "UnexpectedResponse" }])
      }
    }))
})

describe("LocalObjectStore and opening", () => {
  it.effect("[case 10] the log is locked, other logs of the directory are not", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const error = yield* Effect.scoped(Effect.gen(function*() {
        yield* storeIn(path)
        yield* storeIn(path, { prefix: "p/node/other/" })
        return yield* Effect.flip(storeIn(path))
      }))
      assert.strictEqual(error._tag, "DirectoryLocked")
      assert.include(error.message, join(path, prefix))
      yield* storeIn(path)
    }))

  it.effect("what the disk refuses while opening is typed", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const tagOf = (disk: DiskFileService) =>
        Effect.map(Effect.flip(Effect.scoped(storeIn(path, { disk }))), (error) => error._tag)
      assert.strictEqual(yield* tagOf(changedHandles(() => ({ sync: failure("EIO") }))), "SyncFailed")
      assert.strictEqual(yield* tagOf(changedHandles(() => ({ write: () => failure("ENOSPC") }))), "StoreUnavailable")
      assert.strictEqual(yield* tagOf(changed({ lock: () => failure("EIO") })), "StoreUnavailable")
      assert.strictEqual(yield* tagOf(changed({ realPath: () => failure("EACCES") })), "ConfigError")
      yield* storeIn(path)
    }))

  it.effect("[case 20] a full disk is no mistake in the options: the same opening succeeds once there is room", () =>
    Effect.gen(function*() {
      const path = join(yield* freshDirectory, "not", "there", "yet")
      for (const code of ["ENOSPC", "EDQUOT"]) {
        const disk = changed({ makeDirectory: () => failure(code) })
        const error = yield* Effect.flip(Effect.scoped(storeIn(path, { disk })))
        assert.strictEqual(error._tag, "StoreUnavailable")
        assert.include(error.message, code)
      }
      yield* storeIn(path)
    }))
})
