import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import type { JournalError } from "../../../src/node/journal/JournalError.ts"
import { freshDirectory } from "../fixtures/disks.ts"
import {
  changedHandles,
  frame,
  frames,
  journalFiles,
  name,
  names,
  open,
  openUntilClosed,
  use
} from "./fixtures/journals.ts"

const hundred = "x".repeat(100)

/** A disk that counts writes and syncs of frames, and holds each write until it may go on. */
const gatedDisk = () => {
  const calls: Array<string> = []
  let gate: Effect.Effect<unknown> = Effect.void
  const disk = changedHandles((handle) => ({
    writeMany: (parts, position) =>
      Effect.andThen(
        Effect.suspend(() => {
          calls.push(`write ${parts.length / 2}`)
          return gate
        }),
        handle.writeMany(parts, position)
      ),
    syncData: Effect.suspend(() => {
      calls.push("sync")
      return handle.syncData
    })
  }))
  return {
    calls,
    disk,
    hold: (until: Effect.Effect<unknown>) => {
      gate = until
    }
  }
}

const reasonOf = <A>(effect: Effect.Effect<A, JournalError>) => Effect.map(Effect.flip(effect), (error) => error.reason)

describe("Journal and group commit", () => {
  it.effect("appends that wait at the same time share one write and one sync", () =>
    Effect.gen(function*() {
      const { calls, disk } = gatedDisk()
      const journal = yield* open(yield* freshDirectory, { disk })
      yield* Effect.forEach(frames(0, 49), (one) => journal.append([one]), { concurrency: "unbounded" })
      assert.deepStrictEqual(calls, ["write 50", "sync"])
      assert.strictEqual((yield* names(journal)).length, 50)
    }))

  it.effect("what comes during a write shares the next one; nobody is answered before the sync", () =>
    Effect.gen(function*() {
      const { calls, disk, hold } = gatedDisk()
      const journal = yield* open(yield* freshDirectory, { disk })
      const gate = yield* Deferred.make<void>()
      const reached = yield* Deferred.make<void>()
      hold(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)))
      const first = yield* Effect.forkChild(journal.append([frame(1, 0)]), { startImmediately: true })
      yield* Deferred.await(reached)
      const others = yield* Effect.forEach(
        frames(1, 9),
        (one) => Effect.forkChild(journal.append([one]), { startImmediately: true })
      )
      assert.isUndefined(first.pollUnsafe())
      assert.isFalse(yield* journal.has(name(1, 0)))
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach([first, ...others], Fiber.join)
      assert.deepStrictEqual(calls, ["write 1", "sync", "write 9", "sync"])
    }))

  it.effect("a batch fills a file and goes on in the next one", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const { calls, disk } = gatedDisk()
      const journal = yield* open(directory, { disk, maxFileBytes: 128 + 4 * 156 })
      yield* Effect.forEach(frames(0, 9, hundred), (one) => journal.append([one]), { concurrency: "unbounded" })
      assert.deepStrictEqual(calls, ["write 4", "sync", "write 4", "sync", "write 2", "sync"])
      assert.strictEqual((yield* journalFiles(directory)).length, 3)
      assert.strictEqual((yield* names(journal)).length, 10)
    }))

  it.effect("an interrupted caller takes back what waits, waits for what is written, and hurts nobody", () =>
    Effect.gen(function*() {
      const { calls, disk, hold } = gatedDisk()
      const journal = yield* open(yield* freshDirectory, { disk })
      const gate = yield* Deferred.make<void>()
      const reached = yield* Deferred.make<void>()
      hold(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)))
      const append = (slot: number) => Effect.forkChild(journal.append([frame(1, slot)]), { startImmediately: true })
      const writing = yield* append(0)
      yield* Deferred.await(reached)
      const waiting = yield* append(1)
      const patient = yield* append(2)
      yield* Fiber.interrupt(waiting)
      const interruption = yield* Effect.forkChild(Fiber.interrupt(writing), { startImmediately: true })
      assert.isUndefined(interruption.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      yield* Fiber.join(interruption)
      yield* Fiber.join(patient)
      yield* journal.append([frame(1, 3)])
      assert.deepStrictEqual(yield* names(journal), ["1/0", "1/2", "1/3"])
      assert.deepStrictEqual(calls, ["write 1", "sync", "write 1", "sync", "write 1", "sync"])
    }))

  it.effect("closing writes what waits; later appends fail typed", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const { disk, hold } = gatedDisk()
      const gate = yield* Deferred.make<void>()
      const reached = yield* Deferred.make<void>()
      const { close, journal } = yield* openUntilClosed(directory, { disk })
      hold(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)))
      const first = yield* Effect.forkChild(journal.append([frame(1, 0)]), { startImmediately: true })
      yield* Deferred.await(reached)
      const second = yield* Effect.forkChild(journal.append([frame(1, 1)]), { startImmediately: true })
      const closing = yield* Effect.forkChild(close, { startImmediately: true })
      assert.strictEqual(yield* reasonOf(journal.append([frame(1, 2)])), "failed")
      assert.isUndefined(closing.pollUnsafe())
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach([first, second, closing], Fiber.join)
      assert.deepStrictEqual(yield* use(directory, names), ["1/0", "1/1"])
      assert.strictEqual(yield* reasonOf(journal.append([frame(1, 2)])), "failed")
    }))

  it.effect("a defect ends the journal: waiting and later appends die, and it still closes", () =>
    Effect.gen(function*() {
      const directory = yield* freshDirectory
      const disk = changedHandles(() => ({ writeMany: () => Effect.die(new Error("broken")) }))
      const { close, journal } = yield* openUntilClosed(directory, { disk })
      const exits = yield* Effect.forEach([0, 1], (slot) => Effect.exit(journal.append([frame(1, slot)])), {
        concurrency: "unbounded"
      })
      for (const exit of [...exits, yield* Effect.exit(journal.append([frame(1, 2)]))]) {
        assert.include(String(Exit.isFailure(exit) && exit.cause), "broken")
      }
      yield* close
      assert.deepStrictEqual(yield* use(directory, names), [])
    }))
})
