/** Twins of the commit cases: an answer is lost, and somebody else is faster than the look that would have told. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { manifestKey } from "../../src/format/ObjectKey.ts"
import {
  advanceUntil,
  dense,
  drive,
  gate,
  killedWriter,
  makeWorld,
  nthRequest,
  openGate,
  prefix,
  type Process,
  readAll,
  records,
  store
} from "../scenarios/World.ts"

const isReplace = (one: { readonly operation: string }) => one.operation === "replace"

/** The second replace of an opening, its activation, is done and its answer lost; the look at it waits for the gate. */
const loseActivation = Effect.fnUntraced(function*(process: Process) {
  const hold = yield* gate
  let replaces = 0
  let lost = false
  process.faults.rule((request) => {
    if (isReplace(request) && replaces++ === 1) {
      lost = true
      return { _tag: "Fail", reason: "TimedOut", applied: true }
    }
    return lost && request.operation === "get" && request.key === manifestKey(prefix)
      ? { _tag: "HoldBefore", gate: hold }
      : undefined
  })
  return { hold, isLost: () => lost }
})

describe("a commit whose answer is lost", () => {
  it.effect("[kind A] an activation, and another opener has finished before the look: fenced, and nothing of it merged", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 7)
      const slow = world.process("slow")
      const { hold, isLost } = yield* loseActivation(slow)
      const opening = yield* Effect.forkChild(Effect.flip(slow.open()), { startImmediately: true })
      yield* advanceUntil(isLost)
      const fast = yield* drive(world.process("fast").open())
      yield* store(fast, records(3, 8))
      yield* openGate(hold)
      const error = yield* drive(Fiber.join(opening))
      assert.strictEqual(error._tag, "WriterFenced")
      if (error._tag === "WriterFenced") {
        assert.deepStrictEqual([error.epoch, error.byEpoch, error.byHost], [2, 3, "fast"])
      }
      assert.deepStrictEqual(yield* readAll(fast), dense(10))
      const { ends, live } = yield* world.manifest
      // The epoch that was activated and lost holds nothing, so it has no end of its own in the list.
      assert.deepStrictEqual([ends.map((end) => [end.epoch, end.slot]), live], [[[1, 2]], 3])
      yield* store(fast, records(2, 11))
      assert.deepStrictEqual(yield* readAll(yield* drive(world.process("next").open())), dense(12))
    }))

  it.effect("[kind A] an activation, and another opener has only claimed: fenced, and whoever opens next finds all", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 7)
      const slow = world.process("slow")
      const { hold, isLost } = yield* loseActivation(slow)
      const opening = yield* Effect.forkChild(Effect.flip(slow.open()), { startImmediately: true })
      yield* advanceUntil(isLost)
      const claimer = world.process("claimer")
      nthRequest(claimer, 0, { _tag: "Silence" }, (one) => one.operation === "list")
      yield* Effect.forkChild(Effect.exit(claimer.open()), { startImmediately: true })
      yield* advanceUntil(() => claimer.faults.requests.some((one) => one.operation === "list"))
      claimer.crash()
      yield* openGate(hold)
      assert.strictEqual((yield* drive(Fiber.join(opening)))._tag, "WriterFenced")
      const next = yield* drive(world.process("next").open())
      yield* store(next, records(3, 8))
      assert.deepStrictEqual(yield* readAll(next), dense(10))
      assert.strictEqual((yield* next.status).epoch, 4)
    }))

  it.effect("[kind A] a trim, and the trim point is in the store: said once, nothing is deleted above it", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const process = world.process("a")
      const wal = yield* drive(process.open())
      yield* store(wal, records(20))
      yield* wal.commit(10)
      nthRequest(process, 0, { _tag: "Fail", reason: "Unavailable", applied: true }, isReplace)
      assert.strictEqual(yield* drive(wal.trim(20)), 10)
      yield* advanceUntil(() => world.slots.length === 2)
      assert.deepStrictEqual(yield* readAll(wal), dense(20).slice(10))
      assert.deepStrictEqual(
        process.faults.requests.filter((one) => isReplace(one)).length,
        3,
        "claim, activation and the one trim"
      )
    }))
})
