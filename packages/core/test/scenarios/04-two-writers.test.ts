/** Two live writers with one identity: the newer takes over, the older is fenced for good, nothing acknowledged is lost. */
import type { AppendError } from "@effect-wal/core/WalError"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { encodeEndMarker } from "../../src/format/SegmentCodec.ts"
import { nodeDigest } from "../../src/node/NodeDigest.ts"
import { advanceUntil, dense, drive, encode, gate, makeWorld, openGate, readAll, records, store } from "./World.ts"

const fencedFields = (error: AppendError) =>
  error._tag === "WriterFenced" ? [error.epoch, error.byEpoch, error.byHost] : [error._tag]

describe("two writers", () => {
  it.effect("[case 10] [predecessor 10] A writes, B takes over and writes, A is fenced for good", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const a = yield* drive(world.process("a").open())
      yield* store(a, records(10))
      const b = yield* drive(world.process("b").open())
      yield* store(b, records(10, 11))
      const refused = yield* drive(Effect.flip(Effect.flatMap(a.append(records(10, 21)), ({ durable }) => durable)))
      assert.deepStrictEqual(fencedFields(refused), [1, 2, "b"])
      assert.strictEqual((yield* a.status).state, "fenced")
      assert.strictEqual((yield* Effect.flip(a.append(records(1))))._tag, "WriterFenced")
      const before = world.bucket
      const report = yield* drive(a.close)
      assert.deepStrictEqual(report.lost, { from: 11, to: 20 }, "unknown to this writer")
      assert.isFalse(report.manifestWritten)
      assert.deepStrictEqual(world.bucket, before, "closing a fenced log writes nothing")
      assert.deepStrictEqual(yield* readAll(b), dense(20))
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("c").open())), dense(20))
    }))

  it.effect("a slot that lands between two pages of the newer one's listing is no loss, whatever later headers know", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 3 } }, { pageSize: 1 })
      const first = world.process("a")
      const a = yield* drive(first.open())
      yield* store(a, records(5))
      const slot = yield* gate
      const page = yield* gate
      first.faults.rule(({ key, operation }) =>
        operation === "create" && key === world.key(1, 1) ? { _tag: "HoldBefore", gate: slot } : undefined
      )
      const appended = yield* a.append(records(15, 6))
      yield* advanceUntil(() => world.slots.length === 3)
      const second = world.process("b")
      let pages = 0
      second.faults.rule(({ operation }) =>
        operation === "list" && ++pages === 3 ? { _tag: "HoldBefore", gate: page } : undefined
      )
      const opening = yield* Effect.forkChild(second.open(), { startImmediately: true })
      yield* advanceUntil(() => pages === 3)
      // Slot 2 was on the page before; slot 1 comes now, and slot 4 knows both.
      yield* openGate(slot)
      yield* drive(appended.durable)
      yield* store(a, records(5, 21))
      yield* openGate(page)
      const b = yield* drive(Fiber.join(opening))
      assert.deepStrictEqual(yield* readAll(b), dense(25))
    }))

  it.effect("[predecessor 10] the older writer cannot move the trim point, a cursor or the checkpoint", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const a = yield* drive(world.process("a").open())
      yield* store(a, records(10))
      yield* a.commit(10)
      yield* drive(world.process("b").open())
      const tag = world.manifestTag
      const refused = yield* drive(Effect.flip(a.trim(10)))
      assert.deepStrictEqual(refused._tag === "WriterFenced" ? [refused.byEpoch, refused.byHost] : refused._tag, [
        2,
        "b"
      ])
      assert.strictEqual(world.manifestTag, tag)
      assert.deepStrictEqual((yield* world.manifest).trim.seq, 0)
      assert.strictEqual(world.slots.length, 3, "nothing was deleted")
    }))

  it.effect("an opener whose claim is taken over before it activates is fenced, and merges nothing", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* store(yield* drive(world.process("first").open()), records(5))
      const slow = world.process("slow")
      const hold = yield* gate
      let held = false
      slow.faults.rule((request) => {
        if (request.operation !== "replace" || request.nth !== 1) return undefined
        held = true
        return { _tag: "HoldBefore", gate: hold }
      })
      const opening = yield* Effect.forkChild(Effect.flip(slow.open()), { startImmediately: true })
      yield* advanceUntil(() => held)
      const b = yield* drive(world.process("b").open())
      yield* store(b, records(5, 6))
      const tag = world.manifestTag
      yield* openGate(hold)
      const error = yield* drive(Fiber.join(opening))
      assert.strictEqual(error._tag, "WriterFenced")
      assert.strictEqual(world.manifestTag, tag)
      yield* store(b, records(5, 11))
      assert.deepStrictEqual(yield* readAll(b), dense(15))
    }))

  it.effect("nothing is sent before the activation is confirmed, and a time-out does not confirm it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      let blocked = true
      process.faults.rule((request) =>
        blocked && request.operation === "replace" && request.nth >= 1
          ? { _tag: "Fail", reason: "TimedOut", applied: false }
          : undefined
      )
      const opened = yield* Effect.forkChild(process.open(), { startImmediately: true })
      yield* advanceUntil(() => process.faults.requests.filter((one) => one.operation === "replace").length > 4)
      assert.isUndefined(opened.pollUnsafe())
      assert.strictEqual((yield* world.manifest).live, 0)
      blocked = false
      const wal = yield* drive(Fiber.join(opened))
      yield* store(wal, records(5))
      assert.strictEqual((yield* world.manifest).live, (yield* world.manifest).epoch)
    }))

  it.effect("an end marker at n says nothing about the slots below n: confirmed ones are still acknowledged", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      const process = world.process("a")
      const a = yield* drive(process.open())
      const hold = yield* gate
      process.faults.rule((request) =>
        request.operation === "create" && request.key.endsWith("0.seg") ? { _tag: "HoldAfter", gate: hold } : undefined
      )
      const below = yield* a.append(records(5))
      yield* advanceUntil(() => world.slots.length === 1)
      const missing = world.process("thief")
      // The take-over ends the epoch at slot 1, while the answer for slot 0 is still on its way.
      yield* drive(missing.open())
      const above = yield* a.append(records(5, 6))
      const refused = yield* Effect.forkChild(Effect.flip(above.durable), { startImmediately: true })
      const kept = yield* Effect.forkChild(below.durable, { startImmediately: true })
      yield* advanceUntil(() =>
        process.faults.requests.some((one) => one.operation === "get" && one.key.endsWith("1.seg"))
      )
      assert.isUndefined(refused.pollUnsafe(), "the slots below are not decided yet")
      yield* openGate(hold)
      yield* drive(Fiber.join(kept))
      assert.strictEqual((yield* drive(Fiber.join(refused)))._tag, "WriterFenced")
    }))

  it.effect("an end marker at n does not acknowledge what below n was not stored", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 4 } })
      const process = world.process("a")
      const a = yield* drive(process.open())
      process.faults.rule((request) =>
        request.operation === "create" && request.key.endsWith("0.seg")
          ? { _tag: "Fail", reason: "TimedOut" }
          : undefined
      )
      const below = yield* a.append(records(5))
      const unknown = yield* Effect.forkChild(Effect.flip(below.durable), { startImmediately: true })
      yield* advanceUntil(() => process.faults.requests.some((one) => one.key.endsWith("0.seg")))
      // The barrier of an opener that had to chase, above the end at slot 0.
      const place = { logId: (yield* world.manifest).log_id, epoch: 1, slot: 1 }
      const barrier = { ...place, nonce: "0".repeat(32), owner: { epoch: 2, host: "b" } }
      world.memory.put(world.key(1, 1), encodeEndMarker(barrier, nodeDigest))
      yield* a.append(records(5, 6))
      assert.strictEqual((yield* drive(Fiber.join(unknown)))._tag, "WriterFenced")
      assert.strictEqual((yield* a.status).durable, 0)
      const b = yield* drive(world.process("b").open())
      yield* store(b, records(5))
      assert.deepStrictEqual(yield* readAll(b), dense(5))
      assert.strictEqual((yield* world.header(1, 0)).kind, "end-marker")
    }))

  it.effect("[case 10] both append at once: no acknowledged record of either is lost, numbers are unique", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ parallelPut: { workers: 2 }, segment: { maxEntries: 1, linger: "0ms" } })
      const acked: Array<string> = []
      const a = yield* drive(world.process("a").open())
      const write = (wal: typeof a, count: number, label: string) =>
        Effect.forEach(
          Array.from({ length: count }, (_, index) => `${label}${index}`),
          (name) =>
            Effect.flatMap(wal.append([{ payload: encode(name) }]), (appended) =>
              Effect.map(appended.durable, () => acked.push(`${appended.first}:${name}`))),
          { discard: true }
        )
      const writing = yield* Effect.forkChild(Effect.result(write(a, 50, "a")), { startImmediately: true })
      yield* advanceUntil(() => acked.length > 3, "1 millis")
      const opening = yield* Effect.forkChild(world.process("b").open(), { startImmediately: true })
      yield* advanceUntil(() => opening.pollUnsafe() !== undefined, "1 millis")
      const b = yield* drive(Fiber.join(opening))
      yield* drive(write(b, 10, "b"))
      const ended = yield* drive(Fiber.join(writing))
      assert.strictEqual(Result.isFailure(ended) ? ended.failure._tag : "all acknowledged", "WriterFenced")
      const read = yield* readAll(b)
      for (const one of acked) assert.include(read, one)
      assert.strictEqual(new Set(read.map((one) => one.split(":")[0])).size, read.length)
      assert.deepStrictEqual(
        read.map((one) => Number(one.split(":")[0])),
        read.map((_, index) => index + 1)
      )
      assert.isAtLeast(acked.length, 14)
    }))

  it.effect("a busy writer is caught: a barrier stops it, the opening ends after few rounds, nothing acked is lost", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld({ segment: { maxEntries: 1, linger: "0ms" } })
      const a = yield* drive(world.process("a").open())
      yield* store(a, records(2))
      let written = 2
      const b = world.process("b")
      let lists = 0
      let hold = yield* gate
      b.faults.rule((request) => {
        if (request.operation !== "list") return undefined
        lists++
        return { _tag: "HoldAfter", gate: hold }
      })
      const opening = yield* Effect.forkChild(b.open(), { startImmediately: true })
      let fenced = false
      for (let round = 1; round < 12; round++) {
        const seen = lists
        if (opening.pollUnsafe() !== undefined) break
        yield* advanceUntil(() => lists >= round || opening.pollUnsafe() !== undefined)
        assert.isAtLeast(lists, seen)
        // Between the listing and its answer the old writer stores one more.
        const stored = yield* Effect.result(store(a, records(1, written + 1)))
        if (Result.isSuccess(stored)) written++
        else fenced = true
        const current = hold
        hold = yield* gate
        yield* openGate(current)
      }
      const taken = yield* drive(Fiber.join(opening))
      assert.isTrue(fenced)
      assert.isAtMost(lists, 6)
      assert.deepStrictEqual(yield* readAll(taken), dense(written))
      yield* store(taken, records(1, written + 1))
      assert.deepStrictEqual(yield* readAll(taken), dense(written + 1))
    }))
})
