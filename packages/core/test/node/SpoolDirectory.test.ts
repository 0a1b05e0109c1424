/** The spool of a log as files of a directory: what it keeps, what it lets go, who may open it. */
import { Spool, type SpoolService } from "@effect-wal/core/store/Spool"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, References, Scope } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs/promises"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { DiskFile, type DiskFileService, nodeDisk } from "../../src/node/DiskFile.ts"
import * as SpoolDirectory from "../../src/node/SpoolDirectory.ts"
import { bytes, failure, freshDirectory, text } from "./fixtures/disks.ts"
import { changed, edit, journalFiles, lastFile, realBytes } from "./journal/fixtures/journals.ts"

const prefix = "node/log/"

const options = (path: string, rest: Partial<SpoolDirectory.SpoolDirectoryOptions> = {}) => ({ path, ...rest })

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

const open = (
  path: string,
  rest: Partial<SpoolDirectory.SpoolDirectoryOptions> = {},
  disk: DiskFileService = nodeDisk
) => SpoolDirectory.make(options(path, rest)).open(prefix).pipe(Effect.provideService(DiskFile, disk), quiet)

/** Uses it as a process of its own would. */
const use = <A, E, R>(path: string, body: (spool: SpoolService) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(open(path), body))

const object = (epoch: number, slot: number, length = 0) => ({
  epoch,
  slot,
  object: bytes(`${epoch}/${slot}`.padEnd(length, "."))
})

const names = (spool: SpoolService, from = { epoch: 0, slot: 0 }, limit = 1_000) =>
  Effect.map(spool.slots(from, limit), (slots) => slots.map(({ epoch, slot }) => `${epoch}/${slot}`))

const exists = (path: string) => Effect.promise(() => fs.access(path).then(() => true, () => false))

describe("SpoolDirectory", () => {
  it.effect("keeps objects in order over a restart, as the same spool", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const id = yield* use(path, (spool) =>
        Effect.gen(function*() {
          assert.strictEqual(spool.path, join(path, "node", "log", "~spool"))
          yield* spool.write([object(1, 7), object(1, 8), object(1, 9)])
          yield* spool.write([object(2, 0)])
          return spool.id
        }))
      yield* use(path, (spool) =>
        Effect.gen(function*() {
          assert.strictEqual(spool.id, id)
          assert.match(id, /^[0-9a-f]{32}$/)
          assert.deepStrictEqual(yield* names(spool), ["1/7", "1/8", "1/9", "2/0"])
          assert.deepStrictEqual(yield* names(spool, { epoch: 1, slot: 8 }, 2), ["1/8", "1/9"])
          assert.deepStrictEqual(yield* spool.slots({ epoch: 2, slot: 0 }, 5), [{ epoch: 2, slot: 0, sizeBytes: 3 }])
          assert.strictEqual(text(yield* spool.read(1, 9)), "1/9")
          yield* spool.dropThrough(1, 8)
          assert.deepStrictEqual(yield* names(spool), ["1/9", "2/0"])
        }))
    }))

  it.effect("[case 20] a disk without room for its directory can be tried again: it is no mistake in the options", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const full = { ...nodeDisk, makeDirectory: () => failure("ENOSPC", "mkdir") }
      const opened = Effect.scoped(open(join(path, "below"), {}, full))
      assert.strictEqual((yield* Effect.flip(opened))._tag, "StoreUnavailable")
      const refused = { ...nodeDisk, makeDirectory: () => failure("EACCES", "mkdir") }
      assert.strictEqual(
        (yield* Effect.flip(Effect.scoped(open(join(path, "below"), {}, refused))))._tag,
        "ConfigError"
      )
    }))

  it.effect("keeps the spools of several logs apart, and a relative path is told as an absolute one", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const source = SpoolDirectory.make(options(relative(process.cwd(), path)))
      const first = yield* source.open("node/a/")
      const second = yield* source.open("node/a/b/")
      assert.notStrictEqual(first.id, second.id)
      yield* first.write([object(1, 0)])
      assert.deepStrictEqual(yield* names(second), [])
      assert.strictEqual(first.path, join(path, "node", "a", "~spool"))
    }))

  it.effect("says of an object that is damaged, or not there, that it is", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const spool = yield* open(path)
      yield* spool.write([object(1, 0, 2_000), object(1, 1)])
      yield* edit(yield* lastFile(spool.path), (content) => {
        content[1_000] = (content[1_000] ?? 0) ^ 1
        return content
      })
      for (const slot of [0, 2]) {
        const error = yield* Effect.flip(spool.read(1, slot))
        assert.deepInclude(error, { reason: "Damaged", path: spool.path })
        assert.include(error.message, `slot ${slot} of epoch 1`)
      }
      assert.strictEqual(text(yield* spool.read(1, 1)), "1/1")
    }))

  it.effect("gives the disk its space back in steps, and ends small", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const maxBytes = 800_000
      const spool = yield* open(path, { maxBytes })
      const empty = spool.usedBytes()
      for (let slot = 0; slot < 70; slot++) yield* spool.write([object(1, slot, 10_000)])
      const full = spool.usedBytes()
      assert.isAbove(full, 700_000)
      assert.isAtLeast((yield* journalFiles(spool.path)).length, 7)
      const used: Array<number> = []
      for (let slot = 0; slot < 70; slot++) {
        yield* spool.dropThrough(1, slot)
        used.push(spool.usedBytes())
      }
      assert.isAtMost(used[35] ?? full, full / 2 + maxBytes / 8)
      assert.isAtMost(used.at(-1) ?? full, empty)
      assert.strictEqual(yield* realBytes(spool.path), used.at(-1))
      assert.deepStrictEqual(yield* names(spool), [])
    }))

  it.effect("[case 10] is one process's at a time, and free when that one is killed", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const holder = fileURLToPath(new URL("./journal/fixtures/journal-holder.ts", import.meta.url))
      const scope = yield* Scope.fork(yield* Effect.scope)
      const mine = yield* Scope.provide(open(path), scope)
      assert.deepInclude(yield* Effect.flip(open(path)), { _tag: "DirectoryLocked", path: mine.path })
      yield* Scope.close(scope, Exit.void)
      const written = yield* Deferred.make<void>()
      const ended = yield* Deferred.make<void>()
      const child = spawn(process.execPath, [holder, mine.path], { stdio: ["ignore", "pipe", "inherit"] })
      child.stdout.once("data", () => Deferred.doneUnsafe(written, Exit.void))
      child.on("close", () => Deferred.doneUnsafe(ended, Exit.void))
      yield* Effect.addFinalizer(() => Effect.sync(() => child.kill("SIGKILL")))
      yield* Deferred.await(written)
      assert.strictEqual((yield* Effect.flip(open(path)))._tag, "DirectoryLocked")
      child.kill("SIGKILL")
      yield* Deferred.await(ended)
      assert.include(yield* names(yield* open(path)), "1/0")
    }))

  it.effect("fails with the field's name where the directory cannot be used or an option breaks a rule", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* Effect.promise(() => fs.writeFile(join(path, "file"), ""))
      const network = changed({ fileSystemType: () => Effect.succeed(0x6969) })
      const refused = [
        yield* Effect.flip(open(join(path, "file", "below"))),
        yield* Effect.flip(open(join(path, "file"))),
        yield* Effect.flip(open(path, {}, network)),
        yield* Effect.flip(open(" ")),
        yield* Effect.flip(open(path, { maxBytes: 65_535 })),
        yield* Effect.flip(open(path, { after: "Infinity" }))
      ]
      const told = ["spool.path", "spool.path", "nfs", "spool.path", "spool.max_bytes", "spool.after"]
      for (const [index, error] of refused.entries()) {
        assert.strictEqual(error._tag, "ConfigError")
        assert.include(error.message, told[index] ?? "")
      }
    }))

  it.effect("an opening for which the disk has no room may be tried again", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      yield* use(path, (spool) => spool.write([object(1, 0)]))
      const full = changed({
        open: (name, mode) => mode === "create" ? failure("ENOSPC", "open") : nodeDisk.open(name, mode)
      })
      assert.strictEqual((yield* Effect.flip(open(path, {}, full)))._tag, "StoreUnavailable")
      assert.deepStrictEqual(yield* use(path, names), ["1/0"])
    }))
})

describe("what an earlier configuration has left", () => {
  it.effect("is opened by the path that it had, whatever is configured now", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const before = yield* use(path, (spool) =>
        Effect.as(spool.write([object(3, 1)]), { id: spool.id, path: spool.path }))
      for (const source of [SpoolDirectory.left, SpoolDirectory.make(options(yield* freshDirectory))]) {
        const left = yield* Effect.scoped(
          source.openLeft(before.path).pipe(
            quiet,
            Effect.tap((spool) =>
              Effect.map(
                spool === undefined ? Effect.succeed([]) : names(spool),
                (held) =>
                  assert.deepStrictEqual(held, ["3/1"])
              )
            )
          )
        )
        assert.strictEqual(left?.id, before.id)
      }
      assert.isUndefined(SpoolDirectory.left.path)
    }))

  it.effect("is undefined where nothing is, and nothing is created", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const { openLeft } = SpoolDirectory.left
      assert.isUndefined(yield* openLeft(join(path, "away", "~spool")))
      assert.isFalse(yield* exists(join(path, "away")))
      yield* Effect.promise(() => fs.mkdir(join(path, "~spool")))
      assert.isUndefined(yield* openLeft(join(path, "~spool")))
      assert.deepStrictEqual(yield* Effect.promise(() => fs.readdir(join(path, "~spool"))), [])
      // A log that is kept on this machine's disk is no spool.
      yield* use(path, (spool) => Effect.promise(() => fs.cp(spool.path, join(path, "~journal"), { recursive: true })))
      assert.isUndefined(yield* openLeft(join(path, "~journal")))
    }))

  it.effect("is what the layer gives, too", () =>
    Effect.gen(function*() {
      const path = yield* freshDirectory
      const source = yield* Effect.provide(Effect.service(Spool), SpoolDirectory.layer(options(path)))
      assert.strictEqual(source?.path, path)
    }))
})
