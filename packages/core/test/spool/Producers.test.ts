/** Calls of producers that went to the spool, and what becomes of them when another node takes the log over. */
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import type { WalService } from "../../src/WalService.ts"
import { advanceUntil, drive, encode, makeWorld, type World } from "../scenarios/World.ts"
import { down, payloads } from "./SpoolWorld.ts"

const call = (wal: WalService, sequence: number, texts: ReadonlyArray<string>) =>
  wal.append(texts.map((text) => ({ payload: encode(text) })), { producer: { id: "p", sequence } })

/** Calls 1 and 2 are durable, 3 and 4 spooled, and the process is killed. */
const killedCaller = Effect.fnUntraced(function*(world: World, disk: MemorySpool.MemorySpool) {
  const process = world.process("first", {}, disk)
  const wal = yield* drive(process.open())
  for (const sequence of [1, 2]) {
    const { durable } = yield* call(wal, sequence, [`a${sequence}`, `b${sequence}`])
    yield* drive(durable)
  }
  down(process)
  for (const sequence of [3, 4]) {
    const { spooled } = yield* call(wal, sequence, [`a${sequence}`, `b${sequence}`])
    yield* drive(spooled)
  }
  process.crash()
})

const repeat = Effect.fnUntraced(function*(wal: WalService, sequence: number) {
  const appended = yield* call(wal, sequence, [`a${sequence}`, `b${sequence}`])
  yield* drive(appended.durable)
  return appended
})

describe("a producer's call in the spool", () => {
  it.effect("is known after a start that sends it, under its numbers", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedCaller(world, disk)
      const wal = yield* drive(world.process("first", {}, disk).open())
      assert.deepInclude(yield* repeat(wal, 3), { first: 5, last: 6, epoch: 1, isRepeat: true })
      assert.deepStrictEqual(yield* payloads(wal), ["a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4"])
    }))

  it.effect("is known after it was appended again, under its new numbers, and after one more start", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedCaller(world, disk)
      const other = yield* drive(world.process("second").open())
      const { durable } = yield* other.append([{ payload: encode("other") }])
      yield* drive(durable)
      const first = world.process("first", {}, disk)
      const wal = yield* drive(first.open())
      assert.deepInclude(yield* repeat(wal, 3), { first: 6, last: 7, epoch: 3, isRepeat: true })
      yield* drive(wal.flush)
      first.crash()
      const last = yield* drive(world.process("third").open())
      assert.deepInclude(yield* repeat(last, 4), { first: 8, last: 9, epoch: 3, isRepeat: true })
      assert.deepStrictEqual(yield* payloads(last), ["a1", "b1", "a2", "b2", "other", "a3", "b3", "a4", "b4"])
    }))

  it.effect("that its producer has repeated to another node is not appended twice", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedCaller(world, disk)
      const second = world.process("second")
      const other = yield* drive(second.open())
      assert.notProperty(yield* repeat(other, 3), "isRepeat")
      const wal = yield* drive(world.process("first", {}, disk).open())
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* payloads(wal), ["a1", "b1", "a2", "b2", "a3", "b3", "a4", "b4"])
    }))

  it.effect("that was repeated to another node is not appended twice however many calls came after it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedCaller(world, disk)
      const second = world.process("second")
      const other = yield* drive(second.open())
      for (let sequence = 3; sequence <= 12; sequence++) yield* repeat(other, sequence)
      const wal = yield* drive(world.process("first", {}, disk).open())
      yield* drive(wal.flush)
      const all = Array.from({ length: 12 }, (_, index) => [`a${index + 1}`, `b${index + 1}`]).flat()
      assert.deepStrictEqual(yield* payloads(wal), all)
    }))

  it.effect("is kept though its producer has gone on to later sequences meanwhile, and these stay the newest", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      yield* killedCaller(world, disk)
      const other = yield* drive(world.process("second").open())
      yield* repeat(other, 9)
      const wal = yield* drive(world.process("first", {}, disk).open())
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* payloads(wal), ["a1", "b1", "a2", "b2", "a9", "b9", "a3", "b3", "a4", "b4"])
      for (const sequence of [3, 4, 9]) assert.isTrue((yield* repeat(wal, sequence)).isRepeat)
      assert.strictEqual((yield* Effect.flip(call(wal, 8, ["x"])))._tag, "ProducerSequenceTooOld")
    }))

  it.effect("stays whole beside records of nobody, in the order of the spool", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ segment: { maxEntries: 10, linger: "0ms" } })
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      down(process)
      const before = yield* wal.append([{ payload: encode("x") }])
      yield* call(wal, 1, ["a1", "b1"])
      yield* wal.append([{ payload: encode("y") }])
      const last = yield* call(wal, 2, ["a2", "b2"])
      yield* drive(before.spooled)
      yield* drive(last.spooled)
      process.crash()
      const other = yield* drive(world.process("second").open())
      yield* repeat(other, 1)
      const again = yield* drive(world.process("first", {}, disk).open())
      yield* drive(again.flush)
      assert.deepStrictEqual(yield* payloads(again), ["a1", "b1", "x", "y", "a2", "b2"])
    }))

  it.effect("takes memory until it is durable: in a long outage the buffer bounds how many are remembered", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({
        maxBufferedBytes: 20_000,
        maxRecordBytes: 2_000,
        segment: { maxBytes: 4_000, maxEntries: 10, linger: "0ms" }
      })
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      const lift = down(process)
      let accepted = 0
      for (let nth = 0; nth < 1_000; nth++) {
        const now = wal.appendNow([{ payload: encode(`r${nth}`) }], { producer: { id: `key-${nth}`, sequence: 0 } })
        if (Exit.isSuccess(yield* Effect.exit(now))) accepted++
        yield* TestClock.adjust("10 millis")
      }
      yield* advanceUntil(() => disk.held().length > 0)
      assert.isAbove(accepted, 100)
      assert.isBelow(accepted, 500)
      yield* TestClock.adjust("10 seconds")
      const during = yield* wal.status
      assert.deepStrictEqual(during.atRisk, { records: 0, bytes: 0, oldestAgeMillis: 0 })
      assert.isAtMost(during.buffered.bytes, 20_000)
      const repeated = yield* wal.append([{ payload: encode("r0") }], { producer: { id: "key-0", sequence: 0 } })
      assert.isTrue(repeated.isRepeat)
      lift()
      yield* drive(wal.flush)
      assert.strictEqual((yield* wal.status).buffered.bytes, 0)
      yield* call(wal, 1, ["goes", "on"])
    }))
})
