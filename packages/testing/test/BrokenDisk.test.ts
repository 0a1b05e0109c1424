import type { DiskFileService } from "@effect-wal/core/node/DiskFile"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { lazySync, withoutSyncData, withoutSyncDirectory } from "../src/BrokenDisk.ts"
import * as PowerLossDisk from "../src/PowerLossDisk.ts"
import { look, write } from "./support/files.ts"

describe("BrokenDisk", () => {
  const store = Effect.fnUntraced(function*(breakDisk: (disk: DiskFileService) => DiskFileService) {
    const machine = PowerLossDisk.make()
    const disk = breakDisk(machine.disk)
    yield* write(disk, "/a", "content", (file) => Effect.andThen(file.sync, file.syncData))
    yield* disk.syncDirectory("/")
    return { machine, disk }
  })
  const after = (machine: PowerLossDisk.PowerLossDisk) => look(machine.survivors("nothing").disk, "/a")

  it.effect("each wrapper breaks its promise and no other", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* after((yield* store((disk) => disk)).machine), "content")
      assert.strictEqual(yield* after((yield* store(withoutSyncData)).machine), "")
      assert.strictEqual(yield* after((yield* store(withoutSyncDirectory)).machine), "ENOENT")
    }))

  it.effect("a lazy sync comes with the next change", () =>
    Effect.gen(function*() {
      const { disk, machine } = yield* store(lazySync)
      assert.strictEqual(yield* after(machine), "ENOENT")
      const second = yield* store(lazySync)
      yield* second.disk.makeDirectory("/d")
      assert.strictEqual(yield* after(second.machine), "content")
      assert.strictEqual(disk.list, machine.disk.list)
    }))
})
