/** What a start leaves that is killed while it appends spooled records again: the next one goes on, nothing is stranded. */
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { SpoolPlace } from "../../src/format/Extensions.ts"
import { PendingCopies } from "../../src/log/PendingCopies.ts"
import { ConfigError } from "../../src/WalError.ts"
import { advanceUntil, drive, encode, makeWorld, records } from "../scenarios/World.ts"
import { down, killedSpooler, leftBehind, limit, named, payloads, spool } from "./SpoolWorld.ts"

describe("a start that is killed while it appends spooled records again", () => {
  it.effect("a copy that nobody needs any more is not missed where it was dropped before the next start", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      yield* drive(world.process("second").open())
      const first = world.process("first", {}, disk)
      limit(first, 3, 0)
      const wal = yield* drive(first.open())
      yield* spool(wal, records(10, 26))
      first.crash()
      yield* drive(world.process("third").open())
      const again = world.process("first", {}, disk)
      const sent = limit(again, 5, 4)
      const wal5 = yield* drive(again.open())
      yield* advanceUntil(() => sent() > 6)
      assert.strictEqual((yield* wal5.status).durable, 25)
      again.crash()
      yield* drive(world.process("fourth").open())
      const last = yield* drive(world.process("first", {}, disk).open())
      yield* drive(last.flush)
      assert.deepStrictEqual(yield* payloads(last), named(35))
    }))

  it.effect("nor is a slot whose calls their producer has repeated elsewhere", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      down(process)
      for (const sequence of [1, 2]) {
        const { spooled } = yield* wal.append([{ payload: encode(`p${sequence}`) }], {
          producer: { id: "p", sequence }
        })
        yield* drive(spooled)
      }
      yield* spool(wal, records(5))
      process.crash()
      const other = yield* drive(world.process("second").open())
      const { durable } = yield* other.append([{ payload: encode("p1") }], { producer: { id: "p", sequence: 1 } })
      yield* drive(durable)
      const first = world.process("first", {}, disk)
      limit(first, 3, 0)
      yield* drive(first.open())
      yield* advanceUntil(() => disk.held().some((one) => one.epoch === 3))
      first.crash()
      yield* drive(world.process("third").open())
      const last = yield* drive(world.process("first", {}, disk).open())
      yield* drive(last.flush)
      assert.deepStrictEqual(yield* payloads(last), ["p1", "p2", ...named(5)])
    }))

  it("slots that have no copy are kept until the manifest, or the header of a later copy, says that they are done", () => {
    let durable = 0
    let stored: Record<string, { epoch: number; slot: number }> = {}
    const copies = new PendingCopies(() => durable, () => stored)
    const at = (slot: number): SpoolPlace => ({ spool: "s", epoch: 1, slot })
    copies.add(at(0), 0, true)
    copies.add(at(1), 5)
    copies.add(at(2), 5, true)
    copies.add(at(3), 5, true)
    assert.deepStrictEqual(copies.keepFrom("s"), { epoch: 0, slot: 0 })
    copies.isComplete = true
    assert.deepStrictEqual(copies.keepFrom("s"), { epoch: 1, slot: 0 })
    assert.deepStrictEqual(copies.marks, {})
    durable = 5
    assert.deepStrictEqual(copies.keepFrom("s"), { epoch: 1, slot: 2 })
    assert.deepStrictEqual(copies.marks, { s: { epoch: 1, slot: 3 } })
    assert.isTrue(copies.needsManifest)
    stored = copies.marks
    assert.isUndefined(copies.keepFrom("s"))
    assert.isFalse(copies.needsManifest)
  })

  for (const configured of [true, false]) {
    it.effect(
      `a spool that an earlier configuration has left is found again, ${
        configured ? "beside another one" : "with none configured"
      }, whoever had the log in between`,
      () =>
        Effect.gen(function*() {
          const world = yield* makeWorld()
          const left = MemorySpool.make()
          yield* killedSpooler(world, left, 5, 20)
          const second = yield* drive(world.process("second").open())
          yield* drive(second.close)
          const own = configured ? MemorySpool.make({ id: "6c".repeat(16), path: "/other" }) : undefined
          const killed = world.process("first", {}, leftBehind(left, own))
          limit(killed, 3, 1)
          yield* drive(killed.open())
          yield* TestClock.adjust("1 second")
          killed.crash()
          const wal = yield* drive(world.process("first", {}, leftBehind(left, own)).open())
          yield* drive(wal.flush)
          assert.deepStrictEqual(yield* payloads(wal), named(25))
          yield* advanceUntil(() => left.held().length === 0)
          yield* drive(wal.close)
          const last = yield* drive(world.process("first", {}, leftBehind(left, own)).open())
          assert.deepStrictEqual(yield* payloads(last), named(25))
          assert.notProperty(yield* world.manifest, "spools_left")
        })
    )
  }

  it.effect("what is in the way where a spool of another machine was does not keep this one from the log", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedSpooler(world, disk, 5, 20)
      const refused = new ConfigError({
        source: "spool",
        problems: [{ path: "/spool", value: "", rule: "is not ours" }]
      })
      const attach = () => ({
        source: { path: undefined, open: () => Effect.fail(refused), openLeft: () => Effect.fail(refused) },
        crash: () => undefined
      })
      assert.strictEqual((yield* Effect.flip(drive(world.process("first", {}, { attach }).open())))._tag, "ConfigError")
      yield* drive(world.process("second", {}, { attach }).open())
      const wal = yield* drive(world.process("first", {}, disk).open())
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* payloads(wal), named(25))
    }))
})
