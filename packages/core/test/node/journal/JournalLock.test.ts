/** One journal, one process. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { nodeDisk } from "../../../src/node/DiskFile.ts"
import { failure, freshDirectory } from "../fixtures/disks.ts"
import { changed, frames, name, names, open, openUntilClosed, use } from "./fixtures/journals.ts"

const script = fileURLToPath(new URL("./fixtures/journal-holder.ts", import.meta.url))

/** Starts the holder; done once it has printed so many lines, or has ended. Killed (SIGKILL) with the scope. */
const start = Effect.fnUntraced(function*(directory: string, lineCount: number) {
  const lines: Array<string> = []
  const reached = yield* Deferred.make<void>()
  const ended = yield* Deferred.make<void>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, [script, directory], { stdio: ["ignore", "pipe", "inherit"] })),
    (running) => Effect.andThen(Effect.sync(() => running.kill("SIGKILL")), Deferred.await(ended))
  )
  child.on("close", () => {
    Deferred.doneUnsafe(reached, Exit.void)
    Deferred.doneUnsafe(ended, Exit.void)
  })
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line)
    if (lines.length === lineCount) Deferred.doneUnsafe(reached, Exit.void)
  })
  yield* Deferred.await(reached)
  return { lines, kill: Effect.andThen(Effect.sync(() => child.kill("SIGKILL")), Deferred.await(ended)) }
})

describe("Journal and its lock", () => {
  it.effect("[case 10] a second opening in this process is refused at once and changes nothing", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const { close, journal } = yield* openUntilClosed(directory)
      const other = join(directory, "..", directory.slice(directory.lastIndexOf("/") + 1))
      for (const path of [directory, `${directory}/`, other]) {
        const error = yield* Effect.flip(open(path))
        assert.deepStrictEqual([error._tag, error.path], ["DirectoryLocked", directory])
      }
      yield* journal.append(frames(0, 2))
      yield* close
      assert.deepStrictEqual(yield* use(directory, names), ["1/0", "1/1", "1/2"])
    }))

  it.effect("[case 10] a symbolic link does not lead around the lock", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const link = join(yield* freshDirectory, "link")
      yield* Effect.promise(() => fs.symlink(directory, link))
      yield* open(directory)
      assert.strictEqual((yield* Effect.flip(open(link)))._tag, "DirectoryLocked")
    }))

  it.effect(
    "[case 10] another process is refused; after kill -9 of the holder it opens with no manual step",
    () =>
      Effect.gen(function*() {
        const directory = yield* freshDirectory
        for (let round = 0; round < 3; round++) {
          const holder = yield* start(directory, 15)
          assert.strictEqual((yield* Effect.flip(open(directory)))._tag, "DirectoryLocked")
          assert.deepStrictEqual((yield* start(directory, 1)).lines, ["DirectoryLocked"])
          yield* holder.kill
          yield* use(directory, (journal) =>
            Effect.gen(function*() {
              const found = yield* names(journal)
              for (const slot of holder.lines) {
                assert.include(found, `1/${slot}`)
                const read = yield* journal.read(name(1, Number(slot)))
                assert.isTrue(read?.intact === true && read.body.every((byte) => byte === (Number(slot) & 255)))
              }
            }))
        }
        const journal = yield* open(directory)
        assert.deepStrictEqual((yield* start(directory, 1)).lines, ["DirectoryLocked"])
        yield* journal.append(frames(1_000, 1_000))
      }),
    60_000
  )

  it.effect("an opening that fails holds no lock, even in a scope that lives on", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const scope = yield* Scope.make()
      const broken = changed({ list: () => failure("EIO") })
      const error = yield* Effect.flip(Scope.provide(open(directory, { disk: broken }), scope))
      assert.strictEqual(error._tag, "JournalError")
      yield* use(directory, () => Effect.void)
      yield* Scope.close(scope, Exit.void)
    }))

  it.effect("directories that can't be made, and a lock that can't be asked for, are typed", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* Effect.promise(() => fs.writeFile(join(directory, "file"), ""))
      assert.strictEqual((yield* Effect.flip(open(join(directory, "file", "below"))))._tag, "JournalError")
      const error = yield* Effect.flip(open(directory, { disk: changed({ lock: () => failure("EIO") }) }))
      assert.strictEqual(error._tag, "JournalError")
      yield* use(join(directory, "a", "b", "c"), (journal) => journal.append(frames(0, 0)), { disk: nodeDisk })
      assert.deepStrictEqual(yield* use(join(directory, "a", "b", "c"), names), ["1/0"])
    }))
})
