/** Ghosts: requests that time out and are applied later, after take-over and after deletion. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  advanceUntil,
  dense,
  drive,
  gate,
  killedWriter,
  makeWorld,
  nthRequest,
  openGate,
  readAll,
  records,
  requestsOfOpening,
  store
} from "./World.ts"

const isWrite = (request: { readonly operation: string }) =>
  request.operation === "create" || request.operation === "replace"

describe("a late request", () => {
  it.effect("of a killed opener, each of its writes, landing before each request of the next opener", () =>
    Effect.gen(function*() {
      const base = yield* makeWorld()
      yield* killedWriter(base, 12)
      const requests = yield* requestsOfOpening(base)
      const writes = requests.filter(isWrite).length
      assert.strictEqual(writes, 3)
      for (let write = 0; write < writes; write++) {
        for (let landing = 0; landing <= requests.length; landing++) {
          const world = yield* base.copy
          const victim = world.process("victim")
          const late = yield* gate
          let seen = false
          nthRequest(victim, write, { _tag: "Ghost", reason: "TimedOut", gate: late }, (request) => {
            seen = seen || isWrite(request) && victim.faults.requests.filter(isWrite).length > write
            return isWrite(request)
          })
          const opening = yield* Effect.forkChild(Effect.exit(victim.open()), { startImmediately: true })
          yield* advanceUntil(() => seen, "0 millis")
          victim.crash()
          yield* Fiber.interrupt(opening)
          const next = world.process("next")
          const hold = yield* gate
          let held = false
          let count = 0
          next.faults.rule(() => {
            if (count++ !== landing) return undefined
            held = true
            return { _tag: "HoldBefore", gate: hold }
          })
          const opened = yield* Effect.forkChild(next.open(), { startImmediately: true })
          yield* advanceUntil(() => held || opened.pollUnsafe() !== undefined)
          yield* openGate(late)
          yield* openGate(hold)
          const wal = yield* drive(Fiber.join(opened))
          const at = `write ${write} landing at ${landing}`
          yield* store(wal, records(3, 13))
          assert.deepStrictEqual(yield* readAll(wal), dense(15), at)
          const third = yield* drive(world.process("third").open())
          assert.deepStrictEqual(yield* readAll(third), dense(15), at)
        }
      }
    }))

  it.effect("of the opener itself: an earlier try of the activation lands, and the end stands in the manifest once", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 12)
      const opener = world.process("opener")
      const late = yield* gate
      nthRequest(opener, 1, { _tag: "Ghost", reason: "TimedOut", gate: late }, (one) => one.operation === "replace")
      let looked = false
      opener.faults.rule((request) => {
        looked = looked || request.operation === "get" && request.key.endsWith("manifest.json") && request.nth > 0
        return undefined
      })
      const opened = yield* Effect.forkChild(opener.open(), { startImmediately: true })
      yield* advanceUntil(() => looked, "0 millis")
      yield* openGate(late)
      const wal = yield* drive(Fiber.join(opened))
      const manifest = yield* world.manifest
      assert.deepStrictEqual(manifest.ends.map((end) => [end.epoch, end.slot]), [[1, 3]])
      yield* store(wal, records(3, 13))
      assert.deepStrictEqual(yield* readAll(wal), dense(15))
    }))

  it.effect("an earlier commit of mine that lands late is merged, not taken for the one that is asked for", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("writer")
      const wal = yield* drive(process.open())
      yield* store(wal, records(20))
      yield* wal.commit(10)
      const late = yield* gate
      nthRequest(process, 1, { _tag: "Ghost", reason: "TimedOut", gate: late }, (one) => one.operation === "replace")
      const isReplace = () => process.faults.requests.filter((one) => one.operation === "replace").length
      // The claim and the activation came before the rule; the first commit stays in flight, a second one is asked for.
      nthRequest(process, 0, { _tag: "Ghost", reason: "TimedOut", gate: late }, (one) => one.operation === "replace")
      const before = isReplace()
      const first = yield* Effect.forkChild(wal.trim(5), { startImmediately: true })
      yield* advanceUntil(() => isReplace() > before, "0 millis")
      yield* wal.commit(20)
      const second = yield* Effect.forkChild(wal.trim(20), { startImmediately: true })
      yield* openGate(late)
      yield* drive(Fiber.join(first))
      assert.strictEqual(yield* drive(Fiber.join(second)), 20)
      const manifest = yield* world.manifest
      assert.deepStrictEqual([manifest.trim.seq, manifest.cursors.marks["default"]], [20, 20])
    }))

  it.effect("segments of a dead writer, after take-over: at the end refused by the marker, above it orphans", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("writer", { parallelPut: { workers: 4 } })
      const wal = yield* drive(process.open())
      yield* store(wal, records(5))
      const late = yield* gate
      process.faults.rule((request) =>
        request.operation === "create" && !request.key.endsWith("3.seg")
          ? { _tag: "Ghost", reason: "TimedOut", gate: late }
          : undefined
      )
      yield* wal.append(records(20, 6))
      yield* advanceUntil(() => world.slots.length > 1)
      assert.deepStrictEqual(world.slots, ["0000000001/000000000000.seg", "0000000001/000000000003.seg"])
      process.crash()
      const next = yield* drive(world.process("next").open())
      yield* store(next, records(5, 6))
      yield* openGate(late)
      yield* advanceUntil(() => world.slots.includes("0000000001/000000000002.seg"))
      assert.strictEqual((yield* world.header(1, 1)).kind, "end-marker")
      assert.strictEqual((yield* world.header(1, 2)).kind, "segment")
      assert.deepStrictEqual(yield* readAll(next), dense(10))
      const third = yield* drive(world.process("third").open())
      assert.deepStrictEqual(yield* readAll(third), dense(10), "orphans are never delivered")
    }))

  it.effect("segments that come back below the trim point are not delivered, and are collected", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("writer")
      const wal = yield* drive(process.open())
      yield* store(wal, records(10))
      const ghost = world.memory.objects.get(world.key(1, 0))?.body
      yield* drive(wal.close)
      const second = yield* drive(world.process("second").open())
      yield* store(second, records(5, 11))
      yield* second.commit(10)
      assert.strictEqual(yield* drive(second.trim(10)), 10)
      yield* advanceUntil(() => !world.slots.includes("0000000001/000000000000.seg"))
      assert.isDefined(ghost)
      world.memory.put(world.key(1, 0), ghost ?? new Uint8Array())
      const third = yield* drive(world.process("third").open())
      assert.deepStrictEqual(yield* readAll(third), dense(15).slice(10))
      yield* third.commit(15)
      yield* store(third, records(1, 16))
      yield* third.commit(16)
      yield* drive(third.trim(16))
      yield* advanceUntil(() => !world.slots.includes("0000000001/000000000000.seg"))
      assert.deepStrictEqual(world.slots, [
        "0000000001/000000000002.seg",
        "0000000002/000000000001.seg"
      ], "end markers stay")
    }))

  it.effect("end markers of a dead opener, after take-over: never in a live epoch, never below an end", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 12)
      const late = yield* gate
      const victim = world.process("victim")
      const isMarker = (request: { readonly operation: string; readonly key: string }) =>
        request.operation === "create" && request.key.includes("segments/")
      let sent = false
      victim.faults.rule((request) => {
        if (!isMarker(request)) return undefined
        sent = true
        return { _tag: "Ghost", reason: "TimedOut", gate: late }
      })
      const opening = yield* Effect.forkChild(Effect.exit(victim.open()), { startImmediately: true })
      yield* advanceUntil(() => sent)
      victim.crash()
      yield* Fiber.interrupt(opening)
      const next = yield* drive(world.process("next").open())
      yield* store(next, records(8, 13))
      yield* openGate(late)
      yield* store(next, records(5, 21))
      assert.deepStrictEqual(yield* readAll(next), dense(25))
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("third").open())), dense(25))
    }))

  it.effect("a trim of the old writer, landing before each request of the next opener: all of it counts or nothing", () =>
    Effect.gen(function*() {
      const outcomes = new Set<number>()
      for (let landing = 0; landing < 8; landing++) {
        const world = yield* makeWorld()
        const process = world.process("writer")
        const wal = yield* drive(process.open())
        yield* store(wal, records(20))
        yield* wal.commit(10)
        const late = yield* gate
        let sent = false
        process.faults.rule((request) => {
          if (sent) return { _tag: "Silence" }
          if (request.operation !== "replace") return undefined
          sent = true
          return { _tag: "Ghost", reason: "TimedOut", gate: late }
        })
        yield* Effect.forkChild(wal.trim(10), { startImmediately: true })
        yield* advanceUntil(() => sent, "0 millis")
        process.crash()
        const next = world.process("next")
        const hold = yield* gate
        let held = false
        let count = 0
        next.faults.rule(() => {
          if (count++ !== landing) return undefined
          held = true
          return { _tag: "HoldBefore", gate: hold }
        })
        const opened = yield* Effect.forkChild(next.open(), { startImmediately: true })
        yield* advanceUntil(() => held || opened.pollUnsafe() !== undefined)
        yield* openGate(late)
        yield* openGate(hold)
        const taken = yield* drive(Fiber.join(opened))
        const { cursors, trim } = yield* world.manifest
        outcomes.add(trim.seq)
        assert.strictEqual(cursors.marks["default"], trim.seq)
        assert.deepStrictEqual(yield* readAll(taken), dense(20).slice(trim.seq))
      }
      assert.deepStrictEqual([...outcomes].sort(), [0, 10])
    }))
})
