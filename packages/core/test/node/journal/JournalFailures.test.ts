import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Result } from "effect"
import { basename } from "node:path"
import type { DiskFileService } from "../../../src/node/DiskFile.ts"
import { nodeDisk } from "../../../src/node/DiskFile.ts"
import type { JournalError } from "../../../src/node/journal/JournalError.ts"
import { failure, freshDirectory } from "../fixtures/disks.ts"
import {
  appendEach,
  changed,
  changedHandles,
  frame,
  frames,
  journalFiles,
  lastFile,
  name,
  names,
  open,
  readFile,
  realBytes,
  textOf,
  use
} from "./fixtures/journals.ts"

const hundred = "x".repeat(100)

const reasonOf = <A>(effect: Effect.Effect<A, JournalError>) => Effect.map(Effect.flip(effect), (error) => error.reason)

describe("Journal on a full disk", () => {
  /** A disk whose next writes of frames stop after 100 bytes. */
  const fullDisk = () => {
    const state = { isFull: false }
    const disk = changedHandles((handle) => ({
      writeMany: (parts, position) => {
        const whole = Buffer.concat(parts)
        return state.isFull
          ? Effect.andThen(handle.write(whole.subarray(0, 100), position), failure("ENOSPC"))
          : handle.writeMany(parts, position)
      }
    }))
    return { state, disk }
  }

  it.effect("[case 20] a write that stops half-way is cut back, fails typed, and writing goes on by itself", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const { disk, state } = fullDisk()
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* journal.append([frame(1, 0)])
          const before = yield* readFile(yield* lastFile(directory))
          state.isFull = true
          for (let attempt = 0; attempt < 3; attempt++) {
            assert.strictEqual(yield* reasonOf(journal.append([frame(1, 1, "failed".repeat(100))])), "full")
            assert.isTrue((yield* readFile(yield* lastFile(directory))).equals(before))
            assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
            assert.isFalse(yield* journal.has(name(1, 1)))
          }
          state.isFull = false
          yield* appendEach(journal, frames(2, 3))
          assert.deepStrictEqual(yield* journalFiles(directory), ["0000000001.journal"])
          assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
        }), { disk })
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* names(journal), ["1/0", "1/2", "1/3"])
          assert.isUndefined(journal.tornTail)
        }))
    }))

  it.effect("[case 20] all callers that share the write are told", () =>
    Effect.gen(function*() {
      const { disk, state } = fullDisk()
      const journal = yield* open(yield* freshDirectory, { disk })
      state.isFull = true
      const results = yield* Effect.forEach(frames(0, 9), (one) => Effect.result(journal.append([one])), {
        concurrency: "unbounded"
      })
      for (const result of results) assert.strictEqual(Result.isFailure(result) && result.failure.reason, "full")
      state.isFull = false
      yield* appendEach(journal, frames(0, 9))
      assert.strictEqual((yield* names(journal)).length, 10)
    }))

  it.effect("[case 20] where the file can't be cut back it is given up, and the next file says how much of it counts", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      for (const broken of ["truncate", "sync"] as const) {
        const { disk, state } = fullDisk()
        const isBroken = { now: false }
        const failing: DiskFileService = {
          ...disk,
          open: (path, mode) =>
            Effect.map(disk.open(path, mode), (handle) => ({
              ...handle,
              truncate: (length) => isBroken.now && broken === "truncate" ? failure("EIO") : handle.truncate(length),
              sync: Effect.suspend(() => isBroken.now && broken === "sync" ? failure("EIO") : handle.sync)
            }))
        }
        yield* use(directory, (journal) =>
          Effect.gen(function*() {
            yield* journal.append([frame(1, 0)])
            state.isFull = isBroken.now = true
            assert.strictEqual(yield* reasonOf(journal.append([frame(1, 1, hundred)])), "failed")
            assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
            state.isFull = isBroken.now = false
            yield* journal.append([frame(1, 2)])
            assert.deepStrictEqual(yield* names(journal), ["1/0", "1/2"])
            assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
          }), { disk: failing })
        yield* use(directory, (journal) =>
          Effect.gen(function*() {
            assert.deepStrictEqual(yield* names(journal), ["1/0", "1/2"])
            assert.isUndefined(journal.tornTail)
            assert.deepStrictEqual(journal.damage, [])
          }))
      }
    }))

  it.effect("[case 20] no room for the next file: typed, and it is made once there is", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      let isFull = false
      const disk = changed({
        open: (path, mode) => isFull && mode === "create" ? failure("EDQUOT") : nodeDisk.open(path, mode)
      })
      const journal = yield* open(directory, { disk, maxFileBytes: 400 })
      yield* journal.append([frame(1, 0, hundred)])
      isFull = true
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.strictEqual(yield* reasonOf(journal.append([frame(1, 1, "y".repeat(300))])), "full")
      }
      isFull = false
      yield* journal.append([frame(1, 1, "y".repeat(300))])
      assert.strictEqual(yield* textOf(journal, 1, 0), hundred)
      assert.strictEqual(yield* textOf(journal, 1, 1), "y".repeat(300))
    }))
})

describe("Journal and a sync that fails", () => {
  /** A disk on which chosen syncs fail, and that remembers which bytes of which file were written before each sync. */
  const failingDisk = (fails: (count: number) => boolean) => {
    const syncs: Array<{ readonly path: string; readonly failed: boolean }> = []
    const disk = changedHandles((handle, path) => ({
      syncData: Effect.suspend(() => {
        const failed = fails(syncs.length + 1)
        syncs.push({ path, failed })
        return failed ? failure("EIO", "fdatasync") : handle.syncData
      })
    }))
    return { disk, syncs }
  }

  const failures = Effect.map(Metric.snapshot, (all) => {
    const found = all.find((one) => one.id === "wal_disk_sync_failures_total")
    return found?.type === "Counter" ? Number(found.state.count) : 0
  })

  it.effect("[case 20] bytes whose sync failed are never answered with success; they are written again elsewhere", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const { disk, syncs } = failingDisk((count) => count === 2)
      const before = yield* failures
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* journal.append([frame(1, 0)])
          assert.strictEqual(yield* reasonOf(journal.append([frame(1, 1)])), "sync-failed")
          assert.isFalse(yield* journal.has(name(1, 1)))
          yield* journal.append([frame(1, 1)])
          yield* journal.append([frame(1, 2)])
          assert.strictEqual(yield* textOf(journal, 1, 1), "1/1")
          assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
        }), { disk })
      assert.strictEqual((yield* failures) - before, 1)
      const [first = "", second = ""] = yield* journalFiles(directory)
      // The file whose sync failed is never asked again: a kernel that has dropped the pages would say yes.
      assert.deepStrictEqual(syncs.map((sync) => [basename(sync.path, ".tmp"), sync.failed]), [
        [first, false],
        [first, true],
        [second, false],
        [second, false]
      ])
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* names(journal), ["1/0", "1/1", "1/2"])
          assert.isUndefined(journal.tornTail)
        }))
    }))

  it.effect("[predecessor 15] each failing sync is told; nothing piles up, and the first good one goes on", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const { disk } = failingDisk((count) => count > 1 && count < 8)
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* journal.append([frame(1, 0)])
          for (let attempt = 0; attempt < 6; attempt++) {
            assert.strictEqual(yield* reasonOf(journal.append([frame(1, 1, `attempt ${attempt}`)])), "sync-failed")
            assert.isAtMost((yield* journalFiles(directory)).length, 2)
          }
          yield* journal.append([frame(1, 1, "stored")])
        }), { disk })
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          assert.deepStrictEqual(yield* names(journal), ["1/0", "1/1"])
          assert.strictEqual(yield* textOf(journal, 1, 1), "stored")
        }))
    }))

  it.effect("a full disk that shows at the sync only is a failed sync: the outcome is not known", () =>
    Effect.gen(function*() {
      const disk = changedHandles(() => ({ syncData: failure("ENOSPC") }))
      const journal = yield* open(yield* freshDirectory, { disk })
      assert.strictEqual(yield* reasonOf(journal.append([frame(1, 0)])), "sync-failed")
    }))

  it.effect("another failed write gives the file up too", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      let fails = false
      const disk = changedHandles((handle) => ({
        writeMany: (parts, position) =>
          fails
            ? Effect.andThen(handle.write(Buffer.concat(parts).subarray(0, 70), position), failure("EIO"))
            : handle.writeMany(parts, position)
      }))
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* journal.append([frame(1, 0)])
          fails = true
          assert.strictEqual(yield* reasonOf(journal.append([frame(1, 1, hundred)])), "failed")
          fails = false
          assert.strictEqual(journal.usedBytes(), yield* realBytes(directory))
          yield* journal.append([frame(1, 2)])
        }), { disk })
      assert.strictEqual((yield* journalFiles(directory)).length, 2)
      assert.deepStrictEqual(yield* use(directory, names), ["1/0", "1/2"])
    }))

  it.effect("a new file whose sync, rename or directory sync fails is not used; its number is not used again", () =>
    Effect.gen(function*() {
      for (const broken of ["sync", "rename", "syncDirectory"]) {
        const directory = yield* freshDirectory
        let isBroken = false
        const fails = (call: string) => isBroken && call === broken
        const disk = changed({
          open: (path, mode) =>
            Effect.map(nodeDisk.open(path, mode), (handle) => ({
              ...handle,
              sync: Effect.suspend(() => fails("sync") ? failure("EIO") : handle.sync)
            })),
          rename: (from, to) => fails("rename") ? failure("EIO") : nodeDisk.rename(from, to),
          syncDirectory: (path) => fails("syncDirectory") ? failure("EIO") : nodeDisk.syncDirectory(path)
        })
        yield* use(directory, (journal) =>
          Effect.gen(function*() {
            yield* journal.append([frame(1, 0, hundred)])
            isBroken = true
            const reason = yield* reasonOf(journal.append([frame(1, 1, hundred)]))
            assert.strictEqual(reason, broken === "rename" ? "failed" : "sync-failed")
            assert.deepStrictEqual(yield* journalFiles(directory), ["0000000001.journal"])
            isBroken = false
            yield* journal.append([frame(1, 1, hundred)])
            assert.deepStrictEqual(yield* journalFiles(directory), ["0000000001.journal", "0000000003.journal"])
          }), { disk, maxFileBytes: 300 })
        assert.deepStrictEqual(yield* use(directory, names), ["1/0", "1/1"])
      }
    }))

  it.effect("a new file that failed and can't be removed takes nothing from the one before it", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      let isBroken = false
      const disk = changed({
        syncDirectory: (path) => isBroken ? failure("EIO") : nodeDisk.syncDirectory(path),
        unlink: (path) => isBroken ? failure("EIO") : nodeDisk.unlink(path)
      })
      yield* use(directory, (journal) =>
        Effect.gen(function*() {
          yield* journal.append([frame(1, 0, hundred)])
          isBroken = true
          assert.strictEqual(yield* reasonOf(journal.append([frame(1, 1, "y".repeat(200))])), "sync-failed")
          assert.strictEqual((yield* journalFiles(directory)).length, 2)
          isBroken = false
          // It would fit into the first file; but what that one holds was said already, by a file that may last.
          yield* journal.append([frame(1, 2)])
        }), { disk, maxFileBytes: 400 })
      assert.deepStrictEqual(yield* use(directory, names), ["1/0", "1/2"])
      assert.notInclude(yield* journalFiles(directory), "0000000002.journal")
      assert.deepStrictEqual(yield* use(directory, names), ["1/0", "1/2"])
    }))
})
