/** Twins of the disk cases: a log in a directory whose disk turns read-only, is taken away, or has a cut file. */
import { ObjectStore } from "@effect-wal/core/store/ObjectStore"
import { Wal } from "@effect-wal/core/Wal"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, References, Stream } from "effect"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { slotKey } from "../../src/format/ObjectKey.ts"
import { type DiskFileService, nodeDisk } from "../../src/node/DiskFile.ts"
import { ProcessRegistry, ProcessRegistryState } from "../../src/ProcessRegistry.ts"
import { failure, freshDirectory, storeOn } from "../node/fixtures/disks.ts"
import { prefix, records, seqs } from "../support/LogWorld.ts"

/** A disk whose opening of files fails while a code is set; `met` completes at the first failure. */
const moodyDisk = Effect.gen(function*() {
  const met = yield* Deferred.make<void>()
  let fault: { readonly code: string; readonly mode: "read" | "create" } | undefined
  const disk: Partial<DiskFileService> = {
    open: (path, mode) =>
      Effect.suspend(() => {
        if (fault?.mode !== mode) return nodeDisk.open(path, mode)
        const { code } = fault
        return Effect.andThen(Deferred.succeed(met, undefined), failure(code, "open"))
      })
  }
  return {
    disk,
    met: Deferred.await(met),
    fail: (code: string, mode: "read" | "create") => {
      fault = { code, mode }
    },
    heal: () => {
      fault = undefined
    }
  }
})

const logIn = Effect.fnUntraced(function*(path: string, disk: Partial<DiskFileService>) {
  const store = yield* storeOn(path, disk)
  return yield* Wal.make({
    nodeId: "node",
    streamId: "log",
    segment: { maxEntries: 1, linger: "0ms" },
    retention: { policy: "keep" },
    retry: { base: "1ms", cap: "5ms" },
    tailBufferBytes: 0
  }).pipe(
    Effect.provideService(ObjectStore, store),
    Effect.provideService(ProcessRegistry, new ProcessRegistryState()),
    Effect.provideService(References.MinimumLogLevel, "None")
  )
})

describe("a log in a directory", () => {
  it.live.each(["EROFS", "EACCES", "EIO", "ENOSPC", "EMFILE"])(
    "[kind N] %s for every new file: nothing is durable and nothing is dropped; it goes on by itself when it may",
    (code) =>
      Effect.gen(function*() {
        const path = yield* freshDirectory
        const { disk, fail, heal, met } = yield* moodyDisk
        const wal = yield* logIn(path, disk)
        yield* Effect.flatMap(wal.append(records(2)), ({ durable }) => durable)
        fail(code, "create")
        const { durable } = yield* wal.append(records(2, 3))
        const waiting = yield* Effect.forkChild(durable, { startImmediately: true })
        yield* met
        const status = yield* wal.status
        assert.deepStrictEqual([status.state, status.durable, status.lastAccepted], ["open", 2, 4])
        assert.isUndefined(waiting.pollUnsafe())
        heal()
        yield* durable
        assert.deepStrictEqual(seqs(yield* Stream.runCollect(wal.read())), [1, 2, 3, 4])
      })
  )

  it.live.each([["EACCES", "AccessDenied"], ["EPERM", "AccessDenied"], ["EIO", "StoreUnavailable"]] as const)(
    "[kind N] %s for every file that is read: %s, never damage, nothing is skipped; what is appended stays durable",
    ([code, tag]) =>
      Effect.gen(function*() {
        const path = yield* freshDirectory
        const { disk, fail, heal } = yield* moodyDisk
        const wal = yield* logIn(path, disk)
        yield* Effect.flatMap(wal.append(records(3)), ({ durable }) => durable)
        fail(code, "read")
        for (const read of [wal.read(), wal.read({ onDamage: "skip" })]) {
          assert.strictEqual((yield* Effect.flip(Stream.runDrain(read)))._tag, tag)
        }
        yield* Effect.flatMap(wal.append(records(1, 4)), ({ durable }) => durable)
        heal()
        assert.deepStrictEqual(seqs(yield* Stream.runCollect(wal.read())), [1, 2, 3, 4])
      })
  )

  it.live("[kind N] a file that was cut, emptied or filled with zeros is damage of those records only", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const wal = yield* logIn(path, {})
      yield* Effect.flatMap(wal.append(records(5)), ({ durable }) => durable)
      const fileOf = (slot: number) => join(path, slotKey(prefix, 1, slot))
      const { size } = yield* Effect.promise(() => fs.stat(fileOf(1)))
      yield* Effect.promise(() => fs.truncate(fileOf(1), size - 1))
      yield* Effect.promise(() => fs.truncate(fileOf(2), 0))
      yield* Effect.promise(() => fs.writeFile(fileOf(3), new Uint8Array(size)))
      const error = yield* Effect.flip(Stream.runDrain(wal.read()))
      assert.strictEqual(error._tag, "SegmentCorrupt")
      const skipped = seqs(yield* Stream.runCollect(wal.read({ onDamage: "skip" })))
      assert.deepStrictEqual([skipped[0], skipped.at(-1)], [1, 5])
      assert.deepStrictEqual(skipped.slice(1, -1).every((one) => typeof one === "string"), true)
      yield* Effect.flatMap(wal.append(records(1, 6)), ({ durable }) => durable)
    }))
})
