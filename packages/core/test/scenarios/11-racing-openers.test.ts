/** Openers of a log that does not exist yet: who comes second finds a log, not damage. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { dense, drive, gate, makeWorld, nthRequest, openGate, readAll, records, store } from "./World.ts"

describe("openers of a new log", () => {
  it.effect("the one that saw no manifest goes on from the one that was created and written to meanwhile", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      const late = world.process("late")
      const answer = yield* gate
      nthRequest(late, 0, { _tag: "HoldAfter", gate: answer }, (one) => one.operation === "get")
      const opening = yield* Effect.forkChild(late.open(), { startImmediately: true })
      const first = yield* drive(world.process("first").open())
      yield* store(first, records(5))
      yield* openGate(answer)
      const second = yield* drive(Fiber.join(opening))
      assert.strictEqual((yield* second.status).epoch, 2)
      assert.deepStrictEqual(yield* readAll(second), dense(5))
    }))
})
