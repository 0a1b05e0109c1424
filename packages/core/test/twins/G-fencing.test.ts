/** Twins of the fencing cases: more than two, and the slow ones come back at the worst moment. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import {
  advanceUntil,
  dense,
  drive,
  gate,
  makeWorld,
  nthRequest,
  openGate,
  readAll,
  records,
  store
} from "../scenarios/World.ts"

describe("three openers at once", () => {
  it.effect("[kind G] while the first writer is paused: one wins, the paused and the late are fenced, no record is lost", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const paused = world.process("paused")
      const first = yield* drive(paused.open())
      yield* store(first, records(6))
      const resume = yield* gate
      paused.faults.rule(() => ({ _tag: "HoldBefore", gate: resume }))
      const inFlight = yield* first.append(records(4, 7))
      const waiting = yield* Effect.forkChild(Effect.exit(inFlight.durable), { startImmediately: true })
      const openers = yield* Effect.forEach(
        ["b", "c", "d"],
        (host) => Effect.forkChild(Effect.result(world.process(host).open()), { startImmediately: true })
      )
      const results = yield* Effect.forEach(openers, (fiber) => drive(Fiber.join(fiber)))
      const winners = results.flatMap((result) => result._tag === "Success" ? [result.success] : [])
      for (const result of results) {
        if (result._tag === "Failure") assert.strictEqual(result.failure._tag, "WriterFenced")
      }
      const epochs = yield* Effect.forEach(winners, (wal) => Effect.map(wal.status, ({ epoch }) => epoch))
      const newest = winners[epochs.indexOf(Math.max(...epochs))]
      if (newest === undefined) return assert.fail("nobody has opened the log")
      yield* store(newest, records(4, 7))
      // The paused one wakes up: its PUT meets the end marker, and no number names two records.
      yield* openGate(resume)
      const exit = yield* drive(Fiber.join(waiting))
      assert.strictEqual(exit._tag, "Failure")
      assert.strictEqual((yield* Effect.flip(first.append(records(1))))._tag, "WriterFenced")
      for (const wal of winners) {
        if (wal === newest) continue
        const late = yield* Effect.exit(drive(Effect.flatMap(wal.append(records(1)), ({ durable }) => durable)))
        assert.strictEqual(late._tag, "Failure")
      }
      assert.deepStrictEqual(yield* readAll(newest), dense(10))
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("next").open())), dense(10))
    }))

  it.effect("[kind G] two claimed and paused, the third is through: neither of the two puts a marker into its epoch", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const first = world.process("a")
      yield* store(yield* drive(first.open()), records(6))
      first.crash()
      const resume = yield* gate
      const late = yield* Effect.forEach(["b", "c"], (host) =>
        Effect.gen(function*() {
          const process = world.process(host)
          // After its claim, before it has looked at the live epoch.
          nthRequest(process, 0, { _tag: "HoldBefore", gate: resume }, (one) => one.operation === "list")
          const opening = yield* Effect.forkChild(Effect.flip(process.open()), { startImmediately: true })
          yield* advanceUntil(() => process.faults.requests.some((one) => one.operation === "list"))
          return opening
        }))
      const third = yield* drive(world.process("d").open())
      yield* store(third, records(6, 7))
      yield* openGate(resume)
      for (const opening of late) assert.strictEqual((yield* drive(Fiber.join(opening)))._tag, "WriterFenced")
      yield* store(third, records(3, 13))
      assert.deepStrictEqual(yield* readAll(third), dense(15))
      assert.deepStrictEqual(world.slots.filter((slot) => slot.startsWith("0000000001")).length, 3)
    }))
})
