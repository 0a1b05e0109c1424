/** What restarts leave that append nothing but passive frames, as those of an idle log do. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as fs from "node:fs/promises"
import { join } from "node:path"
import * as Journal from "../../../src/node/journal/Journal.ts"
import type { NewFrame } from "../../../src/node/journal/JournalWriter.ts"
import { failure, freshDirectory } from "../fixtures/disks.ts"
import {
  appendEach,
  changed,
  edit,
  frame,
  journalFiles,
  lastFile,
  logLines,
  name,
  names,
  open,
  textOf,
  use
} from "./fixtures/journals.ts"

const passive = (epoch: number, content?: string): NewFrame => ({ ...frame(epoch, 0, content), passive: true })

/** Opens it again and again; each time the frame of one more epoch is appended. */
const restarts = (directory: string, from: number, to: number, content?: string) =>
  Effect.forEach(
    Array.from({ length: to - from + 1 }, (_, index) => from + index),
    (epoch) => use(directory, (journal) => journal.append([passive(epoch, content)])),
    { discard: true }
  )

/** What an opening logs. */
const linesOf = Effect.fnUntraced(function*(directory: string) {
  const { lines, log } = logLines()
  yield* Effect.provide(Effect.scoped(Journal.open({ directory })), Logger.layer([Logger.make(log)]))
  return lines
})

describe("restarts that append passive frames only", () => {
  it.effect("leave one file however often, and every frame with its bytes and its time", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* TestClock.setTime(5_000)
      yield* restarts(directory, 1, 1)
      yield* TestClock.setTime(9_000)
      yield* restarts(directory, 2, 20)
      assert.deepStrictEqual(yield* journalFiles(directory), ["0000000020.journal"])
      const journal = yield* open(directory)
      assert.deepStrictEqual(yield* names(journal), Array.from({ length: 20 }, (_, index) => `${index + 1}/0`))
      assert.strictEqual(yield* textOf(journal, 7, 0), "7/0")
      const page = yield* journal.list(name(0, 0), 2)
      assert.deepStrictEqual(page.map((entry) => [entry.writtenAtMillis, entry.passive]), [[5_000, true], [
        9_000,
        true
      ]])
    }))

  it.effect("leave one file behind those that something keeps, which goes with them", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* use(directory, (journal) => appendEach(journal, [frame(1, 0), frame(1, 1)]))
      yield* restarts(directory, 2, 20)
      // What nobody knows to be durable is copied in any case: the second frame, with the first passive one behind it.
      assert.strictEqual((yield* journalFiles(directory)).length, 3)
      yield* use(directory, (journal) => journal.append([frame(21, 0)]))
      const journal = yield* open(directory)
      assert.strictEqual((yield* names(journal)).length, 22)
      yield* journal.remove([name(1, 0), name(1, 1), name(21, 0)])
      assert.strictEqual((yield* journalFiles(directory)).length, 1)
    }))

  it.effect("keep the newest bytes of a name", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      for (const content of ["old", "newer", "newest"]) {
        yield* use(directory, (journal) => appendEach(journal, [passive(3), passive(2, content), passive(1)]))
      }
      assert.strictEqual(yield* use(directory, (journal) => textOf(journal, 2, 0)), "newest")
      assert.deepStrictEqual(yield* use(directory, names), ["1/0", "2/0", "3/0"])
      assert.strictEqual((yield* journalFiles(directory)).length, 1)
    }))

  it.effect("copy no file that has become long", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const part = "p".repeat(400_000)
      yield* restarts(directory, 1, 7, part)
      assert.strictEqual((yield* journalFiles(directory)).length, 3)
      assert.strictEqual((yield* use(directory, names)).length, 7)
    }))

  it.effect("leave a damaged file as it is, and tell of it", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* restarts(directory, 1, 3)
      const damaged = yield* lastFile(directory)
      yield* edit(damaged, (content) => content.fill(0, 190, 200))
      assert.match((yield* linesOf(directory)).join(), /^Error .*is damaged from byte/)
      yield* restarts(directory, 4, 9)
      assert.strictEqual(join(directory, (yield* journalFiles(directory))[0] ?? ""), damaged)
      assert.strictEqual((yield* journalFiles(directory)).length, 2)
    }))

  it.effect("leave a file that tells of a lost one before it", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      for (const epoch of [1, 2]) {
        yield* use(directory, (journal) => appendEach(journal, [frame(epoch, 0), frame(epoch, 1)]))
      }
      yield* restarts(directory, 3, 4)
      const [, , lost = "", idle = ""] = yield* journalFiles(directory)
      yield* Effect.promise(() => fs.unlink(join(directory, lost)))
      yield* restarts(directory, 5, 9)
      assert.include(yield* journalFiles(directory), idle)
      for (let round = 0; round < 2; round++) assert.match((yield* linesOf(directory)).join(), /^Error .*is missing/)
    }))

  it.effect("leave nothing that counts in a file that could not be removed", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      yield* restarts(directory, 1, 2)
      const disk = changed({ unlink: () => failure("EIO", "unlink") })
      yield* use(directory, (journal) => journal.append([passive(3)]), { disk })
      assert.strictEqual((yield* journalFiles(directory)).length, 2)
      assert.deepStrictEqual(yield* use(directory, names), ["1/0", "2/0", "3/0"])
      assert.strictEqual((yield* journalFiles(directory)).length, 1)
    }))
})
