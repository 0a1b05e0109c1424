import { objectStoreSuite } from "@effect-wal/testing/ObjectStoreSuite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import * as DirectoryObjectStore from "../../src/node/DirectoryObjectStore.ts"
import { DiskFile, nodeDisk } from "../../src/node/DiskFile.ts"
import { bytes, failure, freshDirectory, storeOn, text } from "./fixtures/disks.ts"

objectStoreSuite(
  "DirectoryObjectStore",
  Layer.unwrap(Effect.map(freshDirectory, (path) => DirectoryObjectStore.layer({ path })))
)

describe("DirectoryObjectStore on disk", () => {
  it.effect("a segment is a plain file under its key, a replaced object keeps few versions, nothing temporary stays", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeOn(path)
      yield* store.create("p/n/s/segments/0000000001/000000000000.seg", bytes("segment"))
      const file = yield* Effect.promise(() =>
        fs.readFile(join(path, "p/n/s/segments/0000000001/000000000000.seg"), "utf8")
      )
      assert.strictEqual(file, "segment")
      let tag = yield* store.create("p/n/s/manifest.json", bytes("1"))
      assert.strictEqual(tag, "1")
      for (let version = 2; version <= 30; version++) {
        tag = yield* store.replace("p/n/s/manifest.json", bytes(`${version}`), tag)
      }
      assert.strictEqual(tag, "30")
      const versions = yield* Effect.promise(() => fs.readdir(join(path, "p/n/s/manifest.json~versions")))
      assert.deepStrictEqual(
        versions.sort(),
        Array.from({ length: 9 }, (_, index) => String(22 + index).padStart(20, "0"))
      )
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "~tmp"))), [])
      const { objects } = yield* store.list({ prefix: "" })
      assert.deepStrictEqual(objects.map((object) => [object.key, object.sizeBytes]), [
        ["p/n/s/manifest.json", 2],
        ["p/n/s/segments/0000000001/000000000000.seg", 7]
      ])
      yield* store.remove(["p/n/s/manifest.json"])
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "p/n/s"))), ["segments"])
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "~tmp"))), [])
    }))

  it.effect("foreign files are listed as keys, also behind a symbolic link", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const elsewhere = yield* freshDirectory
      const store = yield* storeOn(path)
      yield* Effect.promise(() =>
        Promise.all([
          fs.writeFile(join(path, "notes~"), "mine"),
          fs.writeFile(join(elsewhere, "far"), "away"),
          fs.symlink(elsewhere, join(path, "linked")),
          fs.symlink(join(path, "nowhere"), join(path, "broken"))
        ])
      )
      const { objects } = yield* store.list({ prefix: "" })
      assert.deepStrictEqual(objects.map((object) => object.key), ["linked/far", "notes~"])
      assert.strictEqual(text((yield* store.get("linked/far")).body), "away")
    }))

  it.effect("keys that are no file below the root, or the store's own names, are refused before anything happens", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const store = yield* storeOn(join(path, "root"))
      yield* Effect.promise(() => fs.writeFile(join(path, "secret"), "x"))
      for (
        const key of [
          "../secret",
          "a/../../secret",
          "",
          "/a",
          "a//b",
          "a/",
          ".",
          "a/.",
          "~tmp/x",
          "a~versions/1",
          "a\0b"
        ]
      ) {
        const requests = [
          Effect.asVoid(store.get(key)),
          Effect.asVoid(store.create(key, bytes("x"))),
          Effect.asVoid(store.replace(key, bytes("x"), "1"))
        ]
        for (const request of requests) {
          assert.strictEqual((yield* Effect.flip(request)).reason, "UnexpectedResponse", key)
        }
        assert.deepStrictEqual(yield* store.remove([key]), [{ key, code: "UnexpectedResponse" }])
      }
      assert.deepStrictEqual(yield* store.list({ prefix: "../" }), { objects: [] })
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(path)), ["root", "secret"])
    }))

  it.effect("a directory of other objects is neither an object nor a free key", () =>
    Effect.gen(function*() {
      const store = yield* storeOn(yield* freshDirectory)
      yield* store.create("a/b", bytes("x"))
      assert.strictEqual((yield* Effect.flip(store.get("a"))).reason, "NotFound")
      assert.strictEqual((yield* Effect.flip(store.create("a", bytes("x")))).reason, "UnexpectedResponse")
      assert.strictEqual((yield* Effect.flip(store.create("a/b/c", bytes("x")))).reason, "UnexpectedResponse")
      assert.deepStrictEqual(yield* store.remove(["a", "a/b/c"]), [])
      assert.strictEqual(text((yield* store.get("a/b")).body), "x")
    }))

  it.effect("a body with another CRC-32 than the caller says is not stored; a replace of nothing is NotFound", () =>
    Effect.gen(function*() {
      const store = yield* storeOn(yield* freshDirectory)
      assert.strictEqual((yield* Effect.flip(store.create("a", bytes("a"), { crc32: 1 }))).reason, "UnexpectedResponse")
      assert.strictEqual((yield* Effect.flip(store.get("a"))).reason, "NotFound")
      assert.strictEqual((yield* Effect.flip(store.replace("a", bytes("a"), "1"))).reason, "NotFound")
      yield* store.create("a", bytes("a"), { crc32: crc32("a") })
      assert.deepStrictEqual(yield* store.advice(""), [])
    }))

  it.effect("a page reads only the directories that can hold its keys", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const read: Array<string> = []
      const store = yield* storeOn(path, {
        list: (name) => Effect.andThen(Effect.sync(() => read.push(name.replace(path, ""))), nodeDisk.list(name))
      })
      for (const epoch of [1, 2, 3, 4]) yield* store.create(`log/segments/${epoch}/0.seg`, bytes("x"))
      yield* store.create("other/a", bytes("x"))
      const directories = () => read.splice(0).filter((name) => !name.endsWith("~versions"))
      read.length = 0
      const page = yield* store.list({ prefix: "log/segments/", startAfter: "log/segments/2/0.seg", limit: 1 })
      assert.deepStrictEqual(page, {
        objects: page.objects.filter((object) => object.key === "log/segments/3/0.seg"),
        next: "log/segments/3/0.seg"
      })
      assert.deepStrictEqual(directories(), [
        "/log/segments/",
        "/log/segments/2/",
        "/log/segments/3/",
        "/log/segments/4/"
      ])
      yield* store.list({ prefix: "log/segments/2", startAfter: "log/segments/2/1" })
      assert.deepStrictEqual(directories(), ["/log/segments/", "/log/segments/2/"])
    }))

  it.effect("two paths to one directory are one store", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.promise(() => fs.mkdir(join(path, "real")))
      yield* Effect.promise(() => fs.symlink(join(path, "real"), join(path, "link")))
      const real = yield* storeOn(join(path, "real"))
      const link = yield* storeOn(join(path, "link"))
      assert.strictEqual(real.id, link.id)
      assert.isTrue(real.id.startsWith("file:///"))
      yield* real.create("a", bytes("x"))
      assert.strictEqual((yield* Effect.flip(link.create("a", bytes("y")))).reason, "AlreadyExists")
    }))
})

describe("DirectoryObjectStore at start", () => {
  it.effect("network file systems are refused unless allowed", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      for (const type of [0x6969, 0xff534d42, 0xfe534d42, 0x517b, 0x65735546, 0x01021997]) {
        const on = Effect.provideService(DiskFile, { ...nodeDisk, fileSystemType: () => Effect.succeed(type) })
        const error = yield* Effect.flip(DirectoryObjectStore.make({ path }).pipe(on))
        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, "allowNetworkFileSystem")
        yield* DirectoryObjectStore.make({ path, allowNetworkFileSystem: true }).pipe(on)
      }
    }))

  it.effect("a directory that can't be used is a ConfigError that says why", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.promise(() => fs.writeFile(join(path, "file"), ""))
      const errors = [
        yield* Effect.flip(storeOn(join(path, "file"))),
        yield* Effect.flip(storeOn(join(path, "file/below"))),
        yield* Effect.flip(storeOn(join(path, "new"), { makeDirectory: () => failure("EACCES") }))
      ]
      assert.deepStrictEqual(errors.map((error) => error._tag), ["ConfigError", "ConfigError", "ConfigError"])
      assert.include(errors[2]?.message, "EACCES")
    }))

  it.effect("what crashed writers left is removed when it is older than an hour, and only that", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const crashing = yield* storeOn(path, { link: () => Effect.die("power cut") })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(crashing.create("a/b", bytes("half")))))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(crashing.create("a/c", bytes("half")))))
      const left = yield* Effect.promise(() => fs.readdir(join(path, "~tmp")))
      assert.strictEqual(left.length, 2)
      const [old = "", young = ""] = left
      yield* Effect.promise(() => fs.utimes(join(path, "~tmp", old), 0, 0))
      yield* Effect.promise(() => fs.utimes(join(path, "~tmp", young), 10, 10))
      yield* TestClock.setTime(3_600_001)
      const store = yield* storeOn(path)
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "~tmp"))), [young])
      assert.deepStrictEqual(yield* store.list({ prefix: "" }), { objects: [] })
      assert.strictEqual((yield* Effect.flip(store.get("a/b"))).reason, "NotFound")
      assert.strictEqual(yield* store.create("a/b", bytes("whole")), "1")
    }))
})
