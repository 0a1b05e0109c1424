/** A log with a spool while its store cannot be reached, and afterwards. */
import type { Reason } from "@effect-wal/core/store/ObjectStoreError"
import * as MemorySpool from "@effect-wal/testing/MemorySpool"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  advanceUntil,
  decode,
  dense,
  drive,
  encode,
  gate,
  makeWorld,
  type Process,
  readAll,
  records,
  store
} from "../scenarios/World.ts"
import { spool } from "./SpoolWorld.ts"

const isSegment = (key: string): boolean => key.endsWith(".seg")

/** Segment PUTs fail so while `state.down`. */
const outage = (process: Process, reason: Reason = "Unavailable") => {
  const state = { down: true }
  process.faults.rule(({ operation }) => state.down && operation !== "list" ? { _tag: "Fail", reason } : undefined)
  return state
}

const isDone = (fiber: { readonly pollUnsafe: () => unknown }): boolean => fiber.pollUnsafe() !== undefined

const sized = (bytes: number) => ({ payload: new Uint8Array(bytes) })

describe("an outage with a spool", () => {
  it.effect("takes input far beyond the buffer, in order, and empties the spool afterwards", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({
        maxBufferedBytes: 2_200,
        maxRecordBytes: 500,
        segment: { maxBytes: 800, maxEntries: 5, linger: "0ms" }
      })
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      yield* store(wal, records(5))
      const state = outage(process)
      yield* spool(wal, records(95, 6))
      const during = yield* wal.status
      assert.deepInclude(during, { durable: 5, spooled: 100, lastAccepted: 100, state: "open" })
      assert.strictEqual(during.atRisk.records, 0)
      assert.deepInclude(during.spool, { records: 95, segments: 19 })
      assert.isAtMost(during.buffered.bytes, 2_200)
      assert.strictEqual(during.spool?.bytes, disk.held().reduce((sum, one) => sum + one.object.length, 0))
      assert.deepStrictEqual(disk.held().map(({ slot }) => slot), Array.from({ length: 19 }, (_, slot) => slot + 1))
      state.down = false
      yield* drive(wal.flush)
      yield* advanceUntil(() => disk.held().length === 0)
      assert.deepStrictEqual(yield* readAll(wal), dense(100))
      assert.deepInclude(yield* wal.status, { durable: 100, spooled: 100 })
      // From now on nothing goes over the disk.
      const writes = disk.writes.length
      yield* store(wal, records(5, 101))
      assert.strictEqual(disk.writes.length, writes)
    }))

  it.effect("tells the levels apart: accepted, then spooled, then durable", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      const state = outage(process)
      disk.failing = "Full"
      const { durable, spooled } = yield* wal.append(records(3))
      const isSpooled = yield* Effect.forkChild(spooled, { startImmediately: true })
      const isDurable = yield* Effect.forkChild(durable, { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.isFalse(isDone(isSpooled))
      assert.deepInclude((yield* wal.status).atRisk, { records: 3, oldestAgeMillis: 60_000 })
      assert.include((yield* wal.status).spool?.problem ?? "", "injected")
      disk.failing = undefined
      yield* advanceUntil(() => isDone(isSpooled))
      assert.isFalse(isDone(isDurable))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* wal.status).atRisk, { records: 0, bytes: 0, oldestAgeMillis: 0 })
      assert.isUndefined((yield* wal.status).spool?.problem)
      state.down = false
      yield* drive(Fiber.join(isDurable))
    }))

  it.effect("starts for a store that is merely silent, after a while", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make({ afterMillis: 2_000 })
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      const held = yield* gate
      const lift = process.faults.rule(({ key }) => isSegment(key) ? { _tag: "HoldBefore", gate: held } : undefined)
      const { spooled } = yield* wal.append(records(3))
      const waiting = yield* Effect.forkChild(spooled, { startImmediately: true })
      yield* TestClock.adjust("1900 millis")
      assert.isFalse(isDone(waiting))
      yield* TestClock.adjust("200 millis")
      assert.isTrue(isDone(waiting))
      lift()
      yield* Deferred.succeed(held, undefined)
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* readAll(wal), dense(3))
    }))

  it.effect("stops input at the bound of the spool, and not before; goes on when it drains", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({
        maxBufferedBytes: 3_000,
        maxRecordBytes: 1_000,
        segment: { maxBytes: 1_000, linger: "0ms" }
      })
      const disk = MemorySpool.make({ maxBytes: 50_000 })
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      const state = outage(process)
      let accepted = 0
      const appending = yield* Effect.forkChild(
        Effect.forEach(records(90), () =>
          Effect.tap(wal.append([sized(900)]), () =>
            Effect.sync(() => {
              accepted++
            })), { discard: true }),
        { startImmediately: true }
      )
      yield* TestClock.adjust("10 minutes")
      assert.isFalse(isDone(appending))
      const status = yield* wal.status
      assert.isAtMost(status.spool?.bytes ?? 0, 50_000)
      assert.isAtMost(status.buffered.bytes, 3_000)
      assert.isAtLeast(accepted, 15)
      assert.include(status.spool?.problem ?? "", "50000")
      assert.strictEqual((yield* Effect.flip(wal.appendNow([sized(900)])))._tag, "BufferFull")
      state.down = false
      yield* drive(Fiber.join(appending))
      yield* drive(wal.flush)
      assert.strictEqual((yield* wal.status).durable, 90)
      yield* advanceUntil(() => disk.held().length === 0)
    }))

  it.effect("is over ten minutes: memory is the same at its start and at its end", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({
        maxBufferedBytes: 50_000,
        maxRecordBytes: 2_000,
        segment: { maxBytes: 4_000, maxEntries: 100, linger: "0ms" }
      })
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      const state = outage(process, "TimedOut")
      const held: Array<number> = []
      for (let second = 0; second < 600; second++) {
        yield* wal.append([sized(1_000), sized(1_000)])
        yield* TestClock.adjust("1 second")
        held.push((yield* wal.status).buffered.bytes)
      }
      assert.isAtMost(Math.max(...held), 8_000)
      assert.isAtMost((yield* wal.status).atRisk.records, 4)
      state.down = false
      yield* drive(wal.flush)
      assert.strictEqual((yield* wal.status).durable, 1_200)
    }))

  it.effect("closing keeps in the spool what cannot be sent, and says so; the next start sends it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 1, shutdownTimeout: "10s" } })
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      yield* store(wal, records(5))
      outage(process)
      yield* wal.append(records(12, 6))
      yield* TestClock.adjust("100 millis")
      const report = yield* drive(wal.close)
      assert.deepInclude(report, { durable: 5, spooled: { from: 6, to: 17 }, lost: null })
      process.crash()
      const next = world.process("first", {}, disk)
      const again = yield* drive(next.open())
      assert.deepStrictEqual(yield* readAll(again), dense(17))
      assert.deepStrictEqual(disk.held(), [])
    }))

  it.effect("a segment that was sent and is spooled meanwhile is stored once", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 2 } })
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      // The first slot is stored and never answered, the second is refused, all later ones go to the spool.
      let first = true
      const state = { down: true }
      process.faults.rule(({ key, operation }) => {
        if (operation !== "create" || !isSegment(key) || !state.down) return undefined
        const applied = first
        first = false
        return { _tag: "Fail", reason: "TimedOut", applied }
      })
      yield* spool(wal, records(20))
      state.down = false
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* readAll(wal), dense(20))
      assert.strictEqual(world.slots.length, 4)
    }))

  it.effect("a live reader misses nothing of what comes back from the spool", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      yield* store(wal, records(5))
      const state = outage(process)
      yield* spool(wal, records(20, 6))
      const seen: Array<string> = []
      const reading = yield* Effect.forkChild(
        Stream.runForEach(wal.read({ until: "live" }), (record) =>
          Effect.sync(() => {
            seen.push(`${record.seq}:${decode(record.payload)}`)
          })),
        { startImmediately: true }
      )
      state.down = false
      yield* drive(wal.flush)
      yield* store(wal, [{ payload: encode("r26") }])
      yield* advanceUntil(() => seen.length === 26)
      assert.deepStrictEqual(seen, dense(26))
      // Nor does one that begins afterwards: what is in memory before and after the outage is not next to each other.
      assert.deepStrictEqual(yield* readAll(wal), dense(26))
      yield* Fiber.interrupt(reading)
    }))

  it.effect("a disk that takes nothing does not keep from the store what was meant for it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ segment: { maxEntries: 2, linger: "0ms" } })
      const disk = MemorySpool.make()
      const process = world.process("first", {}, disk)
      const wal = yield* drive(process.open())
      const state = outage(process)
      disk.failing = "Failed"
      yield* wal.append(records(20))
      yield* TestClock.adjust("1 minute")
      assert.include((yield* wal.status).spool?.problem ?? "", "injected")
      state.down = false
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* readAll(wal), dense(20))
      yield* store(wal, records(5, 21))
      const status = yield* wal.status
      assert.deepInclude(status.buffered, { bytes: 0 })
      assert.deepStrictEqual(disk.held(), [])
      // The next outage is spooled again, with a disk that works.
      disk.failing = undefined
      yield* TestClock.adjust("1 minute")
      state.down = true
      yield* spool(wal, records(5, 26))
      assert.isUndefined((yield* wal.status).spool?.problem)
      state.down = false
      yield* drive(wal.flush)
      assert.deepStrictEqual(yield* readAll(wal), dense(30))
    }))

  it.effect("what the store takes while the disk is writing it is counted once", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const disk = MemorySpool.make({ afterMillis: 1_000 })
      const writing = yield* gate
      const slowDisk: Pick<MemorySpool.MemorySpool, "attach"> = {
        attach: () => {
          const { crash, source } = disk.attach()
          const open = (name: string) =>
            Effect.map(source.open(name), (service) => ({
              ...service,
              write: (objects: Parameters<typeof service.write>[0]) =>
                Effect.andThen(service.write(objects), Deferred.await(writing))
            }))
          return { crash, source: { ...source, open } }
        }
      }
      const process = world.process("first", {}, slowDisk)
      const wal = yield* drive(process.open())
      const held = yield* gate
      const lift = process.faults.rule(({ key }) => isSegment(key) ? { _tag: "HoldBefore", gate: held } : undefined)
      const { durable } = yield* wal.append(records(12))
      // So that it is sent before time passes.
      yield* TestClock.adjust("1 millis")
      yield* TestClock.adjust("1500 millis")
      assert.isAbove(disk.held().length, 1)
      lift()
      yield* Deferred.succeed(held, undefined)
      yield* drive(durable)
      yield* Deferred.succeed(writing, undefined)
      yield* drive(wal.flush)
      const { atRisk, buffered, segments } = yield* wal.status
      assert.strictEqual(buffered.bytes, 0)
      assert.strictEqual(segments.inFlight, 0)
      assert.strictEqual(atRisk.bytes, 0)
      yield* advanceUntil(() => disk.held().length === 0)
      assert.deepStrictEqual(yield* readAll(wal), dense(12))
    }))
})
