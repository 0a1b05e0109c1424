import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { nodeDisk } from "../../src/node/DiskFile.ts"
import { bytes, failure, freshDirectory, recordingDisk, storeOn, text } from "./fixtures/disks.ts"

describe("DirectoryObjectStore and durability", () => {
  it.effect("bytes, fsync, link, fsync of the directory, in this order, before the answer; parents too", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const { calls, disk } = recordingDisk(path)
      const store = yield* storeOn(path, disk)
      calls.length = 0
      yield* store.create("a/b/one", bytes("1"))
      const write = ["open-create /~tmp/*", "write /~tmp/*", "sync /~tmp/*"]
      assert.deepStrictEqual(calls.splice(0), [
        ...["mkdir /a", "syncDirectory /", "mkdir /a/b", "syncDirectory /a"].map((call) => call.replace(/ \/$/, " ")),
        ...write,
        "link /a/b/one",
        "syncDirectory /a/b",
        "unlink /~tmp/*"
      ])
      const tag = yield* store.create("a/b/two", bytes("2"))
      assert.deepStrictEqual(calls.splice(0), [...write, "link /a/b/two", "syncDirectory /a/b", "unlink /~tmp/*"])
      yield* store.replace("a/b/two", bytes("3"), tag)
      assert.deepStrictEqual(calls.splice(0), [
        "mkdir /a/b/two~versions",
        "syncDirectory /a/b",
        ...write,
        "link /a/b/two~versions/00000000000000000002",
        "syncDirectory /a/b/two~versions",
        "unlink /~tmp/*"
      ])
      yield* store.get("a/b/one")
      assert.deepStrictEqual(calls.splice(0), ["open-read /a/b/one"])
      yield* store.remove(["a/b/one"])
      assert.deepStrictEqual(calls.splice(0), ["unlink /a/b/one", "syncDirectory /a/b"])
    }))

  it.effect("a failed fsync of the file stores nothing and leaves nothing", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeOn(path, {
        open: (name, mode) => Effect.map(nodeDisk.open(name, mode), (file) => ({ ...file, sync: failure("EIO") }))
      })
      const error = yield* Effect.flip(store.create("a", bytes("x")))
      assert.deepStrictEqual([error.reason, error.code], ["Unavailable", "EIO"])
      assert.strictEqual((yield* Effect.flip(store.get("a"))).reason, "NotFound")
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "~tmp"))), [])
    }))

  it.effect("a failed fsync of the directory is unknown; who meets the object next makes it durable first", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      for (const code of ["EIO", "ENOSPC", "EACCES"]) {
        const failing = yield* storeOn(path, {
          syncDirectory: (name) => name.endsWith("/d") ? failure(code) : nodeDisk.syncDirectory(name)
        })
        const error = yield* Effect.flip(failing.create(`d/${code}`, bytes("x")))
        assert.deepStrictEqual([error.reason, error.code, error.outcome], ["Unavailable", code, "unknown"])
        // Neither a reader nor a second creator is told of it while it can still be lost.
        assert.strictEqual((yield* Effect.flip(failing.get(`d/${code}`))).code, code)
        const left = yield* Effect.promise(() => fs.readdir(join(path, "~tmp")))
        assert.strictEqual((yield* Effect.flip(failing.create(`d/${code}`, bytes("x")))).reason, "Unavailable")
        assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "~tmp"))), left)
        const { calls, disk } = recordingDisk(path)
        const store = yield* storeOn(path, disk)
        calls.length = 0
        assert.strictEqual(text((yield* store.get(`d/${code}`)).body), "x")
        assert.include(calls, "syncDirectory /d")
        assert.strictEqual((yield* Effect.flip(store.create(`d/${code}`, bytes("x")))).reason, "AlreadyExists")
      }
    }))

  it.effect("a full disk, a missing permission and other failures before the link are told apart", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const table = [
        ["ENOSPC", "StoreFull"],
        ["EDQUOT", "StoreFull"],
        ["EACCES", "AccessDenied"],
        ["EPERM", "AccessDenied"],
        ["EROFS", "AccessDenied"],
        ["EIO", "Unavailable"],
        ["EMFILE", "Unavailable"]
      ] as const
      for (const [code, reason] of table) {
        const writes = yield* storeOn(path, {
          open: (name, mode) =>
            Effect.map(nodeDisk.open(name, mode), (file) => ({ ...file, write: () => failure(code) }))
        })
        const links = yield* storeOn(path, { link: () => failure(code) })
        for (const store of [writes, links]) {
          const error = yield* Effect.flip(store.create("a", bytes("x")))
          assert.deepStrictEqual([error.reason, error.code], [reason, code])
        }
        const reads = yield* storeOn(path, { open: () => failure(code), list: () => failure(code) })
        assert.strictEqual((yield* Effect.flip(reads.list({ prefix: "" }))).reason, reason)
        assert.strictEqual((yield* Effect.flip(reads.get("a"))).reason, reason)
      }
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "~tmp"))), [])
    }))

  it.effect("a link that was made although its call failed counts as made", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeOn(path, {
        link: (from, to) => Effect.andThen(nodeDisk.link(from, to), failure("EIO"))
      })
      assert.strictEqual(yield* store.create("a", bytes("x")), "1")
      assert.strictEqual(yield* store.replace("a", bytes("y"), "1"), "2")
      assert.strictEqual(text((yield* store.get("a")).body), "y")
    }))

  it.effect("a removal that fails is answered with its code, the others are done", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeOn(path, {
        unlink: (name) => name.endsWith("/b") ? failure("EACCES") : nodeDisk.unlink(name)
      })
      for (const key of ["a", "b", "c"]) yield* store.create(key, bytes(key))
      assert.deepStrictEqual(yield* store.remove(["a", "b", "c"]), [{ key: "b", code: "EACCES" }])
      assert.deepStrictEqual((yield* store.list({ prefix: "" })).objects.map((object) => object.key), ["b"])
    }))

  it.effect("directories that somebody removed are made again, after one answer that can be retried", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeOn(path)
      yield* store.create("a/b/one", bytes("1"))
      yield* Effect.promise(() => fs.rm(join(path, "a"), { recursive: true }))
      yield* Effect.promise(() => fs.rm(join(path, "~tmp"), { recursive: true }))
      assert.isTrue((yield* Effect.flip(store.create("a/b/two", bytes("2")))).isRetryable)
      yield* store.create("a/b/two", bytes("2"))
      assert.strictEqual(text((yield* store.get("a/b/two")).body), "2")
    }))
})

describe("DirectoryObjectStore and writers that slept", () => {
  /** A writer whose link of version 2 happens only after others have gone on to `version`. */
  const lateReplace = Effect.fnUntraced(function*(path: string, version: number) {
    const others = yield* storeOn(path)
    yield* others.create("m", bytes("1"))
    const advance = Effect.gen(function*() {
      let tag = "1"
      while (tag !== String(version)) tag = yield* others.replace("m", bytes(`others ${tag}`), tag)
    })
    const sleeper = yield* storeOn(path, {
      link: (from, to) => Effect.andThen(Effect.orDie(advance), nodeDisk.link(from, to))
    })
    const error = yield* Effect.flip(sleeper.replace("m", bytes("late"), "1"))
    const now = yield* others.get("m")
    assert.deepStrictEqual([text(now.body), now.tag], [`others ${version - 1}`, String(version)])
    return error
  })

  it.effect("while its version is still there, it is refused", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* lateReplace(yield* freshDirectory, 3)).reason, "PreconditionFailed")
      assert.strictEqual((yield* lateReplace(yield* freshDirectory, 10)).reason, "PreconditionFailed")
    }))

  it.effect("after its version was cleaned up the name is free, and it is not told of a success", () =>
    Effect.gen(function*() {
      const error = yield* lateReplace(yield* freshDirectory, 11)
      assert.deepStrictEqual([error.reason, error.outcome], ["Conflict", "unknown"])
      assert.strictEqual((yield* lateReplace(yield* freshDirectory, 40)).reason, "Conflict")
    }))

  it.effect("a reader whose version goes while it looks reads the next one", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const writer = yield* storeOn(path)
      let tag = yield* writer.replace("m", bytes("2"), yield* writer.create("m", bytes("1")))
      let moved = false
      const advance = Effect.gen(function*() {
        if (moved) return
        moved = true
        while (tag !== "20") tag = yield* writer.replace("m", bytes(`others ${tag}`), tag)
      })
      const reader = yield* storeOn(path, {
        open: (name, mode) => Effect.andThen(Effect.orDie(advance), nodeDisk.open(name, mode))
      })
      const { body, tag: read } = yield* reader.get("m")
      assert.deepStrictEqual([text(body), read], ["others 19", "20"])
    }))
})
