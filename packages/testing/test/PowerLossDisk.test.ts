import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as PowerLossDisk from "../src/PowerLossDisk.ts"
import { survivalNames } from "../src/PowerLossDisk.ts"
import { bytes, look, modify, read, text, unsynced, withFile, write } from "./support/files.ts"

describe("PowerLossDisk and bytes", () => {
  it.effect("a file that was synced, in a directory that was, outlasts every power loss", () =>
    Effect.gen(function*() {
      for (const how of ["sync", "syncData"] as const) {
        const machine = PowerLossDisk.make()
        yield* write(machine.disk, "/a", "content", (file) => file[how])
        yield* machine.disk.syncDirectory("/")
        for (const survival of [...survivalNames, 1, 2, 3]) {
          assert.strictEqual(yield* look(machine.survivors(survival).disk, "/a"), "content")
        }
      }
    }))

  it.effect("a synced file without a synced name is gone, and a synced name without synced bytes is empty", () =>
    Effect.gen(function*() {
      const machine = PowerLossDisk.make()
      yield* write(machine.disk, "/bytes", "content")
      assert.strictEqual(yield* look(machine.survivors("nothing").disk, "/bytes"), "ENOENT")
      assert.strictEqual(yield* look(machine.survivors("namesOnly").disk, "/bytes"), "content")
      const other = PowerLossDisk.make()
      yield* write(other.disk, "/name", "content", unsynced)
      yield* other.disk.syncDirectory("/")
      assert.strictEqual(yield* look(other.survivors("nothing").disk, "/name"), "")
      assert.strictEqual(yield* look(other.survivors("dataOnly").disk, "/name"), "content")
      assert.strictEqual(yield* look(other.survivors("grown").disk, "/name"), "\0".repeat(7))
    }))

  it.effect("writes are torn at sectors of the file, and overwritten bytes are the old ones where they are lost", () =>
    Effect.gen(function*() {
      const machine = yield* withFile(new Uint8Array(2_048).fill(1))
      yield* modify(machine.disk, "/a", (file) => file.write(new Uint8Array(2_048).fill(2), 500))
      const sectors = Effect.fnUntraced(function*(survival: PowerLossDisk.SurvivalName) {
        const content = yield* read(machine.survivors(survival).disk, "/a")
        return [content.length, ...[0, 500, 512, 1_024, 1_536, 2_048, 2_547].map((at) => content[at])]
      })
      // Parts from 500 (12 bytes), 512, 1,024, 1,536, 2,048 (500 bytes).
      assert.deepStrictEqual(yield* sectors("headKept"), [2_048, 1, 2, 2, 1, 1, undefined, undefined])
      assert.deepStrictEqual(yield* sectors("tailKept"), [2_548, 1, 1, 1, 1, 2, 2, 2])
      assert.deepStrictEqual(yield* sectors("grown"), [2_548, 1, 1, 1, 1, 1, 0, 0])
      assert.deepStrictEqual(yield* sectors("nothing"), [2_048, 1, 1, 1, 1, 1, undefined, undefined])
      assert.deepStrictEqual(yield* sectors("everything"), [2_548, 1, 2, 2, 2, 2, 2, 2])
    }))

  it.effect("a later write lasts without an earlier one; the hole between is zero", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("")
      yield* modify(machine.disk, "/a", (file) =>
        Effect.andThen(file.write(bytes("first"), 0), file.writeMany([bytes("sec"), bytes("ond")], 5)))
      assert.strictEqual(yield* look(machine.survivors("lastOnly").disk, "/a"), "\0\0\0\0\0second")
      assert.strictEqual(yield* look(machine.survivors("firstOnly").disk, "/a"), "first")
    }))

  it.effect("a truncation is lost or kept by itself, and what it cut off never comes back by growing", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("0123456789")
      yield* modify(machine.disk, "/a", (file) => Effect.andThen(file.truncate(2), file.write(bytes("x"), 4)))
      assert.strictEqual(yield* look(machine.disk, "/a"), "01\0\0x")
      assert.strictEqual(yield* look(machine.survivors("firstOnly").disk, "/a"), "01")
      assert.strictEqual(yield* look(machine.survivors("lastOnly").disk, "/a"), "0123x56789")
      assert.strictEqual(yield* look(machine.survivors("everything").disk, "/a"), "01\0\0x")
    }))

  it.effect("seeds give many outcomes, the same seed the same one", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("")
      yield* modify(machine.disk, "/a", (file) => file.write(new Uint8Array(4_096).fill(1), 0))
      const outcomes = new Set<string>()
      for (let seed = 0; seed < 30; seed++) {
        const content = yield* look(machine.survivors(seed).disk, "/a")
        assert.strictEqual(yield* look(machine.survivors(seed).disk, "/a"), content)
        outcomes.add(content)
      }
      assert.isAbove(outcomes.size, 15)
    }))
})

describe("PowerLossDisk and names", () => {
  it.effect("creations, links and removals are lost or kept one by one", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("old")
      const { disk } = machine
      yield* write(disk, "/b", "new")
      yield* disk.link("/a", "/c")
      yield* disk.unlink("/a")
      const names = (survival: PowerLossDisk.SurvivalName) =>
        Effect.map(machine.survivors(survival).disk.list("/"), (entries) => entries.map(({ name }) => name).sort())
      assert.deepStrictEqual(yield* names("everything"), ["b", "c"])
      assert.deepStrictEqual(yield* names("nothing"), ["a"])
      assert.deepStrictEqual(yield* names("firstOnly"), ["a", "b"])
      assert.deepStrictEqual(yield* names("lastOnly"), [])
      assert.deepStrictEqual(yield* names("oddOnly"), ["a", "c"])
      const linked = machine.survivors("oddOnly")
      const stats = yield* Effect.all(["/a", "/c"].map((path) => linked.disk.stat(path)))
      assert.deepStrictEqual(stats.map(({ names }) => names), [2, 2])
      assert.strictEqual(stats[0]?.identity, stats[1]?.identity)
    }))

  it.effect("a rename is there as a whole or not at all, also between directories", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("moved")
      const { disk } = machine
      yield* disk.makeDirectory("/d")
      yield* disk.syncDirectory("/")
      yield* disk.rename("/a", "/d/a")
      for (const [survival, at] of [["nothing", "/a"], ["everything", "/d/a"]] as const) {
        const after = machine.survivors(survival).disk
        for (const path of ["/a", "/d/a"]) {
          assert.strictEqual(yield* look(after, path), path === at ? "moved" : "ENOENT")
        }
      }
      const again = machine.crash()
      yield* again.disk.syncDirectory("/d")
      assert.strictEqual(yield* look(again.survivors("nothing").disk, "/d/a"), "moved")
      assert.strictEqual(yield* look(again.survivors("nothing").disk, "/a"), "ENOENT")
    }))

  it.effect("a synced name in a directory whose own name is not synced is gone", () =>
    Effect.gen(function*() {
      const machine = PowerLossDisk.make()
      yield* machine.disk.makeDirectory("/d")
      yield* write(machine.disk, "/d/a", "content")
      yield* machine.disk.syncDirectory("/d")
      assert.deepStrictEqual(yield* machine.survivors("nothing").disk.list("/"), [])
      assert.strictEqual(yield* look(machine.survivors("everything").disk, "/d/a"), "content")
    }))

  it.effect("a tree is removed name by name", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("kept")
      const { disk } = machine
      yield* disk.makeDirectory("/d")
      for (const name of ["x", "y"]) yield* write(disk, `/d/${name}`, name)
      yield* disk.syncDirectory("/d")
      yield* disk.syncDirectory("/")
      yield* disk.removeTree("/d")
      assert.deepStrictEqual((yield* disk.list("/")).map(({ name }) => name), ["a"])
      assert.deepStrictEqual((yield* machine.survivors("firstOnly").disk.list("/d")).map(({ name }) => name), ["y"])
    }))
})

describe("PowerLossDisk and the end of processes", () => {
  it.effect("the call that is cut and all after it never answer; calls that look are not counted", () =>
    Effect.gen(function*() {
      const machine = PowerLossDisk.make()
      machine.cutAt(3)
      const answers: Array<string> = []
      const workload = Effect.gen(function*() {
        yield* machine.disk.makeDirectory("/d")
        answers.push("made")
        yield* machine.disk.list("/d")
        yield* machine.disk.syncDirectory("/")
        answers.push("synced")
        yield* write(machine.disk, "/d/a", "content")
        answers.push("written")
      })
      yield* Effect.forkDetach(workload)
      const other = yield* Effect.forkDetach(Effect.andThen(machine.cut, machine.disk.list("/")))
      yield* machine.cut
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(answers, ["made", "synced"])
      assert.isUndefined(other.pollUnsafe())
      assert.deepStrictEqual(machine.calls.map(({ name, path }) => `${name} ${path}`), [
        "makeDirectory /d",
        "syncDirectory /",
        "create /d/a"
      ])
      assert.deepStrictEqual(yield* machine.survivors("nothing").disk.list("/d"), [])
      assert.deepStrictEqual((yield* machine.survivors("everything").disk.list("/d")).map(({ name }) => name), ["a"])
    }))

  it.effect("a sync that is cut may have been carried out or not", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("")
      machine.cutAt(machine.calls.length + 2)
      yield* Effect.forkDetach(
        modify(machine.disk, "/a", (file) => Effect.andThen(file.write(bytes("x"), 0), file.sync))
      )
      yield* machine.cut
      assert.strictEqual(yield* look(machine.survivors("nothing").disk, "/a"), "")
      assert.strictEqual(yield* look(machine.survivors("everything").disk, "/a"), "x")
    }))

  it.effect("a killed process leaves all it has written in the page cache, where a power loss still takes it", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("")
      machine.cutAt(machine.calls.length + 1)
      yield* Effect.forkDetach(modify(machine.disk, "/a", (file) => file.write(bytes("0123"), 0)))
      yield* machine.cut
      const after = machine.crash()
      assert.strictEqual(yield* look(after.disk, "/a"), "0123")
      assert.strictEqual(yield* look(machine.crash("half").disk, "/a"), "01")
      assert.strictEqual(yield* look(after.survivors("nothing").disk, "/a"), "")
      const synced = machine.crash()
      yield* modify(synced.disk, "/a", (file) => file.sync)
      assert.strictEqual(yield* look(synced.survivors("nothing").disk, "/a"), "0123")
    }))

  it.effect("a lock is held once, and ends with its scope, its process or the power", () =>
    Effect.gen(function*() {
      const machine = PowerLossDisk.make()
      const { disk } = machine
      const scope = yield* Scope.make()
      assert.isTrue(yield* Scope.provide(disk.lock("/lock"), scope))
      assert.isFalse(yield* Effect.scoped(disk.lock("/lock")))
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(yield* Scope.provide(disk.lock("/lock"), yield* Scope.make()))
      assert.isFalse(yield* Effect.scoped(disk.lock("/lock")))
      assert.isTrue(yield* Effect.scoped(machine.crash().disk.lock("/lock")))
      assert.isTrue(yield* Effect.scoped(machine.survivors("everything").disk.lock("/lock")))
    }))

  it.effect("a process that opens its lock file and closes it has lost the lock, as on Linux", () =>
    Effect.gen(function*() {
      const { disk } = PowerLossDisk.make()
      yield* Scope.provide(disk.lock("/lock"), yield* Scope.make())
      yield* read(disk, "/lock")
      assert.isTrue(yield* Effect.scoped(disk.lock("/lock")))
    }))

  it.effect("calls let others run before they answer", () =>
    Effect.gen(function*() {
      const { disk } = yield* withFile("")
      const order: Array<string> = []
      const note = (name: string) =>
        modify(disk, "/a", (file) =>
          Effect.sync(() => order.push(`${name} asks`)).pipe(
            Effect.andThen(file.write(bytes(name), 0)),
            Effect.andThen(Effect.sync(() => order.push(`${name} done`)))
          ))
      const fibers = yield* Effect.forEach(["a", "b"], (name) => Effect.forkChild(note(name)))
      yield* Fiber.joinAll(fibers)
      assert.deepStrictEqual(order, ["a asks", "b asks", "a done", "b done"])
    }))
})

describe("PowerLossDisk and faults", () => {
  it.effect("a sync that failed once drops what it should write: later syncs succeed and do not bring it", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("")
      machine.failSync(2)
      yield* modify(machine.disk, "/a", (file) =>
        Effect.gen(function*() {
          yield* file.write(bytes("one "), 0)
          yield* file.syncData
          yield* file.write(bytes("two "), 4)
          assert.strictEqual((yield* Effect.flip(file.syncData)).code, "EIO")
          yield* file.write(bytes("three"), 8)
          yield* file.syncData
          assert.strictEqual(text(yield* file.read(99, 0)), "one two three")
        }))
      assert.strictEqual(yield* look(machine.survivors("nothing").disk, "/a"), "one \0\0\0\0three")
      assert.strictEqual(yield* look(machine.survivors("everything").disk, "/a"), "one two three")
      assert.strictEqual(yield* look(machine.crash().disk, "/a"), "one two three")
      assert.strictEqual(yield* look(machine.crash().survivors("nothing").disk, "/a"), "one \0\0\0\0three")
    }))

  it.effect("a full disk takes a part; room comes back by truncating, by removing, by growing", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("0123456789")
      const { disk } = machine
      machine.setCapacity(16)
      yield* modify(disk, "/a", (file) =>
        Effect.gen(function*() {
          assert.strictEqual((yield* Effect.flip(file.writeMany([bytes("abcd"), bytes("efgh")], 10))).code, "ENOSPC")
          assert.strictEqual(yield* look(disk, "/a"), "0123456789abcdef")
          yield* file.write(bytes("XY"), 0)
          assert.strictEqual((yield* Effect.flip(file.truncate(17))).code, "ENOSPC")
          yield* file.truncate(14)
          yield* file.write(bytes("zz"), 14)
        }))
      assert.strictEqual((yield* Effect.flip(write(disk, "/b", "x"))).code, "ENOSPC")
      assert.strictEqual(machine.usedBytes(), 16)
      machine.setCapacity(17)
      yield* modify(disk, "/b", (file) => file.write(bytes("x"), 0))
      yield* Effect.scoped(Effect.gen(function*() {
        yield* disk.open("/a", "read")
        yield* disk.unlink("/a")
        assert.strictEqual(machine.usedBytes(), 17)
      }))
      assert.strictEqual(machine.usedBytes(), 1)
      yield* write(disk, "/c", "0123456789abcdef")
      assert.strictEqual((yield* Effect.flip(write(machine.survivors("everything").disk, "/d", "x"))).code, "ENOSPC")
    }))

  it.effect("a rule refuses single calls, those that look too", () =>
    Effect.gen(function*() {
      const machine = yield* withFile("content")
      machine.rule(({ name, path }) => (name === "read" || name === "unlink") && path === "/a" ? "EIO" : undefined)
      assert.strictEqual(yield* look(machine.disk, "/a"), "EIO")
      assert.deepInclude(yield* Effect.flip(machine.disk.unlink("/a")), { code: "EIO", call: "unlink", path: "/a" })
      assert.strictEqual(yield* look(machine.survivors("nothing").disk, "/a"), "content")
    }))
})
