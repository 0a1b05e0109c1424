import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import type { WalService } from "@effect-wal/core/WalService"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Stream } from "effect"
import { spawn } from "node:child_process"
import { readdirSync } from "node:fs"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as DirectoryObjectStore from "../../src/node/DirectoryObjectStore.ts"
import { DiskFile, type DiskFileService, nodeDisk } from "../../src/node/DiskFile.ts"
import { fileHeaderBytes } from "../../src/node/journal/JournalFile.ts"
import { frameHeaderBytes } from "../../src/node/journal/JournalFrame.ts"
import * as LocalLog from "../../src/node/LocalLog.ts"
import { refuseOtherLayout } from "../../src/node/StoreLayout.ts"
import { readAll, records, settle, store, texts } from "../support/LogWorld.ts"
import { bytes, failure, freshDirectory } from "./fixtures/disks.ts"
import { asProcess, ids, journalFiles, openLog } from "./fixtures/local-logs.ts"

/** A disk that counts how often data was made durable. */
const countingDisk = () => {
  const counts = { syncs: 0 }
  const disk: DiskFileService = {
    ...nodeDisk,
    open: (path, mode) =>
      Effect.map(nodeDisk.open(path, mode), (file) => ({
        ...file,
        syncData: Effect.suspend(() => {
          counts.syncs++
          return file.syncData
        })
      }))
  }
  return { counts, disk }
}

/** Stores and commits, and ends as if it had been killed before anything below its trim point was deleted. */
const storeAndEnd = (path: string, batches: ReadonlyArray<ReturnType<typeof records>>) =>
  Effect.scoped(Effect.gen(function*() {
    // Closing waits for deletions: they are given up soon.
    const wal = yield* openLog(path, { retry: { base: "1 millis", cap: "1 millis" } })
    for (const batch of batches) yield* wal.commit((yield* store(wal, batch)).last)
  })).pipe(Effect.provideService(DiskFile, {
    ...nodeDisk,
    unlink: (file) => file.endsWith(".journal") ? failure("EIO", "unlink") : nodeDisk.unlink(file)
  }))

/** Opens it; done once no file but the newest one is there. */
const untilCollected = Effect.fnUntraced(function*(path: string) {
  const collected = yield* Deferred.make<void>()
  const look = Effect.suspend(() =>
    journalFiles(path).length === 1 ? Deferred.succeed(collected, undefined) : Effect.void
  )
  const disk: DiskFileService = { ...nodeDisk, unlink: (file) => Effect.tap(nodeDisk.unlink(file), look) }
  yield* Effect.provideService(openLog(path), DiskFile, disk)
  yield* Deferred.await(collected)
})

const segments = (wal: WalService) => Effect.map(wal.status, (status) => status.segments.durable)

describe("a log on this machine's disk", () => {
  it.effect("[kind N] is not ended by a program that takes its directory for an object store: it loses nothing", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const directory = yield* DirectoryObjectStore.make({ path })
      const opened = asProcess(Effect.scoped(Wal.make({ ...ids }))).pipe(
        Effect.provideService(ObjectStore, { ...directory, proven: true })
      )
      yield* Effect.scoped(Effect.gen(function*() {
        yield* store(yield* openLog(path), records(3))
        // The manifest does not know of the records yet, as after a kill.
        assert.strictEqual((yield* Effect.flip(opened))._tag, "UnexpectedResponse")
      }))
      const wal = yield* openLog(path)
      assert.deepStrictEqual(texts(yield* readAll(wal)), ["r1", "r2", "r3"])
    }))

  it.effect("[case 10] keeps what was durable, and a restart goes on behind it", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.scoped(Effect.gen(function*() {
        const wal = yield* openLog(path)
        const { epoch, first, last } = yield* store(wal, records(3))
        assert.deepStrictEqual([epoch, first, last], [1, 1, 3])
      }))
      const wal = yield* openLog(path)
      assert.deepStrictEqual(texts(yield* readAll(wal)), ["r1", "r2", "r3"])
      const { epoch, first } = yield* store(wal, records(1, 4))
      assert.deepStrictEqual([epoch, first], [2, 4])
      yield* wal.commit(2)
      const replayed = yield* Stream.runCollect(wal.replay({ cursor: "default", until: "durable-end" }))
      assert.deepStrictEqual(texts(replayed), ["r3", "r4"])
    }))

  it.effect("is a layer that needs no store, also for one of several logs", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      class Orders extends Wal.Tag("orders")<Orders>() {}
      const program = Effect.gen(function*() {
        yield* store(yield* Wal, records(1))
        yield* store(yield* Orders, records(2))
        return [(yield* (yield* Wal).status).durable, (yield* (yield* Orders).status).durable]
      })
      const layers = Layer.merge(
        Wal.layerLocal({ ...ids, path }),
        Orders.layerLocal({ ...ids, streamId: "orders", path })
      )
      assert.deepStrictEqual(yield* asProcess(Effect.provide(program, layers)), [1, 2])
    }))

  it.effect("does not probe its own store", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const wal = yield* openLog(path)
      yield* store(wal, records(1))
      assert.notInclude(readdirSync(join(path, "node", "log")), "probe")
    }))

  it.effect("closing it gives the directory free, although its scope lives on", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const first = yield* openLog(path)
      yield* store(first, records(1))
      assert.deepStrictEqual((yield* first.close).lost, null)
      const second = yield* openLog(path)
      assert.strictEqual((yield* second.status).epoch, 2)
      assert.deepStrictEqual((yield* first.close).durable, 1)
      yield* store(second, records(1, 2))
    }))

  it.live(
    "what many short-lived writers left below the trim point keeps no file for ever",
    () =>
      Effect.gen(function*() {
        const path = yield* freshDirectory
        const writers = 20
        for (let count = 1; count <= writers; count++) yield* storeAndEnd(path, [records(1, count)])
        assert.isAtLeast(journalFiles(path).length, writers)
        yield* untilCollected(path)
      }),
    30_000
  )

  it.live("damage below the trim point keeps no file for ever", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* storeAndEnd(path, [records(1, 1), records(1, 2), records(1, 3)])
      const [first = ""] = journalFiles(path)
      // In the header of the first segment.
      const file = yield* Effect.promise(() => fs.open(first, "r+"))
      yield* Effect.promise(() => file.write(new Uint8Array(64), 0, 64, fileHeaderBytes + frameHeaderBytes + 16))
      yield* Effect.promise(() => file.close())
      yield* untilCollected(path)
    }), 30_000)

  it.effect("restarts without new records leave no file each, whether the old ones are gone or kept", () =>
    Effect.gen(function*() {
      for (const isTrimmed of [true, false]) {
        const path = yield* freshDirectory
        yield* Effect.scoped(Effect.gen(function*() {
          const wal = yield* openLog(path)
          const { last } = yield* store(wal, records(2))
          if (isTrimmed) yield* wal.commit(last)
        }))
        for (let restart = 0; restart < 6; restart++) yield* Effect.flatMap(openLog(path), (wal) => wal.close)
        assert.isAtMost(journalFiles(path).length, 3)
        const wal = yield* openLog(path)
        assert.strictEqual((yield* wal.status).epoch, 8)
        assert.deepStrictEqual(texts(yield* readAll(wal)), isTrimmed ? [] : ["r1", "r2"])
        assert.strictEqual((yield* store(wal, records(1, 3))).first, 3)
      }
    }))

  it.effect("an opening that fails holds no lock", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.flatMap(openLog(path), (wal) => wal.close)
      const manifests = join(path, "node", "log", "manifest.json~versions")
      const newest = (yield* Effect.promise(() => fs.readdir(manifests))).sort().at(-1) ?? ""
      const file = join(manifests, newest)
      const good = yield* Effect.promise(() => fs.readFile(file))
      yield* Effect.promise(() => fs.writeFile(file, "{"))
      assert.strictEqual((yield* Effect.flip(openLog(path)))._tag, "ManifestCorrupt")
      yield* Effect.promise(() => fs.writeFile(file, good))
      yield* openLog(path)
    }))

  it.effect("twice in one process: AlreadyOpen, whatever the path is called", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const again = LocalLog.make({ ...ids, path: join(path, "..", path.split("/").at(-1) ?? "") })
      yield* asProcess(Effect.gen(function*() {
        yield* LocalLog.make({ ...ids, path })
        assert.strictEqual((yield* Effect.flip(again))._tag, "AlreadyOpen")
      }))
    }))

  it.effect(
    "[case 10] a second process is refused at once; after kill -9 of the first it opens by itself",
    () =>
      Effect.gen(function*() {
        const path = yield* freshDirectory
        const script = fileURLToPath(new URL("./fixtures/local-holder.ts", import.meta.url))
        const holder = yield* Effect.acquireRelease(
          Effect.sync(() => spawn(process.execPath, [script, path, "3"], { stdio: ["ignore", "pipe", "inherit"] })),
          (child) => Effect.sync(() => child.kill("SIGKILL"))
        )
        yield* Effect.callback<void>((resume) => {
          holder.stdout.on("data", (data) => {
            if (String(data).includes("durable")) resume(Effect.void)
          })
        })
        const refused = yield* Effect.flip(openLog(path))
        assert.strictEqual(refused._tag, "DirectoryLocked")
        assert.include(refused.message, path)
        // Another log in the same directory is nobody's business.
        yield* openLog(path, { streamId: "other" })
        yield* Effect.callback<void>((resume) => {
          holder.on("close", () => resume(Effect.void))
          holder.kill("SIGKILL")
        })
        const wal = yield* openLog(path)
        assert.deepStrictEqual(texts(yield* readAll(wal)), ["r1", "r2", "r3"])
        assert.strictEqual((yield* wal.status).epoch, 2)
      }),
    30_000
  )

  it.effect("switched off it makes no directory", () =>
    Effect.gen(function*() {
      const path = join(yield* freshDirectory, "none")
      const wal = yield* openLog(path, { enabled: false })
      yield* store(wal, records(1))
      assert.isFalse(yield* Effect.promise(() => fs.access(path).then(() => true, () => false)))
    }))

  it.effect("[case 22] options and ids are checked before anything is made", () =>
    Effect.gen(function*() {
      const path = join(yield* freshDirectory, "none")
      const wrong = yield* Effect.flip(openLog(path, { nodeId: "a/b", parallelPut: { workers: 2 } }))
      assert.strictEqual(wrong._tag, "ConfigError")
      assert.isFalse(yield* Effect.promise(() => fs.access(path).then(() => true, () => false)))
    }))
})

describe("sync of a local log", () => {
  it.effect("group_commit: everybody who waits is served by one segment and one sync", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const { counts, disk } = countingDisk()
      const wal = yield* Effect.provideService(openLog(path), DiskFile, disk)
      const before = counts.syncs
      const appended = yield* Effect.forEach(records(50), (record) => wal.append([record]))
      yield* Effect.forEach(appended, ({ durable }) => durable, { concurrency: "unbounded" })
      assert.deepStrictEqual([yield* segments(wal), counts.syncs - before], [1, 1])
    }))

  it.effect("per_entry: each record of a call has a segment and a sync of its own, without a flush", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const { counts, disk } = countingDisk()
      const wal = yield* Effect.provideService(openLog(path, { sync: "per_entry" }), DiskFile, disk)
      const before = counts.syncs
      yield* store(wal, records(5))
      assert.deepStrictEqual([yield* segments(wal), counts.syncs - before], [5, 5])
      assert.deepStrictEqual(texts(yield* readAll(wal)), ["r1", "r2", "r3", "r4", "r5"])
    }))

  it.effect("periodic: durable is what the next interval stores, not what somebody waits for", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const { counts, disk } = countingDisk()
      // The clock is the test's: the interval passes only where it is told to.
      const wal = yield* Effect.provideService(openLog(path, { sync: "periodic" }), DiskFile, disk)
      const before = counts.syncs
      const { durable } = yield* wal.append(records(3))
      const waiting = yield* Effect.forkChild(durable, { startImmediately: true })
      yield* settle
      assert.deepStrictEqual([waiting.pollUnsafe(), counts.syncs - before], [undefined, 0])
      const { buffered, segments: kept } = yield* wal.status
      assert.deepStrictEqual([kept, buffered.queuedSegments], [{ durable: 0, inFlight: 0 }, 0])
      yield* settle.pipe(Effect.repeat({ times: 999 }))
      yield* Fiber.join(waiting)
      assert.deepStrictEqual([yield* segments(wal), counts.syncs - before], [1, 1])
    }))
})

describe("a directory that the other store has written", () => {
  it.effect("a log of the directory store is not begun anew as a local one", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.scoped(
        Effect.gen(function*() {
          const wal = yield* asProcess(Wal.make({ ...ids, segment: { linger: 0 } }))
          yield* store(wal, records(2))
        }).pipe(Effect.provide(DirectoryObjectStore.layer({ path })))
      )
      const error = yield* Effect.flip(openLog(path))
      assert.strictEqual(error._tag, "ConfigError")
      assert.include(error.message, "object_store")
      assert.include(error.message, "directory: { path: … }")
      assert.notInclude(readdirSync(join(path, "node", "log")), "~journal")
      // Beside it there is room for others.
      yield* openLog(path, { streamId: "other" })
    }))

  it.effect("a local log is not ended by the directory store", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.flatMap(openLog(path), (wal) => wal.close)
      const error = yield* Effect.flip(refuseOtherLayout("directory", path, "node/log/"))
      assert.include(error.message, "local: { path: … }")
      yield* refuseOtherLayout("local", path, "node/log/")
      yield* refuseOtherLayout("directory", path, "node/other/")
      yield* refuseOtherLayout("directory", join(path, "absent"), "node/log/")
    }))

  it.effect("one that cannot be looked at is a ConfigError, not taken for empty", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.promise(() => fs.writeFile(join(path, "file"), bytes("")))
      const denied: DiskFileService = { ...nodeDisk, stat: (at) => nodeDisk.stat(`${at}\0`) }
      const error = yield* Effect.flip(
        Effect.provideService(refuseOtherLayout("local", path, "node/log/"), DiskFile, denied)
      )
      assert.include(error.message, "can't be used")
    }))
})
