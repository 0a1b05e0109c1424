import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { crc32 } from "node:zlib"
import { nodeDisk } from "../../../src/node/DiskFile.ts"
import { maxIndexes } from "../../../src/node/journal/JournalFiles.ts"
import { bytes, failure, freshDirectory, text } from "../fixtures/disks.ts"
import {
  appendEach,
  changed,
  frame,
  frames,
  journalFiles,
  lastFile,
  name,
  names,
  open,
  openUntilClosed,
  readFile,
  realBytes,
  textOf,
  use
} from "./fixtures/journals.ts"

/** Room for two frames of 100 bytes, not for three. */
const twoFrames = { maxFileBytes: 128 + 2 * (56 + 100) + 50 }
const hundred = "x".repeat(100)

describe("Journal", () => {
  it.effect("what was appended is read, whole or its first bytes, and names that were not are not there", () =>
    Effect.gen(function*() {
      const journal = yield* open(yield* freshDirectory)
      yield* journal.append([frame(1, 0, "zero"), frame(1, 1, "")])
      yield* journal.append([])
      assert.deepStrictEqual(yield* journal.read(name(1, 0)), { body: bytes("zero"), intact: true })
      assert.deepStrictEqual(yield* journal.read(name(1, 0), { firstBytes: 2 }), { body: bytes("ze"), intact: true })
      assert.deepStrictEqual(yield* journal.read(name(1, 0), { firstBytes: 99 }), { body: bytes("zero"), intact: true })
      assert.deepStrictEqual(yield* journal.read(name(1, 1)), { body: bytes(""), intact: true })
      assert.isUndefined(yield* journal.read(name(1, 2)))
      assert.isUndefined(yield* journal.read(name(0, 0)))
      assert.isTrue(yield* journal.has(name(1, 1)))
      assert.isFalse(yield* journal.has(name(1, 2)))
    }))

  it.effect("the next opening has the same frames, id and times, and its own file", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* TestClock.setTime(5_000)
      const id = yield* use(directory, (journal) => Effect.as(journal.append(frames(0, 4)), journal.id))
      assert.match(id, /^[0-9a-f]{32}$/)
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000001.journal"])
      for (let round = 0; round < 3; round++) {
        const journal = yield* openUntilClosed(directory)
        assert.strictEqual(journal.journal.id, id)
        assert.isUndefined(journal.journal.tornTail)
        assert.deepStrictEqual(yield* names(journal.journal), ["1/0", "1/1", "1/2", "1/3", "1/4"])
        assert.strictEqual(yield* textOf(journal.journal, 1, 3), "1/3")
        const [first] = yield* journal.journal.list(name(0, 0), 1)
        assert.strictEqual(first?.writtenAtMillis, 5_000)
        yield* TestClock.adjust(1_000)
        yield* journal.close
      }
    }))

  it.effect("an opening without anything new leaves one file, however often", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      for (let round = 0; round < 5; round++) yield* use(directory, () => Effect.void)
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000005.journal"])
      yield* use(directory, (journal) => journal.append(frames(0, 0)))
      for (let round = 0; round < 5; round++) yield* use(directory, () => Effect.void)
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000011.journal"])
    }))

  it.effect("a file ends before the frame that would make it too long; a frame that is too long has one of its own", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const journal = yield* open(directory, twoFrames)
      yield* appendEach(journal, frames(0, 4, hundred))
      assert.strictEqual((yield* journalFiles(directory)).length, 3)
      yield* journal.append([frame(1, 5, "y".repeat(5_000))])
      yield* journal.append([frame(1, 6)])
      assert.strictEqual((yield* journalFiles(directory)).length, 5)
      yield* journal.append(frames(7, 20, hundred))
      assert.strictEqual((yield* journalFiles(directory)).length, 6)
      assert.strictEqual((yield* names(journal)).length, 21)
      assert.strictEqual(yield* textOf(journal, 1, 5), "y".repeat(5_000))
      assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
    }))

  it.effect("frames are listed in the order of their names, in pages, from any point, over all files", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const written = [7, 3, 11, 0, 1, 9, 4, 2, 10, 8, 5, 6].map((slot) => frame(1 + slot % 2, slot, hundred))
      yield* use(directory, (journal) => appendEach(journal, written), twoFrames)
      const journal = yield* open(directory, twoFrames)
      const sorted = written.map((one) => [one.epoch, one.slot] as const).sort(([a, b], [c, d]) => a - c || b - d)
      for (const limit of [1, 2, 5, 100]) {
        const found: Array<readonly [number, number]> = []
        let from = name(0, 0)
        for (;;) {
          const page = yield* journal.list(from, limit)
          assert.isAtMost(page.length, limit)
          found.push(...page.map((entry) => [entry.epoch, entry.slot] as const))
          const last = page.at(-1)
          if (last === undefined || page.length < limit) break
          from = name(last.epoch, last.slot + 1)
        }
        assert.deepStrictEqual(found, sorted)
      }
      const tail = yield* journal.list(name(2, 4), 100)
      assert.deepStrictEqual(tail.map((entry) => entry.slot), [5, 7, 9, 11])
      assert.deepStrictEqual(tail.map((entry) => entry.bodyBytes), [100, 100, 100, 100])
    }))

  it.effect("a name that is appended again has the newer bytes, also after the next opening, and is listed once", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* appendEach(journal, [frame(1, 0, hundred), frame(1, 1, hundred), frame(1, 2, hundred)])
          yield* journal.remove([name(1, 0)])
          assert.isUndefined(yield* textOf(journal, 1, 0))
          yield* journal.append([frame(1, 0, "again")])
          assert.strictEqual(yield* textOf(journal, 1, 0), "again")
          assert.deepStrictEqual(yield* names(journal), ["1/0", "1/1", "1/2"])
        }), twoFrames)
      const journal = yield* open(directory, twoFrames)
      assert.strictEqual(yield* textOf(journal, 1, 0), "again")
      assert.deepStrictEqual(yield* names(journal), ["1/0", "1/1", "1/2"])
      yield* journal.remove([name(1, 0)])
      assert.isUndefined(yield* textOf(journal, 1, 0))
      assert.deepStrictEqual(yield* names(journal), ["1/1", "1/2"])
    }))

  it.effect("indexes of closed files are kept for few of them, whatever is read", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) => appendEach(journal, frames(0, 39, hundred)), twoFrames)
      const journal = yield* open(directory, twoFrames)
      for (const slot of [0, 39, 17, 3, 22, 8, 30, 12, 1, 36]) {
        assert.strictEqual(yield* textOf(journal, 1, slot), hundred)
        assert.isAtMost(journal.loadedIndexes(), maxIndexes)
      }
      assert.strictEqual((yield* names(journal)).length, 40)
      assert.strictEqual(journal.loadedIndexes(), maxIndexes)
    }))

  it.effect("a header a file is all that opening reads, but for the last one", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) => appendEach(journal, frames(0, 19, hundred)), twoFrames)
      const bytesRead = new Map<string, number>()
      const disk = changed({
        open: (path, mode) =>
          Effect.map(nodeDisk.open(path, mode), (handle) => ({
            ...handle,
            read: (length, position) =>
              Effect.tap(
                handle.read(length, position),
                (found) => Effect.sync(() => bytesRead.set(path, (bytesRead.get(path) ?? 0) + found.length))
              )
          }))
      })
      const files = yield* journalFiles(directory)
      const journal = yield* open(directory, { ...twoFrames, disk })
      for (const file of files.slice(0, -1)) assert.strictEqual(bytesRead.get(join(journal.path, file)), 128)
      assert.isFalse(yield* journal.has(name(1, 20)))
      assert.strictEqual([...bytesRead.values()].reduce((sum, count) => sum + (count === 128 ? 1 : 0), 0), 9)
    }))

  it.effect("files of another journal, of a newer version, or without a header that can be read are refused", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const other = yield* freshDirectory
      for (const one of [directory, other]) yield* use(one, (journal) => journal.append(frames(0, 0)))
      yield* use(other, (journal) => journal.append(frames(1, 1)))
      const own = yield* readFile(yield* lastFile(directory))
      const foreign = yield* readFile(yield* lastFile(other))
      const refused = Effect.fnUntraced(function*(files: ReadonlyArray<readonly [string, Uint8Array]>) {
        for (const file of yield* journalFiles(directory)) yield* Effect.promise(() => fs.rm(join(directory, file)))
        for (const [file, content] of files) yield* Effect.promise(() => fs.writeFile(join(directory, file), content))
        const error = yield* Effect.flip(open(directory))
        for (const [file, content] of files) {
          assert.isTrue((yield* readFile(join(directory, file))).equals(content), file)
        }
        assert.strictEqual((yield* journalFiles(directory)).length, files.length)
        return error.message
      })
      const names = ["0000000001.journal", "0000000002.journal"] as const
      assert.include(yield* refused([[names[0], own], [names[1], foreign]]), "belongs to another journal")
      const newer = Buffer.from(own)
      newer.writeUInt16LE(2, 8)
      newer.writeUInt32LE(crc32(newer.subarray(0, 124)), 124)
      assert.include(yield* refused([[names[0], newer]]), "is of version 2")
      assert.include(yield* refused([[names[0], own.subarray(0, 100)]]), "no file has a header")
      // A copy under another number is no file of the journal.
      assert.include(yield* refused([[names[1], own]]), "no file has a header")
    }))
})

describe("Journal, and what it holds no longer", () => {
  it.effect("removed names are gone; files go from the front once all their names are removed", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const journal = yield* open(directory, twoFrames)
      yield* appendEach(journal, frames(0, 7, hundred))
      yield* journal.remove([name(1, 2), name(1, 3), name(9, 9)])
      assert.strictEqual((yield* journalFiles(directory)).length, 4)
      assert.deepStrictEqual(yield* names(journal), ["1/0", "1/1", "1/4", "1/5", "1/6", "1/7"])
      assert.isFalse(yield* journal.has(name(1, 2)))
      yield* journal.remove([name(1, 0)])
      assert.strictEqual((yield* journalFiles(directory)).length, 4)
      yield* journal.remove([name(1, 1), name(1, 1)])
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000003.journal", "0000000004.journal"])
      assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
      assert.deepStrictEqual(yield* names(journal), ["1/4", "1/5", "1/6", "1/7"])
    }))

  it.effect("what is dropped through a point is gone, also when it comes later", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const journal = yield* open(directory, twoFrames)
      yield* appendEach(journal, frames(0, 6, hundred))
      yield* journal.dropThrough(name(1, 4))
      assert.deepStrictEqual(yield* names(journal), ["1/5", "1/6"])
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000003.journal", "0000000004.journal"])
      yield* journal.append([frame(1, 4, "late")])
      assert.isFalse(yield* journal.has(name(1, 4)))
      yield* journal.dropThrough(name(1, 2))
      assert.deepStrictEqual(yield* names(journal), ["1/5", "1/6"])
    }))

  it.effect("a long file in which nothing is left is left behind, so that an emptied journal takes little room", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const journal = yield* open(directory, { maxFileBytes: 4_000 })
      yield* appendEach(journal, frames(0, 2, hundred))
      yield* journal.dropThrough(name(1, 2))
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000001.journal"])
      yield* appendEach(journal, frames(3, 9, hundred))
      yield* journal.dropThrough(name(1, 9))
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000002.journal"])
      assert.strictEqual(journal.usedBytes(), 128)
      yield* journal.append([frame(1, 10)])
      assert.deepStrictEqual(yield* names(journal), ["1/10"])
    }))

  it.effect("a passive frame keeps no file, once something behind it was removed", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* appendEach(journal, [frame(1, 0, hundred), { ...frame(1, 1, hundred), passive: true }])
          yield* appendEach(journal, [frame(2, 0, hundred), frame(2, 1, hundred), frame(2, 2, hundred)])
          yield* journal.remove([name(1, 0)])
          assert.strictEqual((yield* journalFiles(directory)).length, 3)
          assert.isTrue(yield* journal.has(name(1, 1)))
        }), twoFrames)
      const journal = yield* open(directory, twoFrames)
      yield* journal.remove([name(1, 0), name(2, 0)])
      assert.isFalse(yield* journal.has(name(1, 1)))
      assert.deepStrictEqual(yield* names(journal), ["2/1", "2/2"])
    }))

  it.effect("each unlink is durable before the next one, and one that fails is told and done the next time", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const calls: Array<string> = []
      let refuse = true
      const disk = changed({
        unlink: (path) =>
          Effect.suspend(() => {
            calls.push(`unlink ${path.slice(-9, -8)}`)
            return refuse ? failure("EIO") : nodeDisk.unlink(path)
          }),
        syncDirectory: (path) => Effect.andThen(Effect.sync(() => calls.push("sync")), nodeDisk.syncDirectory(path))
      })
      const journal = yield* open(directory, { ...twoFrames, disk })
      yield* appendEach(journal, frames(0, 7, hundred))
      calls.length = 0
      const error = yield* Effect.flip(journal.dropThrough(name(1, 5)))
      assert.strictEqual(error.reason, "failed")
      assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
      assert.deepStrictEqual(yield* names(journal), ["1/6", "1/7"])
      refuse = false
      yield* journal.dropThrough(name(1, 5))
      assert.deepStrictEqual(calls, ["unlink 1", "unlink 1", "sync", "unlink 2", "sync", "unlink 3", "sync"])
      assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
    }))

  it.effect("a read whose file goes meanwhile finds nothing", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      let drop: Effect.Effect<void> = Effect.void
      const disk = changed({
        open: (path, mode) => Effect.andThen(mode === "read" ? drop : Effect.void, nodeDisk.open(path, mode))
      })
      const journal = yield* open(directory, { ...twoFrames, disk })
      yield* appendEach(journal, frames(0, 4, hundred))
      drop = Effect.orDie(journal.dropThrough(name(1, 1)))
      assert.isUndefined(yield* journal.read(name(1, 0)))
      assert.strictEqual(text((yield* journal.read(name(1, 2)))?.body ?? bytes("")), hundred)
    }))
})
