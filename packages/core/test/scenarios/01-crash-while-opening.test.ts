/** An opener is killed at each of its requests: the next one opens, and everything acknowledged is there. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { dense, drive, killAt, killedWriter, makeWorld, readAll, records, requestsOfOpening, store } from "./World.ts"

describe("a crash while opening", () => {
  for (const applied of [false, true]) {
    it.effect(`at each request, ${applied ? "applied" : "not applied"}: the next opening has every record`, () =>
      Effect.gen(function*() {
        const base = yield* makeWorld()
        yield* killedWriter(base, 23)
        const requests = yield* requestsOfOpening(base)
        assert.isAtLeast(requests.length, 6)
        for (let nth = 0; nth < requests.length; nth++) {
          const world = yield* base.copy
          const victim = world.process("victim")
          killAt(victim, nth, applied)
          yield* Effect.forkChild(Effect.exit(victim.open()), { startImmediately: true })
          victim.crash()
          const next = world.process("next")
          const wal = yield* drive(next.open())
          assert.deepStrictEqual(yield* readAll(wal), dense(23), `killed at ${requests[nth]?.operation} ${nth}`)
          yield* store(wal, records(2, 24))
          assert.deepStrictEqual(yield* readAll(wal), dense(25))
        }
      }))

    it.effect(`of a new log at each request, ${applied ? "applied" : "not applied"}: the log can be opened`, () =>
      Effect.gen(function*() {
        const base = yield* makeWorld()
        const requests = yield* requestsOfOpening(base)
        for (let nth = 0; nth < requests.length; nth++) {
          const world = yield* base.copy
          const victim = world.process("victim")
          killAt(victim, nth, applied)
          yield* Effect.forkChild(Effect.exit(victim.open()), { startImmediately: true })
          victim.crash()
          const wal = yield* drive(world.process("next").open())
          yield* store(wal, records(3))
          assert.deepStrictEqual(yield* readAll(wal), dense(3))
        }
      }))
  }

  it.effect("of ten openers in a row: each opens where the last one stopped, and the log stays whole", () =>
    Effect.gen(function*() {
      const world = yield* makeWorld()
      yield* killedWriter(world, 12)
      for (let round = 0; round < 10; round++) {
        const victim = world.process(`victim-${round}`)
        killAt(victim, 2 + round % 6, round % 2 === 0)
        yield* Effect.forkChild(Effect.exit(victim.open()), { startImmediately: true })
        victim.crash()
      }
      const wal = yield* drive(world.process("last").open())
      assert.deepStrictEqual(yield* readAll(wal), dense(12))
    }))
})
